//! `norn log dump`: what is in each erase unit; or one unit in full, cell by cell.
//!
//! Everything is decoded from the cells, so that a log that was mounted before and one that cannot be mounted are shown
//! alike.

use norn_explorer::index::texts::{role_text, state_name, state_text};
use norn_flash::{EraseUnit, NorPart};
use norn_flash_sim::{NorSim, SimError};
use norn_ordered_index::fat_list::format::{CellState, Filling, Identity, Kind, Stamp};
use norn_ordered_index::fat_list::inspection::{RawBlock, RawCell, Role, SlotState};
use norn_sensor_log::{Seconds, SensorLog};
use serde_json::{Value, json};

use crate::error::Error;
use crate::heap::dump::{Before, Extent};
use crate::log::failure::LogFailure;
use crate::log::moment::Timestamp;
use crate::opening::Source;
use crate::report::{Report, digits_of, row_value};
use crate::table::{Rows, Side, table};

const POINTERS: &str = "A pointer 0:3.17 leads on level 0 to turnstile 3, cell 17 of its blocks.\n";

/// The image's units, or one unit, for people and programs.
///
/// # Errors
/// When the image cannot be opened, has no such unit, or the log in it cannot be mounted.
pub fn dump(source: &Source, before: Before, extent: Extent) -> Result<Report, Error> {
    let (image, mut device) = (&*source.image, source.read_nor()?);
    let unit_count = device.spec().part.unit_count;
    if let Extent::Unit(unit) = extent
        && unit.0 >= unit_count
    {
        return Err(Error::NoSuchUnit { image: image.to_owned(), source: SimError::NoSuchUnit { unit, unit_count } });
    }
    if before == Before::Mount {
        // A mount and no more: to put the log to sleep may move its head, and use cells.
        let mounted = SensorLog::mount(&mut device).map(drop);
        mounted.map_err(|error| LogFailure::Mount(error).in_image(image))?;
    }
    let mut report = Report::new(10);
    match extent {
        Extent::Units => report.table("units", units(&device), "").text("Live, dead and free are cells.\n"),
        Extent::Unit(unit) => report_unit(&Chip::of(&device), unit, &mut report),
    };
    Ok(report)
}

/// The bytes of a part.
struct Chip {
    part: NorPart,
    cells: Vec<u8>,
}

impl Chip {
    fn of(device: &NorSim) -> Chip {
        Chip { part: device.spec().part, cells: device.cells() }
    }

    fn block(&self, unit: EraseUnit) -> RawBlock<'_> {
        let (start, bytes) = (self.part.start_of(unit).0 as usize, self.part.unit_size_bytes as usize);
        RawBlock::new(&self.part, unit, &self.cells[start..start + bytes])
    }

    fn blocks(&self) -> impl Iterator<Item = RawBlock<'_>> {
        (0..self.part.unit_count).map(|unit| self.block(EraseUnit(unit)))
    }

    /// The unit that now holds the cells of `raw`, if its erase was cut.
    fn successor(&self, raw: &RawBlock<'_>) -> Option<EraseUnit> {
        self.blocks().find(|other| other.holds_cells_of(raw)).map(|other| other.unit())
    }
}

fn units(device: &NorSim) -> Rows {
    let chip = Chip::of(device);
    let mut units = table([
        ("Unit", Side::Right),
        ("Address", Side::Right),
        ("Role", Side::Left),
        ("Erases", Side::Right),
        ("By identity", Side::Right),
        ("Live", Side::Right),
        ("Dead", Side::Right),
        ("Free", Side::Right),
        ("Readings", Side::Right),
        ("From", Side::Left),
        ("To", Side::Left),
    ])
    .folded_beyond(2);
    for (raw, erases) in chip.blocks().zip(device.erase_counts()) {
        let cells = row(&chip, &raw, erases);
        let mut value = row_value(&units, &cells);
        value["role"] = role_value(&chip, &raw);
        units.add_row_with(cells, value);
    }
    units
}

