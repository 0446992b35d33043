//! The page that `norn explore` writes, in headless Chromium: the tour is played, the power is cut at random
//! operations, and what the page shows is what the command prints for the same image.
//!
//! With `NORN_SCREENSHOTS=DIRECTORY` the tests leave pictures of the page there.

mod browser;
mod index;
mod nand;
mod panels;
mod serving;
mod tours;

use std::path::Path;
use std::process::Command;

use browser::Browser;
use norn_desk::Desk;
use norn_flash_sim::{NorSim, catalogue};
use norn_heap::Layout;
use serde_json::{Value, json};

const CUTS: usize = 50;

fn desk() -> Desk {
    Desk::of(env!("CARGO_BIN_EXE_norn"))
}

/// A desk with an empty heap of an engine, and a browser that shows it.
fn shown_of(engine: &str) -> (Desk, Browser) {
    let desk = desk();
    desk.succeed(&format!("--quiet heap create heap.img --part tinystore --engine {engine}"));
    desk.succeed("--quiet explore heap.img");
    let mut browser = Browser::start();
    browser.open_file(&desk.path("heap.html"));
    (desk, browser)
}

/// The same of a log-structured heap.
fn shown() -> (Desk, Browser) {
    shown_of("log")
}

fn number(text: &str) -> Value {
    text.parse::<u64>().map_or(Value::Null, Value::from)
}

/// What the page shows of a mounted heap, in the form of the command's reports: roots, objects, units.
fn page_report(browser: &mut Browser) -> Value {
    browser.click("tab-objects");
    let roots: Vec<Value> =
        browser.rows("objects", 0).iter().map(|row| json!({ "root": row[0], "reference": row[1] })).collect();
    let object = |row: &Vec<String>| {
        json!({
            "reference": row[0], "kind": row[1], "fields": number(&row[2]), "data_bytes": number(&row[3]),
            "header_bytes": number(&row[4]), "pieces": number(&row[5]),
        })
    };
    let objects: Vec<Value> = browser.rows("objects", 1).iter().map(object).collect();
    let units = browser.value(
        "chip.overview.units.map(([erases, role, sequence], unit) => { \
         const { live, sectors, obsolete } = rowOf(unit); \
         const isData = role?.startsWith('data '); const counts = role && role !== 'log'; \
         return { unit, erases, role: isData ? 'data' : role ?? 'no head', sequence, \
         logical: isData ? Number(role.slice(5)) : null, \
         live_bytes: counts ? live ?? null : null, sectors: counts ? sectors ?? null : null, \
         obsolete: obsolete ?? null }; })",
    );
    json!({ "roots": roots, "objects": objects, "units": units })
}

/// The same of what the command prints.
fn command_report(desk: &Desk, image: &str) -> Value {
    let show: Value = serde_json::from_str(&desk.succeed(&format!("heap show {image} --json"))).unwrap();
    let dump: Value = serde_json::from_str(&desk.succeed(&format!("heap dump {image} --json"))).unwrap();
    // The engines call these columns differently, or do not have them.
    let keys = [
        ("unit", "unit"),
        ("erases", "erases"),
        ("role", "role"),
        ("sequence", "sequence"),
        ("logical", "logical"),
        ("live_bytes", "live_bytes"),
        ("sectors", if dump["units"][0].get("live_sectors").is_none() { "sectors" } else { "live_sectors" }),
        ("obsolete", "obsolete_bytes"),
    ];
    let unit = |unit: &Value| keys.into_iter().map(|(key, name)| (key.to_owned(), unit[name].clone())).collect();
    let units: Vec<Value> = dump["units"].as_array().unwrap().iter().map(unit).map(Value::Object).collect();
    let pieces = |object: &Value| {
        let mut object = object.clone();
        let fields = object.as_object_mut().unwrap();
        let pieces = fields.remove("sectors").or_else(|| fields.remove("records"));
        fields.insert("pieces".to_owned(), pieces.unwrap());
        object
    };
    let objects: Vec<Value> = show["objects"].as_array().unwrap().iter().map(pieces).collect();
    json!({ "roots": show["roots"], "objects": objects, "units": units })
}

