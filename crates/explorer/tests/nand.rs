//! What the page is told of NAND parts: blocks are divided without gaps, every line of a format that a piece names is
//! in its document, a cut leaves a block device that is shown as its image has it and mounts as its image does, tokens
//! never exceed free pages, and a trace has the hits that a model of the cache has.

use std::collections::BTreeSet;

use norn_explorer::session::Session;
use norn_flash::{Block, Nand};
use norn_flash_sim::{ImageBytes, NandSim};
use norn_nand_ftl::inspection::{OnFlash, Owner, PageContent, PageReader};
use norn_nand_ftl::{Ftl, Lba, logical_pages_limit};
use serde_json::{Value, json};

const PART: &str = "nandtest-48x16x512";
const CODE: &str = "code on nandtest-40x16x512";
const FTL_FORMAT: &str = include_str!("../format/nand-ftl");
const CODE_FORMAT: &str = include_str!("../format/code-image");

fn ask(session: &mut Session, question: Value) -> Value {
    let answer = session.answer(question.to_string().as_bytes());
    assert!(answer["error"].is_null(), "{question}: {answer}");
    answer
}

fn recorded(example: &str, seed: u64, calls: u64) -> (Session, u64, u64) {
    let mut session = Session::empty(example).unwrap();
    let range = ask(&mut session, json!({ "ask": "record", "seed": seed, "calls": calls }));
    let [first, last] = ["first", "last"].map(|end| range[end].as_u64().unwrap());
    assert_eq!(range["calls"].as_array().unwrap().len() as u64, calls);
    (session, first, last)
}

/// Whether a document has a line in a section that begins in this way.
fn has_line(format: &str, line: &str) -> bool {
    let (section, start) = line.split_once(':').unwrap();
    let text = format.split("\n## ").find(|text| text.starts_with(&format!("{section}. "))).unwrap_or_default();
    let row = format!("| {start} |");
    text.lines().any(|line| line.starts_with(start) || line.starts_with(&row))
}

/// Looks at every area of a session's part. Returns how many pieces there were, and which kinds.
fn look_at_all(session: &mut Session, format: &str) -> (usize, BTreeSet<String>) {
    let overview = ask(session, json!({ "ask": "overview" }));
    let unit_bytes = overview["unit_bytes"].as_u64().unwrap();
    let (mut pieces, mut kinds) = (0, BTreeSet::new());
    for unit in 0..overview["unit_count"].as_u64().unwrap() {
        let mut next = unit * unit_bytes;
        for area in ask(session, json!({ "ask": "unit", "unit": unit }))["areas"].as_array().unwrap() {
            assert_eq!(area["at"], next, "{area}");
            next += area["bytes"].as_u64().unwrap();
            kinds.insert(format!("{} {}", area["state"].as_str().unwrap(), area["kind"].as_str().unwrap()));
            let found = ask(session, json!({ "ask": "at", "address": area["at"] }));
            assert_eq!((&found["at"], &found["length"]), (&area["at"], &area["bytes"]));
            for piece in found["pieces"].as_array().unwrap() {
                let (at, bytes) = (piece["at"].as_u64().unwrap(), piece["bytes"].as_u64().unwrap());
                assert!(at >= area["at"].as_u64().unwrap() && bytes > 0 && at + bytes <= next, "{piece} of {area}");
                let line = piece["line"].as_str().unwrap();
                assert!(has_line(format, line), "the format has no line {line}");
                if let Some(to) = piece["to"].as_u64() {
                    ask(session, json!({ "ask": "at", "address": to }));
                }
                pieces += 1;
            }
        }
        assert_eq!(next, (unit + 1) * unit_bytes);
    }
    (pieces, kinds)
}

#[test]
fn blocks_of_a_disk_are_divided_without_gaps_and_pieces_name_lines_of_the_format() {
    let (mut session, _, last) = recorded(PART, 1, 300);
    ask(&mut session, json!({ "ask": "position", "operation": last }));
    let (pieces, kinds) = look_at_all(&mut session, FTL_FORMAT);
    assert!(pieces > 2000, "{pieces}");
    for kind in ["live page", "obsolete page", "live checkpoint", "obsolete checkpoint", "live free"] {
        assert!(kinds.contains(kind), "{kind}: {kinds:?}");
    }
    // A page of data is shown as live where the map leads to it, and nowhere else.
    let mut live = BTreeSet::new();
    for unit in 0..48 {
        for area in ask(&mut session, json!({ "ask": "unit", "unit": unit }))["areas"].as_array().unwrap() {
            let (page, lba) = area["text"].as_str().unwrap().split_once(": logical page ").unwrap_or_default();
            if area["kind"] == "page" && area["state"] == "live" {
                live.insert((lba.parse::<usize>().unwrap(), page.to_owned()));
            }
        }
    }
    let map = shown_map(&mut session).into_iter().enumerate();
    assert_eq!(live, map.filter_map(|(lba, page)| Some((lba, page?))).collect());
    assert!(
        !has_line(FTL_FORMAT, "3:no such line") && has_line(FTL_FORMAT, "3:0..4") && !has_line(FTL_FORMAT, "9:lba")
    );
}

