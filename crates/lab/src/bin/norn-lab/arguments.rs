//! The command line: every command, argument and option, with its help.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use norn_flash_sim::{NandSpec, nand_catalogue};
use norn_lab::Shard;

const EXAMPLES: &str = "\
Examples:
  norn-lab list                                              what is redone?
  norn-lab run tinystore-table1 --quick                      a published table beside what Norn takes
  norn-lab run paging --data traces                          the demand-paging paper, on traces of programs
  norn-lab run paging-inputs --data programs                 layouts trained and tested on different inputs of programs
  norn-lab run amplification --trace tpcc.trace.xz           programs for each page written, beside other maps
  norn-lab run --shard 3/16 --out here                       the third of 16 machines; then copy all into one directory
  norn-lab report --out all                                  the report of what is in it
  norn-lab trace record --out traces/ls.runs.zst -- ls -l    what code does a program execute? (with valgrind)
  norn-lab trace layout --program app --out app.order app-1.runs app-2.runs
  cc -fuse-ld=gold -Wl,--section-ordering-file,app.order …   link it in an order that needs fewer loads

Exit codes:
  0  all is well
  2  wrong usage, or a file that cannot be used";

/// The published evaluations that Norn builds on, repeated: published values beside measured ones.
#[derive(Debug, Parser)]
#[command(name = "norn-lab", version, after_help = EXAMPLES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the experiments: name, figure or table, jobs of a full run.
    List,
    /// Run experiments, or continue with a run that was interrupted: finished jobs are on disk and are not repeated.
    ///
    /// Writes report.md, a CSV file for each experiment, and plots as SVG and PNG.
    Run(RunArguments),
    /// Assemble report, CSV files and plots from the results there are.
    Report(ReportArguments),
    /// Record which code a program executes, for the demand-paging experiments, and replay it through a cache over
    /// NAND.
    #[command(subcommand)]
    Trace(TraceCommand),
}

/// The commands on traces.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Run a program under valgrind and write a trace of the code that it executes: an ELF program for this machine.
    ///
    /// Of the program's own code section only: link it statically to have its libraries in it. What it prints goes to
    /// standard error.
    Record(RecordArguments),
    /// Replay a trace under LRU through a cache over a NAND part, and say what that costs.
    Replay(ReplayArguments),
    /// Order a program's functions by traces of it, and write the order as a file for the linker.
    ///
    /// The program must have its symbols, and be compiled with -ffunction-sections for the linker to move functions.
    /// Record several inputs, and compare loads on another one, before and after.
    Layout(LayoutArguments),
}

/// What to record.
#[derive(Args, Debug)]
pub struct RecordArguments {
    /// File to make, compressed if its name ends in .zst; `norn-lab run paging --data` takes all NAME.runs and
    /// NAME.runs.zst of a directory.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Stop the program after N instructions of its code section.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub instructions: Option<u64>,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// A cache of small pages over a NAND part.
#[derive(Args, Debug)]
pub struct CacheArguments {
    /// Frames of the cache.
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub frames: u32,
    /// Bytes of a cache page, a power of two.
    #[arg(long, value_name = "BYTES", default_value_t = 64)]
    pub page: u32,
    /// The NAND part; `norn parts` lists them.
    #[arg(long, value_name = "NAME", default_value = "k9f1208q0b", value_parser = nand_catalogue::named)]
    pub part: NandSpec,
}

/// What to replay, and through what.
#[derive(Args, Debug)]
pub struct ReplayArguments {
    /// The trace.
    pub trace: PathBuf,
    /// The cache.
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// What to order, and for which linker and cache.
#[derive(Args, Debug)]
pub struct LayoutArguments {
    /// The program that was recorded, with its symbols.
    #[arg(long, value_name = "FILE")]
    pub program: PathBuf,
    /// File to make.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// The linker that reads it.
    #[arg(long, value_enum, default_value_t = Linker::Gold)]
    pub linker: Linker,
    /// The cache.
    #[command(flatten)]
    pub cache: CacheArguments,
    /// Traces of the program, of several inputs.
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
}

/// Linkers, by the files that they read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Linker {
    /// ld.gold --section-ordering-file: names of sections.
    Gold,
    /// ld.lld --symbol-ordering-file: names of symbols.
    Lld,
}

/// What to run.
#[derive(Args, Debug)]
pub struct RunArguments {
    /// Experiments, or a paper's id for all of its own; all there are if left out.
    pub names: Vec<String>,
    /// Directory of results.
    #[arg(long, value_name = "DIR", default_value = "out/lab")]
    pub out: PathBuf,
    /// Everything random derives from this number.
    #[arg(long, value_name = "N", default_value_t = 2006)]
    pub seed: u64,
    /// Every experiment in small.
    #[arg(long)]
    pub quick: bool,
    /// Erases of a unit, or writes of a byte, that end a part's life in experiments that wear parts out: 1,000 if left
    /// out, few with --quick.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(8..=100_000))]
    pub endurance: Option<u32>,
    /// Measure again what is on disk: after a change of what is measured.
    #[arg(long)]
    pub fresh: bool,
    /// Directory with data that the project does not bring along, such as traces, of which --quick takes a part: as
    /// NAME.runs or NAME.runs.zst, and for `paging-inputs` as PROGRAM/INPUT.runs.zst, two or more of a program.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Block trace for `amplification`, as text (see MQSim) or .xz: each line has time, device, first sector, sectors,
    /// and 0 for a write or 1 for a read. Without one, a made-up trace stands in for it.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Only this share of the jobs, such as 3/16, so that 16 machines carry out one run with the same arguments. Then
    /// copy their directories of results over each other, and call `report`.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Jobs at the same time: as many as there are cores if left out.
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

/// What to report.
#[derive(Args, Debug)]
pub struct ReportArguments {
    /// Experiments, or a paper's id for all of its own; all there are results of if left out.
    pub names: Vec<String>,
    /// Directory of results.
    #[arg(long, value_name = "DIR", default_value = "out/lab")]
    pub out: PathBuf,
    /// Where report, CSV files and plots go: the directory of results if left out.
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
}
