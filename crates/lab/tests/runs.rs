//! A run measures each job once: it goes on where it was interrupted, gives the same files as one that was not, and never takes a row
//! for other parameters.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use norn_lab::{AnyExperiment, LabError, Runner, Settings, Summary, experiments_named, write_report};

const NAME: &str = "tinystore-table1";

fn table1() -> Vec<Box<dyn AnyExperiment>> {
    experiments_named(&[NAME.to_owned()]).unwrap()
}

fn small() -> Settings {
    Settings { endurance: 8, ..Settings::quick() }
}

fn run(out: &Path, settings: &Settings) -> Result<Summary, LabError> {
    Runner { out, settings, threads: NonZeroUsize::new(2).unwrap() }.run(&table1())
}

fn csv(out: &Path) -> String {
    write_report(&table1(), out, out).unwrap();
    fs::read_to_string(out.join(format!("{NAME}.csv"))).unwrap()
}

fn job_files(out: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(out.join(NAME).join("jobs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn an_interrupted_run_goes_on_and_gives_the_same_files() {
    let out = tempfile::tempdir().unwrap();
    assert_eq!(run(out.path(), &small()).unwrap(), Summary { measured: 7, found: 0 });
    let whole = csv(out.path());
    assert_eq!(whole.lines().count(), 1 + 7, "a row for each job");

    // What an interruption leaves: some jobs, and half a file under another name.
    let files = job_files(out.path());
    files[..3].iter().for_each(|file| fs::remove_file(file).unwrap());
    fs::write(files[0].with_extension("1234.part"), "{ \"exper").unwrap();
    assert!(csv(out.path()).lines().count() == 1 + 4, "the report shows what there is");
    let report = fs::read_to_string(out.path().join("report.md")).unwrap();
    assert!(report.contains("3 not measured yet"), "and says what is missing");
    assert_eq!(run(out.path(), &small()).unwrap(), Summary { measured: 3, found: 4 });
    assert_eq!(csv(out.path()), whole);
    assert_eq!(run(out.path(), &small()).unwrap(), Summary { measured: 0, found: 7 });
}

#[test]
fn a_row_stands_for_its_own_parameters_only() {
    let out = tempfile::tempdir().unwrap();
    run(out.path(), &small()).unwrap();
    let (first, files) = (csv(out.path()), job_files(out.path()));
    let other = Settings { seed: 7, ..small() };
    assert_eq!(run(out.path(), &other).unwrap(), Summary { measured: 7, found: 0 });
    assert_ne!(csv(out.path()), first, "another seed is another run");
    assert_eq!(run(out.path(), &small()).unwrap(), Summary { measured: 0, found: 7 });
    assert_eq!(csv(out.path()), first, "both are there");

    // A row that was put where another belongs, and one that is not whole.
    fs::copy(&files[0], &files[1]).unwrap();
    let error = run(out.path(), &small()).unwrap_err().to_string();
    assert!(error.contains(&files[1].display().to_string()) && error.contains("another job's result"), "{error}");
    fs::write(&files[1], "{}").unwrap();
    let error = run(out.path(), &small()).unwrap_err().to_string();
    assert!(error.contains(&files[1].display().to_string()), "{error}");
}

#[test]
fn an_unknown_name_is_told_what_there_is() {
    let error = experiments_named(&["table9".to_owned()]).err().expect("there is none").to_string();
    assert!(error.contains("table9") && error.contains(NAME), "{error}");
}