type Device = Ftl<NandSim, Vec<u8>>;

fn map_of(ftl: &Device) -> Vec<Option<String>> {
    (0..ftl.logical_pages()).map(|lba| ftl.page_of(Lba(lba)).unwrap().map(|page| page.to_string())).collect()
}

/// The map as the library reads it from the bytes of an image, page by page: before a mount, and after it.
fn library_maps(image: ImageBytes) -> [Vec<Option<String>>; 2] {
    let part = NandSim::from_image_bytes(image).unwrap();
    let memory = || vec![0; Device::memory_bytes(&part.part(), logical_pages_limit(&part.part()))];
    let flash = OnFlash::read(part.clone(), memory()).unwrap();
    let mut ftl = Ftl::mount(part.clone(), memory()).unwrap();
    assert_eq!(ftl.audit(&[]).unwrap(), None);
    [map_of(flash.device()), map_of(&ftl)]
}

/// What the session says of a page's cells, for each logical page that has one.
fn assert_that_pages_hold_what_the_map_says(session: &mut Session, map: &[Option<String>], what: &Value) {
    let part = NandSim::from_image_bytes(session.image().unwrap()).unwrap();
    let reader = PageReader::new(&part.part()).unwrap();
    let holds = |page: &str, lba: usize| {
        let page = part.pages().find(|other| other.to_string() == page).unwrap();
        let content = reader.decode(&mut part.peek(page));
        matches!(content, PageContent::Whole(tag) if tag.owner == Owner::Logical(Lba(lba as u32)))
    };
    for (lba, page) in map.iter().enumerate() {
        assert!(page.as_ref().is_none_or(|page| holds(page, lba)), "{what}: logical page {lba} in {page:?}");
    }
}

fn shown_map(session: &mut Session) -> Vec<Option<String>> {
    let mut map = Vec::new();
    loop {
        let part = ask(session, json!({ "ask": "map", "first": map.len() }));
        for row in part["rows"].as_array().unwrap() {
            assert_eq!(row[0], map.len());
            map.push(row[2].as_str().map(str::to_owned));
        }
        if map.len() as u64 == part["logical_pages"] {
            return map;
        }
    }
}

