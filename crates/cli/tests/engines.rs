//! Proves that log-structured heaps are made, used, cut, checked, shown and converted as those of TinyStore's structure
//! are: nobody says which engine an image has, but for whoever makes it.

use crate::purses;

use norn_desk::{Desk, line};
use norn_flash::{Address, Nor};
use norn_flash_sim::NorSim;
use purses::make_purses;

/// A part of each kind: unlimited words, words programmed twice, units of 4, 8 and 16 bytes programmed once.
const PARTS: [&str; 5] = ["tinystore", "nrf52840", "test-16x4096", "stm32l4", "stm32u5"];

#[test]
fn a_log_structured_heap_is_made_used_and_cut_on_parts_of_every_kind() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    for part in PARTS {
        let image = format!("{part}.img");
        let made = desk.succeed(&format!("heap create {image} --part {part} --engine log"));
        assert!(made.ends_with(" units, engine log\n"), "{made}");
        make_purses(&desk, &image, None, Some((7, 100)));
        let checked = desk.succeed(&format!("heap check {image}"));
        let found = ["engine", "objects", "arrays", "roots", "violations"].map(|title| line(&checked, title));
        assert_eq!(found, ["log", "4", "2", "3", "0"], "{part}");
        assert!(line(&checked, "bytes in use").ends_with(", with tails and map nodes"), "{checked}");
        let shown = desk.succeed(&format!("heap show {image} --fields"));
        let alice: String = b"alice".iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(shown.contains(&format!("header  {alice}")), "{shown}");
        assert!(line(&shown, "engine") == "log" && !shown.contains("list length"), "{shown}");
        assert!(!shown.contains("remapped"), "it needs no layer on {part}");
    }
}

#[test]
fn spares_go_below_a_log_structured_heap_if_asked() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("heap create a.img --part stm32l4 --engine log --spares 2");
    make_purses(&desk, "a.img", None, None);
    assert_eq!(line(&desk.succeed("heap check a.img"), "engine"), "log");
    let shown = desk.succeed("heap show a.img");
    assert!(line(&shown, "remapped").starts_with("254 virtual units"), "{shown}");
    let dumped = desk.succeed("heap dump a.img");
    assert!(dumped.contains("Log in unit") && dumped.contains("Physical unit"), "{dumped}");
    assert!(desk.succeed("heap dump a.img --raw").contains("home of virtual unit"));
}

#[test]
fn settings_of_the_other_engine_are_refused() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    for option in ["--list-length 3", "--delta-records off", "--wear-period 64"] {
        let name = option.split(' ').next().unwrap();
        let says = format!("a.img: {name} is not a setting of the engine log");
        desk.fail(&format!("heap create a.img --engine log {option}"), &[&says]);
        assert!(!desk.path("a.img").exists());
    }
    desk.fail("heap create a.img --engine btree", &["btree", "log", "tinystore"]);
    desk.fail("heap create a.img --engine log --part test-8x4096", &["a.img", "fewer than 12 erase units"]);
    let advice = "--part NAME:UNITS has another number of erase units, --engine tinystore other limits";
    desk.fail("heap create a.img --part k8c1215etm", &["more than 8,323,072 granules", advice]);
    desk.succeed("heap create b.img --part k8c1215etm:500");
    assert!(!desk.path("a.img").exists());
    desk.fail("heap create a.img --list-length 3", &["a.img", "--list-length", "log"]);
    desk.succeed("heap create new.img --part stm32l4");
    assert_eq!(line(&desk.succeed("heap show new.img"), "engine"), "log");
    desk.succeed("heap create a.img --engine tinystore --list-length 3");
    assert_eq!(line(&desk.succeed("heap show a.img"), "list length"), "3");
}

