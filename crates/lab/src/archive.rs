//! Results on disk: a file for each finished job, with its parameters.
//!
//! ```text
//! DIR/tinystore-table1/run.json                 the settings of the last run
//! DIR/tinystore-table1/jobs/1f0c….json          one finished job: experiment, revision, parameters, rows, seconds
//! ```
//!
//! Invariants: a file appears whole, by a rename; its name is a hash of experiment, revision and parameters, and what
//! it holds is compared with all three when it is read, so that a row never belongs to other parameters; files are
//! replaced as a whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::LabError;
use crate::experiment::About;
use crate::settings::Settings;

/// A finished job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    experiment: String,
    revision: u32,
    /// What the rows depend on.
    pub parameters: Value,
    /// What was measured.
    pub rows: Vec<Value>,
    /// How long it took on the machine that measured.
    pub seconds: f64,
}

/// The results of one experiment.
pub struct Archive {
    directory: PathBuf,
    experiment: &'static str,
    revision: u32,
}

impl Archive {
    /// The results of an experiment below `root`; nothing is made yet.
    pub fn new(root: &Path, about: &About) -> Archive {
        Archive { directory: root.join(about.name), experiment: about.name, revision: about.revision }
    }

    /// The finished job with these parameters.
    ///
    /// # Errors
    /// If its file cannot be read, or holds something else.
    pub fn find(&self, parameters: &Value) -> Result<Option<Record>, LabError> {
        let path = self.job_path(parameters);
        let Some(text) = read_if_there(&path)? else { return Ok(None) };
        let damaged = |problem: String| LabError::Damaged { path: path.clone(), problem };
        let record: Record = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if record.experiment != self.experiment || record.revision != self.revision || record.parameters != *parameters
        {
            return Err(damaged("another job's result".to_owned()));
        }
        Ok(Some(record))
    }

    /// Keeps what a job measured.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep(&self, parameters: &Value, rows: Vec<Value>, seconds: f64) -> Result<(), LabError> {
        let (experiment, revision) = (self.experiment.to_owned(), self.revision);
        let record = Record { experiment, revision, parameters: parameters.clone(), rows, seconds };
        write_whole(&self.job_path(parameters), &json(&record))
    }

    /// The settings of the last run, if there was one.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn settings(&self) -> Result<Option<Settings>, LabError> {
        let path = self.directory.join("run.json");
        let Some(text) = read_if_there(&path)? else { return Ok(None) };
        let settings = serde_json::from_str(&text);
        settings.map(Some).map_err(|error| LabError::Damaged { path, problem: error.to_string() })
    }

    /// Keeps the settings of a run that begins.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep_settings(&self, settings: &Settings) -> Result<(), LabError> {
        write_whole(&self.directory.join("run.json"), &json(settings))
    }

    fn job_path(&self, parameters: &Value) -> PathBuf {
        let identity = format!("{} {} {parameters}", self.experiment, self.revision);
        self.directory.join("jobs").join(format!("{:016x}.json", fnv1a(identity.as_bytes())))
    }
}

fn json(contents: &impl Serialize) -> String {
    serde_json::to_string_pretty(contents).expect("plain fields have a JSON form") + "\n"
}

/// A hash that stays the same from one version of the compiler to the next.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn read_if_there(path: &Path) -> Result<Option<String>, LabError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LabError::file(path)(error)),
    }
}

/// Writes a file that is there completely or not at all, and the directories above it.
pub(crate) fn write_whole(path: &Path, contents: &str) -> Result<(), LabError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).map_err(LabError::file(directory))?;
    let temporary = path.with_extension(format!("{}.part", std::process::id()));
    fs::write(&temporary, contents).map_err(LabError::file(&temporary))?;
    fs::rename(&temporary, path).map_err(LabError::file(path))
}
