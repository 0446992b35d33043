//! `norn heap show`: roots, objects and arrays, and the state of the part, as tables.

use norn_flash::{Nor, NorPart};
use norn_flash_sim::NorSim;
use norn_heap::{Info, Kind, ObjectHeap, Ref};
use norn_heap_image::{HeapFailure, ImageHeap, Part, Remapped, TinyStoreHeap, mount};
use norn_object_heap::{DeltaRecords, InitializationFlags};
use serde_json::{Value, json};

use crate::error::Error;
use crate::opening::Source;
use crate::part_text::report_part;
use crate::report::{Report, digits_of};
use crate::table::{Rows, Side, table};

/// What the first column is.
const REFERENCES: &str = "A reference is #SLOT.GENERATION.\n";

/// Whether values are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// What there is, not what it holds.
    Hidden,
    /// Headers and fields in hexadecimal digits, in the order of their bytes.
    Hexadecimal,
}

/// The heap in a file, for people and programs.
///
/// # Errors
/// When the image or the heap cannot be opened or read.
pub fn show(source: &Source, values: Values) -> Result<Report, Error> {
    let mut device = source.read_nor()?;
    let mut report = list(&mut device, values).map_err(|failure| failure.in_image(&source.image))?;
    report.text("\n");
    report_part(&device, &mut report);
    Ok(report)
}

fn list(device: &mut NorSim, values: Values) -> Result<Report, HeapFailure> {
    let mut heap = mount(device)?;
    heap.device_mut().freeze_counters();
    let tables = roots(&mut heap).and_then(|roots| Ok((roots, objects(&mut heap, values)?)));
    let (roots, (objects, contents)) = tables.map_err(|failure| failure.placed(&heap))?;
    let mut report = Report::new(22);
    let footnote = if objects.is_empty() { "" } else { REFERENCES };
    report.table("roots", roots, "No roots.").text("\n");
    let text: String = contents.iter().map(Content::text).collect();
    report.table("objects", objects, "No objects.").text(format!("{footnote}{text}\n"));
    if values == Values::Hexadecimal {
        report.datum("contents", contents.iter().map(Content::value).collect::<Vec<_>>());
    }
    report.value("engine", heap.engine());
    let detects = heap.error_detection().is_on();
    report.described("error detection", if detects { "on" } else { "off" }, detects);
    if let ImageHeap::TinyStore(heap) = &heap {
        report_settings(heap, &mut report);
    }
    if let Part::Remapped(remap) = heap.device() {
        report_remap(remap, &mut report);
    }
    heap.device_mut().thaw_counters();
    Ok(report)
}

fn roots(heap: &mut ImageHeap<'_>) -> Result<Rows, HeapFailure> {
    let mut roots = table([("Root", Side::Left), ("Reference", Side::Left)]);
    heap.visit_roots(|name, reference| {
        roots.add_row([name.escape_ascii().to_string(), reference.to_string()]);
    })?;
    Ok(roots)
}

/// What is in an object or array, in hexadecimal digits.
struct Content {
    reference: Ref,
    header: String,
    values: Vec<String>,
}

impl Content {
    fn read(heap: &mut ImageHeap<'_>, reference: Ref, info: &Info) -> Result<Content, HeapFailure> {
        let mut header = vec![0; info.header_bytes];
        heap.read_header(reference, &mut header)?;
        let mut value = |index| read_value(heap, reference, info.kind, index).map(|value| digits_of(&value));
        let values = (0..info.count).map(&mut value).collect::<Result<_, _>>()?;
        Ok(Content { reference, header: digits_of(&header), values })
    }

    fn text(&self) -> String {
        let header = if self.header.is_empty() { String::new() } else { format!("  header  {}\n", self.header) };
        let values = self.values.iter().enumerate().map(|(index, value)| format!("  {index:>6}  {value}\n"));
        format!("\n{}\n{header}{}", self.reference, values.collect::<String>())
    }

