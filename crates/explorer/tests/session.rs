//! What the page is told: units are divided without gaps, every line of the format that a piece names is in the
//! document, a cut leaves a heap that mounts, and the tour's steps are what their titles say.

use std::collections::BTreeSet;

use norn_explorer::session::Session;
use norn_explorer::shown::{self, Shown};
use norn_explorer::tour;
use norn_flash_sim::{NorSim, catalogue};
use norn_object_heap::{Config, HeapIn, UnitRow};
use serde_json::{Value, json};

/// The documents, each with what a line of it begins with.
const FORMATS: [(&str, &str); 3] = [
    ("", include_str!("../format/log-heap")),
    ("", include_str!("../format/nor-store")),
    ("object-heap/", include_str!("../format/object-heap")),
];

fn ask(session: &mut Session, question: Value) -> Value {
    let answer = session.answer(question.to_string().as_bytes());
    assert!(answer["error"].is_null(), "{question}: {answer}");
    answer
}

/// An empty heap of each kind on a small part.
fn empty_heaps() -> [Session; 2] {
    let part = NorSim::new(catalogue::test_part(16, 1024));
    let rows = vec![UnitRow::UNUSED; 16];
    let tiny_store = HeapIn::<_, _, ()>::format_in(part, rows, Config::default()).unwrap().into_device();
    [Session::empty("test-16x1024").unwrap(), Session::open(tiny_store.image_bytes()).unwrap()]
}

/// A recording on an empty heap: the first and the last of its operations.
fn record(session: &mut Session, seed: u64) -> (u64, u64) {
    let range = ask(session, json!({ "ask": "record", "seed": seed, "calls": 200 }));
    let [first, last] = ["first", "last"].map(|end| range[end].as_u64().unwrap());
    assert!(last > first + 200 && range["calls"].as_array().unwrap().len() > 150, "{range}");
    (first, last)
}

/// A session on a log-structured heap with a recording, and the first and the last of its operations.
fn recorded(seed: u64) -> (Session, u64, u64) {
    let [mut session, _] = empty_heaps();
    let (first, last) = record(&mut session, seed);
    (session, first, last)
}

/// Whether the document number `of` has a line in a section that begins in this way.
fn has_line(line: &str, of: usize) -> bool {
    let (section, start) = line.split_once(':').unwrap();
    let (prefix, document) = FORMATS[of];
    let Some(section) = section.strip_prefix(prefix) else { return false };
    let text = document.split("\n## ").find(|text| text.starts_with(&format!("{section}. "))).unwrap_or_default();
    let row = format!("| {start} |");
    text.lines()
        .any(|line| line.starts_with(start) || line.starts_with(&row) || line.starts_with(&format!("| {start}")))
}

#[test]
fn units_are_divided_without_gaps_and_pieces_name_lines_of_the_format() {
    let [log, tiny_store] = empty_heaps();
    let all = ["head", "log", "erased"];
    looked_through(log, &[&all[..], &["object", "map", "roots", "changes", "free"]].concat(), &[0]);
    looked_through(tiny_store, &[&all[..], &["leaf", "record", "node", "descriptor"]].concat(), &[1, 2]);
    assert!(!has_line("2:no such line", 0) && has_line("2:0..16", 0) && !has_line("9:0..16", 0));
}

fn looked_through(mut session: Session, expected: &[&str], documents: &[usize]) {
    let (first, last) = record(&mut session, 1);
    let (mut pieces, mut kinds, mut names) = (0, BTreeSet::new(), BTreeSet::new());
    for position in (first..=last).step_by(((last - first) / 40) as usize) {
        ask(&mut session, json!({ "ask": "position", "operation": position }));
        for unit in 0..16_u64 {
            let areas = ask(&mut session, json!({ "ask": "unit", "unit": unit }))["areas"].clone();
            let mut next = unit * 1024;
            for area in areas.as_array().unwrap() {
                assert_eq!(area["at"], next, "at operation {position}: {areas}");
                next += area["bytes"].as_u64().unwrap();
                kinds.insert(area["kind"].as_str().unwrap().to_owned());
                let found = ask(&mut session, json!({ "ask": "at", "address": area["at"] }));
                let end = found["at"].as_u64().unwrap() + found["length"].as_u64().unwrap();
                for piece in found["pieces"].as_array().unwrap() {
                    let line = piece["line"].as_str().unwrap();
                    assert!(documents.iter().any(|&of| has_line(line, of)), "the format has no line {line}");
                    assert!(piece["at"].as_u64().unwrap() + piece["bytes"].as_u64().unwrap() <= end, "{found}");
                    names.insert(piece["name"].as_str().unwrap().to_owned());
                    pieces += 1;
                }
            }
            assert_eq!(next, (unit + 1) * 1024, "at operation {position}: {areas}");
        }
    }
    assert!(pieces > 1000 && names.iter().any(|name| name.ends_with("field 1")), "{pieces}: {names:?}");
    for kind in expected {
        assert!(kinds.contains(*kind), "{kind}: {kinds:?}");
    }
}

