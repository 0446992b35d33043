//! Proves that reports are JSON if asked for, that nothing is said about what was done if so asked, that lists fit a
//! terminal, and that a command which takes its time says so there.

use crate::purses;

use std::io::Write;
use std::process::{Command, Stdio};
use std::{fs, thread, time::Duration};

use norn_desk::Desk;
use purses::make_purses;
use serde_json::{Value, json};

const NORN: &str = env!("CARGO_BIN_EXE_norn");

fn parsed(desk: &Desk, words: &str) -> Value {
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
    let shown = parsed(&desk, "heap show heap.img --json");
    assert_eq!(shown["objects"].as_array().unwrap().len(), 6);
    assert_eq!(shown["objects"][0]["kind"], "array");
    assert!(shown["objects"][0]["data_bytes"].as_u64().unwrap() > 0, "{shown}");
    assert!(shown["roots"].as_array().unwrap().iter().any(|root| root["root"] == "bank"), "{shown}");
    assert_eq!(shown["engine"], "tinystore");
    let checked = parsed(&desk, "heap check heap.img --json");
    assert_eq!((checked["objects"].as_u64(), checked["violations"].to_string()), (Some(4), "[]".to_owned()));
    assert!(checked["bytes_in_use"].as_u64().unwrap() > 100, "{checked}");
    let shown = parsed(&desk, "log show log.img --json");
    assert_eq!(shown["days"][1]["readings"], 1);
    assert_eq!(parsed(&desk, "log check log.img --json")["readings"], 2);
    let checked = parsed(&desk, "nbd check disk.img --json");
    assert_eq!((checked["good_blocks"].as_u64(), checked["page_bytes"].as_u64()), (Some(31), Some(512)));
    let mean = parsed(&desk, "log mean log.img --json");
    assert_eq!(
        (mean["readings"].as_u64(), mean["mean"].as_f64(), mean["greatest"].as_f64()),
        (Some(2), Some(1.75), Some(2.5))
    );
    assert_eq!(mean["to"], "1970-01-02T00:02:01Z");
    let parts = parsed(&desk, "parts --json");
    assert!(parts["nor"].as_array().unwrap().iter().any(|part| part["name"] == "stm32l4"), "{parts}");
    assert!(parts["nand"].as_array().unwrap().iter().any(|part| part["name"] == "k9f2808"), "{parts}");
}

/// Members whose texts are for people, and names that users have given.
const TEXTS: [&str; 3] = ["what", "source", "root"];

/// The texts in a value that are sentences: of more than three words, or with a comma or a number among the words.
fn sentences(key: &str, value: &Value) -> Vec<String> {
    let is_number = |word: &str| word.parse::<f64>().is_ok() || word.starts_with("0x");
    match value {
        Value::Object(members) => members.iter().flat_map(|(key, value)| sentences(key, value)).collect(),
        Value::Array(values) => values.iter().flat_map(|value| sentences(key, value)).collect(),
        Value::String(text) if !TEXTS.contains(&key) => {
            let words: Vec<&str> = text.split_whitespace().collect();
            let is_phrase = words.len() < 4 && !text.contains(',') && !words.iter().any(|word| is_number(word));
            if words.len() == 1 || is_phrase { Vec::new() } else { vec![format!("{key}: {text}")] }
        }
        _ => Vec::new(),
    }
}

