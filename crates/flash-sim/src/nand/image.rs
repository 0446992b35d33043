//! A NAND part in a sparse file that outlives the process.
//!
//! ```text
//! 0     header, 4096 bytes:
//!         0  "NORNNAND"            8  version, 2 bytes        10  name length, 1 byte
//!        11  name, 53 bytes       64  blocks 2 · pages of a block 2 · page bytes 2 · out-of-band bytes 2
//!        72  crc of bytes 0..72 (4)                           76  0 0 0 0
//!        80  elapsed ns 8 · operations 8 · loads 8 · fetched 8 · skipped 8 · programs 8 · copies 8 · sent 8 · erases 8
//! 4096  for each block, padded to a power of two: erases 4 · flags 1 (1 torn, 2 failed, 4 marked bad) · 0 · next page 2 · a byte for
//!         each page (0 erased, 1 programmed, 2 with unstable bits)
//!       cells: page after page with its out-of-band area, from a multiple of 4096 on
//!       unstable bits, as long as the cells
//! ```
//!
//! Values are little-endian. A page's cells are written before its block's record says so, and that record with one call: a process
//! that is killed leaves the part as it was before the operation or behind it. A call may be cut between pages of the host's cache,
//! which no record straddles. Pages stay in the file, not in memory.
//!
//! Invariant: the header's first 80 bytes never change; the file has the length that they imply.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crc::{CRC_32_ISO_HDLC, Crc};
use norn_flash::{NandPart, PageAddress};

use super::cells::{BlockCells, BlockState, PageCells};
use super::counters::NandCounters;
use crate::error::ImageError;
use crate::image::lock;
use crate::nand_catalogue::{self, NandSpec};

const MAGIC: [u8; 8] = *b"NORNNAND";
const VERSION: u16 = 2;
const HEADER_BYTES: usize = 4096;
const NAME_OFFSET: usize = 11;
const GEOMETRY_OFFSET: usize = 64;
const CRC_OFFSET: usize = 72;
const STATE_OFFSET: usize = 80;
const STATE_BYTES: usize = 9 * 8;
const BLOCK_STATE_BYTES: usize = 8;
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

const TORN: u8 = 1;
const FAILED: u8 = 2;
const MARKED_BAD: u8 = 4;

/// What changes with every operation beside cells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PartState {
    pub counters: NandCounters,
    pub elapsed_ns: u64,
    pub operations: u64,
}

impl PartState {
    fn encode(&self) -> [u8; STATE_BYTES] {
        let NandCounters { loads, fetched_bytes, skipped_bytes, programs, copies, sent_bytes, erases } = self.counters;
        let numbers = [
            self.elapsed_ns,
            self.operations,
            loads,
            fetched_bytes,
            skipped_bytes,
            programs,
            copies,
            sent_bytes,
            erases,
        ];
        let mut bytes = [0; STATE_BYTES];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Self {
        let number = |at: usize| u64::from_le_bytes(bytes[8 * at..8 * at + 8].try_into().expect("eight bytes"));
        let counters = NandCounters {
            loads: number(2),
            fetched_bytes: number(3),
            skipped_bytes: number(4),
            programs: number(5),
            copies: number(6),
            sent_bytes: number(7),
            erases: number(8),
        };
        PartState { counters, elapsed_ns: number(0), operations: number(1) }
    }
}

/// An open image file, locked against other processes.
#[derive(Debug)]
pub(super) struct NandImage {
    file: File,
    part: NandPart,
}

/// What an image file holds beside cells.
pub(super) struct Opened {
    pub image: NandImage,
    pub spec: NandSpec,
    pub state: PartState,
    pub blocks: Vec<BlockCells>,
}

impl NandImage {
    /// A new file for an erased part. Cost: the header and the records of blocks; holes for the rest.
    pub fn create(path: &Path, spec: &NandSpec) -> Result<Self, ImageError> {
        let io_error = |source| ImageError::Io { path: path.to_owned(), source };
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path).map_err(io_error)?;
        lock(&file, path)?;
        let image = NandImage { file, part: spec.part };
        let written = image.file.set_len(image.file_bytes()).and_then(|()| image.write_at(0, &encode_header(spec)));
        written.map_err(|source| {
            // A half-made image would only stand in the way of the next attempt.
            let _ = std::fs::remove_file(path);
            io_error(source)
        })?;
        Ok(image)
    }

