//! `norn heap dump`: what is in each erase unit, and the entries of the log; or one unit in full.
//!
//! Everything is decoded from the cells, so that a heap that was mounted before and one that cannot be mounted are
//! shown alike; but what is live in a log-structured heap, only its mount finds out. Of a heap on a `Remap` the
//! virtual part is shown, and where its units are; raw, the headers of the physical units.

use std::path::Path;

use norn_flash_sim::{NorSim, SimError};
use norn_heap_image::{Engine, HeapFailure, ImageHeap, is_remapped, mount};
use norn_nor_store::format::{FORMAT_VERSION, HEADER_BYTES};
use serde_json::json;

use crate::error::Error;
pub use crate::heap::extent::Extent;
use crate::heap::log_units::{self, Live};
use crate::heap::raw_unit::{Purpose, RawUnit, Sectors, unit_of, units_of};
use crate::heap::remap_dump::{self, homes, remap_of, virtual_part};
use crate::heap::unit_detail::{log_table, unit};
use crate::opening::Source;
use crate::report::{Report, rows};
use crate::table::{Rows, Side, table, text};

/// What is done before a look at the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// The heap is mounted, which recovers what a power cut interrupted.
    Mount,
    /// Nothing: the image is shown as it is.
    Nothing,
}

/// The image's units and log, or one unit, for people and programs.
///
/// # Errors
/// When the image cannot be opened, has no such unit, or the heap in it cannot be mounted.
pub fn dump(source: &Source, before: Before, extent: Extent) -> Result<Report, Error> {
    let (image, mut device) = (&*source.image, source.read_nor()?);
    let failed = |failure: HeapFailure| failure.in_image(image);
    let is_remapped = is_remapped(&mut device).unwrap_or_default();
    if before == Before::Nothing || !is_remapped {
        expect_units(&device, image, extent)?;
    }
    if before == Before::Nothing && is_remapped {
        return Ok(match extent {
            Extent::Units => remap_dump::headers(&device, 0..device.spec().part.unit_count),
            Extent::Unit(unit) => remap_dump::headers(&device, unit.0..unit.0 + 1),
        });
    }
    if before == Before::Mount {
        let mut heap = mount(&mut device).map_err(failed)?;
        let live = match &mut heap {
            ImageHeap::Log(heap) => Some(Live::of(heap, extent).map_err(|failure| failed(failure.into()))?),
            ImageHeap::TinyStore(_) => None,
        };
        if let Some(remap) = remap_of(heap.device_mut()) {
            let virtual_part = virtual_part(remap).map_err(failed)?;
            expect_units(&virtual_part, image, extent)?;
            let mut report = dump_cells(&virtual_part, extent, live.as_ref());
            report.append(homes(remap));
            return Ok(report);
        }
        drop(heap);
        return Ok(dump_cells(&device, extent, live.as_ref()));
    }
    let live = (engine_of(&mut device) == Engine::Log).then(Live::default);
    Ok(dump_cells(&device, extent, live.as_ref()))
}

fn engine_of(device: &mut NorSim) -> Engine {
    device.freeze_counters();
    // A simulated part whose power is on reads every address that it has.
    let engine = Engine::of(device).unwrap_or(Engine::TinyStore);
    device.thaw_counters();
    engine
}

/// `live` is of a log-structured heap; without it the cells are taken for those of TinyStore's structure.
fn dump_cells(device: &NorSim, extent: Extent, live: Option<&Live>) -> Report {
    match (extent, live) {
        (_, Some(live)) => log_units::dump(device, extent, live),
        (Extent::Units, None) => units_and_logs(device),
        (Extent::Unit(number), None) => unit(&unit_of(device, number)),
    }
}

/// The cells are looked at only where there are some.
fn expect_units(device: &NorSim, image: &Path, extent: Extent) -> Result<(), Error> {
    let part = &device.spec().part;
    match extent {
        _ if part.unit_size_bytes <= HEADER_BYTES => {
            Err(Error::TinyUnits { image: image.to_owned(), unit_size_bytes: part.unit_size_bytes })
        }
        Extent::Unit(unit) if unit.0 >= part.unit_count => Err(Error::NoSuchUnit {
            image: image.to_owned(),
            source: SimError::NoSuchUnit { unit, unit_count: part.unit_count },
        }),
        _ => Ok(()),
    }
}

fn units_and_logs(device: &NorSim) -> Report {
    let mut report = Report::default();
    report.table("units", units(device), "").text(newer_text(device));
    report_logs(device, &mut report);
    report
}

fn units(device: &NorSim) -> Rows {
    let mut units = table([
        ("Unit", Side::Right),
        ("Address", Side::Right),
        ("Role", Side::Left),
        ("Logical", Side::Right),
        ("Sequence", Side::Right),
        ("Erases", Side::Right),
        ("By identity", Side::Right),
        ("Live sectors", Side::Right),
        ("Live bytes", Side::Right),
        ("Obsolete bytes", Side::Right),
    ])
    .folded_beyond(2);
    for (raw, erases) in units_of(device).zip(device.erase_counts()) {
        units.add_row(row(&raw, erases));
    }
    units
}

/// A unit's row; the cells of what it does not have are empty.
fn row(raw: &RawUnit, erases: u32) -> [String; 10] {
    let mut row = std::array::from_fn(|_| String::new());
    let identity_erases = raw.identity().map_or(String::new(), |identity| identity.erase_count.to_string());
    (row[0], row[1]) = (raw.unit().0.to_string(), raw.start().to_string());
    row[2] = raw.purpose().name().to_owned();
    (row[5], row[6]) = (erases.to_string(), identity_erases);
    match raw.purpose() {
        Purpose::Data(logical) => {
            let Sectors { live, live_bytes, obsolete_bytes } = raw.sectors();
            row[3] = logical.0.to_string();
            (row[7], row[8], row[9]) = (live.to_string(), live_bytes.to_string(), obsolete_bytes.to_string());
        }
        Purpose::Log(sequence) => row[4] = sequence.to_string(),
        Purpose::NoIdentity | Purpose::Free | Purpose::Scratch | Purpose::Torn => {}
    }
    row
}

/// A warning where a unit may mean something else than what is shown.
fn newer_text(device: &NorSim) -> String {
    let versions = units_of(device).filter_map(|raw| raw.identity()).map(|identity| identity.version);
    match versions.max() {
        Some(version) if version > FORMAT_VERSION => format!(
            "\nThe identities say format version {version}, which is newer than this program's ({FORMAT_VERSION}): \
             what is shown may be wrong.\n"
        ),
        _ => String::new(),
    }
}

/// The entries of each log unit; after a mount there is one, the newest.
fn report_logs(device: &NorSim, report: &mut Report) {
    let log_units = units_of(device).filter_map(|raw| match raw.purpose() {
        Purpose::Log(sequence) => Some((sequence, raw)),
        _ => None,
    });
    let mut logs = Vec::new();
    for (sequence, raw) in log_units {
        let entries = log_table(&raw);
        let shown = if entries.is_empty() { "No entries.\n".to_owned() } else { text(&entries) };
        report.text(format!("\nLog in {}, sequence number {sequence}\n{shown}", raw.unit()));
        logs.push(json!({ "unit": raw.unit().0, "sequence": sequence, "entries": rows(&entries) }));
    }
    report.datum("logs", logs);
}
