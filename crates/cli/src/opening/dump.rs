//! The bytes of a chip's dump, or of a file for its programmer, and where they are.
//!
//! A binary dump starts at address 0. Intel HEX, UF2 and ELF have addresses; what lies between their pieces is erased.

use std::path::Path;
use std::{fs, io};

use ihex::{Reader, Record};
use object::elf::{FileHeader32, FileHeader64, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};

use super::failure::DumpFailure;
use super::form::Form;
use super::piece::Piece;
use super::region::Region;
use super::uf2;

/// Most bytes from the first piece to the last one, without a region.
const SPAN_BYTES_MAX: u64 = 512 << 20;

/// What a file holds.
#[derive(Debug)]
pub struct Dump {
    /// How it has it.
    pub form: Form,
    /// The bytes, in the order of the file.
    pieces: Vec<Piece>,
}

/// Why a file is no dump.
#[derive(Debug)]
pub enum ReadError {
    /// It cannot be read.
    Io(io::Error),
    /// Its form is broken.
    Broken(DumpFailure),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::Io(error)
    }
}

impl Dump {
    /// The dump in a file.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read(path: &Path) -> Result<Dump, ReadError> {
        let file = fs::read(path)?;
        let form = Form::of(&file);
        let pieces = match form {
            Form::Binary => Ok(vec![Piece { start: 0, bytes: file }]),
            Form::Hex => hex_pieces(&file),
            Form::Uf2 => uf2::decode(&file),
            Form::Elf => elf_pieces(&file),
        };
        let dump = pieces.and_then(|pieces| {
            let dump = Dump { form, pieces: pieces.into_iter().filter(|piece| !piece.bytes.is_empty()).collect() };
            dump.check().map(|()| dump)
        });
        dump.map_err(|why| ReadError::Broken(DumpFailure::Broken { form, why }))
    }

    /// That pieces end before the last address, and agree where they overlap.
    fn check(&self) -> Result<(), String> {
        let mut sorted: Vec<&Piece> = self.pieces.iter().collect();
        sorted.sort_by_key(|piece| piece.start);
        // What has been seen up to its end, and the piece that reaches there.
        let mut before: Option<&Piece> = None;
        for piece in sorted {
            if piece.start.checked_add(piece.bytes.len() as u64).is_none() {
                return Err(format!(
                    "its {} bytes at {:#x} go beyond the last address",
                    piece.bytes.len(),
                    piece.start
                ));
            }
            if let Some(before) = before {
                let from = (piece.start - before.start).min(before.bytes.len() as u64) as usize;
                let mut both = (piece.start..).zip(before.bytes[from..].iter().zip(&piece.bytes));
                if let Some((at, _)) = both.find(|(_, (one, other))| one != other) {
                    return Err(format!("it has two different bytes at {at:#x}"));
                }
            }
            if before.is_none_or(|before| before.region().end < piece.region().end) {
                before = Some(piece);
            }
        }
        Ok(())
    }

    /// Where there are bytes: pieces that follow each other as one.
    pub fn regions(&self) -> Vec<Region> {
        let mut regions: Vec<Region> = self.pieces.iter().map(Piece::region).collect();
        regions.sort();
        let mut joined: Vec<Region> = Vec::new();
        for region in regions {
            match joined.last_mut() {
                Some(last) if last.end >= region.start => last.end = last.end.max(region.end),
                _ => joined.push(region),
            }
        }
        joined
    }

    /// The bytes of a region, or all. What is missing between the first byte and the last is erased; so is what is
    /// missing of a region, except from a binary dump.
    ///
    /// # Errors
    /// When no byte of the region is there, or, without one, the bytes are far apart.
    pub fn cut(&self, region: Option<Region>) -> Result<Piece, DumpFailure> {
        let regions = self.regions();
        let (Some(first), Some(last)) = (regions.first(), regions.last()) else {
            return Ok(Piece { start: 0, bytes: Vec::new() });
        };
        let whole = Region { start: first.start, end: last.end };
        let region = region.unwrap_or(whole);
        if whole.len().min(region.len()) > SPAN_BYTES_MAX && region.len() > SPAN_BYTES_MAX {
            return Err(DumpFailure::Apart(regions));
        }
        let is_there = match self.form {
            Form::Binary => whole.contains(region),
            _ => region.start < whole.end && whole.start < region.end,
        };
        if !is_there {
            return Err(DumpFailure::Outside { region, whole });
        }
        let mut bytes = vec![0xFF; region.len() as usize];
        for piece in &self.pieces {
            let (start, end) = (piece.start.max(region.start), piece.region().end.min(region.end));
            if start < end {
                let from = &piece.bytes[(start - piece.start) as usize..(end - piece.start) as usize];
                bytes[(start - region.start) as usize..(end - region.start) as usize].copy_from_slice(from);
            }
        }
        Ok(Piece { start: region.start, bytes })
    }
}

