//! What the lab fails with. Messages name the job or file that is concerned.

use std::io;
use std::path::{Path, PathBuf};

/// Why a job could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// Its parameters are not those of the experiment.
    #[error("parameters: {0}")]
    Parameters(serde_json::Error),
    /// A mistake of the experiment; what it was is on stderr.
    #[error("panicked")]
    Panicked,
    /// What was measured failed in a way that is no result.
    #[error("{0}")]
    Failed(String),
}

impl JobError {
    /// A failure, with what was being done.
    pub fn while_doing<E: std::fmt::Debug>(what: &str) -> impl Fn(E) -> JobError {
        move |error| JobError::Failed(format!("{what}: {error:?}"))
    }
}

/// Why the lab could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// There is no such experiment.
    #[error("no experiment or paper is named {name}; there are: {known}")]
    Unknown {
        /// What was requested.
        name: String,
        /// What there is.
        known: String,
    },
    /// A job failed.
    #[error("{experiment} {parameters}: {error}")]
    Job {
        /// The experiment.
        experiment: &'static str,
        /// The job's parameters.
        parameters: String,
        /// What went wrong.
        error: JobError,
    },
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
    /// A file of results does not hold what it should.
    #[error("{}: {problem}; remove it to measure again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// There is nothing to report.
    #[error("{}: no results; `norn-lab run` makes them", directory.display())]
    NoResults {
        /// Where they were looked for.
        directory: PathBuf,
    },
    /// A plot could not be drawn.
    #[error("{}: {problem}", path.display())]
    Plot {
        /// Its file.
        path: PathBuf,
        /// What went wrong.
        problem: String,
    },
}

impl LabError {
    /// For a file that could not be read or written.
    pub fn file(path: &Path) -> impl FnOnce(io::Error) -> LabError {
        let path = path.to_owned();
        move |error| LabError::File { path, error }
    }
}
