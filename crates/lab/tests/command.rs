//! `norn-lab` on the command line: what it lists, a run that is killed and continues, a report elsewhere, and what it
//! refuses.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use norn_desk::Desk;

const RUN: &str = "run tinystore-list-length --quick --threads 1";

#[test]
fn experiments_are_listed_with_what_they_redo() {
    let list = Desk::of(env!("CARGO_BIN_EXE_norn-lab")).succeed("list");
    for (name, figure) in [("tinystore-table1", "Table 1"), ("tinystore-lifetimes", "Figure 6")] {
        assert!(list.lines().any(|line| line.contains(name) && line.contains(figure)), "{list}");
    }
}

#[test]
fn a_run_that_was_killed_goes_on() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-lab"));
    let jobs = desk.path("killed/tinystore-list-length/jobs");
    let mut killed = Command::new(env!("CARGO_BIN_EXE_norn-lab"))
        .args(RUN.split_whitespace())
        .args(["--out", "killed"])
        .current_dir(desk.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while killed.try_wait().unwrap().is_none() && fs::read_dir(&jobs).map_or(0, Iterator::count) < 2 {
        thread::sleep(Duration::from_millis(1));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();

    let rest = desk.run(&format!("{RUN} --out killed"));
    let whole = desk.run(&format!("{RUN} --out whole"));
    assert_eq!((rest.code, whole.code), (0, 0), "{}{}", rest.errors, whole.errors);
    assert!(whole.output.contains("12 jobs measured, 0 found in whole"), "{}", whole.output);
    assert!(
        !rest.output.contains("12 jobs measured"),
        "what the killed run had done is not done again: {}",
        rest.output
    );
    let csv = |directory: &str| fs::read_to_string(desk.path(directory).join("tinystore-list-length.csv")).unwrap();
    assert_eq!(csv("killed"), csv("whole"));
    assert_eq!(csv("whole").lines().count(), 13);

    let report = desk.succeed("report --out whole --to elsewhere");
    assert_eq!(report, fs::read_to_string(desk.path("elsewhere/report.md")).unwrap());
    for file in ["tinystore-list-length.csv", "tinystore-list-length.svg", "tinystore-list-length.png"] {
        assert!(desk.path("elsewhere").join(file).is_file(), "{file}");
        assert!(desk.path("whole").join(file).is_file(), "{file}");
    }
    assert!(!desk.path("elsewhere/tinystore-list-length").exists(), "a report elsewhere has no jobs");
    let command =
        report.split("`norn-lab ").nth(2).and_then(|rest| rest.split('`').next()).expect("how to measure again");
    let again = desk.run(&format!("{command} --out whole"));
    assert!(again.output.contains("12 jobs measured, 0 found in whole"), "{}{}", again.output, again.errors);
    assert_eq!(fs::read_to_string(desk.path("whole/report.md")).unwrap(), report);
}

#[test]
fn mistakes_are_named() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-lab"));
    desk.fail("run tinystore-table9 --quick", &["tinystore-table9", "tinystore-table1"]);
    desk.fail("report --out nowhere", &["nowhere", "norn-lab run"]);
    desk.fail("run --endurance 3", &["--endurance"]);
    desk.fail("run amplification-shapes --trace nowhere.trace", &["nowhere.trace"]);
    desk.write("flat", "a file where a directory is to be");
    desk.fail(&format!("{RUN} --out flat"), &["flat"]);
}

#[test]
fn without_a_block_trace_it_says_so() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-lab"));
    let said = "No --trace FILE: no recorded block trace was replayed";
    let without = desk.run("run amplification-shapes --quick --threads 1 --out out");
    assert!(without.code == 0 && without.output.contains(said), "{}{}", without.output, without.errors);
    desk.write("t.trace", "1 0 100 16 0\n");
    let with = desk.run("run amplification-shapes --quick --threads 1 --out out --trace t.trace");
    assert!(with.code == 0 && !with.output.contains(said), "{}{}", with.output, with.errors);
    assert!(with.output.contains("| recorded | 50% | 1 | 16 |"), "{}", with.output);
}
