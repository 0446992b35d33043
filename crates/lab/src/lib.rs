//! The published evaluations that Norn builds on, redone: experiments, and what runs and shows them.
//!
//! `norn-lab list`, `norn-lab run NAME…` and `norn-lab report` are this crate on the command line. A run spreads its
//! jobs over the cores, writes each finished job to disk, and continues where it was interrupted; the report puts what
//! a paper published beside what was measured, with CSV files and plots.
//!
//! # How to add an experiment
//!
//! 1. Make a module for the paper, `src/PAPER/mod.rs`, with a [`Paper`], which lists its tables and figures, and a file
//!    for each of these.
//! 2. There, write a type that implements [`Experiment`]: a struct of parameters (plain fields; the seed is one of
//!    them), a struct of what a job measures, the list of jobs, the measurement, and its presentation: [`Comparison`]s
//!    with the published values, [`Table`]s, [`Plot`]s. A job sees nothing but its parameters. `settings.choose(quick,
//!    full)` gives a small list of jobs where that is asked for.
//! 3. Name it in the paper's `experiments`, and a new paper in [`experiments`] below. The tests of `tests/quick.rs`
//!    then run it.
//!
//! ```
//! use norn_lab::{About, Axis, Chart, Comparison, Context, Exhibit, Experiment, Job, JobError, Outcome, Paper};
//! use norn_lab::{Plot, Presentation, Published, Series, Settings};
//! use serde::{Deserialize, Serialize};
//!
//! const EXHIBITS: &[Exhibit] = &[Exhibit::compared("Figure 1", "the mean of many throws")];
//! const PAPER: Paper = Paper { id: "dice", title: "On Dice, 1654", exhibits: EXHIBITS };
//!
//! /// Figure 1: the mean of n throws.
//! struct Figure1;
//!
//! #[derive(Serialize, Deserialize)]
//! struct Parameters { throws: u32, seed: u64 }
//!
//! #[derive(Serialize, Deserialize)]
//! struct Row { mean: f64 }
//!
//! impl Experiment for Figure1 {
//!     type Parameters = Parameters;
//!     type Row = Row;
//!
//!     fn about() -> About {
//!         let (name, summary) = ("dice-figure1", "Means of throws.");
//!         About { name, paper: PAPER, reproduces: "Figure 1", summary, revision: 1 }
//!     }
//!
//!     fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
//!         let counts = settings.choose(vec![10], vec![10, 100, 1000]);
//!         let parameters = |throws| Parameters { throws, seed: settings.seed };
//!         let seconds = |throws: u32| f64::from(throws) * 1e-8;
//!         counts.into_iter().map(|n| Job { parameters: parameters(n), seconds: seconds(n) }).collect()
//!     }
//!
//!     fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
//!         let mut random = fastrand::Rng::with_seed(parameters.seed);
//!         let sum: u32 = (0..parameters.throws).map(|_| random.u32(1..=6)).sum();
//!         context.progress(1, 1);
//!         Ok(vec![Row { mean: f64::from(sum) / f64::from(parameters.throws) }])
//!     }
//!
//!     fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
//!         let point = |one: &Outcome<Parameters, Row>| (f64::from(one.parameters.throws), one.row.mean);
//!         let points = outcomes.iter().map(point).collect();
//!         let ours = outcomes.last().map(|outcome| outcome.row.mean);
//!         let chart = Chart::Lines(vec![Series::line("ours", points)]);
//!         Presentation {
//!             comparisons: vec![Comparison::new("Figure 1, many throws: mean", Published::Value(3.5), ours)],
//!             plots: vec![Plot::single("dice-figure1", "Means", Axis::log("throws"), Axis::linear("mean"), chart)],
//!             ..Presentation::default()
//!         }
//!     }
//! }
//! # let job = &Figure1::jobs(&Settings::quick())[0];
//! # assert_eq!(job.parameters.throws, 10);
//! ```
#![forbid(unsafe_code)]

mod archive;
mod csv_file;
mod digits;
mod error;
mod exhibit;
mod experiment;
pub mod fat_lists;
mod interval;
pub mod log_heap;
pub mod paging;
mod plot;
mod presentation;
pub mod realtime_gc;
mod report;
mod runner;
mod settings;
mod shard;
pub mod tinystore;
pub mod write_amplification;

pub use csv_file::csv_text;
pub use error::{JobError, LabError};
pub use exhibit::{Basis, Exhibit, standings};
pub use experiment::{About, AnyExperiment, AnyJob, Context, Experiment, Job, Outcome, Paper, data_file};
pub use interval::Interval;
pub use plot::{Axis, Chart, Mark, Panel, Plot, Scale, Series};
pub use presentation::{Comparison, Ours, Presentation, Published, Table, Verdict, comparison_table, figure};
pub use report::write_report;
pub use runner::{Known, Runner, Summary};
pub use settings::{Depth, Settings};
pub use shard::Shard;

/// Every experiment, in the order of the report.
pub fn experiments() -> Vec<Box<dyn AnyExperiment>> {
    let papers = [
        tinystore::experiments(),
        fat_lists::experiments(),
        realtime_gc::experiments(),
        paging::experiments(),
        write_amplification::experiments(),
        log_heap::experiments(),
    ];
    papers.into_iter().flatten().collect()
}

/// The experiments of these names; a paper's id selects all of its experiments, and no name selects all.
///
/// # Errors
/// Names what there is if a name is not among it.
pub fn experiments_named(names: &[String]) -> Result<Vec<Box<dyn AnyExperiment>>, LabError> {
    let all = experiments();
    let is_meant = |about: &About, name: &str| about.name == name || about.paper.id == name;
    for name in names {
        if !all.iter().any(|experiment| is_meant(&experiment.about(), name)) {
            let known: Vec<&str> = all.iter().map(|experiment| experiment.about().name).collect();
            return Err(LabError::Unknown { name: name.clone(), known: known.join(", ") });
        }
    }
    let wanted = |experiment: &dyn AnyExperiment| {
        names.is_empty() || names.iter().any(|name| is_meant(&experiment.about(), name))
    };
    Ok(all.into_iter().filter(|experiment| wanted(experiment.as_ref())).collect())
}