#[test]
fn every_shape_of_a_cut_leaves_a_heap_that_mounts_as_its_image_does() {
    for mut session in empty_heaps() {
        let (first, last) = record(&mut session, 2);
        let mut random = fastrand::Rng::with_seed(2);
        for shape in (0..11).cycle().take(110) {
            let operation = random.u64(first..last);
            let cut = json!({ "ask": "cut", "operation": operation, "shape": shape, "seed": random.u16(..) });
            assert_eq!(ask(&mut session, cut.clone())["lost"], false, "{cut}");
            let image = session.image().unwrap();
            ask(&mut session, json!({ "ask": "overview" }));
            ask(&mut session, json!({ "ask": "rows", "first": 0, "count": 16, "columns": 100 }));
            assert!(session.image().unwrap() == image, "a look changes nothing: {cut}");
            ask(&mut session, json!({ "ask": "mount" }));
            let mut again = Session::open(image).unwrap();
            ask(&mut again, json!({ "ask": "mount" }));
            assert!(session.image() == again.image(), "{cut}");
            let objects = json!({ "ask": "objects" });
            assert_eq!(ask(&mut session, objects.clone()), ask(&mut again, objects));
        }
    }
}

/// Each value is at the address where it is said to be, and each object's pieces lead to it.
#[test]
fn values_are_where_they_are_said_to_be() {
    for mut session in empty_heaps() {
        let (_, last) = record(&mut session, 4);
        ask(&mut session, json!({ "ask": "position", "operation": last }));
        let objects = ask(&mut session, json!({ "ask": "objects" }))["objects"].clone();
        let mut compared = 0;
        for object in objects.as_array().unwrap() {
            let found = ask(&mut session, json!({ "ask": "object", "bits": object["bits"] }));
            for field in found["fields"].as_array().unwrap() {
                if field["in"] != "the sector" && field["in"] != "a record" {
                    continue;
                }
                let at = ask(&mut session, json!({ "ask": "at", "address": field["at"] }));
                let piece = at["pieces"].as_array().unwrap().iter().find(|piece| piece["at"] == field["at"]).unwrap();
                assert_eq!(piece["value"], field["value"], "{found}");
                assert_eq!(at["object"], object["reference"], "{at}");
                compared += 1;
            }
        }
        assert!(compared > 20, "{compared}");
    }
}

#[test]
fn each_position_differs_from_the_one_before_by_one_operation() {
    let (mut session, first, last) = recorded(3);
    let mut words = 0;
    let mut before: Option<Vec<u8>> = None;
    for position in first..=last {
        ask(&mut session, json!({ "ask": "position", "operation": position }));
        let cells = NorSim::from_image_bytes(session.image().unwrap()).unwrap().cells();
        let old = before.replace(cells.clone()).unwrap_or_else(|| cells.clone());
        let changed: Vec<usize> = (0..cells.len()).filter(|&at| cells[at] != old[at]).collect();
        let (Some(from), Some(to)) = (changed.first(), changed.last()) else { continue };
        if changed.iter().all(|&at| cells[at] == 0xFF) {
            assert_eq!(from / 1024, to / 1024, "one unit is erased at {position}");
        } else {
            assert_eq!(from / 4, to / 4, "one word is programmed at {position}");
            words += 1;
        }
    }
    assert!(words > 100, "{words} words");
}

#[test]
fn the_tour_has_its_five_steps() {
    for (number, title) in tour::TITLES.iter().enumerate() {
        let mut stop = tour::stop(number).unwrap();
        assert_eq!(stop.title, *title);
        let says = shown::at(&mut stop.chip, stop.look).unwrap()["pieces"].to_string();
        match number {
            0 => assert!(says.contains("field 0") && !says.contains("delta"), "{says}"),
            1 => assert!(says.contains("delta of field 0") && !says.contains("torn"), "{says}"),
            2 => assert!(says.contains("torn or damaged"), "{says}"),
            3 => assert!(!says.contains("torn") && stop.text.contains("Field 0 is 70"), "{says}"),
            _ => {
                assert_eq!(stop.chip.areas((stop.look.0 / 512) as u16).unwrap().len(), 1, "erased");
            }
        }
    }
    assert!(tour::stop(tour::TITLES.len()).is_err());
}

#[test]
fn wrong_questions_and_images_are_answered_with_a_reason() {
    let mut session = Session::empty("test-16x1024").unwrap();
    for (question, why) in [
        ("", "EOF"),
        (r#"{"ask":"nothing"}"#, "nothing answers"),
        (r#"{"ask":"unit"}"#, "no number unit"),
        (r#"{"ask":"unit","unit":16}"#, "no unit 16"),
        (r#"{"ask":"at","address":16384}"#, "no address"),
        (r#"{"ask":"object","bits":65537}"#, "Ref"),
        (r#"{"ask":"cut","operation":1,"shape":0,"seed":0}"#, "nothing is recorded"),
        (r#"{"ask":"tour","step":5}"#, "5 steps"),
    ] {
        let answer = session.answer(question.as_bytes());
        let error = answer["error"].as_str().unwrap_or_else(|| panic!("{question}: {answer}"));
        assert!(error.contains(why) || why == "Ref", "{question}: {error}");
    }
    assert!(Session::open(b"no image".to_vec()).is_err());
    assert!(Session::empty("no such part").is_err());
}
