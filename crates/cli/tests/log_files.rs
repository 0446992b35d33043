//! `norn log` and files: a file that grows is followed and everything in it is there after a signal, exports are read
//! back as they were, and a file that cannot be read or made is named with what is wrong.
//!
//! What takes the features `arrow` and `plots` is tested where they are on: `cargo test -p norn-cli --features
//! arrow,plots --test suite log_files::`. Without them, the messages that say so are.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use norn_desk::{Desk, line};
use norn_explorer::session::Session;

const PART: &str = "--part test-16x4096";

fn desk() -> Desk {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed(&format!("log create a.img {PART}"));
    desk
}

fn append_text(desk: &Desk, text: &str) {
    let file = File::options().append(true).create(true).open(desk.path("a.csv"));
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

/// The command while it follows `a.csv`.
struct Follower {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Follower {
    fn start(desk: &Desk) -> Follower {
        let mut process = Command::new(env!("CARGO_BIN_EXE_norn"))
            .args(["log", "append", "a.img", "a.csv", "--follow"])
            .current_dir(desk.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut first = String::new();
        output.read_line(&mut first).unwrap();
        assert_eq!(first, "a.img: following a.csv; SIGINT or SIGTERM stops it\n");
        Follower { process, output }
    }

    fn signal(&self, name: &str) {
        let killed = Command::new("kill").args([name, &self.process.id().to_string()]).status();
        assert!(killed.unwrap().success());
    }

    /// Its exit code, and what it printed after its first line.
    fn end(mut self) -> (i32, String, String) {
        let (mut output, mut errors) = (String::new(), String::new());
        self.output.read_to_string(&mut output).unwrap();
        self.process.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (self.process.wait().unwrap().code().expect("it ends by itself"), output, errors)
    }
}

#[test]
fn what_is_in_the_file_when_the_signal_comes_is_appended() {
    for signal in ["-INT", "-TERM"] {
        let desk = desk();
        append_text(&desk, "timestamp,value\n60,1\n");
        let follower = Follower::start(&desk);
        append_text(&desk, "120,2\n180,3\n240,");
        append_text(&desk, "4.5\n300,5"); // The last line is not complete.
        follower.signal(signal);
        let (code, output, errors) = follower.end();
        assert_eq!((code, errors.as_str()), (0, ""), "{output}");
        assert_eq!(line(&output, "new"), "4", "{output}");
        assert_eq!(line(&output, "left"), "text without a line feed at the file's end");
        let all = "timestamp,value\n1970-01-01T00:01:00Z,1.000\n1970-01-01T00:02:00Z,2.000\n\
                   1970-01-01T00:03:00Z,3.000\n1970-01-01T00:04:00Z,4.500\n";
        assert_eq!(desk.succeed("log range a.img"), all);
        assert_eq!(line(&desk.succeed("log check a.img"), "violations"), "0");
    }
}

#[test]
fn a_file_that_is_replaced_is_read_to_its_end_and_the_new_one_followed() {
    let desk = desk();
    append_text(&desk, "60,1\n");
    let follower = Follower::start(&desk);
    append_text(&desk, "120,2\n");
    // A follower that has not opened the file yet sees the new one only: the old one is appended afterwards.
    fs::rename(desk.path("a.csv"), desk.path("a.csv.1")).unwrap();
    append_text(&desk, "180,3\n");
    follower.signal("-INT");
    let (code, output, errors) = follower.end();
    assert_eq!(code, 0, "{output}{errors}");
    desk.succeed("log append a.img a.csv.1");
    assert_eq!(line(&desk.succeed("log mean a.img"), "readings"), "3");
}

#[test]
fn a_wrong_line_ends_it_after_the_lines_before() {
    let desk = desk();
    append_text(&desk, "60,1\n120,2\n");
    let follower = Follower::start(&desk);
    append_text(&desk, "180,3\n240,warm\n300,5\n");
    let (code, _, errors) = follower.end();
    assert_eq!(code, 2);
    assert!(errors.contains("a.csv:4: value \"warm\" is not a number"), "{errors}");
    assert!(errors.contains("the readings before it are appended (3 in all)"), "{errors}");
    assert_eq!(line(&desk.succeed("log mean a.img"), "readings"), "3");
}

#[test]
fn what_cannot_be_followed_is_named() {
    let desk = desk();
    fs::create_dir(desk.path("directory")).unwrap();
    desk.fail("log append a.img directory --follow", &["directory: only a regular file can be followed"]);
    desk.fail("log append none.img a.csv --follow", &["none.img"]);
    desk.fail("log append a.img a.csv --follow --cut-power 1", &["--follow", "--cut-power"]);
}

/// Readings at irregular times, some of them less than nothing.
fn with_readings() -> Desk {
    let desk = desk();
    let lines = (0..700_i64).map(|number| format!("{},{}\n", 60 * number + number % 7, 350 - number));
    desk.write("a.csv", lines.collect::<String>());
    desk.succeed("log append a.img a.csv");
    desk
}

#[test]
fn an_export_is_read_back_as_it_was() {
    let desk = with_readings();
    assert_eq!(desk.succeed("log export a.img all.csv"), "all.csv: 700 readings\n");
    assert_eq!(fs::read_to_string(desk.path("all.csv")).unwrap(), desk.succeed("log range a.img"));
    assert_eq!(desk.succeed("log export a.img hour.csv 3600 7200"), "hour.csv: 60 readings\n");
    assert_eq!(line(&desk.succeed("log import a.img all.csv"), "known before"), "700");

    desk.fail("log export a.img all.csv", &["all.csv: there is such a file; it is never overwritten"]);
    desk.fail("log export a.img all.txt", &["all.txt: a file of readings is named .csv or .arrow"]);
    desk.fail("log export a.img none/all.csv", &["none/all.csv: No such file"]);
    desk.fail("log export a.img empty.csv 7200 3600", &["is empty"]);
    assert!(!desk.path("empty.csv").exists() && !desk.path("all.txt").exists());
}

#[test]
fn days_and_state_are_shown() {
    let desk = desk();
    desk.write("a.csv", "0,1\n43200,3\n86399,5\n172800,-2\n");
    desk.succeed("log append a.img a.csv");
    let shown = desk.succeed("log show a.img");
    let rows: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1], ["1970-01-01", "3", "00:00:00", "23:59:59", "1.000", "3.000", "5.000"], "{shown}");
    assert_eq!(rows[2], ["1970-01-03", "1", "00:00:00", "00:00:00", "-2.000", "-2.000", "-2.000"]);
    assert_eq!(line(&shown, "readings"), "4");
    assert!(line(&shown, "settings").contains("objects of 60 slots"), "{shown}");
    assert!(line(&shown, "part ").contains("16 units of 4096 bytes"), "{shown}");
    let (fresh, none) = (Desk::of(env!("CARGO_BIN_EXE_norn")), "No readings.");
    fresh.succeed(&format!("log create a.img {PART}"));
    assert!(fresh.succeed("log show a.img").starts_with(none));
}

/// The words of the rows of a table, without its head.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().skip(1).map(|row| row.split_whitespace().collect()).collect()
}

