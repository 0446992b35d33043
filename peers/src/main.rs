//! Other stores for flash and Norn's object heap, under one workload on one simulated part.
//!
//! `make compare` runs it, and `tools/compare heap --help` says what else it can do. What is measured and how is in
//! the heads of `measure.rs`, `steady.rs`, `capacity.rs` and `cuts.rs`, what each store was given in the heads of
//! their files.
#![forbid(unsafe_code)]

mod arguments;
mod capacity;
mod causes;
mod cuts;
mod device;
mod ekv_store;
mod figure_text;
mod littlefs;
mod measure;
mod norn;
mod outcome;
mod ports;
mod report;
mod run;
mod sequential;
mod steady;
mod store;
mod summary;
mod tickv_store;
mod wasefire;
mod whole_record;
mod workload;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;

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