    pub fn open(path: &Path) -> Result<Opened, ImageError> {
        let io_error = |source| ImageError::Io { path: path.to_owned(), source };
        let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(io_error)?;
        lock(&file, path)?;
        let found = file.metadata().map_err(io_error)?.len();
        let mut header = vec![0; HEADER_BYTES.min(found as usize)];
        file.read_exact(&mut header).map_err(io_error)?;
        let spec = decode_header(&header, path)?;
        let image = NandImage { file, part: spec.part };
        if found != image.file_bytes() {
            return Err(ImageError::Length { path: path.to_owned(), found, wanted: image.file_bytes() });
        }
        let state = PartState::decode(&header[STATE_OFFSET..STATE_OFFSET + STATE_BYTES]);
        let blocks = (0..spec.part.block_count).map(|block| image.read_block(block)).collect::<io::Result<_>>();
        Ok(Opened { image, spec, state, blocks: blocks.map_err(io_error)? })
    }

    pub fn save_state(&self, state: &PartState) -> io::Result<()> {
        self.write_at(STATE_OFFSET as u64, &state.encode())
    }

    /// Writes a block's record: with it, what happened to the block counts.
    pub fn save_block(&self, block: u16, cells: &BlockCells) -> io::Result<()> {
        let mut record = vec![0; self.record_bytes() as usize];
        let BlockState { erases, next_page, torn, failed, marked_bad } = cells.state;
        record[..4].copy_from_slice(&erases.to_le_bytes());
        record[4] = (TORN * u8::from(torn)) | (FAILED * u8::from(failed)) | (MARKED_BAD * u8::from(marked_bad));
        record[6..8].copy_from_slice(&next_page.to_le_bytes());
        for (page, code) in record[BLOCK_STATE_BYTES..].iter_mut().enumerate() {
            *code = cells.code(page as u16);
        }
        self.write_at(self.record(block), &record)
    }

    fn read_block(&self, block: u16) -> io::Result<BlockCells> {
        let mut record = vec![0; self.record_bytes() as usize];
        self.read_at(self.record(block), &mut record)?;
        let flag = |flag: u8| record[4] & flag != 0;
        let state = BlockState {
            erases: u32::from_le_bytes([record[0], record[1], record[2], record[3]]),
            next_page: u16::from_le_bytes([record[6], record[7]]),
            torn: flag(TORN),
            failed: flag(FAILED),
            marked_bad: flag(MARKED_BAD),
        };
        Ok(BlockCells::in_file(state, &record[BLOCK_STATE_BYTES..]))
    }

    pub fn save_page(&self, page: PageAddress, cells: &PageCells) -> io::Result<()> {
        if !cells.unstable.is_empty() {
            self.write_at(self.unstable(page), &cells.unstable)?;
        }
        self.write_at(self.cells(page), &cells.bytes)
    }

    /// A page that its block's record says is programmed, with unstable bits or without.
    pub fn read_page(&self, page: PageAddress, code: u8) -> io::Result<PageCells> {
        let len = usize::from(self.part.register_bytes());
        let mut cells = PageCells { bytes: vec![0; len], unstable: Vec::new() };
        self.read_at(self.cells(page), &mut cells.bytes)?;
        if code > 1 {
            cells.unstable = vec![0; len];
            self.read_at(self.unstable(page), &mut cells.unstable)?;
        }
        Ok(cells)
    }

