//! A simulated NAND part that keeps a list of what was programmed and erased.

use norn_flash::{Block, Column, Nand, NandPart, PageAddress, Piece};
use norn_flash_sim::{NandSim, NandSimError};

/// A simulated part with the list of its operations.
#[derive(Clone, Debug)]
pub struct TracedNand {
    /// The part.
    pub sim: NandSim,
    /// What was programmed and erased since the list was emptied, each with its number among all operations of the
    /// part.
    pub operations: Vec<(u64, Act)>,
}

/// What is done to the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A page is programmed.
    Program(PageAddress),
    /// A block is erased.
    Erase(Block),
}

impl TracedNand {
    /// A part of which nothing is listed yet.
    pub fn new(sim: NandSim) -> TracedNand {
        TracedNand { sim, operations: Vec::new() }
    }

    fn note<T>(&mut self, act: Act, work: impl FnOnce(&mut NandSim) -> T) -> T {
        let number = self.sim.operations();
        let done = work(&mut self.sim);
        if self.sim.operations() > number {
            self.operations.push((number, act));
        }
        done
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
