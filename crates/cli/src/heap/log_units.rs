//! The units of a log-structured heap: what each is used for, the sectors in it, and the records of its log, decoded
//! from the cells. What is live, the map says: a heap that was mounted returns it.

use std::collections::BTreeSet;

use norn_explorer::tiny_store::entry_text::RecordText;
use norn_flash::{Address, EraseUnit, Nor};
use norn_flash_sim::NorSim;
use norn_heap::StoreError;
use norn_heap_image::{LogStructuredHeap, PartError};
use norn_log_heap::format::{Class, DIRECTORY, Geometry, Granule, Header, SectorKind, Stream, UnitHead};
use norn_log_heap::inspection::{LogPlace, decode_unit_head, sectors};
use serde_json::{Value, json};

use crate::heap::entry_text::{add_record, bytes_text};
use crate::heap::extent::Extent;
use crate::report::{Report, digits_of, row_value};
use crate::table::{Rows, Side, table};

/// What of a heap is live, as far as that is known.
#[derive(Default)]
pub struct Live {
    /// Bytes in each unit, of a heap that was mounted.
    bytes: Vec<u32>,
    /// Sectors of the unit that is shown in full.
    sectors: BTreeSet<u32>,
}

impl Live {
    /// What is live in a heap: in each unit, and of one that is shown in full each sector.
    ///
    /// # Errors
    /// The store's.
    pub fn of(heap: &mut LogStructuredHeap<'_>, extent: Extent) -> Result<Live, StoreError<PartError>> {
        let part = heap.device().part();
        let bytes = (0..part.unit_count).map(|unit| heap.live_bytes_in(EraseUnit(unit))).collect();
        let mut live = Live { bytes, sectors: BTreeSet::new() };
        let (Ok(geometry), Extent::Unit(unit)) = (Geometry::of(&part), extent) else { return Ok(live) };
        if unit.0 >= part.unit_count {
            return Ok(live);
        }
        let mut cells = vec![0; part.unit_size_bytes as usize];
        heap.device_mut().freeze_counters();
        let read = heap.device_mut().read(part.start_of(unit), &mut cells);
        read.map_err(StoreError::Device)?;
        for (at, header) in sectors(&cells, unit, &geometry) {
            if heap.leads_to(header.owner(), at)? {
                live.sectors.insert(at.0);
            }
        }
        heap.device_mut().thaw_counters();
        Ok(live)
    }
}

/// A unit's cells.
struct Unit<'d> {
    device: &'d NorSim,
    unit: EraseUnit,
    geometry: Geometry,
}

impl Unit<'_> {
    fn start(&self) -> Address {
        self.device.spec().part.start_of(self.unit)
    }

    fn cells(&self) -> Vec<u8> {
        self.device.peek(self.start(), self.device.spec().part.unit_size_bytes as usize)
    }

    fn head(&self) -> Option<UnitHead> {
        decode_unit_head(self.cells().first_chunk()?, &self.geometry)
    }

    fn address_of(&self, granule: Granule) -> Address {
        Address(granule.0 * self.geometry.granule_bytes)
    }
}

/// The units as a table and the newest log, or one unit in full.
pub fn dump(device: &NorSim, extent: Extent, live: &Live) -> Report {
    let mut report = Report::new(12);
    let geometry = match Geometry::of(&device.spec().part) {
        Ok(geometry) => geometry,
        Err(why) => {
            report.text(format!("No log-structured heap can be on this part: {why}.\n"));
            return report;
        }
    };
    let unit = |unit| Unit { device, unit, geometry };
    match extent {
        Extent::Unit(number) => report_unit(&unit(number), live, &mut report),
        Extent::Units => {
            let units: Vec<Unit<'_>> = (0..geometry.unit_count).map(|number| unit(EraseUnit(number))).collect();
            report.table("units", units_table(&units, live), "");
            report_newest_log(&units, &mut report);
        }
    }
    report
}

