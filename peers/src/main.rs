//! Other stores for flash and Norn's object heap, under one workload on one simulated part.
//!
//! `make compare` runs it, and `tools/compare heap --help` says what else it can do. What is measured and how is in the
//! heads of `measure.rs` and `cuts.rs`, what each store was given in the heads of their files.
#![forbid(unsafe_code)]

mod causes;
mod cuts;
mod device;
mod ekv_store;
mod littlefs;
mod measure;
mod norn;
mod ports;
mod report;
mod run;
mod sequential;
mod store;
mod summary;
mod tickv_store;
mod wasefire;
mod whole_record;
mod workload;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Runs other stores for flash and Norn's object heap under one workload on one simulated part, and compares what they
/// cost.
#[derive(Parser)]
#[command(version)]
pub struct Arguments {
    /// A short run that shows whether everything works, with figures too rough to keep.
    #[arg(long)]
    quick: bool,
    /// Numbers of objects to measure at, besides the most that each store can hold.
    #[arg(long, value_delimiter = ',', num_args = 1.., default_values_t = [500, 1000, 1400])]
    objects: Vec<usize>,
    /// Seed of all that is random.
    #[arg(long, default_value_t = 2006)]
    seed: u64,
    /// Only stores whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// Stores measured at a time; as many as there are processors by default.
    #[arg(long)]
    jobs: Option<usize>,
    /// A directory for the report (`peers.md`) and the counts (`costs.csv`, `causes.csv`, `cuts.csv`).
    #[arg(long)]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::FAILURE
        }
    }
}
