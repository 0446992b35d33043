//! `norn heap dump`: what is in each erase unit, and the entries of the log.

use std::path::Path;

use norn_flash::EraseUnit;
use norn_flash_sim::NorSim;
use norn_nor_store::Role;
use norn_nor_store::format::Entry;

use crate::error::Error;
use crate::image::{self, ImageHeap};
use crate::raw_unit::{LogSlot, RawUnit, Sectors};
use crate::table::{Side, table, text};

/// The image's units and log as text.
///
/// # Errors
/// When the image or the heap cannot be opened or read.
pub fn dump(image: &Path) -> Result<String, Error> {
    let mut device = NorSim::open_image(image)?;
    let dumped = image::mount(&mut device).map(|mut heap| {
        heap.device_mut().freeze_counters();
        let dumped = format!("{}\n{}", units_text(&heap), log_text(&heap));
        heap.device_mut().thaw_counters();
        dumped
    });
    dumped.map_err(|failure| failure.in_image(image))
}

fn units_text(heap: &ImageHeap<'_>) -> String {
    let mut units = table([
        ("Unit", Side::Right),
        ("Address", Side::Right),
        ("Role", Side::Left),
        ("Logical", Side::Right),
        ("Log number", Side::Right),
        ("Erases", Side::Right),
        ("By header", Side::Right),
        ("Sectors", Side::Right),
        ("Live bytes", Side::Right),
        ("Obsolete", Side::Right),
    ]);
    for (unit, erases) in image::units(heap).zip(heap.device().erase_counts()) {
        units.add_row(row(heap, unit, erases));
    }
    text(&units)
}

/// A unit's row; the cells of what it does not have are empty.
fn row(heap: &ImageHeap<'_>, unit: EraseUnit, erases: u32) -> [String; 10] {
    let raw = RawUnit::new(heap.device(), unit);
    let header_erases = raw.identity().map_or("none".to_owned(), |identity| identity.erase_count.to_string());
    let mut row = std::array::from_fn(|_| String::new());
    (row[0], row[1]) = (unit.0.to_string(), raw.start().to_string());
    row[2] = role_name(heap.store().role(unit)).to_owned();
    (row[5], row[6]) = (erases.to_string(), header_erases);
    match (heap.store().role(unit), raw.assignment()) {
        (Role::Data(logical), _) => {
            let Sectors { live, live_bytes, obsolete_bytes } = raw.sectors();
            row[3] = logical.0.to_string();
            (row[7], row[8], row[9]) = (live.to_string(), live_bytes.to_string(), obsolete_bytes.to_string());
        }
        (Role::Log, Some(Entry::LogUnit { sequence })) => row[4] = sequence.to_string(),
        _ => {}
    }
    row
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Free => "free",
        Role::Log => "log",
        Role::Data(_) => "data",
        Role::Scratch | Role::ScratchInUse => "scratch",
        Role::Busy => "busy",
    }
}

/// The entries of each log unit; behind a mount there is one, the newest.
fn log_text(heap: &ImageHeap<'_>) -> String {
    let log_units = image::units(heap).filter(|&unit| heap.store().role(unit) == Role::Log);
    log_units.map(|unit| log_unit_text(&RawUnit::new(heap.device(), unit))).collect()
}

fn log_unit_text(raw: &RawUnit<'_>) -> String {
    let mut text = format!("Log in {}\n", raw.unit());
    for (index, slot) in raw.log().enumerate() {
        text += &match slot {
            LogSlot::Entry(entry) => format!("{index:>6}  {entry:?}\n"),
            LogSlot::Torn(bytes) => format!("{index:>6}  torn: {:#018x}\n", u64::from_le_bytes(bytes)),
        };
    }
    text
}
