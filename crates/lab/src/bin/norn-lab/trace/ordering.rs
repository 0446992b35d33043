//! `norn-lab trace layout`: an order of a program's functions, in the words of a linker.
//!
//! Compilers put each function in a section of its own, `.text.NAME`, and some in `.text.hot.NAME` or
//! `.text.startup.NAME`; what they split off as unlikely, the symbol `NAME.cold`, is in `.text.unlikely.NAME`. gold
//! reads names of sections and ignores those that there are not; lld reads names of symbols.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use norn_lab::paging::functions::{Cache, order_functions};
use norn_lab::paging::trace::Trace;

use super::code::{self, Functions};
use super::failure::TraceError;
use super::new_file::create;
use crate::arguments::{CacheArguments, LayoutArguments, Linker};

/// Orders a program's functions by traces, and writes the order.
pub fn layout(arguments: &LayoutArguments) -> Result<String, TraceError> {
    let functions = code::functions(&arguments.program)?;
    let traces = read(arguments, functions.code_bytes)?;
    let starts: BTreeSet<u32> = functions.names.keys().copied().collect();
    let CacheArguments { frames, page, part } = &arguments.cache;
    let cache = Cache { frames: *frames, page: *page, part: &part.part };
    let order = order_functions(&starts, &traces, functions.code_bytes as u32, cache);
    let order = order.map_err(|shape| TraceError::Shape { path: arguments.traces[0].clone(), shape })?;
    let mut file = create(&arguments.out)?;
    let lines = lines(&functions, &order.starts, arguments.linker);
    file.write_all(lines.as_bytes()).map_err(TraceError::file(&arguments.out))?;
    Ok(format!(
        "{}{}: {} of {} functions, {}; these traces load {} pages in the linker's order, about {} in this one\n",
        doubts(&traces, arguments, &functions),
        arguments.out.display(),
        order.starts.len(),
        starts.len(),
        order.method,
        order.loads_before,
        order.loads_after
    ))
}

fn read(arguments: &LayoutArguments, code_bytes: u64) -> Result<Vec<Trace>, TraceError> {
    let mut traces = Vec::new();
    for path in &arguments.traces {
        let trace = Trace::read(path).map_err(TraceError::Trace)?;
        expect_inside(&trace, path, &arguments.program, code_bytes)?;
        traces.push(trace);
    }
    Ok(traces)
}

/// Refuses a trace that leaves the program's code.
fn expect_inside(trace: &Trace, path: &Path, program: &Path, code_bytes: u64) -> Result<(), TraceError> {
    let outside = || trace.runs.iter().filter(|run| u64::from(run.end()) > code_bytes);
    let Some(lowest) = outside().map(|run| u64::from(run.address).max(code_bytes)).min() else { return Ok(()) };
    Err(TraceError::OtherProgram {
        trace: path.to_owned(),
        program: program.to_owned(),
        code_bytes,
        outside: outside().count(),
        runs: trace.runs.len(),
        lowest,
        highest: u64::from(trace.code_bytes) - 1,
    })
}

/// A line for each trace that may be another program's although it stays in the code: it does not begin where the
/// program does.
fn doubts(traces: &[Trace], arguments: &LayoutArguments, functions: &Functions) -> String {
    let Some(entry) = functions.entry else { return String::new() };
    let named = arguments.traces.iter().zip(traces);
    let elsewhere = named.filter(|(_, trace)| trace.runs[0].address != entry);
    let line = |(path, trace): (&PathBuf, &Trace)| {
        let (first, program) = (trace.runs[0].address, arguments.program.display());
        let of = path.display();
        format!(
            "warning: {of}: part of a trace, or not one of {program}: it begins at {first:#x}, the program at \
             {entry:#x}\n"
        )
    };
    elsewhere.map(line).collect()
}

/// The file: a line for each name of a symbol, or for each section that a function may be in.
fn lines(functions: &Functions, starts: &[u32], linker: Linker) -> String {
    let names = starts.iter().filter_map(|start| functions.names.get(start)).flatten();
    let line = |name: &String| match (linker, name.strip_suffix(".cold")) {
        (Linker::Lld, _) => format!("{name}\n"),
        (Linker::Gold, Some(whole)) => format!(".text.unlikely.{whole}\n"),
        (Linker::Gold, None) => format!(".text.{name}\n.text.hot.{name}\n.text.startup.{name}\n"),
    };
    names.map(line).collect()
}
