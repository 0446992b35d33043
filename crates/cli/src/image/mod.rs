//! `norn image`: what files hold, images of chips' dumps, and files for chips' programmers ([`export`]).

pub mod arguments;
pub mod export;

use std::path::Path;

use norn_embedded::PartContent;
use norn_flash::{Nand, Nor, Recognised, TenantKind};
use norn_flash_sim::{ImageKind, NorSim};
use norn_heap_image::{Engine, mount};
use serde_json::{Value, json};

use crate::error::Error;
use crate::opening::explanation::{Contents, Opener, Undetected};
use crate::opening::region::Region;
use crate::opening::{Opened, Source};
use crate::report::Report;
use arguments::kind_text;

/// Says what a file holds.
///
/// # Errors
/// When it cannot be read, is empty, or is not of the part that is named.
pub fn show(source: &Source) -> Result<Report, Error> {
    let kind = ImageKind::of(&source.image).ok().flatten();
    let opened = match source.read() {
        Err(error) if kind.is_none() && source.part.is_none() && error.is_refusal() => {
            return show_undetected(source)?.ok_or(error);
        }
        opened => opened?,
    };
    let (file, form, regions) = match kind {
        Some(kind) => (kind_text(kind), "simulator", Vec::new()),
        None => dump_form(source)?,
    };
    let possible = source.possible_parts()?;
    let part = match kind {
        None if source.part.is_none() => detected_text(&opened, &possible),
        _ => part_text(&opened),
    };
    let (name, pieces, piece_bytes) = geometry(&opened);
    let (contents, heaps): (Contents, Vec<Option<(Engine, bool)>>) = match opened {
        Opened::Nor(part) => {
            let contents = Contents::of_nor(&part);
            let heaps = contents.ranges().iter().map(|content| heap_on(&part, content)).collect();
            (contents, heaps)
        }
        Opened::Nand(mut part) => (Contents::of_nand(&mut part), Vec::new()),
    };
    let (holds, image) = (contents.explanation(source, Opener::Image), source.image.display());
    let mut report = Report::default();
    report.text(format!("{image}: {file}\npart  {part}\n{holds}\n"));
    let mut values = contents.values();
    for ((heap, value), content) in heaps.into_iter().zip(&mut values).zip(contents.ranges()) {
        let Some((engine, detects)) = heap else { continue };
        let of = content.entry.map_or(String::new(), |entry| format!("{}: ", entry.name().escape_ascii()));
        report.text(format!("{of}engine  {engine}\n{of}error detection  {}\n", if detects { "on" } else { "off" }));
        value["heap"] = json!({ "engine": engine.to_string(), "error_detection": detects });
    }
    report.datum("form", form).datum("regions", regions);
    report.datum("part", name).datum("possible_parts", possible);
    report.datum("erase_units", pieces).datum("erase_unit_bytes", piece_bytes);
    report.datum("state", contents.state()).datum("contents", values);
    Ok(report)
}

/// The engine of a heap in a range of a part, and whether it notices flipped bits; none where no heap mounts.
fn heap_on(part: &NorSim, content: &PartContent) -> Option<(Engine, bool)> {
    let is_heap = |found: &Recognised| matches!(found.kind, TenantKind::HEAP | TenantKind::REMAP);
    content.recognised.as_ref().ok()?.as_ref().filter(|found| is_heap(found))?;
    let mut part = part.with_units(content.range.clone());
    let heap = mount(&mut part).ok()?;
    Some((heap.engine(), heap.error_detection().is_on()))
}

/// What can be said of a dump of which no part is detected; nothing of a file without bytes.
fn show_undetected(source: &Source) -> Result<Option<Report>, Error> {
    let ((file, form, regions), piece) = (dump_form(source)?, source.bytes()?);
    if piece.bytes.is_empty() {
        return Ok(None);
    }
    let holds = Undetected::of(&piece);
    let mut report = Report::default();
    report.text(format!("{}: {file}\npart  not detected: --part NAME says which\n{holds}\n", source.image.display()));
    report.datum("form", form).datum("regions", regions).datum("part", Value::Null);
    report.datum("state", holds.state()).datum("contents", Vec::<Value>::new());
    Ok(Some(report))
}

/// The form of a dump, for people and programs, and where it has bytes.
fn dump_form(source: &Source) -> Result<(String, &'static str, Vec<Value>), Error> {
    let dump = source.dump()?;
    let regions = dump.regions();
    let texts: Vec<String> = regions.iter().map(|region| format!("{} bytes at {region}", region.len())).collect();
    let regions = regions.iter().map(|Region { start, end }| json!({ "start": start, "end": end })).collect();
    Ok((format!("{}, {}", dump.form, texts.join(", ")), dump.form.name(), regions))
}

/// A part's name, how many erase units or blocks it has, and bytes of one.
fn geometry(opened: &Opened) -> (String, u16, u32) {
    match opened {
        Opened::Nor(part) => (part.spec().name.clone(), part.part().unit_count, part.part().unit_size_bytes),
        Opened::Nand(part) => {
            let geometry = Nand::part(part);
            (part.spec().name.clone(), geometry.block_count, geometry.block_bytes())
        }
    }
}

fn part_text(opened: &Opened) -> String {
    let (name, pieces, piece_bytes) = geometry(opened);
    let what = if matches!(opened, Opened::Nor(_)) { "units" } else { "blocks" };
    format!("{name}, {pieces} {what} of {piece_bytes} bytes")
}

/// The same of a part that was detected, and of which `possible` ones it may be. A test part is only a geometry.
fn detected_text(opened: &Opened, possible: &[String]) -> String {
    let text = part_text(opened);
    match possible {
        [] if geometry(opened).0.starts_with("test-") => {
            format!("none of the catalogue has this geometry; it is taken for {text}")
        }
        [] => text,
        several => format!("one of {}; it is taken for {text}", several.join(", ")),
    }
}

/// Makes an image of a dump.
///
/// # Errors
/// As [`show`]; when several parts have the dump's geometry, or the image exists or cannot be made.
pub fn import(source: &Source, new: &Path) -> Result<String, Error> {
    let opened = source.read_unambiguous()?;
    match &opened {
        Opened::Nor(part) => part.save_image(new)?,
        Opened::Nand(part) => part.save_image(new)?,
    }
    Ok(format!("{}: the cells of {}, on a {}\n", new.display(), source.image.display(), part_text(&opened)))
}
