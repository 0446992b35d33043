//! Norn's ordered indexes and other stores for flash as sorted maps, under the fat lists' micro-benchmark on one
//! simulated part.
//!
//! `make compare` runs it, once for each size of erase units, which is that of ekv's pages and so part of the build;
//! `tools/compare index --help` says what else it can do. What is measured and how is in the head of `benchmark.rs`,
//! what each map was given in the heads of their files.
#![forbid(unsafe_code)]

mod benchmark;
#[allow(dead_code)] // The heap's comparison cuts the power, too.
#[path = "../device.rs"]
mod device;
mod ekv_map;
mod map;
mod ours;
#[path = "../ports.rs"]
mod ports;
mod report;
mod sequential_map;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use benchmark::{Bounds, Outcome};
use map::Contender;

/// Runs Norn's ordered indexes and other stores under the fat lists' micro-benchmark on one simulated part, and
/// compares what they cost.
#[derive(Parser)]
#[command(version)]
pub struct Arguments {
    /// A short run that shows whether everything works, with figures too rough to keep.
    #[arg(long)]
    quick: bool,
    /// Seed of all that is random.
    #[arg(long, default_value_t = 2011)]
    seed: u64,
    /// Only maps whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// A directory for the report (`index-64k.md` or `index-4k.md`) and the counts (the same as CSV).
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error("no map's name contains {0:?}")]
    NoSuchMap(String),
    #[error("the report could not be written: {0}")]
    Io(#[from] std::io::Error),
    #[error("a table could not be written: {0}")]
    Csv(#[from] csv::Error),
}

fn contenders(only: &str) -> Vec<Contender> {
    let all = [ours::contenders(), ekv_map::contenders(), sequential_map::contenders()];
    all.into_iter().flatten().filter(|contender| contender.name.contains(only)).collect()
}

fn run(arguments: &Arguments) -> Result<(), RunError> {
    let contenders = contenders(&arguments.only);
    if contenders.is_empty() {
        return Err(RunError::NoSuchMap(arguments.only.clone()));
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
        outcomes.push(benchmark::run(contender, arguments.seed, &bounds));
        progress.inc(1);
    }
    progress.finish_and_clear();
    report::write(&outcomes, arguments, &bounds)
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("index: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use norn_flash_sim::NorSim;

    use super::*;
    use crate::device::Device;
    use crate::map::{Failure, Opening, SortedMap};

    const KEYS: u32 = 300;

    /// The map answers as `model` does.
    fn agrees(map: &mut dyn SortedMap, model: &BTreeMap<u32, u32>, name: &str) {
        for key in 0..KEYS {
            assert_eq!(map.get(key), Ok(model.get(&key).copied()), "{name}: key {key}");
        }
        match map.count_in_order() {
            Err(Failure::Unsupported(_)) => {}
            found => assert_eq!(found, Ok(model.len() as u32), "{name}"),
        }
    }

    #[test]
    fn every_map_agrees_with_a_model() {
        for contender in contenders("") {
            let device = Device::new(NorSim::new(benchmark::part()));
            let (mut random, mut model) = (fastrand::Rng::with_seed(3), BTreeMap::new());
            let mut map = (contender.open)(device.clone(), Opening::Format).unwrap();
            let batch = map.batch();
            let keys: Vec<u32> = (0..KEYS).collect();
            for keys in keys.chunks(batch) {
                let entries: Vec<(u32, u32)> = keys.iter().map(|&key| (key, key)).collect();
                map.insert(&entries).unwrap();
                model.extend(entries);
            }
            for round in 0..60 {
                let keys: std::collections::BTreeSet<u32> = (0..batch).map(|_| random.u32(..KEYS)).collect();
                let present: Vec<u32> = keys.into_iter().filter(|key| model.contains_key(key)).collect();
                if present.is_empty() {
                    continue;
                }
                if round % 4 == 3 {
                    map.remove(&present).unwrap();
                    present.iter().for_each(|key| assert!(model.remove(key).is_some()));
                } else {
                    let entries: Vec<(u32, u32)> = present.into_iter().map(|key| (key, round)).collect();
                    map.update(&entries).unwrap();
                    model.extend(entries);
                }
            }
            agrees(&mut *map, &model, contender.name);
            map.stop().unwrap();
            drop(map);
            let mut map = (contender.open)(device.clone(), Opening::Mount).unwrap();
            agrees(&mut *map, &model, contender.name);
            assert_eq!(device.refusals(), 0, "{}: calls that the part's contract forbids", contender.name);
        }
    }

    #[test]
    fn a_short_run_measures_every_phase_or_says_why_not() {
        let bounds = Bounds { keys: 500, calls: 300, words: 3_000_000 };
        for contender in contenders("") {
            let name = contender.name;
            let outcome = benchmark::run(contender, 1, &bounds);
            for (phase, figures) in outcome.phases() {
                match figures {
                    Ok(figures) => {
                        assert!(figures.calls > 0 && figures.time_ns > 0, "{name}, {phase:?}");
                        assert!(figures.worst_ns >= figures.within_999_ns, "{name}, {phase:?}");
                        assert!(figures.time_ns <= figures.worst_ns * figures.calls, "{name}, {phase:?}");
                    }
                    Err(failure) => assert!(matches!(failure, Failure::Unsupported(_)), "{name}, {phase:?}: {failure}"),
                }
            }
            assert!(outcome.ram_bytes > 0, "{name}");
        }
    }
}
