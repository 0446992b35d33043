//! The page of block devices and of programs on NAND: the power is cut at random operations and the page shows what
//! the command prints and the library reads, before a mount and after it; hits and misses along a trace add up.

use norn_desk::Desk;
use norn_flash::Nand;
use norn_flash_sim::{ImageBytes, NandSim};
use norn_nand_ftl::inspection::OnFlash;
use norn_nand_ftl::{Ftl, Lba, logical_pages_limit};
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::{desk, mounted, number};

const CUTS: usize = 24;
const PART: &str = "nandtest-48x16x512";

/// A desk with an image of this name that the command made, and a browser that shows it.
fn shown(commands: &[&str], image: &str) -> (Desk, Browser) {
    let desk = desk();
    desk.write("program", (0..20_000_u32).map(|at| ((at * at) >> 7) as u8).collect::<Vec<u8>>());
    commands.iter().for_each(|command| drop(desk.succeed(command)));
    desk.succeed(&format!("--quiet explore {image}.img"));
    let mut browser = Browser::start();
    browser.open_file(&desk.path(&format!("{image}.html")));
    (desk, browser)
}

fn slider(browser: &mut Browser) -> [u64; 2] {
    ["min", "max"].map(|end| number(&browser.text(&format!("byId('slider').{end}"))).as_u64().unwrap())
}

/// The map as the page shows it, page by page: what the table says of each logical page.
fn page_map(browser: &mut Browser) -> Vec<String> {
    browser.click("tab-map");
    let mut map = Vec::new();
    loop {
        map.extend(browser.rows("map", 0).into_iter().map(|row| row[1].clone()));
        if browser.value("byId('map-more') === null") == true {
            return map;
        }
        browser.click("map-more");
    }
}

type Device = Ftl<NandSim, Vec<u8>>;

/// The map as the library reads it from an image: before a mount, and after it.
fn library_maps(image: &[u8]) -> [Vec<String>; 2] {
    let part = NandSim::from_image_bytes(ImageBytes::from(image)).unwrap();
    let memory = || vec![0; Device::memory_bytes(&part.part(), logical_pages_limit(&part.part()))];
    let map = |ftl: &Device| {
        let place = |lba| ftl.page_of(Lba(lba)).unwrap().map_or("no contents".to_owned(), |page| page.to_string());
        (0..ftl.logical_pages()).map(place).collect()
    };
    [map(OnFlash::read(part.clone(), memory()).unwrap().device()), map(&Ftl::mount(part.clone(), memory()).unwrap())]
}

/// What the page says of the part's pages, with what `nbd check` prints.
fn assert_counts(browser: &mut Browser, printed: &Value, what: &str) {
    let map = browser.value("ask('map', { first: 0 })");
    for key in ["pages_in_use", "pages_erased", "pages_to_erase"] {
        assert_eq!(map[key], printed[key], "{what}: {key}");
    }
}

#[test]
fn the_power_of_a_disk_is_cut_and_the_page_shows_what_the_command_prints() {
    let create = format!("--quiet nbd create disk.img --part {PART} --size 160K --bad-blocks 2");
    let (desk, mut browser) = shown(&[&create], "disk");
    let mut random = fastrand::Rng::with_seed(2004);
    browser.click("record");
    let [first, last] = slider(&mut browser);
    assert!(last - first > 200, "{first}..{last}");
    assert_eq!(browser.value("byId('shape').options.length"), 15);
    browser.value(&format!("moveTo({})", (first + last) / 2));
    browser.picture("disk-play.png");
    browser.value("moveTo(byId('slider').max)");
    let end = browser.text("byId('operation').textContent");
    assert_eq!(end, "the end of the recording; every task met its deadlines");
    for cut in 0..CUTS {
        let (operation, shape, seed) = (random.u64(first..last), cut % 15, random.u16(..));
        let what = format!("cut {cut}: operation {operation}, shape {shape}, seed {seed}");
        browser.value(&format!("moveTo({operation}); byId('shape').value = {shape}; byId('seed').value = {seed}"));
        browser.click("cut");
        desk.write("torn.img", browser.image());
        let [before, after] = library_maps(&browser.image());
        assert_eq!(page_map(&mut browser), before, "{what}");
        if cut == 3 {
            browser.picture("disk-cut.png");
        }
        let check: Value = serde_json::from_str(&desk.succeed("nbd check torn.img --json")).unwrap();
        let map = browser.value("ask('map', { first: 0 })");
        for key in ["size_bytes", "page_bytes", "good_blocks"] {
            assert_eq!(map[key], check[key], "{what}: {key}");
        }
        assert_counts(&mut browser, &check["before_mount"], &what);
        assert!(mounted(&mut browser, &what) > 0, "{what}: a mount writes a page of the checkpoint");
        assert_counts(&mut browser, &check, &what);
        assert_eq!(page_map(&mut browser), after, "{what}, mounted");
        desk.write("mounted.img", browser.image());
        desk.succeed("--quiet nbd check mounted.img");
    }
}

