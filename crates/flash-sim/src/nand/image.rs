//! A NAND part in a sparse file that outlives the process.
//!
//! ```text
//! 0     header, 4096 bytes, as image_file.rs says: "NORNNAND", version 2
//!        64  blocks 2 · pages of a block 2 · page bytes 2 · out-of-band bytes 2
//!        96  loads 8 · fetched 8 · skipped 8 · programs 8 · copies 8 · sent 8 · erases 8
//! 4096  for each block, padded to a power of two: erases 4 · flags 1 (1 torn, 2 failed, 4 marked bad) · 0 ·
//!         next page 2 · a byte for each page (0 erased, 1 programmed, 2 with unstable bits)
//!       cells: page after page with its out-of-band area, from a multiple of 4096 on
//!       unstable bits, as long as the cells
//! ```
//!
//! A page's cells are written before its block's record says so, and that record with one call: a process that is
//! killed leaves the part as it was before the operation or after it. A call may be cut between pages of the host's
//! cache, which no record straddles. Pages stay in the file, not in memory.

use std::io;
use std::path::Path;

use norn_flash::{NandPart, PageAddress};

use super::cells::{BlockCells, BlockState, PageCells};
use super::counters::NandCounters;
use crate::error::ImageError;
use crate::image_bytes::ImageBytes;
use crate::image_file::{Access, HEADER_BYTES, Header, ImageFile, Kind, Stored};
use crate::image_kind::ImageKind;
use crate::instrument::State;
use crate::nand_catalogue::{self, NandSpec};

const KIND: Kind = Kind { kind: ImageKind::Nand, version: 2, numbers: 4, number_bytes: 2 };
const BLOCK_STATE_BYTES: usize = 8;

const TORN: u8 = 1;
const FAILED: u8 = 2;
const MARKED_BAD: u8 = 4;

impl Stored for NandCounters {
    fn to_numbers(&self) -> Vec<u64> {
        let NandCounters { loads, fetched_bytes, skipped_bytes, programs, copies, sent_bytes, erases } = *self;
        vec![loads, fetched_bytes, skipped_bytes, programs, copies, sent_bytes, erases]
    }

    fn from_numbers(mut numbers: impl Iterator<Item = u64>) -> NandCounters {
        let mut next = || numbers.next().unwrap_or_default();
        NandCounters {
            loads: next(),
            fetched_bytes: next(),
            skipped_bytes: next(),
            programs: next(),
            copies: next(),
            sent_bytes: next(),
            erases: next(),
        }
    }
}

fn geometry(spec: &NandSpec) -> Vec<u32> {
    let NandPart { block_count, pages_per_block, page_bytes, oob_bytes, .. } = spec.part;
    [block_count, pages_per_block, page_bytes, oob_bytes].map(u32::from).to_vec()
}

/// An open image file of a NAND part.
#[derive(Debug)]
pub(super) struct NandImage {
    file: ImageFile,
    layout: Layout,
    access: Access,
}

/// What an image file holds besides cells.
pub(super) struct Opened {
    pub image: NandImage,
    pub spec: NandSpec,
    pub state: State<NandCounters>,
    pub blocks: Vec<BlockCells>,
}

impl NandImage {
    /// A new file for an erased part, which has no name before it is published. Cost: the header; holes for the rest.
    pub fn begin(path: &Path, spec: &NandSpec) -> Result<Self, ImageError> {
        let layout = Layout { part: spec.part };
        let header = (&KIND, &*spec.name, &*geometry(spec));
        let file = ImageFile::begin(path, header, layout.file_bytes(), |_| Ok(()))?;
        Ok(NandImage { file, layout, access: Access::ReadWrite })
    }

    /// The same in memory.
    pub fn begin_in_memory(spec: &NandSpec) -> io::Result<Self> {
        let layout = Layout { part: spec.part };
        let header = (&KIND, &*spec.name, &*geometry(spec));
        let file = ImageFile::begin_in_memory(header, layout.file_bytes(), |_| Ok(()))?;
        Ok(NandImage { file, layout, access: Access::ReadWrite })
    }

