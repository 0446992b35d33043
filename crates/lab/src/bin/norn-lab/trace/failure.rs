//! Why a trace could not be recorded, replayed, or made into an order of functions.

use std::io;
use std::path::{Path, PathBuf};

use norn_lab::JobError;
use norn_lab::paging::model::ShapeError;

/// Why a trace could not be recorded or replayed.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// There is no program to record.
    #[error("no program to record: give it after --")]
    NoProgram,
    /// A program is not where it was looked for.
    #[error("{}: no such program, here or in a directory of PATH", program.display())]
    NoSuchProgram {
        /// Its name.
        program: PathBuf,
    },
    /// A file is not one that the processor runs.
    #[error("{}: not a program with a code section, but a script or something else: {problem}", program.display())]
    NoProgramFile {
        /// The file.
        program: PathBuf,
        /// What it is.
        problem: String,
    },
    /// A program has no symbols.
    #[error("{}: no symbols of functions: take the program as it was linked, before strip", program.display())]
    NoSymbols {
        /// The file.
        program: PathBuf,
    },
    /// A trace reaches past a program's code.
    #[error(
        "{}: a trace of another program: {} has {code_bytes:#x} bytes of code, and {outside} of {runs} runs lie \
         outside, from {lowest:#x} to {highest:#x}",
        trace.display(), program.display()
    )]
    OtherProgram {
        /// The trace.
        trace: PathBuf,
        /// The program.
        program: PathBuf,
        /// Bytes of its code.
        code_bytes: u64,
        /// Runs that end outside of it.
        outside: usize,
        /// All runs.
        runs: usize,
        /// The first byte that is executed outside.
        lowest: u64,
        /// The last one.
        highest: u64,
    },
    /// Valgrind is missing.
    #[error("valgrind is not installed: `apt install valgrind`, or this system's package of that name")]
    NoValgrind,
    /// Valgrind failed.
    #[error("valgrind: {0}")]
    Valgrind(io::Error),
    /// Nothing of the program's code was executed.
    #[error("{}: nothing of its code section was executed; what valgrind says of it is above", program.display())]
    NothingExecuted {
        /// The program.
        program: PathBuf,
    },
    /// A file would be overwritten.
    #[error("{}: there is such a file, and it is never overwritten: choose another name", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
    /// A file is no trace.
    #[error("{0}")]
    Trace(JobError),
    /// A trace cannot be replayed through such a cache.
    #[error("{}: {shape}", path.display())]
    Shape {
        /// The trace.
        path: PathBuf,
        /// Why not.
        shape: ShapeError,
    },
}

impl TraceError {
    /// For a file that could not be read or written.
    pub fn file(path: &Path) -> impl FnOnce(io::Error) -> TraceError {
        let path = path.to_owned();
        move |error| TraceError::File { path, error }
    }
}
