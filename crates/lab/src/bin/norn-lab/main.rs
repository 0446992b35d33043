//! `norn-lab`: lists, runs and reports the published evaluations, and records and replays traces for them.
//!
//! Every command returns what it found; this file prints it and turns it into an exit code.
#![forbid(unsafe_code)]

mod arguments;
mod evaluations;
mod trace;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use norn_lab::LabError;

use crate::arguments::{Arguments, Command, TraceCommand};
use crate::trace::failure::TraceError;

const EXIT_ERROR: u8 = 2;

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
enum Error {
    /// An experiment could not be run or reported.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A trace could not be recorded or replayed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The answer could not be printed.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

fn main() -> ExitCode {
    match answer(Arguments::parse().command).and_then(|text| print(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output has closed the pipe.
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("norn-lab: {error}");
            ExitCode::from(EXIT_ERROR)
        }
    }
}

fn answer(command: Command) -> Result<String, Error> {
    Ok(match command {
        Command::List => evaluations::list(),
        Command::Run(arguments) => evaluations::run(&arguments)?,
        Command::Report(arguments) => evaluations::report(&arguments)?,
        Command::Trace(TraceCommand::Record(arguments)) => trace::record(&arguments)?,
        Command::Trace(TraceCommand::Replay(arguments)) => trace::replay(&arguments)?,
        Command::Trace(TraceCommand::Layout(arguments)) => trace::layout(&arguments)?,
    })
}

fn print(text: &str) -> Result<(), Error> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    Ok(output.flush()?)
}
