//! A NAND part that only counts: it has a register and no cells, so that full traces take seconds.
//!
//! Its counters are those of [`norn_flash_sim::NandSim`], which refuses, as this does not; a test holds the two to each
//! other.

use std::convert::Infallible;

use norn_flash::{Block, Column, ColumnAccess, Nand, NandPart, NandTimings, PageAddress, Piece};
use norn_flash_sim::NandSpec;

/// What is read from a part, and how long that takes.
#[derive(Clone, Debug)]
pub struct CountingNand {
    part: NandPart,
    position: u16,
    /// Pages loaded.
    pub loads: u64,
    /// Bytes fetched from the register.
    pub fetched_bytes: u64,
    /// Bytes passed over.
    pub skipped_bytes: u64,
}

impl CountingNand {
    /// A part of this kind.
    pub fn new(spec: &NandSpec) -> Self {
        CountingNand { part: spec.part, position: 0, loads: 0, fetched_bytes: 0, skipped_bytes: 0 }
    }

    /// Simulated time of all that was counted.
    pub fn elapsed_ns(&self, timings: &NandTimings) -> u64 {
        self.loads * u64::from(timings.load_ns) + (self.fetched_bytes + self.skipped_bytes) * u64::from(timings.byte_ns)
    }
}

impl Nand for CountingNand {
    type Error = Infallible;

    fn part(&self) -> NandPart {
        self.part
    }

    #[inline]
    fn load(&mut self, _page: PageAddress) -> Result<(), Infallible> {
        self.loads += 1;
        self.position = 0;
        Ok(())
    }

    #[inline]
    fn seek(&mut self, column: Column) -> Result<(), Infallible> {
        if self.part.columns == ColumnAccess::Forwards {
            self.skipped_bytes += u64::from(column.0 - self.position);
        }
        self.position = column.0;
        Ok(())
    }

    /// Leaves the buffer as it is.
    #[inline]
    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), Infallible> {
        self.fetched_bytes += buffer.len() as u64;
        self.position += buffer.len() as u16;
        Ok(())
    }

    /// Nothing is kept.
    fn program(&mut self, _page: PageAddress, _pieces: &[Piece<'_>]) -> Result<(), Infallible> {
        Ok(())
    }

    /// Nothing is kept.
    fn program_loaded(&mut self, _page: PageAddress, _pieces: &[Piece<'_>]) -> Result<(), Infallible> {
        Ok(())
    }

    /// Nothing is kept.
    fn erase(&mut self, _block: Block) -> Result<(), Infallible> {
        Ok(())
    }
}
