//! A run measures each job once: it continues where it was interrupted, gives the same files as one that was not, and
//! never takes a row for other parameters.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use norn_lab::{AnyExperiment, Known, LabError, Runner, Settings, Shard, Summary, experiments_named, write_report};

/// An experiment whose jobs take moments.
const SHORT: &str = "tinystore-list-length";
/// An experiment whose jobs have a seed.
const SEEDED: &str = "tinystore-error-detection";

fn named(name: &str) -> Vec<Box<dyn AnyExperiment>> {
    experiments_named(&[name.to_owned()]).unwrap()
}

fn run(name: &str, out: &Path, settings: &Settings) -> Result<Summary, LabError> {
    let (known, threads) = (Known::Kept, NonZeroUsize::new(2).unwrap());
    Runner { out, settings, known, shard: Shard::WHOLE, threads }.run(&named(name))
}

fn csv(name: &str, out: &Path) -> String {
    write_report(&named(name), out, out).unwrap();
    fs::read_to_string(out.join(format!("{name}.csv"))).unwrap()
}

fn job_files(name: &str, out: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(out.join(name).join("jobs")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn an_interrupted_run_goes_on_and_gives_the_same_files() {
    let (directory, settings) = (tempfile::tempdir().unwrap(), Settings::quick());
    let out = directory.path();
    let jobs = named(SHORT)[0].jobs(&settings).len();
    assert_eq!(run(SHORT, out, &settings).unwrap(), Summary { measured: jobs, found: 0 });
    let whole = csv(SHORT, out);
    assert_eq!(whole.lines().count(), 1 + jobs, "a row for each job");

    // What an interruption leaves: some jobs, and half a file under another name.
    let files = job_files(SHORT, out);
    files[..3].iter().for_each(|file| fs::remove_file(file).unwrap());
    fs::write(files[0].with_extension("1234.part"), "{ \"exper").unwrap();
    assert_eq!(csv(SHORT, out).lines().count(), 1 + jobs - 3, "the report shows what there is");
    let report = fs::read_to_string(out.join("report.md")).unwrap();
    assert!(report.contains("3 not measured yet"), "and says what is missing");
    assert_eq!(run(SHORT, out, &settings).unwrap(), Summary { measured: 3, found: jobs - 3 });
    assert_eq!(csv(SHORT, out), whole);
    assert_eq!(run(SHORT, out, &settings).unwrap(), Summary { measured: 0, found: jobs });

    let runner = Runner {
        out,
        settings: &settings,
        known: Known::MeasuredAgain,
        shard: Shard::WHOLE,
        threads: NonZeroUsize::MIN,
    };
    assert_eq!(runner.run(&named(SHORT)).unwrap(), Summary { measured: jobs, found: 0 });
    assert_eq!(csv(SHORT, out), whole, "nothing depends on the order of jobs");
}

/// Machines that know nothing of each other, and whose results are copied into one directory.
#[test]
fn shares_of_a_run_are_the_whole_run() {
    let (directory, settings) = (tempfile::tempdir().unwrap(), Settings::quick());
    let out = |name: &str| directory.path().join(name);
    let jobs = named(SHORT)[0].jobs(&settings).len();
    run(SHORT, &out("whole"), &settings).unwrap();
    let mut measured = 0;
    for number in 1..=3 {
        let (machine, shard) = (out(&format!("machine{number}")), format!("{number}/3").parse().unwrap());
        let known = Known::Kept;
        let share = Runner { out: &machine, settings: &settings, known, shard, threads: NonZeroUsize::MIN };
        let done = share.run(&named(SHORT)).unwrap().measured;
        assert!(done == jobs / 3 || done == jobs / 3 + 1, "{done} of {jobs} jobs in share {number}");
        measured += done;
        fs::create_dir_all(out("all").join(SHORT).join("jobs")).unwrap();
        for file in job_files(SHORT, &machine) {
            fs::copy(&file, out("all").join(file.strip_prefix(&machine).unwrap())).unwrap();
        }
        fs::copy(machine.join(SHORT).join("run.json"), out("all").join(SHORT).join("run.json")).unwrap();
        // What was measured already makes no share of what is left.
        assert_eq!(share.run(&named(SHORT)).unwrap(), Summary { measured: 0, found: done });
    }
    assert_eq!(measured, jobs);
    assert_eq!(csv(SHORT, &out("all")), csv(SHORT, &out("whole")));
}

#[test]
fn a_row_stands_for_its_own_parameters_only() {
    let (directory, settings) = (tempfile::tempdir().unwrap(), Settings::quick());
    let out = directory.path();
    run(SEEDED, out, &settings).unwrap();
    let (first, files) = (csv(SEEDED, out), job_files(SEEDED, out));
    let jobs = files.len();
    let other = Settings { seed: 7, ..settings.clone() };
    assert_eq!(run(SEEDED, out, &other).unwrap(), Summary { measured: jobs, found: 0 });
    assert_ne!(csv(SEEDED, out), first, "another seed is another run");
    assert_eq!(run(SEEDED, out, &settings).unwrap(), Summary { measured: 0, found: jobs });
    assert_eq!(csv(SEEDED, out), first, "both are there");

    // A row that was put where another belongs, and one that is not whole.
    fs::copy(&files[0], &files[1]).unwrap();
    let error = run(SEEDED, out, &settings).unwrap_err().to_string();
    assert!(error.contains(&files[1].display().to_string()) && error.contains("another job's result"), "{error}");
    fs::write(&files[1], "{}").unwrap();
    let error = run(SEEDED, out, &settings).unwrap_err().to_string();
    assert!(error.contains(&files[1].display().to_string()), "{error}");
}

#[test]
fn an_unknown_name_is_told_what_there_is() {
    let error = experiments_named(&["table9".to_owned()]).err().expect("there is none").to_string();
    assert!(error.contains("table9") && error.contains(SHORT), "{error}");
}
