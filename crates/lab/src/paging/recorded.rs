//! Programs that were recorded on several inputs: each directory of `--data` with two traces or more is one, as
//! `tools/record-programs` makes them. Without any, a made-up program on made-up inputs.
//!
//! What is replayed of a trace is its end, so that a long start, which all inputs share, is left out.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::source::{MADE_UP, made_up_input, traces};
use super::trace::{Trace, checksum};
use crate::error::JobError;
use crate::experiment::Context;
use crate::settings::Settings;

/// A program with its inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// The directory's name, or `made-up`.
    pub program: String,
    /// What distinguishes these traces from others of the same program: made of their checksums, or the seed.
    pub version: u64,
    /// Runs of each trace that are replayed, the last ones.
    pub runs_max: usize,
}

/// Inputs of the made-up program.
const MADE_UP_INPUTS: u64 = 4;

/// The programs that settings allow.
pub fn recorded(settings: &Settings) -> Vec<Recorded> {
    let runs_max = settings.choose(4_000, 250_000);
    let entries = settings.data.iter().flat_map(|data| std::fs::read_dir(data).into_iter().flatten().flatten());
    let mut directories: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    directories.sort();
    let one = |directory: &PathBuf| {
        let program = directory.file_name()?.to_str()?.to_owned();
        Some(Recorded { program, version: version(&traces(directory))?, runs_max })
    };
    let mut found: Vec<Recorded> = directories.iter().filter_map(one).collect();
    if found.is_empty() {
        found.push(Recorded { program: MADE_UP.to_owned(), version: settings.seed, runs_max });
    }
    found
}

/// Whether no directory in that of `--data` is a program.
pub(super) fn are_missing(settings: &Settings) -> bool {
    recorded(settings).iter().all(|one| one.program == MADE_UP)
}

/// Nothing, unless there are two traces or more.
fn version(paths: &[PathBuf]) -> Option<u64> {
    let mix = |all: u64, path: &PathBuf| Some(all.rotate_left(7) ^ u64::from(checksum(path)?));
    (paths.len() > 1).then(|| paths.iter().try_fold(0, mix))?
}

/// The traces that were read last: jobs of one program follow each other.
static LAST: Mutex<Option<(Recorded, Arc<Vec<Trace>>)>> = Mutex::new(None);

impl Recorded {
    /// Its traces, in the order of their names.
    ///
    /// # Errors
    /// If they are not there, are other ones than those of the job, or no traces.
    pub fn traces(&self, context: &Context) -> Result<Arc<Vec<Trace>>, JobError> {
        // Callers that come while they are being read wait for it.
        let mut last = LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, traces)) = last.as_ref().filter(|(recorded, _)| recorded == self) {
            return Ok(traces.clone());
        }
        *last = None;
        let whole = match &*self.program {
            MADE_UP => (0..MADE_UP_INPUTS).map(|input| made_up_input(self.version, input, self.runs_max)).collect(),
            program => self.read(program, context)?,
        };
        let ends: Arc<Vec<Trace>> = Arc::new(whole.into_iter().map(|trace| end(trace, self.runs_max)).collect());
        *last = Some((self.clone(), ends.clone()));
        Ok(ends)
    }

    fn read(&self, program: &str, context: &Context) -> Result<Vec<Trace>, JobError> {
        let directory = context.data().unwrap_or(Path::new("")).join(program);
        let paths = traces(&directory);
        if version(&paths) != Some(self.version) {
            return Err(JobError::Failed(format!("the traces in {} have changed", directory.display())));
        }
        paths.iter().map(|path| Trace::read(path)).collect()
    }
}

/// The last runs of a trace.
fn end(trace: Trace, runs_max: usize) -> Trace {
    let left_out = trace.runs.len().saturating_sub(runs_max);
    Trace { runs: trace.runs[left_out..].to_vec(), code_bytes: trace.code_bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_two_traces_is_a_program() {
        let data = tempfile::tempdir().unwrap();
        let settings = Settings { data: Some(data.path().to_owned()), ..Settings::quick() };
        let add = |program: &str, input: u64| {
            std::fs::create_dir_all(data.path().join(program)).unwrap();
            let trace = made_up_input(1, input, 5_000).encode();
            std::fs::write(data.path().join(program).join(format!("{input}.runs")), trace).unwrap();
        };
        add("two", 1);
        add("one", 1);
        let programs = |settings: &Settings| recorded(settings).into_iter().map(|one| one.program).collect::<Vec<_>>();
        assert_eq!(programs(&settings), [MADE_UP], "one input is not several");
        add("two", 2);
        let two = recorded(&settings).remove(0);
        assert_eq!((&*two.program, two.runs_max), ("two", 4_000));
        add("two", 3);
        assert_ne!(recorded(&settings).remove(0).version, two.version, "another input makes another version");
    }

    #[test]
    fn inputs_of_the_made_up_program_share_its_code() {
        let [one, other] = [1, 2].map(|input| made_up_input(9, input, 3_000));
        assert_ne!(one.runs, other.runs);
        let code: std::collections::HashMap<u32, u16> = one.runs.iter().map(|run| (run.address, run.bytes)).collect();
        let shared: Vec<_> = other.runs.iter().filter(|run| code.contains_key(&run.address)).collect();
        assert!(shared.len() > 20 && shared.iter().all(|run| code[&run.address] == run.bytes), "{}", shared.len());
    }
}
