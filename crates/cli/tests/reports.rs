//! Proves that reports are JSON if asked for, that nothing is said about what was done if so asked, that lists fit a
//! terminal, and that a command which takes its time says so there.

mod purses;

use std::io::Write;
use std::process::{Command, Stdio};
use std::{fs, thread, time::Duration};

use norn_desk::Desk;
use purses::make_purses;
use serde_json::Value;

const NORN: &str = env!("CARGO_BIN_EXE_norn");

fn json(desk: &Desk, words: &str) -> Value {
    serde_json::from_str(&desk.run(words).output).unwrap_or_else(|error| panic!("{words}: {error}"))
}

#[test]
fn reports_are_json() {
    let desk = Desk::of(NORN);
    make_purses(&desk, "heap.img", None, None);
    desk.write("readings.csv", "60,1\n86520,2.5\n");
    desk.succeed("log create log.img --part test-16x4096");
    desk.succeed("log append log.img readings.csv");
    desk.succeed("nbd create disk.img --part nandtest-32x16x512 --bad-blocks 1");
    let shown = json(&desk, "heap show heap.img --json");
    assert_eq!(shown["objects"].as_array().unwrap().len(), 6);
    assert_eq!(shown["objects"][0]["kind"], "array");
    assert!(shown["objects"][0]["data_bytes"].as_u64().unwrap() > 0, "{shown}");
    assert!(shown["roots"].as_array().unwrap().iter().any(|root| root["root"] == "bank"), "{shown}");
    assert_eq!(shown["engine"], "tinystore");
    let checked = json(&desk, "heap check heap.img --json");
    assert_eq!((checked["objects"].as_u64(), checked["violations"].to_string()), (Some(4), "[]".to_owned()));
    assert!(checked["bytes_in_use"].as_u64().unwrap() > 100, "{checked}");
    let shown = json(&desk, "log show log.img --json");
    assert_eq!(shown["days"][1]["readings"], 1);
    assert_eq!(json(&desk, "log check log.img --json")["readings"], 2);
    let checked = json(&desk, "nbd check disk.img --json");
    assert_eq!((checked["good_blocks"].as_u64(), checked["page_bytes"].as_u64()), (Some(31), Some(512)));
    let parts = json(&desk, "parts --json");
    assert!(parts["nor"].as_array().unwrap().iter().any(|part| part["name"] == "stm32l4"), "{parts}");
    assert!(parts["nand"].as_array().unwrap().iter().any(|part| part["name"] == "k9f2808"), "{parts}");
    desk.fail("heap show heap.img --json --fields", &["cannot be used with"]);
}

#[test]
fn findings_are_json_and_told_even_quietly() {
    let desk = Desk::of(NORN);
    desk.succeed("heap create a.img --engine tinystore");
    let mut image = fs::read(desk.path("a.img")).unwrap();
    let end = 8192 + 448 * 1024;
    image[end - 4..end].fill(0); // The last cells, which are free.
    desk.write("a.img", image);
    let answer = desk.run("heap check a.img --json --quiet");
    assert_eq!((answer.code, answer.errors.as_str()), (1, ""));
    let checked: Value = serde_json::from_str(&answer.output).unwrap();
    assert_eq!(checked["violations"][0], "unused space that is not erased at 0x06fffc");
    let answer = desk.run("-q heap check a.img");
    assert!(answer.code == 1 && answer.output.contains("violation: unused space"), "{answer:?}");
}

#[test]
fn what_was_done_is_not_told_quietly() {
    let desk = Desk::of(NORN);
    desk.write("readings.csv", "60,1\n120,2\n");
    for words in [
        "heap create heap.img --engine tinystore --part test-16x4096",
        "heap check heap.img",
        "heap convert heap.img other.img",
        "image export heap.img heap.bin",
        "log create log.img --part test-16x4096",
        "log append log.img readings.csv",
        "log check log.img",
        "nbd create disk.img --part nandtest-32x16x512",
        "nbd check disk.img",
    ] {
        assert_eq!(desk.succeed(&format!("{words} --quiet")), "", "{words}");
    }
    for words in ["heap show heap.img", "heap export heap.img", "log range log.img", "image show heap.bin", "parts"] {
        assert_eq!(desk.succeed(&format!("--quiet {words}")), desk.succeed(words), "{words}");
    }
    desk.fail("heap create heap.img --engine tinystore --quiet", &["heap.img", "never overwritten"]);
}

#[test]
fn lists_fit_the_terminal() {
    let desk = Desk::of(NORN);
    make_purses(&desk, "a.img", None, None);
    for columns in [60, 80, 100] {
        for words in ["heap dump a.img", "heap show a.img"] {
            let mut command = Command::new(NORN);
            command.args(words.split(' ')).current_dir(desk.path("")).env("COLUMNS", columns.to_string());
            let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
            let table = output.lines().take(30).take_while(|line| !line.starts_with("engine"));
            let widest = table.map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= columns, "{words}: {widest} columns of {columns}\n{output}");
        }
    }
}

/// Runs the command on a terminal of its own, and prints what it shows.
const ON_A_TERMINAL: &str = "import pty, sys; pty.spawn(sys.argv[1:])";

#[test]
fn a_command_that_takes_its_time_says_so() {
    let desk = Desk::of(NORN);
    desk.succeed("log create a.img --part test-16x4096");
    let fifo = desk.path("readings.csv");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut command = Command::new("python3");
    command.args(["-c", ON_A_TERMINAL, NORN, "log", "append", "a.img", "readings.csv"]);
    let appending = command.current_dir(desk.path("")).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut readings = fs::OpenOptions::new().write(true).open(fifo).unwrap();
    thread::sleep(Duration::from_millis(1800));
    readings.write_all(b"60,1\n").unwrap();
    drop(readings);
    let output = String::from_utf8(appending.wait_with_output().unwrap().stdout).unwrap();
    let (waiting, done) = output.split_once("new           1").unwrap_or_else(|| panic!("{output:?}"));
    assert!(waiting.contains("norn log: a.img") && !done.contains("norn log"), "{output:?}");
}
