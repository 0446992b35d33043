//! What an experiment is: a figure or table to redo, as independent jobs and a way to show what they measured.
//!
//! [`Experiment`] is what a module of a paper implements, with types of its own for a job's parameters and for what a
//! job measures. [`AnyExperiment`] is the same without these types, for the runner and the report.
//!
//! Invariant: what a job measures follows from its parameters alone, since [`Experiment::measure`] sees nothing else.
//! That is why a finished job may be taken from disk, and jobs may run in any order on any core.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::JobError;
use crate::exhibit::Exhibit;
use crate::presentation::Presentation;
use crate::settings::Settings;

/// A paper whose evaluation is redone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    /// Its name on the command line, in front of the names of its experiments.
    pub id: &'static str,
    /// Title, authors, where and when.
    pub title: &'static str,
    /// Its tables and figures, all of them: the report says how each stands.
    pub exhibits: &'static [Exhibit],
}

/// What an experiment is about.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name: the paper's id, a hyphen, and what it is. File names begin with it.
    pub name: &'static str,
    /// The paper.
    pub paper: Paper,
    /// Figure, table or section that it redoes.
    pub reproduces: &'static str,
    /// What is measured, in a sentence or two; it is at the head of the report's section.
    pub summary: &'static str,
    /// Raised when the same parameters give another result than before, so that rows on disk are not used again.
    pub revision: u32,
}

/// A unit of work that depends on no other.
#[derive(Clone, Debug)]
pub struct Job<P> {
    /// All that the result depends on, the seed included.
    pub parameters: P,
    /// About how many seconds it takes; the longest are started first, and the time left follows from it.
    pub seconds: f64,
}

/// One row of results, beside the parameters of the job that measured it.
#[derive(Clone, Debug)]
pub struct Outcome<P, R> {
    /// The job's.
    pub parameters: P,
    /// What it measured.
    pub row: R,
}

/// How a job reports progress, and finds the user's data files.
pub struct Context<'a> {
    pub(crate) advance: &'a dyn Fn(f64),
    pub(crate) data: Option<&'a Path>,
    pub(crate) trace: Option<&'a Path>,
}

impl Context<'_> {
    /// The job has done `done` of `total`.
    pub fn progress(&self, done: u64, total: u64) {
        (self.advance)((done as f64 / total.max(1) as f64).min(1.0));
    }

    /// The directory of `--data`. A job that reads a file there has its name and a checksum among its parameters.
    pub fn data(&self) -> Option<&Path> {
        self.data
    }

    /// The file of `--trace`. A job that reads it has its checksum among its parameters.
    pub fn trace(&self) -> Option<&Path> {
        self.trace
    }
}

/// An experiment. A type without fields implements it; see the [crate](crate) for how.
pub trait Experiment: Send + Sync + 'static {
    /// What a job depends on: a struct of plain fields (numbers, texts, enums without contents).
    type Parameters: Serialize + DeserializeOwned + Send + Sync;
    /// What is measured, a struct of plain fields too: with the parameters in front, a row of the CSV file.
    type Row: Serialize + DeserializeOwned;

    /// Name, paper, figure.
    fn about() -> About;

    /// The jobs that `settings` ask for, in the order of the CSV file. No two have the same parameters.
    fn jobs(settings: &Settings) -> Vec<Job<Self::Parameters>>;

    /// Carries out one job: one row or several.
    ///
    /// # Errors
    /// If something fails that is no result; that the heap is full is one.
    fn measure(parameters: &Self::Parameters, context: &Context) -> Result<Vec<Self::Row>, JobError>;

    /// Shows what was measured: tables, plots, and published values beside ours. Some outcomes may be missing.
    fn present(outcomes: &[Outcome<Self::Parameters, Self::Row>]) -> Presentation;
}

/// A job without its types.
pub struct AnyJob {
    /// The parameters, a map.
    pub parameters: Value,
    /// About how many seconds it takes.
    pub seconds: f64,
}

/// An experiment without its types. Parameters and rows are maps.
pub trait AnyExperiment: Send + Sync {
    /// Name, paper, figure.
    fn about(&self) -> About;
    /// The jobs that `settings` ask for.
    fn jobs(&self, settings: &Settings) -> Vec<AnyJob>;
    /// Carries out one job.
    ///
    /// # Errors
    /// As [`Experiment::measure`].
    fn measure(&self, parameters: &Value, context: &Context) -> Result<Vec<Value>, JobError>;
    /// Shows rows with their jobs' parameters.
    ///
    /// # Errors
    /// If a row is not one of this experiment.
    fn present(&self, outcomes: &[(Value, Value)]) -> Result<Presentation, serde_json::Error>;
}

/// Makes an [`AnyExperiment`] of an [`Experiment`].
pub(crate) struct Erased<E>(PhantomData<fn() -> E>);

impl<E: Experiment> Erased<E> {
    pub(crate) fn boxed() -> Box<dyn AnyExperiment> {
        Box::new(Erased::<E>(PhantomData))
    }
}

impl<E: Experiment> AnyExperiment for Erased<E> {
    fn about(&self) -> About {
        E::about()
    }

    fn jobs(&self, settings: &Settings) -> Vec<AnyJob> {
        let any = |job: Job<E::Parameters>| AnyJob { parameters: value(&job.parameters), seconds: job.seconds };
        E::jobs(settings).into_iter().map(any).collect()
    }

    fn measure(&self, parameters: &Value, context: &Context) -> Result<Vec<Value>, JobError> {
        let parameters = serde_json::from_value(parameters.clone()).map_err(JobError::Parameters)?;
        Ok(E::measure(&parameters, context)?.iter().map(value).collect())
    }

    fn present(&self, outcomes: &[(Value, Value)]) -> Result<Presentation, serde_json::Error> {
        let typed = |(parameters, row): &(Value, Value)| {
            Ok(Outcome {
                parameters: serde_json::from_value(parameters.clone())?,
                row: serde_json::from_value(row.clone())?,
            })
        };
        let outcomes: Vec<_> = outcomes.iter().map(typed).collect::<Result<_, serde_json::Error>>()?;
        Ok(E::present(&outcomes))
    }
}

fn value(plain: &impl Serialize) -> Value {
    serde_json::to_value(plain).expect("plain fields have a JSON form")
}

/// Where a file of `--data` is, for [`Experiment::jobs`].
pub fn data_file(settings: &Settings, name: &str) -> Option<PathBuf> {
    settings.data.as_ref().map(|directory| directory.join(name)).filter(|path| path.is_file())
}
