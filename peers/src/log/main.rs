//! Norn's ring log and other stores for flash as logs of a sensor's readings, when they are full, on one simulated
//! part.
//!
//! `make compare` runs it, once for each size of erase units, which is that of ekv's pages and so part of the build;
//! `tools/compare log --help` says what else it can do. What is measured and how is in the heads of `steady.rs` and
//! `cuts.rs`, what each log was given in the heads of their files.
#![forbid(unsafe_code)]

mod cuts;
#[path = "../device.rs"]
mod device;
mod ekv_log;
mod flashdb_log;
mod littlefs_log;
mod ours;
#[path = "../ports.rs"]
mod ports;
mod reading_log;
mod report;
mod sequential_log;
mod steady;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use cuts::Cuts;
use reading_log::{Contender, Failure};
use steady::{Bounds, Costs};

/// Runs Norn's ring log and other stores as logs of a sensor's readings on one simulated part, and compares what they
/// cost when they are full, and what they lose to power cuts.
#[derive(Parser)]
#[command(version)]
pub struct Arguments {
    /// A short run that shows whether everything works, with figures too rough to keep.
    #[arg(long)]
    quick: bool,
    /// Seed of all that is random.
    #[arg(long, default_value_t = 2011)]
    seed: u64,
    /// Only logs whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// A directory for the report (`log-64k.md` or `log-4k.md`) and the counts (the same as CSV).
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error("no log's name contains {0:?}")]
    NoSuchLog(String),
    #[error("the report could not be written: {0}")]
    Io(#[from] std::io::Error),
    #[error("a table could not be written: {0}")]
    Csv(#[from] csv::Error),
}

/// Everything about one log.
struct Outcome {
    contender: Contender,
    costs: Costs,
    cuts: Result<Cuts, Failure>,
}

fn contenders(only: &str) -> Vec<Contender> {
    let all = [
        ours::contenders(),
        flashdb_log::contenders(),
        sequential_log::contenders(),
        littlefs_log::contenders(),
        ekv_log::contenders(),
    ];
    all.into_iter().flatten().filter(|contender| contender.name.contains(only)).collect()
}

fn run(arguments: &Arguments) -> Result<(), RunError> {
    let contenders = contenders(&arguments.only);
    if contenders.is_empty() {
        return Err(RunError::NoSuchLog(arguments.only.clone()));
    }
    if let Some(directory) = &arguments.out {
        std::fs::create_dir_all(directory)?; // Now: the run takes minutes.
    }
    let bounds = if arguments.quick { Bounds::QUICK } else { Bounds::FULL };
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}").expect("a valid template");
    let progress = ProgressBar::new(contenders.len() as u64).with_style(style);
    let mut outcomes: Vec<Outcome> = Vec::new();
    for contender in contenders {
        progress.set_message(contender.name);
        if progress.is_hidden() {
            eprintln!("{}", contender.name);
        }
        let costs = steady::measure(&contender, &bounds);
        let cuts = cuts::survive(&contender, arguments.seed, &bounds);
        outcomes.push(Outcome { contender, costs, cuts });
        // After each log: a run that is interrupted keeps what it has.
        report::write(&outcomes, arguments, &bounds)?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    println!("{}", report::markdown(&outcomes, arguments, &bounds));
    Ok(())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("log: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use norn_flash::Nor;

    use super::*;
    use crate::reading_log::{Query, Reading};
    use crate::steady::{SMALL_PART_BYTES, Writer, part};

    /// Everything between two times, as the log says.
    fn range(log: &mut dyn reading_log::Log, from: u32, to: u32) -> Vec<Reading> {
        let mut found = Vec::new();
        let asked = log.range(from, to, &mut |reading| {
            found.push(reading);
            Query::GoesOn
        });
        asked.map(|()| found).unwrap()
    }

    #[test]
    fn every_log_shows_what_it_was_given() {
        for contender in contenders("") {
            let mut writer = Writer::format(&contender, part(SMALL_PART_BYTES)).unwrap();
            while writer.next < 3_000 {
                writer.append().unwrap();
            }
            for _ in 0..2 {
                let (first, next) = (writer.next - writer.kept().unwrap(), writer.next);
                let all: Vec<Reading> = (first..next).map(Reading::numbered).collect();
                assert!(next - first > 1_000, "{}: {first}..{next}", contender.name);
                assert_eq!(range(writer.log(), 0, u32::MAX), all, "{}", contender.name);
                let (from, to) = (all[all.len() / 2].at, all[all.len() - 10].at);
                let within: Vec<Reading> = all.into_iter().filter(|reading| (from..to).contains(&reading.at)).collect();
                assert_eq!(range(writer.log(), from, to), within, "{}", contender.name);
                writer.mount().unwrap();
            }
            assert_eq!(writer.device().refusals(), 0, "{}: calls that the part's contract forbids", contender.name);
        }
    }

    #[test]
    fn a_full_log_forgets_its_oldest_readings_and_no_others() {
        for contender in contenders("").into_iter().filter(|contender| !contender.name.starts_with("ekv, 1 ")) {
            let mut writer = Writer::format(&contender, part(SMALL_PART_BYTES)).unwrap();
            writer.fill(2_000_000).unwrap();
            let (first, next) = (writer.next - writer.kept().unwrap(), writer.next);
            assert!(first > 0, "{}", contender.name);
            let expected: Vec<Reading> = (first..next).map(Reading::numbered).collect();
            assert_eq!(range(writer.log(), 0, u32::MAX), expected, "{}", contender.name);
            assert!(writer.device().part().size_bytes() as usize / expected.len() < 100, "{}", contender.name);
        }
    }

    #[test]
    fn readings_ascend_and_are_found_by_their_times() {
        for number in (0..200_000).chain(10_000_000..10_000_100) {
            let reading = Reading::numbered(number);
            assert_eq!(Reading::number_at(reading.at), number);
            assert_eq!(Reading::from_bytes(reading.to_bytes()), reading);
            assert!(reading.at < Reading::numbered(number + 1).at);
        }
    }
}
