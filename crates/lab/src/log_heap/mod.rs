//! The heaps' bars: what updates cost in steady state, how many objects fit, and what a mount does, with the
//! log-structured heap, the same with error detection, and TinyStore's structure beside them.
//!
//! `subject.rs` is a heap of either engine on its simulated part, `population.rs` the objects and what updates them,
//! `steady.rs` runs that until windows agree. `bars.rs` is what is to be met; `updates.rs`, `capacity.rs` and
//! `mounts.rs` are the experiments.

use crate::experiment::{AnyExperiment, Erased};

mod bars;
mod capacity;
mod mounts;
mod paper;
mod population;
mod steady;
mod subject;
mod updates;

pub use paper::PAPER;

/// Its experiments, in the order of the report.
pub(crate) fn experiments() -> Vec<Box<dyn AnyExperiment>> {
    vec![Erased::<updates::Updates>::boxed(), Erased::<capacity::Capacity>::boxed(), Erased::<mounts::Mounts>::boxed()]
}
