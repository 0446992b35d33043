//! A NAND part in RAM: a reset tears its programs and erases where it hits them, and empties the register.

use core::convert::Infallible;
use core::sync::atomic::{Ordering, compiler_fence};

use norn_embedded::flash::{BadMark, Block, Column, ColumnAccess, Correction, Nand, NandPart, PageAddress, Piece};

const PAGE_BYTES: u16 = 512;
const OOB_BYTES: u16 = 16;
/// Bytes of a page with its out-of-band area.
const ROW_BYTES: usize = (PAGE_BYTES + OOB_BYTES) as usize;

/// A part in memory that is lent: blocks of 16 pages of 512 bytes.
#[derive(Debug)]
pub struct RamNand {
    cells: &'static mut [u8],
    part: NandPart,
    register: [u8; ROW_BYTES],
    position: usize,
}

impl RamNand {
    /// Bytes of a block.
    pub const BLOCK_BYTES: usize = Self::PAGES as usize * ROW_BYTES;
    const PAGES: u16 = 16;

    /// A part of as many blocks as the memory has room for.
    pub fn new(cells: &'static mut [u8]) -> Self {
        let part = NandPart {
            block_count: (cells.len() / Self::BLOCK_BYTES) as u16,
            pages_per_block: Self::PAGES,
            page_bytes: PAGE_BYTES,
            oob_bytes: OOB_BYTES,
            columns: ColumnAccess::Forwards,
            correction: Correction { bits: 1, bytes: PAGE_BYTES },
            bad_mark: BadMark { column: Column(PAGE_BYTES + 5), pages: 2 },
            good_blocks_min: 1,
            endurance_erases: None,
        };
        RamNand { cells, part, register: [0xFF; ROW_BYTES], position: 0 }
    }

    fn row(&mut self, page: PageAddress) -> &mut [u8] {
        let start = usize::from(page.block.0) * Self::BLOCK_BYTES + usize::from(page.page) * ROW_BYTES;
        &mut self.cells[start..start + ROW_BYTES]
    }

    /// Programs the register, changed by `pieces`.
    fn program_register(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Infallible> {
        for piece in pieces {
            let start = usize::from(piece.column.0);
            self.register[start..start + piece.bytes.len()].copy_from_slice(piece.bytes);
        }
        let register = self.register;
        self.row(page).iter_mut().zip(register).for_each(|(cell, byte)| *cell &= byte);
        self.done()
    }

    /// What a call has changed is there before the next one changes something.
    fn done(&mut self) -> Result<(), Infallible> {
        self.register.fill(0xFF);
        compiler_fence(Ordering::SeqCst);
        Ok(())
    }
}

impl Nand for RamNand {
    type Error = Infallible;

    fn part(&self) -> NandPart {
        self.part
    }

    fn load(&mut self, page: PageAddress) -> Result<(), Infallible> {
        let mut register = [0; ROW_BYTES];
        register.copy_from_slice(self.row(page));
        (self.register, self.position) = (register, 0);
        Ok(())
    }

    fn seek(&mut self, column: Column) -> Result<(), Infallible> {
        self.position = column.0.into();
        Ok(())
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), Infallible> {
        buffer.copy_from_slice(&self.register[self.position..self.position + buffer.len()]);
        self.position += buffer.len();
        Ok(())
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Infallible> {
        self.register.fill(0xFF);
        self.program_register(page, pieces)
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Infallible> {
        self.program_register(page, pieces)
    }

    fn erase(&mut self, block: Block) -> Result<(), Infallible> {
        let start = usize::from(block.0) * Self::BLOCK_BYTES;
        self.cells[start..start + Self::BLOCK_BYTES].fill(0xFF);
        self.done()
    }
}
