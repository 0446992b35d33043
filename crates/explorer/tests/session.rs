//! What the page is told: units are divided without gaps, every line of the format that a piece names is in the
//! document, a cut leaves a heap that mounts, and the tour's steps are what their titles say.

use norn_explorer::session::Session;
use norn_explorer::shown::{self, Shown};
use norn_explorer::tour;
use norn_flash_sim::NorSim;
use serde_json::{Value, json};

const FORMAT: &str = include_str!("../format/log-heap");

fn ask(session: &mut Session, question: Value) -> Value {
    let answer = session.answer(question.to_string().as_bytes());
    assert!(answer["error"].is_null(), "{question}: {answer}");
    answer
}

/// A session with a recording, and the first and the last of its operations.
fn recorded(seed: u64) -> (Session, u64, u64) {
    let mut session = Session::empty("test-16x1024").unwrap();
    let range = ask(&mut session, json!({ "ask": "record", "seed": seed, "calls": 200 }));
    let [first, last] = ["first", "last"].map(|end| range[end].as_u64().unwrap());
    assert!(last > first + 200 && range["calls"].as_array().unwrap().len() > 150, "{range}");
    (session, first, last)
}

/// Whether the document has a line in a section that begins in this way.
fn has_line(line: &str) -> bool {
    let (section, start) = line.split_once(':').unwrap();
    let text = FORMAT.split("\n## ").find(|text| text.starts_with(&format!("{section}. "))).unwrap_or_default();
    let row = format!("| {start} |");
    text.lines().any(|line| line.starts_with(start) || line.starts_with(&row))
}

#[test]
fn units_are_divided_without_gaps_and_pieces_name_lines_of_the_format() {
    let (mut session, first, last) = recorded(1);
    let (mut pieces, mut kinds) = (0, std::collections::BTreeSet::new());
    for position in (first..=last).step_by(17) {
        ask(&mut session, json!({ "ask": "position", "operation": position }));
        for unit in 0..16_u64 {
            let areas = ask(&mut session, json!({ "ask": "unit", "unit": unit }))["areas"].clone();
            let mut next = unit * 1024;
            for area in areas.as_array().unwrap() {
                assert_eq!(area["at"], next, "at operation {position}: {areas}");
                next += area["bytes"].as_u64().unwrap();
                kinds.insert(area["kind"].as_str().unwrap().to_owned());
                let found = ask(&mut session, json!({ "ask": "at", "address": area["at"] }));
                for piece in found["pieces"].as_array().unwrap() {
                    let line = piece["line"].as_str().unwrap();
                    assert!(has_line(line), "the format has no line {line}");
                    pieces += 1;
                }
            }
            assert_eq!(next, (unit + 1) * 1024, "at operation {position}: {areas}");
        }
    }
    assert!(pieces > 1000, "{pieces}");
    for kind in ["head", "object", "map", "roots", "log", "changes", "free", "erased"] {
        assert!(kinds.contains(kind), "{kind}: {kinds:?}");
    }
    assert!(!has_line("2:no such line") && has_line("2:0..16") && !has_line("9:0..16"));
}

#[test]
fn every_shape_of_a_cut_leaves_a_heap_that_mounts_as_its_image_does() {
    let (mut session, first, last) = recorded(2);
    let mut random = fastrand::Rng::with_seed(2);
    for shape in (0..11).cycle().take(110) {
        let operation = random.u64(first..last);
        let cut = json!({ "ask": "cut", "operation": operation, "shape": shape, "seed": random.u16(..) });
        assert_eq!(ask(&mut session, cut.clone())["lost"], false, "{cut}");
        let image = session.image().unwrap();
        let before = session.image().unwrap();
        ask(&mut session, json!({ "ask": "overview" }));
        assert_eq!(session.image().unwrap(), before, "a look changes nothing");
        ask(&mut session, json!({ "ask": "mount" }));
        let mut again = Session::open(image).unwrap();
        ask(&mut again, json!({ "ask": "mount" }));
        assert_eq!(session.image().unwrap(), again.image().unwrap(), "{cut}");
        let objects = json!({ "ask": "objects" });
        assert_eq!(ask(&mut session, objects.clone()), ask(&mut again, objects));
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