#[test]
fn units_and_cells_are_dumped_and_agree() {
    let desk = with_readings();
    desk.write("b.csv", "0,-1\n");
    assert_eq!(line(&desk.succeed("log append a.img b.csv"), "replaced"), "1");
    let units = desk.succeed("log dump a.img");
    let table = rows(&units);
    let in_use: Vec<&Vec<&str>> = table.iter().filter(|row| row[2..4] == ["in", "use"]).collect();
    assert_eq!(table.iter().filter(|row| row.get(2) == Some(&"spare")).count(), 1, "{units}");
    let readings = |row: &Vec<&str>| row[9].parse::<u32>().unwrap();
    assert_eq!(in_use.iter().map(|row| readings(row)).sum::<u32>(), 700, "{units}");
    let busy = in_use.iter().find(|row| readings(row) > 0).unwrap();
    let unit = desk.succeed(&format!("log dump a.img --unit {}", busy[0]));
    let objects = unit.lines().filter(|line| line.contains(", level "));
    assert_eq!(objects.clone().count().to_string(), busy[6], "{unit}");
    assert!(objects.into_iter().any(|line| line.contains("1970-01-01T")), "{unit}");
    assert!(line(&unit, "identity").starts_with("keys of 4 bytes, values of 4, turnstiles of 16 blocks"), "{unit}");
    let dumps = (0..16).map(|unit| desk.succeed(&format!("log dump a.img --unit {unit}")));
    let first = dumps.flat_map(|dump| rows(&dump).iter().map(|row| row.join(" ")).collect::<Vec<String>>());
    let first: Vec<String> = first.filter(|row| row.contains("1970-01-01T00:00:00Z")).collect();
    assert!(first.len() == 1 && first[0].contains("Z 59 1 0 0:"), "59 readings, one slot is obsolete: {first:?}");
    desk.fail("log dump a.img --unit 16", &["a.img: unit 16 does not exist: the part has 16"]);
}