    fn value(&self) -> Value {
        json!({ "reference": self.reference.to_string(), "header": self.header, "fields": self.values })
    }
}

/// The objects, and what is in them if that is listed.
fn objects(heap: &mut ImageHeap<'_>, values: Values) -> Result<(Rows, Vec<Content>), HeapFailure> {
    let mut objects = table([
        ("Reference", Side::Left),
        ("Kind", Side::Left),
        ("Fields", Side::Right),
        ("Data bytes", Side::Right),
        ("Header bytes", Side::Right),
        (pieces_title(heap), Side::Right),
    ]);
    let mut contents = Vec::new();
    let mut after = None;
    while let Some(reference) = heap.next_object(after)? {
        let info = heap.info(reference)?;
        objects.add_row(row(reference, &info, pieces(heap, reference)?));
        if values == Values::Hexadecimal {
            contents.push(Content::read(heap, reference, &info)?);
        }
        after = Some(reference);
    }
    Ok((objects, contents))
}

/// What an object or array is kept in: TinyStore's records, or the sectors of a log-structured heap.
fn pieces_title(heap: &ImageHeap<'_>) -> &'static str {
    match heap {
        ImageHeap::Log(_) => "Sectors",
        ImageHeap::TinyStore(_) => "Records",
    }
}

fn pieces(heap: &mut ImageHeap<'_>, reference: Ref) -> Result<usize, HeapFailure> {
    Ok(match heap {
        ImageHeap::Log(heap) => heap.sector_info(reference)?.sections as usize + 1,
        ImageHeap::TinyStore(heap) => heap.list_info(reference)?.records,
    })
}

fn row(reference: Ref, info: &Info, pieces: usize) -> [String; 6] {
    let kind = match info.kind {
        Kind::Object => "object",
        Kind::Array => "array",
    };
    [
        reference.to_string(),
        kind.to_owned(),
        info.count.to_string(),
        info.data_bytes.to_string(),
        info.header_bytes.to_string(),
        pieces.to_string(),
    ]
}

fn read_value(heap: &mut ImageHeap<'_>, reference: Ref, kind: Kind, index: usize) -> Result<Vec<u8>, HeapFailure> {
    let mut value = vec![0; heap.width(reference, index)?];
    match kind {
        Kind::Object => heap.get_field(reference, index, &mut value)?,
        Kind::Array => heap.array_load(reference, index, &mut value)?,
    }
    Ok(value)
}

/// The settings that only TinyStore's structure has.
fn report_settings(heap: &TinyStoreHeap<'_>, report: &mut Report) {
    let config = heap.config();
    report.number("list length", config.list_length_max).number("array threshold", config.array_threshold);
    report.number("log units", config.log_units).number("wear period", config.wear_period);
    let has_flags = config.initialization_flags == InitializationFlags::On;
    let has_deltas = config.delta_records == DeltaRecords::On;
    for (title, is_on) in [("initialization flags", has_flags), ("delta records", has_deltas)] {
        report.described(title, if is_on { "on" } else { "off" }, is_on);
    }
}

fn report_remap(remap: &Remapped<'_>, report: &mut Report) {
    let spare = remap.spare().map_or("no spare is left".to_owned(), |unit| format!("spare is {unit}"));
    let retired: Vec<u16> = remap.retired_units().map(|unit| unit.0).collect();
    let listed: Vec<String> = retired.iter().map(u16::to_string).collect();
    let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
    let NorPart { unit_count, unit_size_bytes, .. } = remap.part();
    let text = format!("{unit_count} virtual units of {unit_size_bytes} bytes, {spare}, retired units {listed}");
    let spare = remap.spare().map(|unit| unit.0);
    let value = json!({ "units": unit_count, "unit_bytes": unit_size_bytes, "spare": spare, "retired_units": retired });
    report.described("remapped", text, value);
}