#[test]
fn a_logical_page_leads_to_its_page_and_that_to_the_format() {
    let create = format!("--quiet nbd create disk.img --part {PART} --size 160K");
    let (_desk, mut browser) = shown(&[&create], "disk");
    browser.value("byId('seed').value = 5");
    browser.click("record");
    browser.value("moveTo(byId('slider').max)");
    browser.picture("disk-tokens.png");
    let rows = browser.rows("tokens", 0);
    assert_eq!([&rows[0][0], &rows[1][0]], ["free pages", "all tokens"]);
    let most = |row: &[String], column: usize| number(&row[column]).as_u64().unwrap();
    assert!((1..4).all(|column| most(&rows[1], column) <= most(&rows[0], column)), "{rows:?}");
    let has_curves = browser.value(
        "new Promise((done) => setTimeout(() => { const canvas = document.querySelector('#tokens canvas'); \
         const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; \
         done(data.some((byte) => byte > 0)); }, 100))",
    );
    assert_eq!(has_curves, true);

    assert_eq!(browser.text("byId('tab-unit').textContent"), "Block");
    browser.click("tab-map");
    let rows = browser.rows("map", 0);
    let row = rows.iter().position(|row| row[1] != "no contents").unwrap();
    let page = &rows[row];
    browser.value(&format!("document.querySelectorAll('#map table tbody tr')[{row}].querySelector('button').click()"));
    let title = browser.text("document.querySelector('#bytes h3').textContent");
    assert!(title.starts_with(&format!("{}: logical page {}: ", page[1], page[0])), "{title} {page:?}");
    let block = page[1].split(" page").next().unwrap();
    assert!(title.ends_with(&format!(", {block}")), "{title} {page:?}");
    assert!(!browser.text("document.body.innerText").contains("Unit"), "a NAND part has blocks");
    browser.picture("disk-bytes.png");
    browser.value("document.querySelector('#bytes tr[data-line=\"1:lba\"] td:last-child button').click()");
    let line = browser.text("document.querySelector('#format .on').textContent");
    assert!(line.starts_with("lba3"), "{line}");
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.call("Emulation.setEmulatedMedia", dark);
    browser.click("tab-tokens");
    browser.value("new Promise((done) => setTimeout(() => done(1), 150))");
    browser.picture("disk-dark.png");
    let narrow = json!({ "width": 390, "height": 1800, "deviceScaleFactor": 1, "mobile": false });
    browser.call("Emulation.setDeviceMetricsOverride", narrow);
    browser.value("new Promise((done) => setTimeout(() => done(1), 150))");
    assert_eq!(browser.value("document.documentElement.scrollWidth <= innerWidth"), true, "nothing is cut off");
    browser.picture("disk-narrow.png");
}

