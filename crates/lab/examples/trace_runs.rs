//! Makes a trace of a program from what valgrind's lackey says of it on standard input, up to a number of instructions: records of runs for
//! `--data`.
//!
//! `valgrind --tool=lackey --trace-mem=yes --log-fd=3 PROGRAM 3>&1 >/dev/null | trace_runs START END FILE [INSTRUCTIONS]`
//!
//! `START` and `END` are the addresses of the code section, in hexadecimal, as `readelf -SW PROGRAM` gives them for `.text`; valgrind adds
//! 108000 to those of a position-independent program. Instructions outside of it are left out: link statically to have the libraries'.

use std::io::{self, BufRead};
use std::path::PathBuf;
use std::process::ExitCode;

use norn_lab::paging::trace::{Run, Trace};

/// Address and length of the instruction that a line tells of: `I  04001090,3`.
fn instruction(line: &str) -> Option<(u64, u16)> {
    let (address, bytes) = line.strip_prefix("I ")?.trim().split_once(',')?;
    Some((u64::from_str_radix(address, 16).ok()?, bytes.parse().ok()?))
}

/// The runs of a log.
fn runs(log: impl BufRead, code: std::ops::Range<u64>, instructions_max: u64) -> io::Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut instructions = 0;
    for line in log.lines() {
        let Some((address, bytes)) = instruction(&line?).filter(|(address, _)| code.contains(address)) else {
            continue;
        };
        let address = (address - code.start) as u32;
        match runs.last_mut().filter(|run| run.end() == address && run.bytes < u16::MAX - bytes) {
            Some(run) => (run.bytes, run.instructions) = (run.bytes + bytes, run.instructions + 1),
            None => runs.push(Run { address, bytes, instructions: 1 }),
        }
        instructions += 1;
        if instructions == instructions_max {
            break;
        }
    }
    Ok(runs)
}

fn make() -> Result<String, String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (start, end, file, limit) = match &arguments[..] {
        [start, end, file] => (start, end, file, None),
        [start, end, file, limit] => (start, end, file, Some(limit)),
        _ => return Err("wanted: START END FILE [INSTRUCTIONS]".to_owned()),
    };
    let address = |text: &String| u64::from_str_radix(text, 16).map_err(|error| format!("{text}: {error}"));
    let code = address(start)?..address(end)?;
    if code.is_empty() || code.end - code.start > u32::MAX.into() {
        return Err(format!("{start} to {end} is no code section"));
    }
    let limit = limit.map_or(Ok(u64::MAX), |text| text.parse().map_err(|error| format!("{text}: {error}")))?;
    let runs = runs(io::stdin().lock(), code, limit).map_err(|error| error.to_string())?;
    let trace = Trace::new(runs).map_err(|error| format!("nothing of {start} to {end} was executed: {error}"))?;
    std::fs::write(PathBuf::from(file), trace.encode()).map_err(|error| format!("{file}: {error}"))?;
    Ok(format!("{} runs, {} bytes executed", trace.runs.len(), trace.executed_bytes()))
}

fn main() -> ExitCode {
    match make() {
        Ok(made) => println!("{made}"),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
