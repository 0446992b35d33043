//! Where the heap's operations come from: each field update by what it had to do, and by whether it had to make room.
//!
//! An update is *in place* (a slot was free), *linked* (a record was added) or *rewritten* (the object was compacted).
//! Any of them may come upon a full unit and erase: a reclamation, or a switch of the log. Words are distinguished by
//! the role of the unit they go to, erases by the role that the unit had before.

use crate::device::Operation;

/// What an update had to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The value and a flag.
    InPlace,
    /// A further record.
    Linked,
    /// The object anew.
    Rewritten,
}

/// All kinds of work, in the order of [`Causes::rows`].
pub const WORKS: [Work; 3] = [Work::InPlace, Work::Linked, Work::Rewritten];

/// What the updates of one kind did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Updates.
    pub updates: u64,
    /// Words read.
    pub reads: u64,
    /// Words programmed in units of the log.
    pub log_words: u64,
    /// Words programmed elsewhere.
    pub data_words: u64,
    /// Units of the log erased.
    pub log_erases: u64,
    /// Other units erased.
    pub data_erases: u64,
}

/// Updates by kind, without and with an erase.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    /// For each of [`WORKS`]: updates that erased nothing, and those that did.
    pub rows: [[Tally; 2]; 3],
}

impl Causes {
    /// Counts one update: what it did, the words it read, its operations, each with whether it concerned the log.
    pub fn count(&mut self, work: Work, reads: u64, operations: &[(Operation, Place)]) {
        let erased = operations.iter().any(|(operation, _)| matches!(operation, Operation::Erase(_)));
        let tally = &mut self.rows[work as usize][usize::from(erased)];
        tally.updates += 1;
        tally.reads += reads;
        for operation in operations {
            match operation {
                (Operation::Word(_), Place::Log) => tally.log_words += 1,
                (Operation::Word(_), Place::Data) => tally.data_words += 1,
                (Operation::Erase(_), Place::Log) => tally.log_erases += 1,
                (Operation::Erase(_), Place::Data) => tally.data_erases += 1,
            }
        }
    }

    /// Updates counted.
    pub fn updates(&self) -> u64 {
        self.rows.iter().flatten().map(|tally| tally.updates).sum()
    }
}

/// What an operation concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A unit of the log.
    Log,
    /// Any other unit.
    Data,
}