#[test]
fn programs_and_a_trace_show_what_the_command_prints() {
    let commands = [
        "--quiet code create code.img --part nandtest-40x16x512 --bad-blocks 2",
        "--quiet code install code.img program --program-version 1.0.0",
        "--quiet code update code.img program --program-version 1.2.0 --confirmed",
    ];
    let (desk, mut browser) = shown(&commands, "code");
    let status: Value = serde_json::from_str(&desk.succeed("code status code.img --json")).unwrap();
    browser.click("tab-cache");
    let rows = browser.rows("cache", 0);
    for (row, room) in rows.iter().zip(status["rooms"].as_array().unwrap()) {
        let (name, program) = (room["room"].as_str().unwrap(), &room["program"]);
        assert_eq!(row[1], format!("room {name}, program {}", program["version"].as_str().unwrap()));
        assert_eq!(number(&row[2]), program["bytes"]);
        assert_eq!(row[4] == "runs", status["running"] == name);
    }
    assert_eq!(rows.len(), 2);
    browser.click("record");
    assert_eq!(browser.value("byId('cut').hidden"), true, "nothing is programmed");
    browser.value("moveTo(300)");
    browser.picture("code-trace.png");
    let facts = browser.text("byId('run-facts').textContent");
    let numbers: Vec<u64> = facts.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
    let [frames, done, all, hits, misses, ..] = numbers[..] else { panic!("{facts}") };
    assert_eq!((frames, done, all, hits + misses), (16, 300, 600, 300), "{facts}");
    assert_eq!(browser.value("byId('held').children.length"), 16);
    browser.click("compare");
    let compared = browser.rows("compared", 0);
    assert_eq!(compared.iter().map(|row| &*row[0]).collect::<Vec<_>>(), ["LRU", "CLOCK", "SIEVE", "S3-FIFO", "greedy"]);
    let run = browser.value("ask('cache').run");
    let misses = run["served"].as_str().unwrap().chars().filter(|&served| served != 'h').count();
    assert!(compared[0].iter().any(|cell| cell.starts_with(&format!("{misses} misses"))), "{misses}: {compared:?}");
    browser.value("byId('compare').scrollIntoView()");
    browser.picture("code-compared.png");

    browser.value("byId('policy').value = 'S3-FIFO'; byId('frames').value = 8");
    browser.click("run");
    assert!(browser.text("byId('run-facts').textContent").starts_with("S3-FIFO, 8 frames, after 0 of 600"));
    browser.value("openTrace('0\\n0x40\\n0\\n0x40\\n', 'a.txt')");
    browser.value("moveTo(4)");
    let facts = browser.text("byId('run-facts').textContent");
    assert!(facts.contains("after 4 of 4 requests: 2 hits, 2 misses"), "{facts}");
    for (text, why) in [("one", "line 1 of the trace: \"one\" is no address"), (" \\n\\n", "the trace has no address")]
    {
        let wrong = format!("guarded(() => openTrace('{text}', 'a.txt'))().then(() => byId('problem').textContent)");
        assert_eq!(browser.text(&wrong), format!("a.txt: {why}"));
    }
    assert!(browser.text("byId('run-facts').textContent").contains("of 4 requests"), "the trace stays");
    browser.value("document.querySelector('#cache table button').click()");
    assert!(browser.rows("bytes", 0).iter().any(|row| row[1] == "bytes of a cache page" && row[2] == "64"));
}

#[test]
fn examples_are_made_in_the_page() {
    let (_desk, mut browser) = shown(&["--quiet heap create heap.img --part tinystore"], "heap");
    let examples = ["heap", "a sorted map", "a block device of", "programs in two rooms, room B runs"];
    for (number, what) in (1..).zip(examples) {
        browser.value(&format!(
            "byId('example').selectedIndex = {number}; byId('example').dispatchEvent(new Event('change'))"
        ));
        let facts = browser.text("byId('facts').textContent");
        assert!(facts.contains(what), "{facts}");
        browser.click("record");
        assert_eq!(browser.value("byId('player').hidden"), false);
        assert_eq!(browser.value("byId('cut').hidden"), number == examples.len());
    }
}
