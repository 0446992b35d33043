//! Carries out a script of payments between purses in a heap, and says what came of it.
#![forbid(unsafe_code)]

mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use norn_flash_sim::PartSpec;
use norn_heap_image::part_by_name;
use norn_purse::Job;

use crate::report::Report;

const SCRIPT_HELP: &str = "\
A script has one command a line; # starts a comment:
  open NAME                 opens an account; nothing happens if there is one
  credit NAME AMOUNT        puts money into it
  debit NAME AMOUNT         takes money out
  transfer FROM TO AMOUNT   moves money
  close NAME                closes an empty account
  random-transfers N        N transfers between random accounts, the same in each run on the same image
  repeat N ... end          the lines between, N times; blocks do not nest
Each command is one transaction of the heap. One that an account has no money for is refused and counted. A mistake in
the script is found before anything is changed.

With --cut-power, every loss of power is followed by a mount, and the books on flash are compared with those in memory:
the interrupted command must have taken effect wholly or not at all, and is repeated in the latter case. The mean number
of operations to the next cut doubles with each cut since a command last got through, so that a run ends.";

/// Runs a script of payments between electronic purses in an object heap, with power cuts if asked.
#[derive(Debug, Parser)]
#[command(version, after_help = SCRIPT_HELP)]
struct Arguments {
    /// Image file with the purses. It is created if missing; a run on an existing one continues it.
    image: PathBuf,
    /// Text file of commands.
    script: PathBuf,
    /// Cut the power again and again, at operations and in ways that derive from this number.
    #[arg(long, value_name = "SEED")]
    cut_power: Option<u64>,
    /// Mean number of words programmed and units erased between two power cuts.
    #[arg(long, value_name = "N", default_value_t = 200, requires = "cut_power")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    cuts_every: u32,
    /// Simulated part of a new image: `tinystore` if left out; an image that exists has to be of it.
    #[arg(long, value_name = "NAME", value_parser = part_by_name)]
    part: Option<PartSpec>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let job = Job {
        image: arguments.image,
        script: arguments.script,
        part: arguments.part,
        cuts: arguments.cut_power.map(|seed| (seed, arguments.cuts_every)),
    };
    match Report::of(&job) {
        Ok(report) => {
            print!("{report}");
            ExitCode::from(u8::from(!report.is_clean()))
        }
        Err(error) => {
            eprintln!("norn-purse: {error}");
            ExitCode::from(2)
        }
    }
}