/// Settings, counters, wear and records of logs were sentences once, which a program had to take apart.
#[test]
fn programs_see_numbers_booleans_and_words() {
    let desk = Desk::of(NORN);
    make_purses(&desk, "old.img", None, None);
    make_purses(&desk, "cut.img", None, Some((3, 40)));
    desk.succeed("heap convert old.img new.img --new-references");
    desk.succeed("heap create remap.img --part test-16x4096 --engine tinystore --spares 2 --error-detection on");
    desk.write("readings.csv", "60,1\n86520,2.5\n");
    desk.succeed("log create log.img --part test-16x4096");
    desk.succeed("log append log.img readings.csv");
    desk.succeed("nbd create disk.img --part nandtest-32x16x512");
    desk.succeed("code create code.img --part nandtest-32x16x512");
    desk.succeed("code install code.img readings.csv --program-version 1.0.0");
    desk.succeed("image export new.img new.hex --base 0x8000000");
    let mut commands: Vec<String> = ["old.img", "cut.img", "new.img", "remap.img", "new.hex"]
        .iter()
        .flat_map(|image| {
            let with = |words: &str| format!("{words} {image}");
            let units = (0..16).map(|unit| format!("heap dump {image} --unit {unit}"));
            let words = ["heap show", "heap check", "heap dump", "heap dump --raw", "image show"].map(with);
            words.into_iter().chain(units.take(if *image == "remap.img" { 14 } else { 16 })).collect::<Vec<_>>()
        })
        .collect();
    commands.extend((0..16).map(|unit| format!("log dump log.img --unit {unit}")));
    for words in ["log show log.img", "log check log.img", "log mean log.img", "log dump log.img", "parts"] {
        commands.push(words.to_owned());
    }
    for words in ["nbd check disk.img", "code status code.img", "image show disk.img", "image show code.img"] {
        commands.push(words.to_owned());
    }
    for words in commands {
        let words = format!("{words} --json");
        assert_eq!(sentences("", &parsed(&desk, &words)), [""; 0], "{words}");
    }
    let shown = parsed(&desk, "heap show old.img --json");
    assert_eq!((&shown["list_length"], &shown["delta_records"]), (&json!(2), &json!(false)), "{shown}");
    assert!(shown["counters"]["words_programmed"].as_u64() > Some(100) && shown["time_ns"].is_u64(), "{shown}");
    assert!(shown["erases"]["mean"].as_f64() >= shown["erases"]["min"].as_f64(), "{shown}");
    let records = parsed(&desk, "heap dump new.img --json")["records"].clone();
    assert!(records.as_array().unwrap().iter().any(|row| row["record"]["kind"] == "End"), "{records}");
    assert!(records[0]["address"].is_u64(), "{records}");
    let l4 =
        parsed(&desk, "parts --json")["nor"].as_array().unwrap().iter().find(|part| part["name"] == "stm32l4").cloned();
    assert_eq!(l4.map(|part| part["unit_bytes"].as_u64()), Some(Some(2048)));
}

