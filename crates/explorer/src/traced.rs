//! A simulated part that keeps a list of what was programmed and erased, and of what was read if it is asked to.

use std::fmt::Debug;

use norn_flash::{Address, EraseUnit, Nor, NorPart};
use norn_flash_sim::{NorSim, SimError};

/// A kind of simulated part.
pub trait Simulated {
    /// What a call does to the cells.
    type Act: Copy + Debug;

    /// Operations so far that a cut can hit.
    fn operation_count(&self) -> u64;
}

/// A simulated part with the list of its operations.
#[derive(Clone, Debug)]
pub struct Traced<S: Simulated = NorSim> {
    /// The part.
    pub sim: S,
    /// What was programmed and erased since the list was emptied.
    pub operations: Vec<Operation<S::Act>>,
    /// What was read since the list was made: from where on, and how many bytes. None is listed unless there is a list.
    pub reads: Option<Vec<(Address, u32)>>,
}

/// One call of the device that changes cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation<A = Act> {
    /// Number of its first word among all operations of the part.
    pub first: u64,
    /// Words that it programs; 1 for an erase, and on a NAND part for a page.
    pub words: u64,
    /// What it does.
    pub act: A,
}

/// What is done to the cells of a NOR part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// So many bytes are programmed from here on.
    Program(Address, u32),
    /// A unit is erased.
    Erase(EraseUnit),
}

impl<S: Simulated> Traced<S> {
    /// A part of which nothing is listed yet.
    pub fn new(sim: S) -> Traced<S> {
        Traced { sim, operations: Vec::new(), reads: None }
    }

    /// Does `work`, and lists what it does if it does it.
    pub fn note<T>(&mut self, act: S::Act, work: impl FnOnce(&mut S) -> T) -> T {
        let first = self.sim.operation_count();
        let done = work(&mut self.sim);
        let words = self.sim.operation_count() - first;
        if words > 0 {
            self.operations.push(Operation { first, words, act });
        }
        done
    }
}

impl Simulated for NorSim {
    type Act = Act;

    fn operation_count(&self) -> u64 {
        self.operations()
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
