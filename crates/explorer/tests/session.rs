//! What the page is told: units are divided without gaps, every line of the format that a piece names is in the
//! document, a cut leaves a heap that mounts, and the tour's steps are what their titles say.

use std::collections::{BTreeMap, BTreeSet};

use norn_explorer::anatomy::ERASED;
use norn_explorer::chip::Play;
use norn_explorer::log_heap::LogHeap;
use norn_explorer::session::Session;
use norn_explorer::shown::{self, Shown, Tour};
use norn_explorer::tour;
use norn_explorer::tour::steps::{STEPS, Stop};
use norn_explorer::traced::{Act, Operation};
use norn_flash::{Address, EraseUnit, Nor, NorPartition};
use norn_flash_sim::{ImageBytes, NorSim, Tear, catalogue};
use norn_object_heap::{Config, ErrorDetection, HeapIn, UnitRow};
use norn_ordered_index::{Settings, Varying, VaryingList};
use serde_json::{Value, json};

/// The documents, each with what a line of it begins with.
const FORMATS: [(&str, &str); 4] = [
    ("", include_str!("../format/log-heap")),
    ("", include_str!("../format/nor-store")),
    ("object-heap/", include_str!("../format/object-heap")),
    ("", include_str!("../format/ordered-index")),
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

/// An empty index whose values have one length, and one whose values vary; on each a recording moves blocks.
fn empty_indexes() -> [Session; 2] {
    let settings = Settings { turnstile_blocks: 4, levels: 3, slots: 6, keys: 3, pool: 8 };
    let widths = Varying { key_bytes: 4, value_bytes: 20, log_bytes: 0 };
    let part = NorSim::new(catalogue::test_part(16, 1024));
    let varying: VaryingList<_, 4, 20> = VaryingList::format(part, widths, settings).unwrap();
    let varying = varying.into_device().image_bytes();
    [Session::empty("index on test-16x1024").unwrap(), Session::open(varying).unwrap()]
}

/// A recording on an empty heap: the first and the last of its operations.
fn record(session: &mut Session, seed: u64) -> (u64, u64) {
    record_calls(session, seed, 200)
}

fn record_calls(session: &mut Session, seed: u64, calls: usize) -> (u64, u64) {
    let range = ask(session, json!({ "ask": "record", "seed": seed, "calls": calls }));
    let [first, last] = ["first", "last"].map(|end| range[end].as_u64().unwrap());
    assert!(last > first + 200 && range["calls"].as_array().unwrap().len() > calls * 3 / 4, "{range}");
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
    let of_index = ["head", "list-head", "object", "pointers", "entries", "free", "erased"];
    for index in empty_indexes() {
        looked_through(index, &of_index, &[3]);
    }
    assert!(!has_line("2:no such line", 0) && has_line("2:0..16", 0) && !has_line("9:0..16", 0));
}

fn looked_through(mut session: Session, expected: &[&str], documents: &[usize]) {
    // Cells of an index have many areas: fewer positions are looked at.
    let (calls, positions) = if documents == [3] { (500, 6) } else { (200, 40) };
    let (first, last) = record_calls(&mut session, 1, calls);
    let (mut pieces, mut kinds, mut names) = (0, BTreeSet::new(), BTreeSet::new());
    for position in (first..=last).step_by(((last - first) / positions) as usize) {
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
    assert!(
        pieces > 1000 && names.iter().any(|name| name.ends_with("field 1") || name == "key of slot 1"),
        "{pieces}: {names:?}"
    );
    for kind in expected {
        assert!(kinds.contains(*kind), "{kind}: {kinds:?}");
    }
}

fn is_erase(session: &mut Session, operation: u64) -> bool {
    let at = ask(session, json!({ "ask": "position", "operation": operation }));
    at["operation"].as_str().unwrap().starts_with("erase ")
}

/// How many of the operations of a mount program, and how many erase.
fn counted(operations: &Value) -> Value {
    let all = operations.as_array().unwrap();
    let erases = all.iter().filter(|text| text.as_str().unwrap().starts_with("erase ")).count();
    json!({ "programs": all.len() - erases, "erases": erases })
}

#[test]
fn every_shape_of_a_cut_leaves_what_mounts_as_its_image_does() {
    let indexes = empty_indexes().map(|index| (index, "keys", 400));
    for (mut session, panel, calls) in empty_heaps().map(|heap| (heap, "objects", 200)).into_iter().chain(indexes) {
        let (first, last) = record_calls(&mut session, 2, calls);
        let mut random = fastrand::Rng::with_seed(2);
        // Erases are few among the operations.
        let erases: Vec<u64> = (first..last).filter(|&operation| is_erase(&mut session, operation)).collect();
        assert!(!erases.is_empty(), "{panel}");
        for (round, shape) in (0..11).cycle().take(110).enumerate() {
            let operation = if round % 2 == 0 { random.u64(first..last) } else { erases[random.usize(..erases.len())] };
            let cut = json!({ "ask": "cut", "operation": operation, "shape": shape, "seed": random.u16(..) });
            assert_eq!(ask(&mut session, cut.clone())["lost"], false, "{cut}");
            let image = session.image().unwrap();
            let foreseen = ask(&mut session, json!({ "ask": "overview" }))["mount"].clone();
            ask(&mut session, json!({ "ask": "rows", "first": 0, "count": 16, "columns": 100 }));
            assert!(session.image().unwrap() == image, "a look changes nothing: {cut}");
            let made = ask(&mut session, json!({ "ask": "mount" }))["operations"].clone();
            assert_eq!(foreseen, counted(&made), "{cut}: {made}");
            let mut again = Session::open(image).unwrap();
            ask(&mut again, json!({ "ask": "mount" }));
            assert!(session.image() == again.image(), "{cut}");
            let listed = json!({ "ask": panel });
            assert_eq!(ask(&mut session, listed.clone()), ask(&mut again, listed));
        }
    }
}

/// What a mount in the page reads of unstable bits is what a mount of the saved image reads.
#[test]
fn unstable_bits_read_in_a_cut_as_they_read_in_its_image() {
    let mut play = Play::new(LogHeap::format(NorSim::new(catalogue::test_part(16, 1024))).unwrap());
    play.draw(2, 400);
    let erase = |one: &Operation| match one.act {
        Act::Erase(unit) => Some((one.first, unit)),
        Act::Program(..) => None,
    };
    let erases: Vec<(u64, EraseUnit)> = play.operations().filter_map(erase).collect();
    assert!(erases.len() > 5, "{erases:?}");
    for (operation, unit) in erases {
        let chip = play.chip_cut(operation, Tear::Unstable(operation)).unwrap();
        let readings = |mut part: NorSim| -> [Vec<u8>; 3] {
            std::array::from_fn(|_| {
                let mut bytes = vec![0; 1024];
                part.read(Address(u32::from(unit.0) * 1024), &mut bytes).unwrap();
                bytes
            })
        };
        let here = readings(chip.cells().clone());
        assert!(here[0] != here[1], "operation {operation} leaves unstable bits");
        assert!(here == readings(NorSim::from_image_bytes(chip.image().unwrap()).unwrap()), "operation {operation}");
    }
}

/// Codes stand between the fields there: pieces that are named as without them would be wrong.
#[test]
fn with_error_detection_no_piece_is_named_that_is_not_there() {
    let config = Config { error_detection: ErrorDetection::On, ..Config::default() };
    let part = NorSim::new(catalogue::test_part(16, 1024));
    let heap = HeapIn::<_, _, ()>::format_in(part, vec![UnitRow::UNUSED; 16], config).unwrap();
    let mut session = Session::open(heap.into_device().image_bytes()).unwrap();
    let (_, last) = record(&mut session, 4);
    ask(&mut session, json!({ "ask": "position", "operation": last }));
    let mut sectors = 0;
    for unit in 0..16 {
        for area in ask(&mut session, json!({ "ask": "unit", "unit": unit }))["areas"].as_array().unwrap() {
            if ["leaf", "record", "opaque"].contains(&area["kind"].as_str().unwrap()) {
                let found = ask(&mut session, json!({ "ask": "at", "address": area["at"] }));
                assert_eq!(found["pieces"], json!([]), "{area}");
                sectors += 1;
            }
        }
    }
    assert!(sectors > 20, "{sectors}");
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

/// Entries of an index as the panel lists them: keys, values, and where each is.
fn entries(session: &mut Session) -> Vec<(String, String, u64)> {
    let (mut entries, mut from) = (Vec::new(), Value::Null);
    loop {
        let found = ask(session, json!({ "ask": "keys", "from": from }));
        for entry in found["entries"].as_array().unwrap() {
            let [key, value] = [0, 1].map(|column| entry[column].as_str().unwrap().to_owned());
            entries.push((key, value, entry[2].as_u64().unwrap()));
        }
        from = found["next"].clone();
        if from.is_null() {
            return entries;
        }
    }
}

/// What the calls in words come to is what the panel lists; each entry is where it is said to be; a search finds it
/// there, and nothing of what is not there.
#[test]
fn an_index_holds_what_the_calls_put_and_where_it_is_said() {
    for mut session in empty_indexes() {
        let recorded = ask(&mut session, json!({ "ask": "record", "seed": 6, "calls": 500 }));
        ask(&mut session, json!({ "ask": "position", "operation": recorded["last"] }));
        let (mut model, mut removed, mut ranges) = (BTreeMap::new(), 0, 0);
        for call in recorded["calls"].as_array().unwrap() {
            let words: Vec<&str> = call[0].as_str().unwrap().split([' ', ',']).collect();
            match words[..] {
                ["put", "key", key, "", "value", value] => drop(model.insert(key.to_owned(), value.to_owned())),
                ["remove", "key", key] => removed += usize::from(model.remove(key).is_some()),
                ["read", ..] => ranges += 1,
                ["stop", ..] => {}
                _ => panic!("{call}"),
            }
        }
        assert!(model.len() > 100 && removed > 20 && ranges > 5, "{} {removed} {ranges}", model.len());
        let found = entries(&mut session);
        let listed: BTreeMap<_, _> = found.iter().map(|(key, value, _)| (key.clone(), value.clone())).collect();
        assert_eq!(listed, model);
        for (key, value, at) in &found {
            let there = ask(&mut session, json!({ "ask": "at", "address": at }))["pieces"].clone();
            let names: Vec<&str> = there
                .as_array()
                .unwrap()
                .iter()
                .filter(|piece| (*at..at + 30).contains(&piece["at"].as_u64().unwrap()))
                .filter_map(|piece| piece["value"].as_str())
                .collect();
            assert!(names.contains(&&**key) && (value.is_empty() || names.contains(&&**value)), "{key}: {names:?}");
            let search = ask(&mut session, json!({ "ask": "find", "key": key }));
            assert_eq!(search["value"], **value, "{search}");
            let steps = search["steps"].as_array().unwrap();
            let cell = there[0]["at"].clone();
            assert!(steps.iter().any(|step| step[0] == cell), "{search}");
            let last = steps.last().unwrap();
            assert!(last[1].as_str().unwrap().starts_with("cell "), "{search}");
            let probes = ["successful", "null", "low", "back", "over"].map(|outcome| search[outcome].as_u64().unwrap());
            assert!(probes.iter().sum::<u64>() >= search["pointers"].as_u64().unwrap() - 3, "{search}");
            let bytes: u64 = steps.iter().map(|step| step[3].as_u64().unwrap()).sum();
            assert!(search["words"].as_u64().unwrap() * 4 >= bytes, "{search}");
        }
        let absent = ask(&mut session, json!({ "ask": "find", "key": "fffffffe" }));
        assert!(absent["value"].is_null());
        for wrong in ["123456789", "g", "\"seven77\""] {
            let question = json!({ "ask": "find", "key": wrong }).to_string();
            assert!(session.answer(question.as_bytes())["error"].as_str().unwrap().contains(wrong));
        }
    }
}

/// Of a cut move, both blocks have the cells: each says which of them count.
#[test]
fn cells_of_a_cut_move_say_why_they_do_not_count() {
    let [mut session, _] = empty_indexes();
    let (first, last) = record_calls(&mut session, 5, 400);
    let (mut moved, mut filling) = (0, 0);
    for operation in first..last {
        ask(&mut session, json!({ "ask": "cut", "operation": operation, "shape": 0, "seed": 0 }));
        let blocks = ask(&mut session, json!({ "ask": "turnstiles" }))["blocks"].clone();
        for block in blocks.as_array().unwrap() {
            let (role, cells) = (block["role"].as_str().unwrap(), block["cells"].as_str().unwrap());
            let Some(number) = cells.find(['o', 'h']).filter(|_| role.starts_with("moved ")) else { continue };
            let at = block["at"].as_u64().unwrap() + number as u64 * block["cell_bytes"].as_u64().unwrap();
            let title = ask(&mut session, json!({ "ask": "at", "address": at }))["title"].as_str().unwrap().to_owned();
            let other: u16 = role.split([' ', ',']).nth(2).unwrap().parse().unwrap();
            let (why, count) = match role.ends_with("to be erased") {
                true => (format!("a copy of it in unit {other} counts"), &mut moved),
                false => (format!("does not count yet, of the cell of this number in unit {other}"), &mut filling),
            };
            assert!(title.contains(&why), "{role}: {title}");
            let areas = ask(&mut session, json!({ "ask": "unit", "unit": block["unit"] }))["areas"].clone();
            let area = areas.as_array().unwrap().iter().find(|area| area["at"] == at).unwrap();
            assert!(area["text"].as_str().unwrap().contains(&why) && area["state"] == "obsolete", "{area}");
            *count += 1;
        }
    }
    assert!(moved > 0 && filling > 0, "{moved} {filling}");
}

/// A read of a range programs nothing: the slider had no place at which it was seen.
#[test]
fn calls_without_an_operation_are_shown_where_they_were_made() {
    let [mut session, _] = empty_indexes();
    let recorded = ask(&mut session, json!({ "ask": "record", "seed": 6, "calls": 300 }));
    let mut seen = 0;
    for call in recorded["calls"].as_array().unwrap() {
        let position = ask(&mut session, json!({ "ask": "position", "operation": call[1] }));
        let is_listed = position["without_operation"].as_array().unwrap().contains(&call[0]);
        assert_eq!(is_listed, call[2] == 0, "{call}: {position}");
        seen += usize::from(is_listed && call[0].as_str().unwrap().starts_with("read "));
    }
    assert!(seen > 5, "{seen}");
}

/// The levels of the panel hold every object once, in the order of keys, and each pointer leads to the next one.
#[test]
fn levels_lead_through_every_object_and_turnstiles_show_every_cell() {
    for mut session in empty_indexes() {
        let (_, last) = record_calls(&mut session, 7, 500);
        ask(&mut session, json!({ "ask": "position", "operation": last }));
        let keys = entries(&mut session).len() as u64;
        let (mut from, mut lows, mut counted) = (Value::Null, Vec::new(), 0);
        loop {
            let found = ask(&mut session, json!({ "ask": "levels", "from": from }));
            let objects = found["objects"].as_array().unwrap();
            for (level, links) in found["links"].as_array().unwrap().iter().enumerate() {
                let links = links.as_array().unwrap();
                for pair in links.windows(2) {
                    let (column, cell) = (pair[0][2].as_str().unwrap(), pair[1][1].as_str().unwrap());
                    let (turnstile, index) = column.split_once('.').unwrap();
                    let (unit, number) = cell.split_once('.').unwrap();
                    assert_eq!((turnstile.parse(), index), (Ok(unit.parse::<u16>().unwrap() / 4), number), "{found}");
                }
                let on_level = |object: &&Value| object["level"].as_u64().unwrap() >= level as u64;
                let there =
                    objects.iter().filter(on_level).all(|object| links.iter().any(|link| link[0] == object["at"]));
                assert!(there, "level {level}: {found}");
            }
            lows.extend(objects.iter().filter_map(|object| object["low"].as_str().map(str::to_owned)));
            counted += objects.iter().map(|object| object["keys"].as_u64().unwrap()).sum::<u64>();
            from = found["next"].clone();
            if from.is_null() {
                break;
            }
        }
        assert!(lows.len() > 30 && lows.is_sorted_by(|one, next| one < next), "{lows:?}");
        assert_eq!(counted, keys);
        let found = ask(&mut session, json!({ "ask": "turnstiles" }));
        let blocks = found["blocks"].as_array().unwrap();
        assert_eq!((blocks.len(), &found["count"]), (16, &json!(4)));
        let live: usize = blocks
            .iter()
            .filter(|block| block["counts"] == true)
            .map(|block| {
                let cells = block["cells"].as_str().unwrap();
                cells.matches(['o', 'h']).count()
            })
            .sum();
        assert_eq!(live, lows.len() + 1, "objects and the head");
        assert_eq!(blocks.iter().filter(|block| block["role"] == "spare").count(), 4);
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

/// The steps of a tour, each with the pieces at the place that it shows.
fn stops(tour: Tour) -> [(Stop, String); STEPS] {
    std::array::from_fn(|number| {
        let mut stop = tour::stop(tour, number).unwrap();
        let says = shown::at(&mut *stop.shown, stop.look).unwrap()["pieces"].to_string();
        (stop, says)
    })
}

/// What the tours have in common: only after the cut has a mount something to repair, and after the repair no more.
fn has_steps(stops: &mut [(Stop, String); STEPS]) {
    for (number, (stop, _)) in stops.iter().enumerate().filter(|(number, _)| *number != 2) {
        assert!(stop.shown.mounted().is_some(), "step {number}");
    }
    let [_, _, (cut, _), (repaired, _), (reclaimed, _)] = stops;
    let calls = cut.shown.mount_texts().len();
    assert!(calls > 0 && repaired.text.contains(&calls.to_string()), "{calls}: {}", repaired.text);
    assert_eq!(cut.shown.mounted().unwrap().image(), repaired.shown.image());
    assert_eq!(repaired.shown.mount_texts(), [""; 0]);
    let unit = reclaimed.look.0 / reclaimed.shown.overview().unit_bytes;
    let areas = reclaimed.shown.areas(unit as u16).unwrap();
    assert!(areas.len() == 1 && areas[0].kind == ERASED, "{areas:?}");
    assert!(reclaimed.text.contains(&format!("unit {unit} is erased")), "{}", reclaimed.text);
}

#[test]
fn the_tour_of_a_log_structured_heap_has_its_five_steps() {
    let mut stops = stops(Tour::LogHeap);
    has_steps(&mut stops);
    let [created, updated, cut, mounted, _] = stops;
    assert!(created.1.contains("field 0") && !created.1.contains("delta"), "{}", created.1);
    assert!(updated.1.contains("delta of field 0") && !updated.1.contains("torn"), "{}", updated.1);
    assert!(cut.1.contains("torn or damaged"), "{}", cut.1);
    assert!(!mounted.1.contains("torn") && mounted.0.text.contains("Field 0 is 70"), "{}", mounted.1);
    assert!(tour::stop(Tour::LogHeap, STEPS).is_err());
}

#[test]
fn the_tour_of_tinystores_structure_has_its_five_steps() {
    let mut stops = stops(Tour::TinyStore);
    has_steps(&mut stops);
    let [created, updated, cut, mounted, _] = stops;
    assert!(created.1.contains("initialization flags") && created.0.text.contains("#0.2"), "{}", created.0.text);
    assert!(updated.1.contains(r#""delta of field 0","value":"46000000""#), "{}", updated.1);
    assert!(cut.1.contains(r#""entry","value":"torn or void""#), "{}", cut.1);
    let texts = cut.0.shown.mount_texts();
    assert!(texts[0].contains("void") && texts[1].contains("entry Abort"), "{texts:?}");
    assert!(mounted.1.contains("1e000000, void") && mounted.0.text.contains("Field 0 is 70"), "{}", mounted.1);
}

#[test]
fn the_tour_of_an_index_has_its_five_steps() {
    let mut stops = stops(Tour::Index);
    has_steps(&mut stops);
    let [created, updated, cut, mounted, (mut reclaimed, _)] = stops;
    assert!(created.1.contains("1 slot counts"), "{}", created.1);
    let has =
        |says: &str, slot: &str, value: &str| says.contains(&format!(r#""value of slot {slot}","value":"{value}""#));
    assert!(has(&updated.1, "0, obsolete", "00000064") && has(&updated.1, "2", "00000046"), "{}", updated.1);
    assert!(cut.1.contains("key of slot 3, torn") && has(&cut.1, "2", "00000046"), "{}", cut.1);
    assert!(mounted.1.contains("key of slot 3, obsolete") && has(&mounted.1, "2", "00000046"), "{}", mounted.1);
    assert!(mounted.0.text.contains("Key 7 has the value 70"), "{}", mounted.0.text);
    let found = reclaimed.shown.ask(&json!({ "ask": "turnstiles" })).unwrap();
    let unit = u64::from(reclaimed.look.0 / reclaimed.shown.overview().unit_bytes);
    let turnstile = found["blocks"].as_array().unwrap().iter().filter(|block| block["turnstile"] == unit / 4);
    let in_place: Vec<&Value> = turnstile.filter(|block| block["counts"] == true && block["dead"] == 0).collect();
    assert!(in_place.len() == 1 && in_place[0]["live"] == 0 && in_place[0]["free"] != 0, "{found}");
}

#[test]
fn what_has_no_tour_says_so() {
    let mut disk = Session::empty("nandtest-48x16x512").unwrap();
    assert_eq!(ask(&mut disk, json!({ "ask": "overview" }))["has_tour"], false);
    let refused = disk.answer(br#"{"ask":"tour","step":0}"#);
    assert!(refused["error"].as_str().unwrap().contains("no tour"), "{refused}");
}

#[test]
fn wrong_questions_and_images_are_answered_with_a_reason() {
    let mut session = Session::empty("test-16x1024").unwrap();
    for (question, why) in [
        ("", "EOF"),
        (r#"{"ask":"nothing"}"#, "nothing answers"),
        (r#"{"ask":"unit"}"#, "no number unit"),
        (r#"{"ask":"unit","unit":16}"#, "no unit 16"),
        (r#"{"ask":"record","seed":1}"#, "no number calls"),
        (r#"{"ask":"rows","first":0,"count":1}"#, "no number columns"),
        (r#"{"ask":"at","address":16384}"#, "no address"),
        (r#"{"ask":"object","bits":65537}"#, "Ref"),
        (r#"{"ask":"cut","operation":1,"shape":0,"seed":0}"#, "nothing is recorded"),
        (r#"{"ask":"tour","step":5}"#, "5 steps"),
    ] {
        let answer = session.answer(question.as_bytes());
        let error = answer["error"].as_str().unwrap_or_else(|| panic!("{question}: {answer}"));
        assert!(error.contains(why) || why == "Ref", "{question}: {error}");
    }
    assert!(Session::open(ImageBytes::from(&b"no image"[..])).is_err());
    assert!(Session::empty("no such part").is_err());
}

/// The heap of a card has all units of its part but the last, which is a journal: the page showed no object of it.
#[test]
fn a_heap_on_fewer_units_than_the_part_has_is_shown_alone() {
    for start in [0, 3] {
        let mut part = NorSim::new(catalogue::test_part(16, 1024));
        let units = NorPartition::new(&mut part, start..start + 12).unwrap();
        let mut heap = HeapIn::<_, _, ()>::format_in(units, vec![UnitRow::UNUSED; 12], Config::default()).unwrap();
        heap.create(norn_object_heap::Layout::uniform(2, 4)).unwrap();
        let mut session = Session::open(part.image_bytes()).unwrap();
        let overview = ask(&mut session, json!({ "ask": "overview" }));
        assert_eq!((&overview["unit_count"], &overview["is_mounted"]), (&json!(12), &json!(true)), "{overview}");
        assert_eq!(overview["within"], json!([start, start + 12, 16]));
        let objects = ask(&mut session, json!({ "ask": "objects", "after": null }))["objects"].clone();
        assert_eq!(objects.as_array().unwrap().len(), 1);
    }
    let whole = ask(&mut Session::empty("test-16x1024").unwrap(), json!({ "ask": "overview" }));
    assert_eq!(whole["within"], Value::Null);
}