/// A unit's row; the cells of what it does not have are empty.
fn row(chip: &Chip, raw: &RawBlock<'_>, erases: u32) -> [String; 11] {
    let mut row = std::array::from_fn(|_| String::new());
    let by_identity = raw.identity().map_or(String::new(), |identity| identity.erase_count.to_string());
    (row[0], row[1]) = (raw.unit().0.to_string(), raw.start().to_string());
    (row[2], row[3], row[4]) = (role_text(raw.role(), chip.successor(raw)), erases.to_string(), by_identity);
    if let (Role::InUse(_) | Role::Filling(_), Some(identity)) = (raw.role(), raw.identity()) {
        let count = |is: fn(&CellState) -> bool| raw.cells().filter(|cell| is(&cell.state())).count().to_string();
        row[5] = count(|state| matches!(state, CellState::Live(_)));
        row[6] = count(|state| !matches!(state, CellState::Live(_) | CellState::Free));
        row[7] = count(|state| *state == CellState::Free);
        let keys: Vec<&[u8]> = raw.cells().filter(is_object).flat_map(|cell| keys_of(&cell)).collect();
        row[8] = keys.len().to_string();
        row[9] = keys.iter().min().map_or(String::new(), |key| key_text(key, &identity));
        row[10] = keys.iter().max().map_or(String::new(), |key| key_text(key, &identity));
    }
    row
}

fn is_object(cell: &RawCell<'_>) -> bool {
    matches!(cell.state(), CellState::Live(stamp) if stamp.kind != Kind::Head)
}

/// The keys of the slots that count.
fn keys_of<'c>(cell: &RawCell<'c>) -> impl Iterator<Item = &'c [u8]> + use<'c> {
    cell.slots().filter(|slot| slot.state == SlotState::Counts).map(|slot| slot.key)
}

/// What a unit is, for programs.
fn role_value(chip: &Chip, raw: &RawBlock<'_>) -> Value {
    match raw.role() {
        Role::NoIdentity => json!({ "is": "no identity" }),
        Role::OtherVersion(version) => json!({ "is": "other version", "version": version }),
        Role::Void => json!({ "is": "void" }),
        Role::Spare => json!({ "is": "spare" }),
        Role::MoveBegun => json!({ "is": "torn" }),
        Role::Filling(Filling { from, .. }) => json!({ "is": "being filled", "moved_from": from }),
        Role::InUse(Filling { from, erase_count, .. }) => {
            let is_filled = from != raw.unit().0;
            json!({
                "is": "in use",
                "moved_from": is_filled.then_some(from),
                "moved_after_erases": is_filled.then_some(erase_count),
                "moved_to": chip.successor(raw).map(|unit| unit.0),
            })
        }
    }
}

fn report_unit<'r>(chip: &Chip, unit: EraseUnit, report: &'r mut Report) -> &'r mut Report {
    let raw = &chip.block(unit);
    let (number, start, size) = (raw.unit().0, raw.start(), raw.size_bytes());
    let identity = raw.identity().map_or("none whole".to_owned(), |identity| identity_text(&identity));
    let role = match raw.role() {
        Role::NoIdentity => "never formatted, or its erase was cut".to_owned(),
        Role::OtherVersion(version) => format!("of version {version} of the format, which is not shown"),
        Role::Void => "a format has begun and has not reached it".to_owned(),
        Role::Spare => "the spare block of its turnstile".to_owned(),
        Role::MoveBegun => "a move to it was to begin: its record is torn".to_owned(),
        Role::Filling(filling) => format!("unit {} is being moved here", filling.from),
        Role::InUse(filling) if filling.from == number => "in use; nothing was moved here".to_owned(),
        Role::InUse(filling) => {
            format!("in use; unit {} was moved here after {} erases of it", filling.from, filling.erase_count)
        }
    };
    report.measure("unit", number.into(), format!(", {size} bytes at {start}"));
    report.datum("address", start.0).datum("bytes", size);
    report.described("identity", identity, raw.identity().map(|identity| identity_value(&identity)));
    report.described("role", role, role_value(chip, raw)).text("\n");
    if let Some(identity) = raw.identity() {
        let cells = cells(raw, &identity);
        let footnote = if cells.is_empty() { "" } else { POINTERS };
        report.table("cells", cells, "No cells.").text(footnote);
    }
    report
}

