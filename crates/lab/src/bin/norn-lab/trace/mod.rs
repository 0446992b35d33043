//! `norn-lab trace`: records which code a program executes, and replays that through a cache over NAND.
//!
//! 1. The program's file says where its code section is (`code.rs`).
//! 2. Valgrind's tool lackey runs the program and names the address of each instruction (`lackey.rs`).
//! 3. Instructions in the code section that follow each other become runs, the records of a trace.
//! 4. Traces and the program's symbols give an order of its functions for a linker (`ordering.rs`).

mod code;
pub mod failure;
mod lackey;
mod new_file;
mod ordering;

pub use ordering::layout;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;

use norn_flash_sim::NandSpec;
use norn_lab::paging::model::LruModel;
use norn_lab::paging::replay::EXECUTE_NS;
use norn_lab::paging::trace::Trace;

use crate::arguments::{CacheArguments, RecordArguments, ReplayArguments};
use failure::TraceError;
use new_file::create;

/// Records a trace of a program. What the program prints goes to standard error.
pub fn record(arguments: &RecordArguments) -> Result<String, TraceError> {
    let [program, rest @ ..] = &arguments.program[..] else { return Err(TraceError::NoProgram) };
    let out = &arguments.out;
    let program = code::find(program)?;
    let code = code::section(&program)?;
    // Before the program runs, which may take long.
    let mut file = create(out)?;
    let recorded = record_into(&mut file, arguments, (&program, rest, &code));
    if recorded.is_err() {
        let _ = std::fs::remove_file(out);
    }
    recorded
}

fn record_into(
    file: &mut File,
    arguments: &RecordArguments,
    (program, rest, code): (&Path, &[OsString], &Range<u64>),
) -> Result<String, TraceError> {
    let out = &arguments.out;
    let (runs, status) = lackey::runs(program, rest, code, arguments.instructions.unwrap_or(u64::MAX))?;
    let instructions: u64 = runs.iter().map(|run| u64::from(run.instructions)).sum();
    let trace = Trace::new(runs).map_err(|_| TraceError::NothingExecuted { program: program.to_owned() })?;
    keep(file, out, &trace)?;
    let (count, bytes) = (trace.runs.len(), trace.executed_bytes());
    let mut said = format!("{}: {count} runs, {instructions} instructions, {bytes} bytes executed\n", out.display());
    if let Some(status) = status.filter(|status| !status.success()) {
        let _ = writeln!(said, "{} ended with {status}", program.display());
    }
    Ok(said)
}

/// Writes a trace, compressed if the file's name ends in `.zst`.
fn keep(file: &mut File, path: &Path, trace: &Trace) -> Result<(), TraceError> {
    let mut bytes = trace.encode();
    if path.extension().is_some_and(|extension| extension == "zst") {
        bytes = Trace::compress(&bytes);
    }
    file.write_all(&bytes).map_err(TraceError::file(path))
}

/// Replays a trace through a cache under LRU, and says what it costs.
pub fn replay(arguments: &ReplayArguments) -> Result<String, TraceError> {
    let trace = Trace::read(&arguments.trace).map_err(TraceError::Trace)?;
    let CacheArguments { part: NandSpec { name, part, timings, .. }, frames, page } = &arguments.cache;
    let model = LruModel::new(*frames, *page, part, trace.code_bytes);
    let mut model = model.map_err(|shape| TraceError::Shape { path: arguments.trace.clone(), shape })?;
    model.replay(&trace.runs);
    let (counts, page_bytes) = (model.counts(), u64::from(*page));
    let executed = trace.executed_bytes();
    let transferred = page_bytes * (counts.misses + counts.skipped);
    let elapsed_ns =
        EXECUTE_NS * executed + u64::from(timings.load_ns) * counts.loads + u64::from(timings.byte_ns) * transferred;
    let bandwidth = executed as f64 / (elapsed_ns as f64 / 1e9) / f64::from(1 << 20);
    let mut said = format!(
        "{}: {} runs of {executed} bytes, code of {}\n",
        arguments.trace.display(),
        trace.runs.len(),
        trace.code_bytes
    );
    let _ = writeln!(said, "{frames} frames of {page} bytes over {name}, LRU: {bandwidth:.3} MiB/s of bytes executed");
    let (requests, misses, loads) = (counts.hits + counts.misses, counts.misses, counts.loads);
    let _ = writeln!(
        said,
        "{requests} requests, {misses} misses, {loads} loads, {} cache pages passed over",
        counts.skipped
    );
    Ok(said)
}
