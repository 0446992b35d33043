//! Where a job's trace comes from: a file of `--data`, or a program made up from the seed.
//!
//! The files are `lout-small.runs.zst` and `mad-small.runs.zst`. Without them, everything runs on the made-up program alone.

use serde::{Deserialize, Serialize};

use super::trace::{Run, Trace, checksum};
use crate::experiment::{Context, data_file};
use crate::{JobError, Settings};

/// A trace, by name, with what tells one version of it from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The program, or `made-up`.
    pub program: String,
    /// The file's CRC-32, or the seed.
    pub version: u64,
}

const MADE_UP: &str = "made-up";

fn file_name(program: &str) -> String {
    format!("{program}-small.runs.zst")
}

/// The traces that settings allow: those of `--data`, or the made-up one; a quick run takes that alone.
pub fn sources(settings: &Settings) -> Vec<Source> {
    let found = |program: &str| {
        let path = data_file(settings, &file_name(program))?;
        Some(Source { program: program.to_owned(), version: checksum(&path)?.into() })
    };
    let mut sources: Vec<Source> = settings.choose(vec![], vec!["lout", "mad"]).into_iter().filter_map(found).collect();
    if sources.is_empty() {
        sources.push(Source { program: MADE_UP.to_owned(), version: settings.seed });
    }
    sources
}

impl Source {
    /// The trace.
    ///
    /// # Errors
    /// If the file is not there, or no trace.
    pub fn trace(&self, context: &Context) -> Result<Trace, JobError> {
        if self.program == MADE_UP {
            return Ok(made_up(self.version, 30_000));
        }
        let name = file_name(&self.program);
        let Some(directory) = context.data() else {
            return Err(JobError::Failed(format!("{name}: no --data")));
        };
        Trace::read(&directory.join(name))
    }
}

/// A trace of a program of functions with loops that call each other, at least `runs` runs long.
pub fn made_up(seed: u64, runs: usize) -> Trace {
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
