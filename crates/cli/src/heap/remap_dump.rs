//! The layer below a heap, where there is one: its virtual part as a part of its own, and what its physical units say.

use std::fmt::{self, Display};
use std::ops::Range;

use norn_flash::{Address, EraseUnit, Nor};
use norn_flash_sim::{NorSim, PartSpec};
use norn_heap_image::{HeapFailure, Part, Remapped};
use norn_nor_remap::format::{HEADER_BYTES, Header, Role, STATE_BYTES, STATE_PLACES, State};

use serde_json::{Value, json};

use crate::report::Report;
use crate::table::{Side, table};

/// The virtual part as a simulated part with the same cells.
///
/// # Errors
/// The device's.
pub fn virtual_part(remap: &mut Remapped<'_>) -> Result<NorSim, HeapFailure> {
    let part = remap.part();
    let mut bytes = vec![0; part.size_bytes() as usize];
    remap.device_mut().freeze_counters();
    let read = remap.read(Address(0), &mut bytes);
    remap.device_mut().thaw_counters();
    read.map_err(|error| HeapFailure::Store(norn_heap::StoreError::Device(error.into())))?;
    let spec = PartSpec { part, ..remap.device().spec().clone() };
    Ok(NorSim::from_cells(spec, &bytes))
}

/// Where each virtual unit is.
pub fn homes(remap: &Remapped<'_>) -> Report {
    let mut homes = table([
        ("Virtual unit", Side::Right),
        ("Physical unit", Side::Right),
        ("Erases", Side::Right),
        ("Changes", Side::Right),
        ("of at most", Side::Right),
    ]);
    let erases: Vec<u32> = remap.device().erase_counts().collect();
    for unit in (0..remap.part().unit_count).map(EraseUnit) {
        let home = remap.home(unit).map_or(0, |home| home.0);
        let (used, most) = remap.deltas(unit);
        let cells = [u32::from(unit.0), u32::from(home), erases[usize::from(home)], used, most];
        homes.add_row(cells.map(|number| number.to_string()));
    }
    let mut report = Report::default();
    report.text("\n").table("homes", homes, "");
    report
}

/// What the header of each of these physical units says, and the states of the spare after it, of which those in the
/// unit with the highest generation count.
pub fn headers(device: &NorSim, numbers: Range<u16>) -> Report {
    let mut units = table([
        ("Unit", Side::Right),
        ("Role", Side::Left),
        ("Generation", Side::Right),
        ("Erases", Side::Right),
        ("By header", Side::Right),
        ("Spare in this header", Side::Left),
    ]);
    for number in numbers {
        let erases = device.erase_counts().nth(usize::from(number)).unwrap_or(0);
        let unit = EraseUnit(number);
        let start = device.spec().part.start_of(unit);
        let bytes = device.peek(start, HEADER_BYTES as usize).try_into().expect("as many as were asked for");
        let Some(header) = Header::decode(&bytes) else {
            let cells = [number.to_string(), "no header".to_owned(), String::new(), erases.to_string()];
            units.add_row_with(cells, json!({ "unit": number, "role": "no header", "erases": erases }));
            continue;
        };
        let (role, role_name, home_of) = match header.role {
            Role::Home(unit) => (format!("home of virtual unit {unit}"), "home", Some(unit)),
            Role::Formatting => ("formatting".to_owned(), "formatting", None),
        };
        let states = states(device, unit);
        let texts: Vec<String> = states.iter().map(SpareState::to_string).collect();
        let spare = format!("{}: {}", header.spare, texts.join(", "));
        let (generation, count) = (header.generation.to_string(), header.erase_count.to_string());
        let value = json!({
            "unit": number,
            "role": role_name,
            "home_of": home_of,
            "generation": header.generation,
            "erases": erases,
            "by_header": header.erase_count,
            "spare": header.spare.0,
            "spare_states": states.iter().map(SpareState::value).collect::<Vec<_>>(),
        });
        units.add_row_with([number.to_string(), role, generation, erases.to_string(), count, spare], value);
    }
    let mut report = Report::default();
    report.table("units", units, "");
    report
}

/// What a place after a unit's header says of the spare, and of which unit.
struct SpareState(&'static str, Option<EraseUnit>);

impl Display for SpareState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpareState(state, Some(unit)) => write!(f, "{unit} {state}"),
            SpareState(state, None) => f.write_str(state),
        }
    }
}

impl SpareState {
    fn value(&self) -> Value {
        json!({ "state": self.0, "unit": self.1.map(|unit| unit.0) })
    }
}

/// The states after a unit's header.
fn states(device: &NorSim, unit: EraseUnit) -> Vec<SpareState> {
    let stride = u32::from(device.spec().part.program_unit_bytes).max(STATE_BYTES as u32);
    let place = |place| device.spec().part.start_of(unit).offset(HEADER_BYTES + (1 + place) * stride);
    let mut found = vec![SpareState("being erased", None)];
    for address in (0..STATE_PLACES).map(place) {
        let bytes: [u8; STATE_BYTES] = device.peek(address, STATE_BYTES).try_into().expect("as many as asked for");
        match State::decode(&bytes) {
            Some(State::Ready(unit, _)) => found.push(SpareState("ready", Some(unit))),
            Some(State::Erasing(unit, _)) => found.push(SpareState("being erased", Some(unit))),
            None if bytes == [0xFF; STATE_BYTES] => {}
            None => found.push(SpareState("torn", None)),
        }
    }
    found
}

/// The `Remap` of a part, if there is one.
pub fn remap_of<'a, 'b>(part: &'b mut Part<'a>) -> Option<&'b mut Remapped<'a>> {
    match part {
        Part::Direct(_) => None,
        Part::Remapped(remap) => Some(remap),
    }
}
