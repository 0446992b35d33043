//! A NAND device that does nothing, for code that needs one.

use core::hint::black_box;

use norn_flash::{
    BadMark, Block, Column, ColumnAccess, Correction, Nand, NandError, NandErrorKind, NandPart, PageAddress, Piece,
};

/// A device whose calls are cheap and whose answers the compiler cannot foresee.
pub struct Device;

/// What its calls may fail with.
#[derive(Debug)]
pub struct Failed;

impl NandError for Failed {
    fn kind(&self) -> NandErrorKind {
        black_box(NandErrorKind::Other)
    }
}

impl Nand for Device {
    type Error = Failed;

    fn part(&self) -> NandPart {
        black_box(NandPart {
            block_count: 4096,
            pages_per_block: 32,
            page_bytes: 512,
            oob_bytes: 16,
            columns: ColumnAccess::Forwards,
            correction: Correction { bits: 1, bytes: 512 },
            bad_mark: BadMark { column: Column(517), pages: 2 },
            good_blocks_min: 4016,
            endurance_erases: None,
        })
    }

    fn load(&mut self, page: PageAddress) -> Result<(), Failed> {
        black_box(page);
        black_box(Ok(()))
    }

    fn seek(&mut self, column: Column) -> Result<(), Failed> {
        black_box(column);
        black_box(Ok(()))
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        black_box(buffer);
        black_box(Ok(()))
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Failed> {
        black_box((page, pieces));
        black_box(Ok(()))
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Failed> {
        black_box((page, pieces));
        black_box(Ok(()))
    }

    fn erase(&mut self, block: Block) -> Result<(), Failed> {
        black_box(block);
        black_box(Ok(()))
    }
}
