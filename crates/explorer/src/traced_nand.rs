//! A simulated NAND part that keeps a list of what was programmed and erased.

use norn_flash::{Block, Column, Nand, NandPart, PageAddress, Piece};
use norn_flash_sim::{NandSim, NandSimError};

use crate::traced::{Simulated, Traced};

/// A simulated part with the list of its operations.
pub type TracedNand = Traced<NandSim>;

/// What is done to the cells of a NAND part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A page is programmed.
    Program(PageAddress),
    /// A block is erased.
    Erase(Block),
}

impl Simulated for NandSim {
    type Act = Act;

    fn operation_count(&self) -> u64 {
        self.operations()
    }
}

impl Nand for TracedNand {
    type Error = NandSimError;

    fn part(&self) -> NandPart {
        self.sim.part()
    }

    fn load(&mut self, page: PageAddress) -> Result<(), NandSimError> {
        self.sim.load(page)
    }

    fn seek(&mut self, column: Column) -> Result<(), NandSimError> {
        self.sim.seek(column)
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), NandSimError> {
        self.sim.fetch(buffer)
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        self.note(Act::Program(page), |sim| sim.program(page, pieces))
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        self.note(Act::Program(page), |sim| sim.program_loaded(page, pieces))
    }

    fn erase(&mut self, block: Block) -> Result<(), NandSimError> {
        self.note(Act::Erase(block), |sim| sim.erase(block))
    }

    fn restart(&mut self) -> Result<(), NandSimError> {
        self.sim.restart()
    }
}
