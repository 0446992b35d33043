//! Where a job's trace comes from: a file of `--data`, or a program made up from the seed.
//!
//! Every file `PROGRAM.runs` or `PROGRAM.runs.zst` is a trace of PROGRAM; `-small` at its end is the size of MiBench's
//! input and no part of the name. A quick run replays the beginnings of them, and says so in the program's name.
//! Without traces, everything runs on the made-up program alone.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::trace::{Run, Trace, checksum};
use crate::error::JobError;
use crate::experiment::Context;
use crate::settings::{Depth, Settings};

/// A trace, by name, with a checksum that distinguishes its versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The program, or `made-up`.
    pub program: String,
    /// The file's CRC-32, or the seed.
    pub version: u64,
}

pub(super) const MADE_UP: &str = "made-up";
/// At the end of a program's name: the first [`BEGINNING_RUNS`] of its trace.
const BEGINNING: &str = "-beginning";
const BEGINNING_RUNS: usize = 20_000;

/// The program that a file is a trace of, if it is one.
fn program_of(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".zst").unwrap_or(name).strip_suffix(".runs")?;
    Some(stem.strip_suffix("-small").unwrap_or(stem))
}

/// The traces in a directory, in the order of their names.
pub(super) fn traces(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| program_of(path).is_some()).collect();
    paths.sort();
    paths
}

/// The traces that settings allow: those of `--data`, of which a quick run takes the beginnings, or the made-up one.
pub fn sources(settings: &Settings) -> Vec<Source> {
    let found = |path: &PathBuf| {
        let beginning = if settings.depth == Depth::Quick { BEGINNING } else { "" };
        Some(Source { program: program_of(path)?.to_owned() + beginning, version: checksum(path)?.into() })
    };
    let mut sources: Vec<Source> =
        settings.data.iter().flat_map(|data| traces(data)).filter_map(|path| found(&path)).collect();
    sources.dedup_by(|a, b| a.program == b.program);
    if sources.is_empty() {
        sources.push(Source { program: MADE_UP.to_owned(), version: settings.seed });
    }
    sources
}

/// Whether there are no traces in the directory of `--data`.
pub fn are_missing(settings: &Settings) -> bool {
    settings.data.iter().all(|data| traces(data).is_empty())
}

/// The trace that was read last: jobs of one program follow each other, and to decode a trace takes longer than most of
/// them.
static LAST: Mutex<Option<(Source, Arc<Trace>)>> = Mutex::new(None);

impl Source {
    /// The trace.
    ///
    /// # Errors
    /// If the file is not there, is another one than that of the job, or no trace.
    pub fn trace(&self, context: &Context) -> Result<Arc<Trace>, JobError> {
        if self.program == MADE_UP {
            return Ok(Arc::new(made_up(self.version, 30_000)));
        }
        // Callers that come while it is being read wait for it. Only an invalid trace panics with the lock held.
        let mut last = LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, trace)) = last.as_ref().filter(|(source, _)| source == self) {
            return Ok(trace.clone());
        }
        *last = None;
        let trace = Arc::new(self.read(context)?);
        *last = Some((self.clone(), trace.clone()));
        Ok(trace)
    }

    fn read(&self, context: &Context) -> Result<Trace, JobError> {
        let (program, runs_max) = match self.program.strip_suffix(BEGINNING) {
            Some(program) => (program, BEGINNING_RUNS),
            None => (&*self.program, usize::MAX),
        };
        let Some(directory) = context.data() else {
            return Err(JobError::Failed(format!("a trace of {program}: no --data")));
        };
        let is_it = |path: &PathBuf| {
            program_of(path) == Some(program) && checksum(path).is_some_and(|sum| u64::from(sum) == self.version)
        };
        let Some(path) = traces(directory).into_iter().find(is_it) else {
            return Err(JobError::Failed(format!("the trace of {program} in {} has changed", directory.display())));
        };
        let trace = Trace::read(&path)?;
        let runs = trace.runs[..trace.runs.len().min(runs_max)].to_vec();
        Trace::new(runs).map_err(|error| JobError::Failed(format!("{}: {error}", path.display())))
    }
}

/// A trace of a program of functions with loops that call each other, at least `runs` runs long.
pub fn made_up(seed: u64, runs: usize) -> Trace {
    made_up_input(seed, 0, runs)
}

/// The same program on another input: it calls its functions in another order.
pub fn made_up_input(seed: u64, input: u64, runs: usize) -> Trace {
    let mut random = fastrand::Rng::with_seed(seed);
    // Function by function: its address, and its blocks' lengths.
    let mut functions: Vec<(u32, Vec<u16>)> = Vec::new();
    let mut address = 0;
    for _ in 0..150 {
        let blocks: Vec<u16> = (0..random.usize(3..12)).map(|_| random.u16(6..80)).collect();
        let bytes: u32 = blocks.iter().map(|&bytes| u32::from(bytes)).sum();
        functions.push((address, blocks));
        address += bytes;
    }
    if input > 0 {
        random = fastrand::Rng::with_seed(random.u64(..) ^ input);
    }
    let mut trace = Vec::new();
    while trace.len() < runs {
        let phase = random.usize(0..functions.len() - 20);
        for _ in 0..60 {
            let (start, blocks) = &functions[phase + random.usize(0..20).min(random.usize(0..20))];
            for _ in 0..random.usize(1..5) {
                let mut at = *start;
                for &bytes in blocks {
                    if random.u8(0..3) > 0 {
                        trace.push(Run { address: at, bytes, instructions: bytes / 4 });
                    }
                    at += u32::from(bytes);
                }
            }
        }
    }
    Trace::new(trace).expect("each block has bytes")
}
