//! `norn image export`: a part's cells as a file for a chip's programmer, of the form that its name says.

use std::path::Path;

use ihex::Record;
use norn_flash::Nand;
use norn_flash_sim::NandSim;

use super::arguments::ImageExportArguments;
use crate::error::Error;
use crate::new_file::NewFile;
use crate::opening::failure::DumpFailure;
use crate::opening::uf2;
use crate::opening::{Opened, Source};

/// Bytes of a record, as most tools write them.
const RECORD_BYTES: usize = 16;
/// Bytes that one extended address serves.
const SEGMENT_BYTES: usize = 1 << 16;

/// A form of file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Binary,
    Hex,
    Uf2,
}

impl Ending {
    fn of(file: &Path) -> Option<Ending> {
        match file.extension()?.to_str()? {
            "bin" => Some(Ending::Binary),
            "hex" => Some(Ending::Hex),
            "uf2" => Some(Ending::Uf2),
            _ => None,
        }
    }
}

/// Writes the file, and says how many bytes of the part are in it.
///
/// # Errors
/// When the image cannot be opened, the file's ending says no form or one that the part does not have, the addresses
/// have more than 32 bits, or the file exists or cannot be written.
pub fn export(arguments: &ImageExportArguments) -> Result<String, Error> {
    let ImageExportArguments { source, file, base, family } = arguments;
    let failed = |failure| Error::Dump { image: file.clone(), failure };
    let ending = Ending::of(file).ok_or_else(|| failed(DumpFailure::Ending))?;
    let cells = cells_of(source, ending).map_err(|error| error.unwrap_or_else(|| failed(DumpFailure::NandEnding)))?;
    if ending != Ending::Binary && u64::from(*base) + cells.len() as u64 > 1 << 32 {
        return Err(failed(DumpFailure::Addresses { base: *base, bytes: cells.len() }));
    }
    let bytes = match ending {
        Ending::Binary => None,
        Ending::Hex => Some(hex(*base, &cells).into_bytes()),
        Ending::Uf2 => Some(uf2::encode(*base, &cells, *family)),
    };
    NewFile::write(file, bytes.as_ref().unwrap_or(&cells))?;
    let place = if ending == Ending::Binary { String::new() } else { format!(" at {base:#x}") };
    Ok(format!("{}: {} bytes{place}\n", file.display(), cells.len()))
}

/// A part's cells; no error where they do not go into such a file.
fn cells_of(source: &Source, ending: Ending) -> Result<Vec<u8>, Option<Error>> {
    match source.read().map_err(Some)? {
        Opened::Nor(part) => Ok(part.cells()),
        Opened::Nand(part) if ending == Ending::Binary => Ok(pages(&part)),
        Opened::Nand(_) => Err(None),
    }
}

fn pages(part: &NandSim) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(part.spec().dump_bytes() as usize);
    debug_assert_eq!(Nand::part(part), part.spec().part);
    part.pages().for_each(|page| bytes.extend(part.peek(page)));
    bytes
}

fn hex(base: u32, cells: &[u8]) -> String {
    let mut records = Vec::with_capacity(cells.len() / RECORD_BYTES + cells.len() / SEGMENT_BYTES + 2);
    let mut at = 0;
    while at < cells.len() {
        let address = base as usize + at;
        let left = (SEGMENT_BYTES - address % SEGMENT_BYTES).min(cells.len() - at);
        records.push(Record::ExtendedLinearAddress((address / SEGMENT_BYTES) as u16));
        for (number, value) in cells[at..at + left].chunks(RECORD_BYTES).enumerate() {
            let offset = (address % SEGMENT_BYTES + number * RECORD_BYTES) as u16;
            records.push(Record::Data { offset, value: value.to_vec() });
        }
        at += left;
    }
    records.push(Record::EndOfFile);
    ihex::create_object_file_representation(&records).expect("records of 16 bytes, and one end")
}