fn hex_pieces(file: &[u8]) -> Result<Vec<Piece>, String> {
    let text = std::str::from_utf8(file).map_err(|_| "it has bytes that are not text".to_owned())?;
    let (mut base, mut pieces) = (0, Vec::<Piece>::new());
    let mut is_whole = false;
    for (number, record) in (1..).zip(Reader::new(text)) {
        match record.map_err(|error| format!("record {number}: {error}"))? {
            Record::ExtendedSegmentAddress(segment) => base = u64::from(segment) << 4,
            Record::ExtendedLinearAddress(high) => base = u64::from(high) << 16,
            Record::StartSegmentAddress { .. } | Record::StartLinearAddress(_) => {}
            Record::EndOfFile => is_whole = true,
            Record::Data { offset, value } => {
                let start = base + u64::from(offset);
                match pieces.last_mut() {
                    Some(last) if last.region().end == start => last.bytes.extend(value),
                    _ => pieces.push(Piece { start, bytes: value }),
                }
            }
        }
    }
    if is_whole { Ok(pieces) } else { Err("the record of its end is missing".to_owned()) }
}

fn elf_pieces(file: &[u8]) -> Result<Vec<Piece>, String> {
    match file.get(4) {
        Some(2) => segments(FileHeader64::<object::Endianness>::parse(file), file),
        _ => segments(FileHeader32::<object::Endianness>::parse(file), file),
    }
}

/// The segments that are loaded, each at its address in flash and not where the program has it when it runs.
fn segments<H: FileHeader>(header: object::read::Result<&H>, file: &[u8]) -> Result<Vec<Piece>, String> {
    let parts = header.and_then(|header| {
        let endian = header.endian()?;
        Ok((endian, header.program_headers(endian, file)?))
    });
    let (endian, segments) = parts.map_err(|error| error.to_string())?;
    let mut pieces = Vec::new();
    for segment in segments.iter().filter(|segment| segment.p_type(endian) == PT_LOAD) {
        let start = segment.p_paddr(endian).into();
        let bytes = segment.data(endian, file).map_err(|()| {
            let length: u64 = segment.p_filesz(endian).into();
            format!("the {length} bytes of the segment at {start:#x} go beyond the file's end")
        })?;
        pieces.push(Piece { start, bytes: bytes.to_vec() });
    }
    if pieces.is_empty() { Err("it has no segment that is loaded".to_owned()) } else { Ok(pieces) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(contents: &[u8]) -> Result<Dump, ReadError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), contents).unwrap();
        Dump::read(file.path())
    }

    #[test]
    fn hexadecimal_records_have_addresses() {
        let text = ":020000040800F2\n:0410000001020304E2\n:0110100009D6\n:00000001FF\n";
        let dump = written(text.as_bytes()).unwrap();
        assert_eq!(
            dump.regions(),
            [0x800_1000..0x800_1004, 0x800_1010..0x800_1011].map(|at| Region { start: at.start, end: at.end })
        );
        let Piece { start, bytes } = dump.cut(None).unwrap();
        assert_eq!((start, bytes.len(), &bytes[..5], bytes[16]), (0x800_1000, 17, &[1, 2, 3, 4, 0xFF][..], 9));
        let region = Region { start: 0x800_0FFF, end: 0x800_1002 };
        assert_eq!(dump.cut(Some(region)).unwrap(), Piece { start: 0x800_0FFF, bytes: vec![0xFF, 1, 2] });
        assert!(dump.cut(Some(Region { start: 0, end: 4096 })).is_err());
    }

    /// An ELF file with one segment, of so many bytes by its header, and as many there.
    fn elf(address: u64, length: u64, there: usize) -> Vec<u8> {
        let mut file = b"\x7FELF\x02\x01\x01".to_vec();
        file.resize(64, 0);
        // Its program headers: where, how long one is, and how many.
        (file[32], file[52], file[54], file[56]) = (64, 64, 56, 1);
        file[16..21].copy_from_slice(&[2, 0, 40, 0, 1]);
        // Where it is when the program runs is another place.
        let words = [1 | 4 << 32, 120, 0x2000_0000, address, length, length, 1];
        file.extend(words.iter().flat_map(|word: &u64| word.to_le_bytes()));
        file.extend(vec![7; there]);
        file
    }

    #[test]
    fn segments_have_addresses() {
        let dump = written(&elf(0x800, 4, 4)).unwrap();
        assert_eq!(dump.cut(None).unwrap(), Piece { start: 0x800, bytes: vec![7; 4] });
        let same = b":0410000001020304E2\n:0110020003EA\n:00000001FF\n";
        assert_eq!(written(same).unwrap().cut(None).unwrap().bytes, [1, 2, 3, 4], "bytes may come again");
    }

    #[test]
    fn broken_files_say_what_is_wrong() {
        for (contents, said) in [
            (&b":020000040800F3\n:00000001FF\n"[..], "record 1: "),
            (b":0410000001020304E2\n", "the record of its end is missing"),
            (b"\x7FELF\x01\x01", "ELF"),
            (b"UF2\nWQ]\x9E0000", "UF2"),
            (b":0410000001020304E2\n:0110020009E4\n:00000001FF\n", "two different bytes at 0x1002"),
            (&elf(0x800, 4, 3), "the 4 bytes of the segment at 0x800 go beyond the file's end"),
            (&elf(0x800, u64::MAX, 4), "bytes of the segment at 0x800 go beyond the file's end"),
            (&elf(u64::MAX - 3, 4, 4), "its 4 bytes at 0xfffffffffffffffc go beyond the last address"),
        ] {
            match written(contents) {
                Err(ReadError::Broken(failure)) => assert!(failure.to_string().contains(said), "{failure}"),
                other => panic!("{other:?}"),
            }
        }
    }
}