    /// The bytes of an image that is in memory.
    pub fn into_bytes(self) -> io::Result<ImageBytes> {
        self.file.into_bytes()
    }

    pub fn publish(&mut self) -> Result<(), ImageError> {
        self.file.publish()
    }

    pub fn open(path: &Path, access: Access) -> Result<Opened, ImageError> {
        Self::opened(ImageFile::open(path, &KIND, access)?, access)
    }

    /// What the bytes of a file hold, which no longer change.
    pub fn of_bytes(bytes: ImageBytes) -> Result<Opened, ImageError> {
        Self::opened(ImageFile::of_bytes(bytes, &KIND)?, Access::Read)
    }

    fn opened((file, header): (ImageFile, Header), access: Access) -> Result<Opened, ImageError> {
        let file_bytes = |spec: &NandSpec| Layout { part: spec.part }.file_bytes();
        let spec = header.checked(nand_catalogue::by_name(&header.name), geometry, file_bytes)?;
        let image = NandImage { file, layout: Layout { part: spec.part }, access };
        let blocks = (0..spec.part.block_count).map(|block| image.read_block(block)).collect::<io::Result<_>>();
        let blocks = blocks.map_err(|error| header.io_error(error))?;
        Ok(Opened { image, state: header.state(), spec, blocks })
    }

    /// Whether the file follows the part. If not, what is programmed stays in memory.
    pub fn is_written(&self) -> bool {
        self.access == Access::ReadWrite
    }

    pub fn save_state(&self, state: &State<NandCounters>) -> io::Result<()> {
        if self.is_written() { self.file.save_state(state) } else { Ok(()) }
    }

    pub fn save_reads(&self, state: &State<NandCounters>) -> io::Result<()> {
        if self.is_written() { self.file.save_reads(state) } else { Ok(()) }
    }

    /// Writes a block's record: with it, what happened to the block counts.
    pub fn save_block(&self, block: u16, cells: &BlockCells) -> io::Result<()> {
        if !self.is_written() {
            return Ok(());
        }
        let mut record = vec![0; self.layout.record_bytes() as usize];
        let BlockState { erases, next_page, torn, failed, marked_bad } = cells.state;
        record[..4].copy_from_slice(&erases.to_le_bytes());
        record[4] = (TORN * u8::from(torn)) | (FAILED * u8::from(failed)) | (MARKED_BAD * u8::from(marked_bad));
        record[6..8].copy_from_slice(&next_page.to_le_bytes());
        for (page, code) in record[BLOCK_STATE_BYTES..].iter_mut().enumerate() {
            *code = cells.code(page as u16);
        }
        self.file.write_at(self.layout.record(block), &record)
    }

    fn read_block(&self, block: u16) -> io::Result<BlockCells> {
        let mut record = vec![0; self.layout.record_bytes() as usize];
        self.file.read_at(self.layout.record(block), &mut record)?;
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
            self.file.write_at(self.layout.unstable(page), &cells.unstable)?;
        }
        self.file.write_at(self.layout.cells(page), &cells.bytes)
    }

    /// A page that its block's record says is programmed, with unstable bits or without.
    pub fn read_page(&self, page: PageAddress, code: u8) -> io::Result<PageCells> {
        let len = usize::from(self.layout.part.register_bytes());
        let mut cells = PageCells { bytes: vec![0; len], unstable: Vec::new() };
        self.file.read_at(self.layout.cells(page), &mut cells.bytes)?;
        if code > 1 {
            cells.unstable = vec![0; len];
            self.file.read_at(self.layout.unstable(page), &mut cells.unstable)?;
        }
        Ok(cells)
    }

    /// Brings everything written so far to the host's disk.
    pub fn sync(&self) -> io::Result<()> {
        if self.is_written() { self.file.sync() } else { Ok(()) }
    }
}

/// Where things are in the file.
#[derive(Clone, Copy, Debug)]
struct Layout {
    part: NandPart,
}

impl Layout {
    /// A power of two, so that no record straddles a page of the host's cache, or a sector of its disk, unless it is
    /// longer.
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
}
