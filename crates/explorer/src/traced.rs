//! A simulated part that keeps a list of what was programmed and erased, and of what was read if it is asked to.

use norn_flash::{Address, EraseUnit, Nor, NorPart};
use norn_flash_sim::{NorSim, SimError};

/// A simulated part with the list of its operations.
#[derive(Clone, Debug)]
pub struct Traced {
    /// The part.
    pub sim: NorSim,
    /// What was programmed and erased since the list was emptied.
    pub operations: Vec<Operation>,
    /// What was read since the list was made: from where on, and how many bytes. None is listed unless there is a list.
    pub reads: Option<Vec<(Address, u32)>>,
}

/// One call of the device that changes cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Number of its first word among all operations of the part.
    pub first: u64,
    /// Words that it programs; 1 for an erase.
    pub words: u64,
    /// What it does.
    pub act: Act,
}

/// What is done to the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// So many bytes are programmed from here on.
    Program(Address, u32),
    /// A unit is erased.
    Erase(EraseUnit),
}

impl Traced {
    /// A part of which nothing is listed yet.
    pub fn new(sim: NorSim) -> Traced {
        Traced { sim, operations: Vec::new(), reads: None }
    }

    fn note<T>(&mut self, act: Act, work: impl FnOnce(&mut NorSim) -> T) -> T {
        let first = self.sim.operations();
        let done = work(&mut self.sim);
        let words = self.sim.operations() - first;
        if words > 0 {
            self.operations.push(Operation { first, words, act });
        }
        done
    }
}

impl Nor for Traced {
    type Error = SimError;

    fn part(&self) -> NorPart {
        self.sim.part()
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), SimError> {
        self.reads.iter_mut().for_each(|reads| reads.push((address, buffer.len() as u32)));
        self.sim.read(address, buffer)
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), SimError> {
        self.note(Act::Program(address, bytes.len() as u32), |sim| sim.program(address, bytes))
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), SimError> {
        self.note(Act::Erase(unit), |sim| sim.erase(unit))
    }
}