/// A log-structured heap could not have it once, and it got lost where a heap was copied.
#[test]
fn error_detection_is_chosen_alike_for_both_engines_and_kept_by_copies() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let detection = |image: &str| line(&desk.succeed(&format!("heap show {image}")), "error detection").to_owned();
    for (engine, other) in [("log", "tinystore"), ("tinystore", "log")] {
        for (state, title) in [("on", ", with error detection"), ("off", "")] {
            let name = |what: &str| format!("{engine}-{state}-{what}");
            let image = name("a.img");
            let made = desk.succeed(&format!(
                "heap create {image} --part test-32x2048 --engine {engine} --error-detection {state}"
            ));
            assert!(made.ends_with(&format!("engine {engine}{title}\n")), "{made}");
            let checked = desk.succeed(&format!("heap check {image}"));
            assert_eq!((detection(&image).as_str(), line(&checked, "error detection")), (state, state), "{engine}");
            let converted = desk.succeed(&format!("heap convert {image} {}", name("b.img")));
            assert!(converted.contains(&format!("from engine {engine} to {other}{title}: objects 0")), "{converted}");
            desk.succeed(&format!("heap export {image} {}", name("a.json")));
            let exported = std::fs::read_to_string(desk.path(&name("a.json"))).unwrap();
            assert!(exported.contains(&format!("\"error_detection\": {}", state == "on")), "{exported}");
            let import = |image: &str, options: &str| {
                desk.succeed(&format!("heap import {} {image} --part test-32x2048 {options}", name("a.json")))
            };
            assert!(import(&name("c.img"), "").contains(&format!("engine log{title}: ")));
            import(&name("d.img"), "--engine tinystore");
            for copy in ["b.img", "c.img", "d.img"] {
                assert_eq!(detection(&name(copy)), state, "{}", name(copy));
            }
            let opposite = if state == "on" { "off" } else { "on" };
            import(&name("e.img"), &format!("--error-detection {opposite}"));
            assert_eq!(detection(&name("e.img")), opposite);
            let shown = desk.succeed(&format!("image show {image}"));
            assert_eq!(line(&shown, "error detection"), state, "{shown}");
        }
    }
    // A document without it is of a heap without it.
    desk.write("old.json", r##"{"objects": {"#1.1": {"array": "u8", "elements": "07"}}}"##);
    desk.succeed("heap import old.json old.img --part test-32x2048");
    assert_eq!(detection("old.img"), "off");
}

/// The words of the rows of a unit table, with the unit's number first.
fn rows(dumped: &str) -> Vec<Vec<&str>> {
    let table = dumped.split("\n\n").next().unwrap();
    table.lines().skip(1).map(|row| row.split_whitespace().collect()).collect()
}

#[test]
fn dumps_list_units_sectors_and_records() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("heap create a.img --engine log");
    make_purses(&desk, "a.img", None, None);
    let dumped = desk.succeed("heap dump a.img");
    let role = |role: &str| rows(&dumped).into_iter().filter(|row| row[2] == role).collect::<Vec<_>>();
    assert!(!role("log").is_empty() && !role("map").is_empty(), "{dumped}");
    let folded: Vec<Vec<&str>> = rows(&dumped).into_iter().filter(|row| row.get(1) == Some(&"to")).collect();
    assert!(folded.iter().any(|row| row[2] == "55" && row[4] == "erased"), "empty units are one row: {dumped}");
    let json: serde_json::Value = serde_json::from_str(&desk.succeed("heap dump a.img --json")).unwrap();
    let units = json["units"].as_array().unwrap();
    assert!(units.len() == 56 && units[55]["role"] == "no head", "programs see every unit: {json}");
    assert!(dumped.contains("Log in unit") && dumped.contains("Root: 0x") && dumped.contains(" End"), "{dumped}");

    // What is live adds up, from sectors to units to the heap.
    let mut live = 0;
    for row in role("updated").into_iter().chain(role("moved")).chain(role("map")) {
        let unit = desk.succeed(&format!("heap dump a.img --unit {}", row[0]));
        assert!(
            line(&unit, "head").starts_with(&format!("{}, sequence number {}, erase count", row[2], row[3])),
            "{unit}"
        );
        let sectors: Vec<Vec<&str>> = unit
            .lines()
            .skip_while(|line| !line.contains("Holds"))
            .skip(1)
            .map(|row| row.split_whitespace().collect())
            .collect();
        assert_eq!(sectors.len().to_string(), row[6], "{unit}");
        let of_live: u32 = sectors
            .iter()
            .filter(|sector| sector[sector.len() - 1] == "live")
            .map(|sector| {
                sector[sector.len() - 3].parse::<u32>().unwrap() + 4 * sector[sector.len() - 2].parse::<u32>().unwrap()
            })
            .sum();
        assert_eq!(of_live.to_string(), row[7], "{unit}");
        live += of_live;
    }
    let checked = desk.succeed("heap check a.img");
    assert_eq!(line(&checked, "bytes in use"), format!("{live}, with tails and map nodes"));

    let log = role("log")[0][0].to_owned();
    let unit = desk.succeed(&format!("heap dump a.img --unit {log}"));
    assert!(line(&unit, "head").starts_with("log, sequence number") && unit.contains("Next: unit"), "{unit}");
    desk.fail("heap dump a.img --unit 56", &["a.img: unit 56 does not exist: the part has 56"]);
}

