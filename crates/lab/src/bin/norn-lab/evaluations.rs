//! `norn-lab list`, `run` and `report`: what the library's experiments are, and what comes of them.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread;

use norn_lab::{Depth, Known, LabError, Runner, Settings, Shard, experiments, experiments_named, paging, write_report};

use crate::arguments::{ReportArguments, RunArguments};

/// Every experiment: name, what it redoes, jobs of a full run, the paper.
pub fn list() -> String {
    let mut text = format!("{:32}{:48}{:>5}  {}\n", "name", "redoes", "jobs", "paper");
    for experiment in experiments() {
        let about = experiment.about();
        let jobs = experiment.jobs(&Settings::full()).len();
        text += &format!("{:32}{:48}{jobs:5}  {}\n", about.name, about.reproduces, about.paper.id);
    }
    text
}

/// Runs experiments, continues with those that were interrupted, and returns their report.
pub fn run(arguments: &RunArguments) -> Result<String, LabError> {
    let experiments = experiments_named(&arguments.names)?;
    let chosen = if arguments.quick { Settings::quick() } else { Settings::full() };
    let settings = Settings {
        seed: arguments.seed,
        endurance: arguments.endurance.unwrap_or(chosen.endurance),
        data: arguments.data.clone(),
        trace: arguments.trace.clone(),
        ..chosen
    };
    if let Some(directory) = &settings.data {
        // Without this, a name typed wrong would go unnoticed.
        std::fs::read_dir(directory).map_err(LabError::file(directory))?;
    }
    if let Some(file) = &settings.trace {
        std::fs::File::open(file).map_err(LabError::file(file))?;
    }
    let known = if arguments.fresh { Known::MeasuredAgain } else { Known::Kept };
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let threads = arguments.threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let summary = Runner { out: &arguments.out, settings: &settings, known, shard, threads }.run(&experiments)?;
    let mut report = write_report(&experiments, &arguments.out, &arguments.out)?;
    let depth = if settings.depth == Depth::Quick { "quick run" } else { "full run" };
    let depth = if shard == Shard::WHOLE { depth.to_owned() } else { format!("share {shard} of a {depth}") };
    let (out, measured, found) = (arguments.out.display(), summary.measured, summary.found);
    if let Some(data) = &settings.data {
        let names = experiments.iter().map(|one| one.about()).filter(|about| about.paper.id == "paging");
        let missing: BTreeSet<&str> = names.filter_map(|about| paging::missing_traces(about.name, &settings)).collect();
        for traces in missing {
            report +=
                &format!("\n{} has no {traces}: demand paging was replayed with a made-up program.\n", data.display());
        }
    }
    if settings.trace.is_none() && experiments.iter().any(|one| one.about().paper.id == "amplification") {
        report +=
            "\nNo --trace FILE: no recorded block trace was replayed, but a made-up one of the shape of TPC-C's.\n";
    }
    report += &format!(
        "\n{depth}: {measured} jobs measured, {found} found in {out}; report, CSV files and plots are there.\n"
    );
    Ok(report)
}

/// Assembles a report from results.
pub fn report(arguments: &ReportArguments) -> Result<String, LabError> {
    let to: &Path = arguments.to.as_deref().unwrap_or(&arguments.out);
    write_report(&experiments_named(&arguments.names)?, &arguments.out, to)
}
