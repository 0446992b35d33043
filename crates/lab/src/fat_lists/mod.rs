//! Fat lists (2011), section 0.6: fat lists beside the µ-tree, with soft lists and a B⁺-tree with logged leaves in the
//! same runs.
//!
//! `subject.rs` is the index under measurement on its simulated part, `costs.rs` what calls cost, `phases.rs` the
//! table of it, `micro_benchmark.rs` the four phases of section 0.6.3, `temperatures.rs` the data of section 0.6.4.
//! Each other file is an experiment, or what it is compared with.

use crate::experiment::{AnyExperiment, Erased};

mod costs;
mod lifetimes;
mod macro_benchmark;
mod micro_benchmark;
mod paper;
mod part;
mod phases;
mod probes;
mod sizes;
mod subject;
mod tactics;
mod temperatures;
mod tuning;
mod tuning_published;
mod tuning_runs;

pub use paper::PAPER;

/// Its experiments, in the order of the report.
pub(crate) fn experiments() -> Vec<Box<dyn AnyExperiment>> {
    vec![
        Erased::<part::Parameters>::boxed(),
        Erased::<sizes::Sizes>::boxed(),
        Erased::<tuning::Tuning>::boxed(),
        Erased::<probes::Probes>::boxed(),
        Erased::<tactics::Tactics>::boxed(),
        Erased::<macro_benchmark::MacroBenchmark>::boxed(),
        Erased::<lifetimes::Lifetimes>::boxed(),
    ]
}