#[test]
fn a_raw_dump_shows_a_log_structured_heap_that_cannot_be_mounted_and_changes_nothing() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("heap create a.img --part stm32l4 --engine log");
    make_purses(&desk, "a.img", None, None);
    let mut device = NorSim::open_image(&desk.path("a.img")).unwrap();
    let size = device.part().size_bytes() as usize;
    let cells = device.peek(Address(0), size);
    // The sector of an account: its header is 8 bytes, then 2 of lengths, then the account's name.
    let names: Vec<usize> = (0..size - 5).filter(|&at| cells[at..].starts_with(b"alice")).collect();
    names.iter().for_each(|&at| device.poke(Address(at as u32 - 10), &[0; 8]));
    drop(device);
    let before = std::fs::read(desk.path("a.img")).unwrap();
    let raw = desk.succeed("heap dump a.img --raw");
    assert!(raw.contains("Log in unit") && raw.contains("updated"), "{raw}");
    desk.succeed("heap dump a.img --raw --unit 0");
    assert!(std::fs::read(desk.path("a.img")).unwrap() == before, "the image has changed");
    for command in ["heap check a.img", "heap show a.img", "heap dump a.img", "heap convert a.img b.img"] {
        let says = ["cannot be mounted: corrupted", "it holds a log-structured heap on 256 units of 2048 bytes"];
        desk.fail(command, &[says[0], says[1], "`norn heap dump a.img --raw` shows its cells as they are"]);
    }
    assert!(!desk.path("b.img").exists());
}

#[test]
fn purses_go_on_in_an_image_of_the_other_engine() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("heap create log.img --part nrf52840 --engine log");
    make_purses(&desk, "log.img", None, Some((3, 100)));
    let before = std::fs::read(desk.path("log.img")).unwrap();
    let said = desk.succeed("heap convert log.img tinystore.img");
    let expected =
        "tinystore.img: what log.img holds, converted from engine log to tinystore: objects 4, arrays 2, roots 3\n";
    assert_eq!(said, expected, "every reference was kept");
    assert!(std::fs::read(desk.path("log.img")).unwrap() == before, "the old image has changed");
    assert_eq!(desk.succeed("heap convert tinystore.img back.img --part stm32l4").lines().count(), 1);
    for (image, engine) in [("tinystore.img", "tinystore"), ("back.img", "log")] {
        assert_eq!(line(&desk.succeed(&format!("heap check {image}")), "engine"), engine);
        make_purses(&desk, image, None, Some((5, 100)));
        assert_eq!(line(&desk.succeed(&format!("heap check {image}")), "violations"), "0");
    }
    desk.fail("heap convert log.img back.img", &["back.img", "never overwritten"]);
}

#[test]
fn references_that_a_conversion_cannot_keep_are_listed() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    make_purses(&desk, "a.img", None, None);
    let refused = desk.run("heap convert a.img b.img");
    // What was created first, and the log of payments, whose sections would be where accounts are.
    let listed = "cannot be kept  #0.2\ncannot be kept  #2.4\n";
    assert_eq!((refused.code, refused.output.as_str()), (2, listed), "{refused:?}");
    assert!(refused.errors.contains("a.img: the engine log cannot give these references, 2 of them"), "{refused:?}");
    assert!(!desk.path("b.img").exists());
    let made = desk.succeed("heap convert a.img b.img --new-references");
    assert!(made.contains("changed  #0.2 is #") && made.contains("changed  #2.4 is #"), "{made}");
    assert_eq!(line(&desk.succeed("heap check b.img"), "arrays"), "2");
}

/// The check ended with "the flash holds something impossible", and named no place.
#[test]
fn damage_that_error_detection_notices_is_a_violation_with_a_place() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let data = r#"{"error_detection": true, "roots": {"a": "a"},
        "objects": {"a": {"array": "u16", "elements": [1, 2, 3, 4, 5]}}}"#;
    desk.write("a.json", data);
    desk.succeed("heap import a.json b.img --part stm32l4:16");
    let whole = std::fs::read(desk.path("b.img")).unwrap();
    // The elements are there once.
    let elements = [1, 0, 2, 0, 3, 0, 4, 0, 5, 0];
    let at = whole.windows(elements.len()).position(|bytes| bytes == elements).unwrap();
    let mut flipped = whole.clone();
    flipped[at] ^= 4;
    desk.write("c.img", flipped);
    let checked = desk.run("heap check c.img");
    assert!(checked.code == 1 && checked.errors.is_empty(), "{checked:?}");
    assert!(checked.output.contains("violation: a sector that differs from its check at 0x"), "{checked:?}");
}
