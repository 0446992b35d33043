//! Cogniaux and Grimaud, "Key-Study to Execute Code Using Demand Paging and NAND Flash at Smart Card Scale",
//! CARDIS 2010.

mod caches;
mod codes;
pub mod device;
pub mod functions;
mod inputs;
pub mod layout;
mod layouts;
pub mod min;
pub mod model;
pub mod order;
pub mod pages;
mod paper;
mod policies;
pub mod profile;
pub mod recorded;
pub mod replay;
pub mod search;
pub mod sharing;
pub mod source;
mod tables;
pub mod trace;

pub use caches::Caches;
pub use codes::Codes;
pub use inputs::Inputs;
pub use layouts::Layouts;
pub use paper::PAPER;
pub use sharing::Sharing;
pub use tables::Tables;

use crate::experiment::{AnyExperiment, Erased, Experiment};
use crate::settings::Settings;

/// Its experiments, in the order of the report.
pub(crate) fn experiments() -> Vec<Box<dyn AnyExperiment>> {
    vec![
        Erased::<Tables>::boxed(),
        Erased::<Caches>::boxed(),
        Erased::<Codes>::boxed(),
        Erased::<Layouts>::boxed(),
        Erased::<Inputs>::boxed(),
        Erased::<Sharing>::boxed(),
    ]
}

/// Which traces an experiment looks for in vain in the directory of `--data`, so that it replays a made-up program.
pub fn missing_traces(experiment: &str, settings: &Settings) -> Option<&'static str> {
    match experiment == Inputs::about().name {
        true => recorded::are_missing(settings).then_some("PROGRAM with two traces or more"),
        false => source::are_missing(settings).then_some("NAME.runs and no NAME.runs.zst"),
    }
}
