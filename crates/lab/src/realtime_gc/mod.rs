//! Real-time garbage collection (TECS 2004), section 5: the collectors with deadlines beside one that collects when it
//! has to.
//!
//! `workload.rs` is the paper's workload, `edf.rs` the processor that runs it, `system.rs` what it runs on,
//! `baseline.rs` the device without guarantees, `bench.rs` a run from formatting to statistics, `random_sets.rs` random
//! task sets. Each other file is an experiment.

use crate::error::JobError;
use crate::experiment::{AnyExperiment, Erased};

pub(crate) mod baseline;
pub(crate) mod bench;
mod blocking;
mod configuration;
pub(crate) mod edf;
mod longest_write;
mod paper;
mod random_sets;
pub(crate) mod system;
mod throughput;
mod violations;
mod wear;
pub(crate) mod workload;

pub use bench::{Collector, Setting, Summary};
pub use paper::PAPER;
pub use random_sets::{SetOutcome, run_random_set};
pub use workload::Pattern;

/// Its experiments, in the order of the report.
pub(crate) fn experiments() -> Vec<Box<dyn AnyExperiment>> {
    vec![
        Erased::<configuration::Configuration>::boxed(),
        Erased::<blocking::Blocking>::boxed(),
        Erased::<wear::Wear>::boxed(),
        Erased::<throughput::Throughput>::boxed(),
        Erased::<violations::Violations>::boxed(),
        Erased::<longest_write::LongestWrite>::boxed(),
    ]
}

/// Runs a setting with admission, and says what happened.
///
/// # Errors
/// If the paper's tasks are not admitted.
pub fn run_setting(setting: &Setting) -> Result<Summary, JobError> {
    bench::run(setting, bench::Admission::On, |_| {}).map(|run| run.summary)
}
