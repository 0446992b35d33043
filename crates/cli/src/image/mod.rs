//! `norn image`: what files hold, images of chips' dumps, and files for chips' programmers ([`export`]).

pub mod arguments;
pub mod export;

use std::path::Path;

use norn_flash::{Nand, Nor};
use norn_flash_sim::ImageKind;

use crate::error::Error;
use crate::opening::dump::Dump;
use crate::opening::explanation::{Contents, Opener};
use crate::opening::{Opened, Source};
use crate::report::Report;
use arguments::kind_text;

/// Says what a file holds.
///
/// # Errors
/// When it is neither an image nor a dump of a part that is named or detected.
pub fn show(source: &Source) -> Result<Report, Error> {
    let opened = source.read()?;
    let file = match ImageKind::of(&source.image) {
        Ok(Some(kind)) => kind_text(kind),
        Ok(None) | Err(_) => dump_text(source),
    };
    let part = part_text(&opened);
    let (name, pieces, piece_bytes) = geometry(&opened);
    let contents = match opened {
        Opened::Nor(part) => Contents::of_nor(&part),
        Opened::Nand(mut part) => Contents::of_nand(&mut part),
    };
    let (holds, image) = (contents.explanation(source, Opener::Image), source.image.display());
    let mut report = Report::default();
    report.text(format!("{image}: {file}\npart  {part}\n{holds}\n"));
    report.datum("file", file).datum("part", name).datum("erase_units", pieces).datum("erase_unit_bytes", piece_bytes);
    report.datum("holds", holds).datum("contents", contents.values());
    Ok(report)
}

fn dump_text(source: &Source) -> String {
    let Ok(dump) = Dump::read(&source.image) else { return "not read again".to_owned() };
    let regions: Vec<String> =
        dump.regions().iter().map(|region| format!("{} bytes at {region}", region.len())).collect();
    format!("{}, {}", dump.form, regions.join(", "))
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