#[test]
fn a_raw_dump_changes_nothing_and_shows_what_cannot_be_mounted() {
    let desk = with_readings();
    let before = fs::read(desk.path("a.img")).unwrap();
    let raw = desk.succeed("log dump a.img --raw");
    assert_eq!(fs::read(desk.path("a.img")).unwrap(), before);
    assert!(raw.lines().any(|line| line.contains(" to ") && line.contains("in use")), "empty units are one row: {raw}");
    let units: serde_json::Value = serde_json::from_str(&desk.succeed("log dump a.img --raw --json")).unwrap();
    assert_eq!(units["units"].as_array().unwrap().len(), 16);
    desk.succeed("heap create heap.img --engine tinystore");
    desk.fail("log dump heap.img", &["heap.img: no log can be mounted"]);
    let other = desk.succeed("log dump heap.img --raw");
    assert!(rows(&other)[0].join(" ").starts_with("0 to 55 0x000000 no identity"), "{other}");
    assert!(desk.succeed("log dump heap.img --raw --unit 3").contains("never formatted, or its erase was cut"));
}

/// A dump put the log to sleep after its mount, which may move the list's head: it counted a dead cell that no mount
/// leaves.
#[test]
fn a_dump_shows_what_a_mount_makes_of_a_cut_log_and_no_more() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let mut session = Session::empty("index on test-12x1024").unwrap();
    let record = session.answer(br#"{"ask":"record","seed":3,"calls":400}"#);
    let [first, last] = ["first", "last"].map(|end| record[end].as_u64().unwrap());
    let mut random = fastrand::Rng::with_seed(36);
    // From where on there are readings.
    for cut in 0..60 {
        let (operation, shape) = (random.u64(first + 200..last), cut % 11);
        let question = format!(r#"{{"ask":"cut","operation":{operation},"shape":{shape},"seed":{cut}}}"#);
        assert_eq!(session.answer(question.as_bytes())["lost"], false, "{question}");
        desk.write("cut.img", Vec::from(&session.image().unwrap()));
        let report = |what| -> serde_json::Value {
            serde_json::from_str(&desk.succeed(&format!("log {what} cut.img --json"))).unwrap()
        };
        let (shown, dumped) = (report("show"), report("dump"));
        let sum = |key: &str| dumped["units"].as_array().unwrap().iter().filter_map(|unit| unit[key].as_u64()).sum();
        let dumped: [u64; 3] = ["live", "dead", "free"].map(sum);
        let shown = ["in_use", "dead", "free"].map(|key| shown["cells"][key].as_u64().unwrap());
        assert_eq!(dumped, shown, "{question}");
    }
}

#[test]
fn a_raw_dump_of_any_damage_ends() {
    let desk = with_readings();
    let mut random = fastrand::Rng::with_seed(11);
    for round in 0..30 {
        fs::copy(desk.path("a.img"), desk.path("b.img")).unwrap();
        let mut device = norn_flash_sim::NorSim::open_image(&desk.path("b.img")).unwrap();
        for _ in 0..256 {
            let at = norn_flash::Address(random.u32(0..16 * 4096));
            device.poke(at, &[random.u8(..)]);
        }
        drop(device);
        for words in ["log dump b.img --raw".to_owned(), format!("log dump b.img --raw --unit {}", round % 16)] {
            assert_eq!(desk.run(&words).code, 0, "round {round}: {words}");
        }
    }
}

#[cfg(not(feature = "arrow"))]
#[test]
fn arrow_files_ask_for_the_feature() {
    let desk = with_readings();
    desk.fail("log export a.img a.arrow", &["a.arrow: Arrow files take a norn that is built with the feature arrow"]);
    assert!(!desk.path("a.arrow").exists());
    desk.write("b.arrow", b"ARROW1\0\0");
    desk.fail("log import a.img b.arrow", &["b.arrow: Arrow files take a norn"]);
}

#[cfg(not(feature = "plots"))]
#[test]
fn pictures_ask_for_the_feature() {
    let desk = with_readings();
    desk.fail("log plot a.img --out a.png", &["a.png: pictures take a norn that is built with the feature plots"]);
    assert!(!desk.path("a.png").exists());
}

#[cfg(feature = "arrow")]
#[test]
fn an_arrow_file_is_read_back_as_it_was() {
    let desk = with_readings();
    assert_eq!(desk.succeed("log export a.img a.arrow"), "a.arrow: 700 readings\n");
    assert_eq!(line(&desk.succeed("log import a.img a.arrow"), "known before"), "700");
    desk.succeed(&format!("log create b.img {PART}"));
    assert_eq!(line(&desk.succeed("log import b.img a.arrow"), "new"), "700");
    assert_eq!(desk.succeed("log range b.img"), desk.succeed("log range a.img"));
    let bytes = fs::read(desk.path("a.arrow")).unwrap();
    let mut random = fastrand::Rng::with_seed(5);
    for round in 0..60 {
        let mut damaged = bytes.clone();
        match round % 2 {
            0 => damaged.truncate(random.usize(6..bytes.len())),
            _ => damaged[random.usize(6..bytes.len())] ^= 1 << random.u8(..8),
        }
        desk.write("c.arrow", &damaged);
        let answer = desk.run("log import b.img c.arrow");
        assert!([0, 2].contains(&answer.code) && !answer.errors.contains("panicked"), "round {round}: {answer:?}");
    }
}

#[cfg(feature = "plots")]
#[test]
fn pictures_are_drawn() {
    let desk = with_readings();
    assert_eq!(desk.succeed("log plot a.img --out a.png"), "a.png: 700 readings\n");
    desk.succeed("log plot a.img 3600 7200 --out a.svg --size 640x300");
    let png = fs::read(desk.path("a.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG") && png[16..24] == [0, 0, 3, 232, 0, 0, 1, 164], "1000 by 420 pixels");
    let svg = fs::read_to_string(desk.path("a.svg")).unwrap();
    assert!(svg.contains("width=\"640\" height=\"300\"") && svg.contains("1970-01-01 01:10"), "{svg}");
    desk.fail("log plot a.img --out a.png", &["a.png: there is such a file; it is never overwritten"]);
    desk.fail("log plot a.img --out a.gif", &["a.gif: a picture is named .png or .svg"]);
    desk.fail("log plot a.img --out b.png --size 10x10", &["10x10", "is not a size such as 1000x420"]);
    desk.fail("log plot a.img 60000 60001 --out b.png", &["b.png: there are no readings to draw"]);
    assert!(!desk.path("b.png").exists());
}