fn units_table(units: &[Unit<'_>], live: &Live) -> Rows {
    let mut rows = table([
        ("Unit", Side::Right),
        ("Address", Side::Right),
        ("Role", Side::Left),
        ("Sequence", Side::Right),
        ("Erases", Side::Right),
        ("By head", Side::Right),
        ("Sectors", Side::Right),
        ("Live bytes", Side::Right),
    ])
    .folded_beyond(2);
    let erases = units.first().map(|unit| unit.device.erase_counts()).into_iter().flatten();
    for (number, (unit, erases)) in units.iter().zip(erases).enumerate() {
        let mut row: [String; 8] = std::array::from_fn(|_| String::new());
        (row[0], row[1], row[4]) = (unit.unit.0.to_string(), unit.start().to_string(), erases.to_string());
        let Some(head) = unit.head() else {
            row[2] = "no head".to_owned();
            let value = row_value(&rows, &row);
            if unit.cells().iter().all(|&byte| byte == 0xFF) {
                row[2] = "erased".to_owned();
            }
            rows.add_row_with(row, value);
            continue;
        };
        row[2] = head.stream.to_string();
        (row[3], row[5]) = (head.sequence.to_string(), head.erases.to_string());
        if head.stream != Stream::Log {
            row[6] = sectors(&unit.cells(), unit.unit, &unit.geometry).count().to_string();
            row[7] = live.bytes.get(number).map_or(String::new(), u32::to_string);
        }
        rows.add_row(row);
    }
    rows
}

/// The records of the log that was begun last. Whether it is complete, its `End` says.
fn report_newest_log(units: &[Unit<'_>], report: &mut Report) {
    let logs = units.iter().filter_map(|unit| Some((unit.head().filter(|head| head.stream == Stream::Log)?, unit)));
    match logs.max_by_key(|(head, _)| head.sequence) {
        Some((head, unit)) => {
            report.text(format!("\nLog in {}, sequence number {}\n", unit.unit, head.sequence));
            report.datum("log_unit", unit.unit.0).datum("log_sequence", head.sequence);
            report.table("records", records(unit), "No records.")
        }
        None => report.text("\nNo unit has the head of a log.\n"),
    };
}

fn report_unit(unit: &Unit<'_>, live: &Live, report: &mut Report) {
    let cells = unit.cells();
    let (size, start, granule) = (cells.len(), unit.start(), unit.geometry.granule_bytes);
    let head = unit.head();
    let says = head.map_or("none whole".to_owned(), |head| {
        let role = head.stream;
        format!("{role}, sequence number {}, erase count {}", head.sequence, head.erases)
    });
    let value = head.map(|head| {
        let role = head.stream.to_string();
        json!({ "role": role, "sequence_number": head.sequence, "erase_count": head.erases })
    });
    let bytes = &cells[..cells.len().min(24)];
    let remark = format!(", {size} bytes at {start}, granules of {granule} bytes");
    report.measure("unit", unit.unit.0.into(), remark).datum("address", start.0);
    report.datum("bytes", size).datum("granule_bytes", granule);
    report.described("head", says, value).text(format!("            {}\n\n", bytes_text(bytes)));
    report.datum("head_bytes", digits_of(bytes));
    match head.map(|head| head.stream) {
        Some(Stream::Log) => report.table("records", records(unit), "No records."),
        Some(_) => report.table("sectors", sectors_table(unit, live), "No sectors."),
        None => report.text("Without a head nothing in it counts.\n"),
    };
}

fn records(unit: &Unit<'_>) -> Rows {
    let mut places =
        table([("Place", Side::Right), ("Address", Side::Right), ("Bytes", Side::Left), ("Record", Side::Left)]);
    let (granule, head) = (unit.geometry.granule_bytes as usize, unit.geometry.head() as usize);
    for (number, bytes) in unit.cells().chunks(granule).enumerate().skip(head) {
        let says = match LogPlace::decode(bytes) {
            LogPlace::Erased => break,
            LogPlace::Broken => RecordText::of("torn or damaged"),
            LogPlace::Record(record) => {
                record.fields().fold(RecordText::of(record.name()), |text, field| match field {
                    ("address", at) => text.with_text("address", Address(at).to_string(), at),
                    (name, number) => text.with(name, number),
                })
            }
        };
        let address = unit.start().offset((number * granule) as u32);
        add_record(&mut places, "record", (number - head, address), bytes, &says);
    }
    places
}

fn sectors_table(unit: &Unit<'_>, live: &Live) -> Rows {
    let mut rows = table([
        ("Sector", Side::Right),
        ("Holds", Side::Left),
        ("Fields", Side::Right),
        ("Bytes", Side::Right),
        ("Tail", Side::Right),
        ("State", Side::Left),
    ]);
    for (at, header) in sectors(&unit.cells(), unit.unit, &unit.geometry) {
        let state = match (live.bytes.is_empty(), live.sectors.contains(&at.0)) {
            (true, _) => "",
            (false, true) => "live",
            (false, false) => "obsolete",
        };
        let (address, fields, tail) = (unit.address_of(at), header.count, header.tail);
        let bytes = header.bare_granules(&unit.geometry) * unit.geometry.granule_bytes;
        let cells = [
            address.to_string(),
            header.to_string(),
            fields.to_string(),
            bytes.to_string(),
            tail.to_string(),
            state.to_owned(),
        ];
        let state = Some(state).filter(|state| !state.is_empty());
        let mut value = json!({ "sector": address.0, "fields": fields, "bytes": bytes, "tail": tail, "state": state });
        value["holds"] = owner_value(&header);
        rows.add_row_with(cells, value);
    }
    rows
}

fn owner_value(header: &Header) -> Value {
    let Header { index, generation, .. } = header;
    let reference = format!("#{index}.{generation}");
    match (header.kind, header.class) {
        (SectorKind::Node, _) => json!({ "kind": "map node", "index": index, "level": generation }),
        (_, Class::Object) if *generation == DIRECTORY => json!({ "kind": "roots", "slot": index }),
        (_, Class::Object) => json!({ "kind": "object", "reference": reference }),
        (_, Class::Array) => json!({ "kind": "array", "reference": reference }),
        (_, Class::Split) => json!({ "kind": "split array", "reference": reference }),
        (_, Class::Section) => json!({ "kind": "section", "slot": index }),
    }
}