/// Mounts what a cut has left. Returns how many calls of the part that took: as many as the page said before and after,
/// and lists.
fn mounted(browser: &mut Browser, what: &str) -> usize {
    let foreseen = browser.text("byId('power-text').textContent");
    browser.click("mount");
    let list = browser.rows_of_list("mount-list");
    let (all, erases) = (list.len(), list.iter().filter(|text| text.starts_with("erase ")).count());
    let words = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let of = [words(all - erases, "program"), words(erases, "erase")];
    let of: Vec<String> = of.into_iter().filter(|text| !text.starts_with("0 ")).collect();
    let calls = format!("{} of the part: {}.", words(all, "call"), of.join(" and "));
    let [before, after] = match all {
        0 => ["The mount has nothing to repair.".to_owned(), "The mount changed nothing.".to_owned()],
        _ => ["will make", "made"].map(|verb| format!("The mount {verb} {calls}")),
    };
    assert!(foreseen.ends_with(&before), "{what}: {foreseen}, {list:?}");
    assert_eq!(browser.text("byId('power-text').textContent"), after, "{what}: {list:?}");
    all
}

#[test]
fn the_power_is_cut_at_random_operations_and_the_page_shows_what_the_command_prints() {
    cut_at_random_operations("log");
}

#[test]
fn a_heap_with_tinystores_structure_is_cut_and_shown_in_the_same_way() {
    cut_at_random_operations("tinystore");
}

fn cut_at_random_operations(engine: &str) {
    let (desk, mut browser) = shown_of(engine);
    let mut random = fastrand::Rng::with_seed(2006);
    browser.value("document.getElementById('seed').value = 7");
    browser.click("record");
    browser.picture(&format!("{engine}-play.png"));
    let [first, last] =
        ["min", "max"].map(|end| number(&browser.text(&format!("byId('slider').{end}"))).as_u64().unwrap());
    assert!(last - first > 200, "{first}..{last}");
    let mut repaired = 0;
    for cut in 0..CUTS {
        let (operation, shape, seed) = (random.u64(first..last), random.u8(0..11), random.u16(..));
        let what = format!("cut {cut}: operation {operation}, shape {shape}, seed {seed}");
        // Also before the page has shown where the slider is.
        browser.value(&format!(
            "byId('slider').value = {operation}; byId('slider').dispatchEvent(new Event('input')); \
             byId('shape').value = {shape}; byId('seed').value = {seed}; byId('cut').click()"
        ));
        browser.value("new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))");
        assert_eq!(browser.value("byId('power').hidden"), false, "{what}");
        desk.write("torn.img", browser.image());
        if cut == 0 {
            browser.picture(&format!("{engine}-cut.png"));
        }
        repaired += usize::from(mounted(&mut browser, &what) > 0);
        if cut == 0 {
            browser.picture(&format!("{engine}-mounted.png"));
        }
        assert_eq!(page_report(&mut browser), command_report(&desk, "torn.img"), "{what}");
        desk.write("mounted.img", browser.image());
        desk.succeed("--quiet heap check mounted.img");
    }
    assert!(repaired > CUTS / 4, "mounts that had something to repair: {repaired}");
}

#[test]
fn the_keyboard_leads_from_a_unit_to_the_line_of_the_format_and_back() {
    let (_desk, mut browser) = shown();
    browser.click("record");
    browser.value("moveTo(byId('slider').max); byId('units').focus()");
    // The first unit with an object.
    let unit = browser.value("chip.overview.units.findIndex(([, role]) => role === 'updated')").as_u64().unwrap();
    for _ in 0..unit {
        browser.press("ArrowDown");
    }
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    let chosen = browser.text("byId('unit-now').textContent");
    assert!(chosen.contains("object") || chosen.contains("roots") || chosen.contains("map"), "{chosen}");
    browser.press("Enter");
    assert_eq!(browser.value("byId('bytes').hidden"), false);
    assert!(browser.rows("bytes", 0).len() > 5);
    assert!(!browser.text("byId('said').textContent").is_empty(), "a screen reader hears it");
    browser.value("document.querySelector('#bytes tr[data-line=\"2:0..16\"] td:last-child button').click()");
    let line = browser.text("document.querySelector('#format .on').textContent");
    assert!(line.starts_with("0..16"), "{line}");
    browser.picture("format.png");
    browser.value("document.querySelector('#format .on').click()");
    assert_eq!(browser.value("document.querySelectorAll('#bytes tr.on').length"), 1);
    // Every line that a piece is of is in the document.
    let lost = browser.value(
        "[...new Set([...document.querySelectorAll('#bytes tr[data-line]')].map((row) => \
         row.dataset.line))].filter((line) => { const [section, ...rest] = line.split(':'); return \
         ![...document.querySelectorAll(`#format [data-section=\"${section}\"]`)].some((one) => \
         one.dataset.start.startsWith(rest.join(':'))); })",
    );
    assert_eq!(lost, json!([]));
    let unnamed = browser.value(
        "[...document.querySelectorAll('button, input, select')].filter((one) => \
        !one.textContent.trim() && !one.labels?.length && !one.ariaLabel).map((one) => one.id)",
    );
    assert_eq!(unnamed, json!([]), "controls without a name");
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.call("Emulation.setEmulatedMedia", dark);
    browser.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");
    assert_eq!(browser.text("colours.back"), "#171717");
    browser.picture("dark.png");
}

