//! `norn heap show`: roots, objects and arrays, and the state of the part, as tables.

use std::fmt::Write;

use norn_flash::{Nor, NorPart};
use norn_flash_sim::NorSim;
use norn_heap::{Info, Kind, ObjectHeap, Ref};
use norn_heap_image::{HeapFailure, ImageHeap, Part, Remapped, TinyStoreHeap, mount};
use norn_object_heap::{DeltaRecords, InitializationFlags};

use crate::error::Error;
use crate::opening::Source;
use crate::part_text::report_part;
use crate::report::Report;
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
    let mut report = Report::new(10);
    let footnote = if objects.is_empty() { "" } else { REFERENCES };
    report.table("roots", roots, "No roots.").text("\n");
    report.table("objects", objects, "No objects.").text(format!("{footnote}{contents}\n"));
    report.value("engine", heap.engine());
    if let ImageHeap::TinyStore(heap) = &heap {
        report.value("heap", settings_text(heap));
    }
    if let Part::Remapped(remap) = heap.device() {
        report.value("remapped", remap_text(remap));
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

/// The objects, and what is in them if that is listed.
fn objects(heap: &mut ImageHeap<'_>, values: Values) -> Result<(Rows, String), HeapFailure> {
    let mut objects = table([
        ("Reference", Side::Left),
        ("Kind", Side::Left),
        ("Fields", Side::Right),
        ("Data bytes", Side::Right),
        ("Header bytes", Side::Right),
        (pieces_title(heap), Side::Right),
    ]);
    let mut contents = String::new();
    let mut after = None;
    while let Some(reference) = heap.next_object(after)? {
        let info = heap.info(reference)?;
        objects.add_row(row(reference, &info, pieces(heap, reference)?));
        if values == Values::Hexadecimal {
            contents += &contents_text(heap, reference, &info)?;
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

fn contents_text(heap: &mut ImageHeap<'_>, reference: Ref, info: &Info) -> Result<String, HeapFailure> {
    let mut contents = format!("\n{reference}\n");
    if info.header_bytes > 0 {
        let mut header = vec![0; info.header_bytes];
        heap.read_header(reference, &mut header)?;
        contents += &format!("  header  {}\n", hexadecimal(&header));
    }
    for index in 0..info.count {
        let value = read_value(heap, reference, info.kind, index)?;
        contents += &format!("  {index:>6}  {}\n", hexadecimal(&value));
    }
    Ok(contents)
}

fn read_value(heap: &mut ImageHeap<'_>, reference: Ref, kind: Kind, index: usize) -> Result<Vec<u8>, HeapFailure> {
    let mut value = vec![0; heap.width(reference, index)?];
    match kind {
        Kind::Object => heap.get_field(reference, index, &mut value)?,
        Kind::Array => heap.array_load(reference, index, &mut value)?,
    }
    Ok(value)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}"); // A string takes everything.
        digits
    })
}

fn settings_text(heap: &TinyStoreHeap<'_>) -> String {
    let config = heap.config();
    let flags = match config.initialization_flags {
        InitializationFlags::On => "on",
        InitializationFlags::Off => "off",
    };
    let (length, threshold) = (config.list_length_max, config.array_threshold);
    let (units, period) = (config.log_units, config.wear_period);
    let detection = if config.error_detection.is_on() { "on" } else { "off" };
    let form = format!("list length {length}, initialization flags {flags}, array threshold {threshold}");
    let deltas = if config.delta_records == DeltaRecords::On { "on" } else { "off" };
    let codes = format!("error detection {detection}, delta records {deltas}");
    format!("{form}, log units {units}, wear period {period}, {codes}")
}

fn remap_text(remap: &Remapped<'_>) -> String {
    let spare = remap.spare().map_or("no spare is left".to_owned(), |unit| format!("spare is {unit}"));
    let retired: Vec<String> = remap.retired_units().map(|unit| unit.0.to_string()).collect();
    let retired = if retired.is_empty() { "none".to_owned() } else { retired.join(", ") };
    let NorPart { unit_count, unit_size_bytes, .. } = remap.part();
    format!("{unit_count} virtual units of {unit_size_bytes} bytes, {spare}, retired units {retired}")
}