#[test]
fn every_shape_of_a_cut_leaves_a_disk_that_mounts_as_its_image_does() {
    let (mut session, first, last) = recorded(PART, 2, 300);
    let mut random = fastrand::Rng::with_seed(2);
    let (mut repaired, mut moved) = (0, 0);
    for shape in (0..15).cycle().take(60) {
        let operation = random.u64(first..last);
        let cut = json!({ "ask": "cut", "operation": operation, "shape": shape, "seed": random.u16(..) });
        let torn = ask(&mut session, cut.clone());
        assert_eq!(torn["lost"], false, "{cut}");
        let image = session.image().unwrap();
        let [before, after] = library_maps(image.clone());
        let map = shown_map(&mut session);
        assert_eq!(map, before, "{cut}");
        if shape < 8 {
            // Pages with unstable bits may read as one thing here and as another there.
            assert_that_pages_hold_what_the_map_says(&mut session, &map, &cut);
        }
        moved += usize::from(before != after);
        assert_eq!(session.image().unwrap(), image, "a look changes nothing");
        let foreseen = ask(&mut session, json!({ "ask": "overview" }))["mount"].clone();
        let operations = ask(&mut session, json!({ "ask": "mount" }))["operations"].clone();
        let (made, sum) = (operations.as_array().unwrap().len() as u64, |key: &str| foreseen[key].as_u64().unwrap());
        assert_eq!(sum("programs") + sum("erases"), made, "{cut}: {operations}");
        repaired += u64::from(made > 0);
        let mounted = shown_map(&mut session);
        assert_eq!(mounted, after, "{cut}");
        assert_that_pages_hold_what_the_map_says(&mut session, &mounted, &cut);
        let mut again = Session::open(image).unwrap();
        ask(&mut again, json!({ "ask": "mount" }));
        assert!(session.image().unwrap() == again.image().unwrap(), "{cut}");
    }
    assert!(repaired > 30 && moved > 5, "{repaired} repaired, of {moved} the mount moves pages");
    let none = session.answer(br#"{"ask":"cut","operation":1,"shape":15,"seed":0}"#);
    assert!(none["error"].as_str().unwrap().contains("shape"), "{none}");
}

#[test]
fn each_position_of_a_disk_differs_from_the_one_before_by_one_page_or_block() {
    let (mut session, first, last) = recorded(PART, 3, 300);
    let mut before: Option<NandSim> = None;
    let mut programs = 0;
    for position in first..=last {
        ask(&mut session, json!({ "ask": "position", "operation": position }));
        let part = NandSim::from_image_bytes(session.image().unwrap()).unwrap();
        if position > first && position % 7 == 0 {
            // A cut that leaves all of an operation leaves the cells that the next position has.
            ask(&mut session, json!({ "ask": "cut", "operation": position - 1, "shape": 1, "seed": 0 }));
            let torn = NandSim::from_image_bytes(session.image().unwrap()).unwrap();
            assert!(part.pages().all(|page| part.peek(page) == torn.peek(page)), "at {position}");
        }
        if let Some(old) = before.replace(part.clone()) {
            let changed: Vec<_> = part.pages().filter(|&page| part.peek(page) != old.peek(page)).collect();
            let blocks: BTreeSet<Block> = changed.iter().map(|page| page.block).collect();
            assert_eq!(blocks.len(), 1, "at {position}: {changed:?}");
            let is_erased = changed.iter().all(|&page| part.peek(page).iter().all(|&byte| byte == 0xFF));
            assert!(is_erased || changed.len() == 1, "at {position}: {changed:?}");
            programs += usize::from(!is_erased);
        }
    }
    assert!(programs > 80 && programs as u64 <= last - first, "{programs}");
}

#[test]
fn tasks_meet_their_deadlines_and_tokens_never_exceed_free_pages() {
    let (mut session, first, last) = recorded(PART, 4, 600);
    let answer = ask(&mut session, json!({ "ask": "record", "seed": 4, "calls": 600 }));
    let said: Vec<&str> = answer["calls"].as_array().unwrap().iter().map(|call| call[0].as_str().unwrap()).collect();
    for wanted in [
        "the sensor writes",
        "the sensor reads",
        "the logger writes",
        "a client without deadlines writes",
        "copies a page",
        "erases the block",
    ] {
        assert!(said.iter().any(|said| said.contains(wanted)), "{wanted}");
    }
    assert!(last > first);
    let range = [&answer["first"], &answer["last"]];
    let end = ask(&mut session, json!({ "ask": "position", "operation": range[1] }));
    assert_eq!(end["operation"], "the end of the recording; every task met its deadlines");
    let tokens = ask(&mut session, json!({ "ask": "tokens" }));
    let names: Vec<&str> = tokens["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names[..2], ["free pages", "all tokens"]);
    assert!(names.contains(&"sensor") && names.contains(&"logger"));
    let mut frees = BTreeSet::new();
    for level in tokens["levels"].as_array().unwrap() {
        let numbers: Vec<u64> = level[1].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect();
        assert!(numbers[1] <= numbers[0], "{level}");
        frees.insert(numbers[0]);
    }
    assert!(frees.len() > 10, "{frees:?}");
    assert_eq!(tokens["at"], *range[1]);
}

#[test]
fn blocks_of_code_are_divided_without_gaps_and_pieces_name_lines_of_the_format() {
    let (mut session, _, last) = recorded(CODE, 1, 400);
    ask(&mut session, json!({ "ask": "position", "operation": last }));
    let (pieces, kinds) = look_at_all(&mut session, CODE_FORMAT);
    assert!(pieces > 1000, "{pieces}");
    for kind in ["live page", "live cached", "obsolete page", "live head", "live log", "obsolete log", "live erased"] {
        assert!(kinds.contains(kind), "{kind}: {kinds:?}");
    }
    let mut again = Session::open(session.image().unwrap()).unwrap();
    let programs = |session: &mut Session| ask(session, json!({ "ask": "cache" }))["programs"].clone();
    assert_eq!(programs(&mut again), programs(&mut session));
    let cut = again.answer(br#"{"ask":"record","seed":1,"calls":10}"#);
    assert_eq!(cut["last"], 10);
    let cut = again.answer(br#"{"ask":"cut","operation":1,"shape":1,"seed":1}"#);
    assert!(cut["error"].as_str().unwrap().contains("programs nothing"), "{cut}");
}

/// A least recently used cache, as simple as can be.
#[test]
fn a_trace_has_the_hits_of_a_model() {
    let mut session = Session::empty(CODE).unwrap();
    for frames in [1_usize, 7, 30] {
        ask(&mut session, json!({ "ask": "set-cache", "policy": "LRU", "frames": frames }));
        ask(&mut session, json!({ "ask": "record", "seed": frames, "calls": 500 }));
        let mut run_at = |done: usize| {
            ask(&mut session, json!({ "ask": "position", "operation": done }));
            ask(&mut session, json!({ "ask": "cache" }))["run"].clone()
        };
        let run = run_at(321);
        let pages: Vec<u64> = run["pages"].as_array().unwrap().iter().map(|page| page.as_u64().unwrap()).collect();
        let (mut recent, mut hits): (Vec<u64>, Vec<bool>) = (Vec::new(), Vec::new());
        for (number, page) in pages.iter().enumerate() {
            hits.push(recent.contains(page));
            recent.retain(|other| other != page);
            recent.insert(0, *page);
            recent.truncate(frames);
            // Where the cache has just changed, one request earlier or later would show another.
            if number % 20 == 0 || !hits[number] {
                let run = run_at(number + 1);
                let held: BTreeSet<u64> =
                    run["held"].as_array().unwrap().iter().map(|held| held[0].as_u64().unwrap()).collect();
                assert_eq!(held, recent.iter().copied().collect(), "{frames} frames");
                assert_eq!(run["hits"], hits.iter().filter(|&&hit| hit).count(), "{frames} frames, {number}");
            }
        }
        let served: Vec<bool> = run["served"].as_str().unwrap().chars().map(|served| served == 'h').collect();
        assert_eq!(served, hits, "{frames} frames");
        let compared = ask(&mut session, json!({ "ask": "compare" }));
        assert_eq!(compared["ram_bytes"], frames * 64);
        if frames == 7 {
            let width =
                &compared["widths"].as_array().unwrap().iter().find(|one| one["page_bytes"] == 64).unwrap()["policies"];
            assert_eq!(width[0], json!(["LRU", hits.iter().filter(|&&hit| !hit).count(), width[0][2]]));
            assert_eq!(width.as_array().unwrap().len(), 5);
        }
    }
}

#[test]
fn wrong_questions_of_nand_parts_are_answered_with_a_reason() {
    let mut code = Session::empty(CODE).unwrap();
    let mut disk = Session::empty(PART).unwrap();
    let check = |session: &mut Session, question: &str, why: &str| {
        let answer = session.answer(question.as_bytes());
        let error = answer["error"].as_str().unwrap_or_else(|| panic!("{question}: {answer}"));
        assert!(error.contains(why), "{question}: {error}");
    };
    check(&mut code, r#"{"ask":"set-cache","policy":"FIFO","frames":4}"#, "no policy");
    check(&mut code, r#"{"ask":"set-cache","policy":"LRU","frames":0}"#, "1 to 255");
    check(&mut code, r#"{"ask":"set-cache","policy":"S3-FIFO","frames":200}"#, "200");
    check(&mut code, r#"{"ask":"set-trace","text":"12\nzwölf"}"#, "line 2");
    check(&mut code, r#"{"ask":"set-trace","text":"0xFFFFFF"}"#, "beyond the program's 24000 bytes");
    check(&mut code, r#"{"ask":"compare"}"#, "no trace");
    check(&mut code, r#"{"ask":"at","address":4000000000}"#, "no address");
    check(&mut disk, r#"{"ask":"map","first":100000}"#, "no logical page 100000");
    check(&mut disk, r#"{"ask":"map"}"#, "no logical page");
    check(&mut disk, r#"{"ask":"unit","unit":48}"#, "no block 48");
    check(&mut disk, r#"{"ask":"at","address":4000000000}"#, "no address");
    assert_eq!(ask(&mut code, json!({ "ask": "set-trace", "text": "0x10\n\n64 a comment\n" }))["requests"], 2);
    assert_eq!(ask(&mut code, json!({ "ask": "record", "seed": 1, "calls": 500 }))["last"], 2);
    assert!(Session::empty("nandtest-4x4x512").is_err() && Session::empty("code on nandtest-4x4x512").is_err());
}