/// What the page said of one image stayed there under the name of another.
#[test]
fn another_chip_leaves_nothing_of_the_one_before() {
    let (desk, mut browser) = shown();
    browser.click("tour");
    assert!(browser.text("byId('bytes').textContent").contains(" bytes at 0x"));
    browser.click("guide-end");
    assert_eq!(browser.text("byId('bytes').textContent"), "Choose an area of a unit.");

    let facts = browser.text("byId('facts').textContent");
    let dropped =
        "guarded(() => openFile(new File(['NORNSIM\\0'], 'bad.img')))().then(() => byId('problem').textContent)";
    assert!(browser.text(dropped).starts_with("bad.img: "));
    let dump =
        "guarded(() => openFile(new File([':00000001FF'], 'dump.hex')))().then(() => byId('problem').textContent)";
    let refused = browser.text(dump);
    assert!(refused.starts_with("dump.hex: ") && refused.contains("`norn image import DUMP NEW.img`"), "{refused}");
    let shown = ["name", "facts"].map(|id| browser.text(&format!("byId('{id}').textContent")));
    assert_eq!(shown, ["heap.img".to_owned(), facts]);

    let seed = "byId('seed').value = '1e99'; guarded(record)().then(() => byId('problem').textContent)";
    assert!(browser.text(seed).starts_with("Seed: "));
    let missing = ["explore", "none.img", "--serve", "127.0.0.1:0"];
    let refused = Command::new(env!("CARGO_BIN_EXE_norn")).args(missing).current_dir(desk.path("")).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

/// A log-structured heap as large as one can be, full of objects.
fn full_heap(image: &Path) {
    let part = NorSim::new(catalogue::test_part(508, 65536));
    let mut heap: norn_log_heap::LogHeap<_, 508> = norn_log_heap::LogHeap::format(part).unwrap();
    let mut random = fastrand::Rng::with_seed(33);
    while heap.create(Layout::uniform(random.usize(60..250), 4)).is_ok() {}
    heap.into_device().save_image(image).unwrap();
}

/// A frame draws what is in sight and asks for rows only as long as it has time, however large and full a part is.
#[test]
fn large_parts_are_scrolled_fluidly() {
    let desk = desk();
    desk.succeed("--quiet heap create large.img --part k8c1215etm --engine tinystore");
    full_heap(&desk.path("full.img"));
    let mut browser = Browser::start();
    for name in ["large", "full"] {
        desk.succeed(&format!("--quiet explore {name}.img"));
        browser.open_file(&desk.path(&format!("{name}.html")));
        let begun = browser.value("performance.now()").as_f64().unwrap();
        scrolls_fluidly(&mut browser, name);
        println!("{name}: open {begun:.0} ms after the page began to load");
    }
}

fn scrolls_fluidly(browser: &mut Browser, name: &str) {
    browser.value("new Promise((done) => setTimeout(() => done(1), 300))");
    // Of each frame: rows drawn, rows asked for, and milliseconds. By the clock of the second part, an answer takes 5.
    let scrolls = browser.value(
        "(() => { const box = byId('units'); const plain = { drawRow, parsed }; let now, clock = 0; \
         drawRow = (...row) => { now.rows += 1; plain.drawRow(...row); }; \
         parsed = (bytes) => { now.answers += 1; clock += 5; return plain.parsed(bytes); }; \
         const frame = (by) => { box.scrollTop += by; now = { rows: 0, answers: 0 }; \
         const from = performance.now(); draw(); return { ...now, ms: performance.now() - from }; }; \
         const real = Array.from({ length: 120 }, () => frame(140)); performance.now = () => clock; \
         box.scrollTop = box.scrollHeight / 2; chip.rows.clear(); \
         const still = Array.from({ length: 40 }, () => frame(0)); \
         return { real, still, in_sight: Math.ceil(box.clientHeight / ROW) + 1, \
         programmed: [...chip.rows.values()].filter((row) => /[^fhe]/.test(row.strip)).length }; })()",
    );
    let of = |part: &str, count: &str| -> Vec<f64> {
        scrolls[part].as_array().unwrap().iter().map(|frame| frame[count].as_f64().unwrap()).collect()
    };
    let in_sight = scrolls["in_sight"].as_f64().unwrap();
    for part in ["real", "still"] {
        assert!(of(part, "rows").iter().all(|&rows| rows > 0.0 && rows <= in_sight), "{scrolls}");
    }
    let answers = of("still", "answers");
    assert!(answers.iter().all(|&answers| answers <= 2.0), "what there is no time for is left: {scrolls}");
    let asked = answers.iter().sum::<f64>();
    assert!(asked >= in_sight - 1.0 && asked <= in_sight, "each row in sight is asked for once: {scrolls}");
    assert_eq!(answers[39], 0.0, "{scrolls}");
    if name == "full" {
        assert!(scrolls["programmed"].as_f64().unwrap() >= in_sight - 1.0, "{scrolls}");
    }
    let mut times = of("real", "ms");
    times.sort_by(f64::total_cmp);
    println!("{name}: a frame takes {:.1} ms, at most {:.1} ms", times[60], times[119]);
}

#[test]
fn pictures_are_made_and_files_stay() {
    let desk = desk();
    desk.succeed("--quiet heap create heap.img --part stm32l4");
    desk.succeed("--quiet explore heap.img --svg heap.svg");
    let picture = std::fs::read_to_string(desk.path("heap.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.matches("class=\"row\"").count() == 256, "a row for each unit");
    std::fs::copy(desk.path("heap.img"), desk.path("R&D<1.img")).unwrap();
    desk.succeed("--quiet explore R&D<1.img --svg named.svg");
    let named = std::fs::read_to_string(desk.path("named.svg")).unwrap();
    assert!(named.contains("<title>R&amp;D&lt;1.img: "), "{}", &named[..200]);
    std::fs::copy(desk.path("heap.img"), desk.path("a\u{1b}[31m\u{1}.img")).unwrap();
    let said = desk.succeed("explore a\u{1b}[31m\u{1}.img --svg orders.svg");
    assert_eq!(said, "orders.svg: a picture of a\\u001b[31m\\u0001.img\n", "no order reaches a terminal");
    let picture = std::fs::read_to_string(desk.path("orders.svg")).unwrap();
    assert!(
        picture.contains("<title>a\\u001b[31m\\u0001.img: ") && !picture.contains(['\u{1b}', '\u{1}']),
        "it is XML"
    );
    let refused = desk.run("heap show a\u{1b}[31m\u{1}.none");
    assert!(refused.errors.starts_with("norn: a\\u001b[31m\\u0001.none: "), "{:?}", refused.errors);
    let dash = desk.run("explore heap.img --out -");
    assert!(dash.code == 2 && dash.errors.contains("a file of this name is ./-"), "{}", dash.errors);
    let again = desk.run("explore heap.img --svg heap.svg");
    assert_eq!(again.code, 2);
    assert!(again.errors.contains("heap.svg") && again.errors.contains("never overwritten"), "{}", again.errors);
    let outside = desk.run("explore heap.img --serve 0.0.0.0:80");
    assert!(outside.errors.contains("loopback"), "{}", outside.errors);
    desk.succeed("--quiet nbd create disk.img");
    desk.succeed("--quiet explore disk.img --out disk.html");
    desk.succeed("--quiet explore disk.img --svg disk.svg");
    let picture = std::fs::read_to_string(desk.path("disk.svg")).unwrap();
    assert!(picture.matches("class=\"row\"").count() == 1024 && picture.contains("class=\"checkpoint\""), "{picture}");
    let mut browser = Browser::start();
    browser.open_file(&desk.path("disk.html"));
    assert!(browser.text("byId('facts').textContent").contains("a block device of"));
}