    /// Brings everything written so far to the host's disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// A power of two, so that no record straddles a page of the host's cache, or a sector of its disk, unless it is longer.
    fn record_bytes(&self) -> u64 {
        (BLOCK_STATE_BYTES as u64 + u64::from(self.part.pages_per_block)).next_power_of_two()
    }

    fn record(&self, block: u16) -> u64 {
        HEADER_BYTES as u64 + u64::from(block) * self.record_bytes()
    }

    fn cells(&self, page: PageAddress) -> u64 {
        let register_bytes = u64::from(self.part.register_bytes());
        self.record(self.part.block_count).next_multiple_of(4096)
            + u64::from(self.part.number_of(page).0) * register_bytes
    }

    fn all_cells_bytes(&self) -> u64 {
        u64::from(self.part.page_count()) * u64::from(self.part.register_bytes())
    }

    fn unstable(&self, page: PageAddress) -> u64 {
        self.cells(page) + self.all_cells_bytes()
    }

    fn file_bytes(&self) -> u64 {
        self.record(self.part.block_count).next_multiple_of(4096) + 2 * self.all_cells_bytes()
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(buffer)
    }
}

fn geometry(part: &NandPart) -> [u16; 4] {
    [part.block_count, part.pages_per_block, part.page_bytes, part.oob_bytes]
}

fn encode_header(spec: &NandSpec) -> [u8; STATE_OFFSET] {
    let name = spec.name.as_bytes();
    assert!(name.len() <= GEOMETRY_OFFSET - NAME_OFFSET, "a part's name has at most 53 bytes");
    let mut header = [0; STATE_OFFSET];
    header[..8].copy_from_slice(&MAGIC);
    header[8..10].copy_from_slice(&VERSION.to_le_bytes());
    header[10] = name.len() as u8;
    header[NAME_OFFSET..NAME_OFFSET + name.len()].copy_from_slice(name);
    for (place, number) in header[GEOMETRY_OFFSET..CRC_OFFSET].chunks_exact_mut(2).zip(geometry(&spec.part)) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    let crc = CRC.checksum(&header[..CRC_OFFSET]);
    header[CRC_OFFSET..CRC_OFFSET + 4].copy_from_slice(&crc.to_le_bytes());
    header
}

fn decode_header(header: &[u8], path: &Path) -> Result<NandSpec, ImageError> {
    let path = || PathBuf::from(path);
    let foreign = |why: &str| ImageError::Foreign { path: path(), why: why.to_owned() };
    if header.len() < MAGIC.len() || header[..8] != MAGIC {
        return Err(foreign("its first bytes are not NORNNAND"));
    }
    if header.len() < HEADER_BYTES {
        return Err(foreign(&format!("its {} bytes are less than an image's header", header.len())));
    }
    let version = u16::from_le_bytes([header[8], header[9]]);
    if version > VERSION {
        return Err(ImageError::Newer { path: path(), found: version, known: VERSION });
    }
    if version < VERSION {
        return Err(foreign(&format!("its format {version} is older than this program's, {VERSION}")));
    }
    let crc = &header[CRC_OFFSET..CRC_OFFSET + 4];
    if CRC.checksum(&header[..CRC_OFFSET]) != u32::from_le_bytes(crc.try_into().expect("four bytes")) {
        return Err(foreign("its header is damaged"));
    }
    let name = header[NAME_OFFSET..GEOMETRY_OFFSET].get(..usize::from(header[10])).unwrap_or_default();
    let name = String::from_utf8_lossy(name);
    let Some(spec) = nand_catalogue::by_name(&name) else {
        return Err(foreign(&format!("no part is called {name:?}")));
    };
    let number = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let (found, expected) = ([64, 66, 68, 70].map(number), geometry(&spec.part));
    if found != expected {
        return Err(foreign(&format!("its geometry {found:?} is not that of {name}, {expected:?}")));
    }
    Ok(spec)
}