fn identity_text(identity: &Identity) -> String {
    let Identity { key_bytes, value_bytes, unit_count, unit_size_bytes, erase_count, .. } = identity;
    let [blocks, levels, slots, keys, pool] = identity.settings;
    let values = match identity.log_bytes {
        0 => format!("values of {value_bytes}"),
        log_bytes => format!("values of varying length, up to {value_bytes}, in logs of {log_bytes}"),
    };
    format!(
        "keys of {key_bytes} bytes, {values}, turnstiles of {blocks} blocks, {levels} levels, objects of \
         {slots} slots and {keys} keys, pools of {pool}; {unit_count} units of {unit_size_bytes} bytes, erase count \
         {erase_count}"
    )
}

fn identity_value(identity: &Identity) -> Value {
    let [blocks, levels, slots, keys, pool] = identity.settings;
    json!({
        "key_bytes": identity.key_bytes,
        "value_bytes": identity.value_bytes,
        "log_bytes": identity.log_bytes,
        "turnstile_blocks": blocks,
        "levels": levels,
        "slots": slots,
        "keys": keys,
        "pool_pointers": pool,
        "units": identity.unit_count,
        "unit_bytes": identity.unit_size_bytes,
        "erase_count": identity.erase_count,
    })
}

fn cells(raw: &RawBlock<'_>, identity: &Identity) -> Rows {
    let mut cells = table([
        ("Cell", Side::Right),
        ("Address", Side::Right),
        ("State", Side::Left),
        ("Low key", Side::Left),
        ("Replaces", Side::Left),
        ("Partner", Side::Left),
        ("Readings", Side::Right),
        ("Obsolete", Side::Right),
        ("Torn", Side::Right),
        ("Pointers", Side::Left),
    ]);
    for cell in raw.cells() {
        let row = cell_row(&cell, identity);
        let mut value = row_value(&cells, &row);
        value["state"] = state_value(cell.state());
        value["pointers"] = pointers_of(&cell).into();
        cells.add_row_with(row, value);
    }
    cells
}

fn cell_row(cell: &RawCell<'_>, identity: &Identity) -> [String; 10] {
    let mut row = std::array::from_fn(|_| String::new());
    (row[0], row[1], row[2]) = (cell.number.to_string(), cell.address.to_string(), state_text(cell.state()));
    if matches!(cell.state(), CellState::Free) {
        return row;
    }
    let name = |cell: Option<(u16, u16)>| cell.map_or(String::new(), |(unit, number)| format!("{unit}.{number}"));
    (row[4], row[5]) = (name(cell.replaces()), name(cell.partner()));
    if !matches!(cell.state(), CellState::Live(Stamp { kind: Kind::Head, .. })) {
        row[3] = key_text(cell.low_key(), identity);
        let count = |state| cell.slots().filter(|slot| slot.state == state).count().to_string();
        (row[6], row[7]) = (count(SlotState::Counts), count(SlotState::Obsolete));
        row[8] = count(SlotState::Torn);
    }
    row[9] = pointers_of(cell).join(" ");
    row
}

/// For each level the last pointer.
fn pointers_of(cell: &RawCell<'_>) -> Vec<String> {
    let pointers = (0..).zip(cell.pointers());
    pointers.filter_map(|(level, to)| Some(format!("{level}:{}.{}", to?.turnstile, to?.index))).collect::<Vec<_>>()
}

fn state_value(state: CellState) -> Value {
    let mut value = json!({ "is": state_name(state) });
    if let CellState::Live(Stamp { level, settled, doomed, .. }) = state {
        value["level"] = level.into();
        (value["is_settled"], value["is_doomed"]) = (settled.into(), doomed.into());
    }
    value
}

/// A key as the time that it is in a log; in hexadecimal digits in another index.
fn key_text(key: &[u8], identity: &Identity) -> String {
    match <[u8; 4]>::try_from(key) {
        Ok(bytes) if identity.value_bytes == 4 && identity.log_bytes == 0 => {
            Timestamp(Seconds::from_be_bytes(bytes)).to_string()
        }
        _ => digits_of(key),
    }
}
