//! TinyStore (LCTES 2006), section 6: the flash heap beside the EEPROM heap.
//!
//! `subject.rs` is the heap under measurement with its simulated part, `population.rs` the objects on it and what full means,
//! `workload.rs` the five workloads, `costs.rs` what a run of updates costs and how long the part lasts. Each other file is an
//! experiment.

use crate::experiment::Paper;

mod costs;
mod population;
mod subject;
mod table1;
mod workload;

pub use table1::Table1;

/// The paper.
pub const PAPER: Paper = Paper {
    id: "tinystore",
    title: "TinyStore: Spivak and Toledo, Storing a Persistent Transactional Object Heap on Flash Memory, LCTES 2006",
};
