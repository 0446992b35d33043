//! TinyStore (LCTES 2006), section 6: the flash heap beside the EEPROM heap.
//!
//! `subject.rs` is the heap under measurement with its simulated part, `population.rs` the objects on it and what full
//! means, `workload.rs` the five workloads, `condition.rs` the three together, `costs.rs` what a run of updates costs
//! and how long the part lasts, `field_wear.rs` how long EEPROM's fields last without its log. Each other file is an
//! experiment.

use crate::experiment::{AnyExperiment, Erased};

mod array_copy;
mod call_times;
mod capacity;
mod condition;
mod constraints;
mod costs;
mod error_detection;
mod field_wear;
mod key_tree;
mod lifetimes;
mod limited_parts;
mod list_length;
mod paper;
mod population;
mod representation;
mod short_lived;
mod subject;
mod table1;
mod update_costs;
mod update_kinds;
mod workload;
mod worst_read;

pub use paper::PAPER;

/// Its experiments, in the order of the report.
pub(crate) fn experiments() -> Vec<Box<dyn AnyExperiment>> {
    vec![
        Erased::<table1::Table1>::boxed(),
        Erased::<update_costs::UpdateCosts>::boxed(),
        Erased::<worst_read::WorstRead>::boxed(),
        Erased::<key_tree::KeyTrees>::boxed(),
        Erased::<lifetimes::Lifetimes>::boxed(),
        Erased::<capacity::Capacity>::boxed(),
        Erased::<list_length::ListLength>::boxed(),
        Erased::<array_copy::ArrayCopy>::boxed(),
        Erased::<error_detection::DetectionCosts>::boxed(),
        Erased::<short_lived::ShortLived>::boxed(),
        Erased::<limited_parts::LimitedParts>::boxed(),
        Erased::<update_kinds::UpdateKinds>::boxed(),
        Erased::<representation::Representations>::boxed(),
        Erased::<constraints::Constraints>::boxed(),
        Erased::<call_times::CallTimes>::boxed(),
    ]
}