/// Names of digits only are texts: they were numbers once, and lost their zeros.
#[test]
fn names_are_no_numbers() {
    let desk = Desk::of(NORN);
    desk.write("heap.json", r##"{"objects": {"#1.1": {"array": "u8", "elements": "07"}}, "roots": {"007": "#1.1"}}"##);
    desk.succeed("heap import heap.json heap.img --part test-16x4096");
    assert_eq!(parsed(&desk, "heap show heap.img --json")["roots"][0]["root"], "007");
}

#[test]
fn dumps_are_json() {
    let desk = Desk::of(NORN);
    make_purses(&desk, "old.img", None, None);
    desk.succeed("heap create log.img --part test-16x4096");
    desk.succeed("log create readings.img --part test-16x4096");
    let whole = parsed(&desk, "heap dump old.img --json");
    let log = &whole["logs"][0];
    assert!(log["entries"].as_array().unwrap().iter().any(|entry| entry["entry"]["kind"] == "Ready"));
    let unit = parsed(&desk, &format!("heap dump old.img --json --unit {}", log["unit"]));
    assert_eq!((&unit["unit"], &unit["entries"]), (&log["unit"], &log["entries"]));
    let whole = parsed(&desk, "heap dump log.img --json");
    assert_eq!((whole["units"].as_array().unwrap().len(), whole["units"][1]["unit"].as_u64()), (16, Some(1)));
    let unit = parsed(&desk, &format!("heap dump log.img --json --unit {}", whole["log_unit"]));
    assert_eq!(unit["records"], whole["records"]);
    assert!(unit["records"][0]["bytes"].is_string(), "{unit}");
    assert_eq!(parsed(&desk, "log dump readings.img --json")["units"].as_array().unwrap().len(), 16);
    assert_eq!(parsed(&desk, "log dump readings.img --json --unit 1")["bytes"], 4096);
}

#[test]
fn reports_of_files_and_programs_are_json() {
    let desk = Desk::of(NORN);
    desk.succeed("heap create heap.img --part test-16x4096");
    desk.succeed("image export heap.img heap.bin");
    let shown = parsed(&desk, "image show heap.img --json");
    assert_eq!((shown["part"].as_str(), shown["erase_units"].as_u64()), (Some("test-16x4096"), Some(16)));
    let content = &shown["contents"][0];
    assert_eq!((content["end"].as_u64(), content["format"]["kind"].as_str()), (Some(16), Some("heap")), "{shown}");
    assert_eq!(parsed(&desk, "image show heap.bin --json")["contents"], shown["contents"]);
    desk.write("one.bin", vec![1; 5_000]);
    desk.write("two.bin", vec![2; 7_000]);
    desk.succeed("code create part.img --part nandtest-32x16x512");
    assert_eq!(parsed(&desk, "image show part.img --json")["contents"].as_array().unwrap().len(), 0);
    desk.succeed("code install part.img one.bin --program-version 1.0.0");
    let status = parsed(&desk, "code status part.img --json");
    assert_eq!((status["running"].as_str(), &status["trial_boots_left"]), (Some("A"), &Value::Null));
    assert_eq!(status["rooms"][1]["state"], "no program");
    desk.succeed("code update part.img two.bin --program-version 1.1.0 --boots 2");
    let status = parsed(&desk, "code status part.img --json");
    assert_eq!((status["running"].as_str(), status["trial_boots_left"].as_u64()), (Some("B"), Some(2)));
    let program = &status["rooms"][1]["program"];
    assert_eq!((program["version"].as_str(), program["bytes"].as_u64()), (Some("1.1.0"), Some(7_000)), "{status}");
}

#[test]
fn values_of_fields_are_json() {
    let desk = Desk::of(NORN);
    let classes = r#"[{ "name": "c", "fields": [{ "name": "x", "type": "u16" }, { "name": "y", "type": "u8" }] }]"#;
    let objects = r#"{ "o": { "class": "c", "header": "ab", "fields": { "x": 258 } },
                       "p": { "array": "u8", "elements": [1, 255] } }"#;
    desk.write("a.json", format!(r#"{{ "classes": {classes}, "objects": {objects} }}"#));
    desk.succeed("heap import a.json a.img --part test-16x4096");
    let shown = parsed(&desk, "heap show a.img --json --fields");
    let object = json!({ "reference": "#1.1", "header": "ab", "fields": ["0201", "00"] });
    let array = json!({ "reference": "#2.1", "header": "", "fields": ["01", "ff"] });
    assert_eq!(shown["contents"], json!([object, array]));
    assert_eq!(parsed(&desk, "heap show a.img --json").get("contents"), None);
}

/// The standard library's number of the error was behind the words.
#[cfg(target_os = "linux")]
#[test]
fn what_the_host_says_is_said_in_words() {
    let desk = Desk::of(NORN);
    let mut command = std::process::Command::new(NORN);
    command.arg("parts").stdout(fs::File::create("/dev/full").unwrap());
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "norn: standard output: No space left on device\n");
    desk.fail("heap check .", &["norn: .: Is a directory"]);
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
    assert_eq!(checked["violations"][0], json!({ "what": "unused space that is not erased", "address": 0x06fffc }));
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
        "code create part.img --part nandtest-32x16x512",
        "code install part.img readings.csv --program-version 1.0.0",
        "code boot part.img",
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

/// Appends readings that come late to a log, and returns what a terminal shows of it.
fn append_late(desk: &Desk, readings: &str, options: &[&str]) -> String {
    let fifo = desk.path("readings.csv");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut command = Command::new("python3");
    command.args(["-c", ON_A_TERMINAL, NORN, "log", "append", "a.img", "readings.csv"]).args(options);
    let appending = command.current_dir(desk.path("")).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = fs::OpenOptions::new().write(true).open(fifo).unwrap();
    thread::sleep(Duration::from_millis(1800));
    pipe.write_all(readings.as_bytes()).unwrap();
    drop(pipe);
    String::from_utf8(appending.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn a_command_that_takes_its_time_says_so() {
    let desk = Desk::of(NORN);
    desk.succeed("log create a.img --part test-16x4096");
    let output = append_late(&desk, "60,1\n", &[]);
    let (waiting, done) = output.split_once("new           1").unwrap_or_else(|| panic!("{output:?}"));
    assert!(waiting.contains("norn log: a.img") && !done.contains("norn log"), "{output:?}");
}

/// Each cut is followed by a check of the whole log, so that the line is drawn while this goes on.
#[test]
fn a_command_that_knows_how_much_there_is_to_do_says_so() {
    let desk = Desk::of(NORN);
    desk.succeed("log create a.img --part w25q80");
    let readings: String = (0..20_000).map(|second| format!("{second},1\n")).collect();
    let output = append_late(&desk, &readings, &["--cut-power", "7"]);
    assert!(output.contains("] ") && output.contains(" of 20000, "), "{output:?}");
}
