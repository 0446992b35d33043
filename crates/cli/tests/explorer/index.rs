//! The page of ordered indexes: the power is cut at random operations and the page shows what `norn log` prints for
//! the same image; a search leads over the levels to the entry, and pointers to the cells that they mean.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::{desk, mounted, number, shown};

const CUTS: usize = 24;

/// Blocks as the page shows them, in the form of the command's report.
pub fn page_blocks(browser: &mut Browser) -> Vec<Vec<String>> {
    browser.click("tab-turnstiles");
    let columns = [2, 3, 4, 5, 6, 7];
    let rows = browser.rows("turnstiles", 0);
    rows.iter().map(|row| columns.iter().map(|&column| row[column].clone()).collect()).collect()
}

/// The same as the command prints them; what it leaves out of a spare block is counted there.
pub fn command_blocks(dump: &Value, spare_cells: &str) -> Vec<Vec<String>> {
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let block = |unit: &Value| {
        let counts = ["live", "dead", "free"].map(|key| match unit[key].is_null() {
            true => if key == "free" && unit["role"]["is"] == "spare" { spare_cells } else { "0" }.to_owned(),
            false => text(&unit[key]),
        });
        let role = match (unit["role"]["is"].as_str().unwrap(), &unit["role"]["moved_to"]) {
            ("in use", Value::Number(to)) => format!("moved to {to}, to be erased"),
            ("being filled", _) => format!("moved from {}, not complete", unit["role"]["moved_from"]),
            (role, _) => role.to_owned(),
        };
        [vec![text(&unit["unit"]), role, text(&unit["by_identity"])], counts.to_vec()].concat()
    };
    dump["units"].as_array().unwrap().iter().map(block).collect()
}

/// Entries as the page lists them, in the lines of the command's readings.
pub fn page_readings(browser: &mut Browser) -> Vec<String> {
    browser.click("tab-keys");
    let mut lines = Vec::new();
    loop {
        for row in browser.rows("keys", 0) {
            let key = u32::from_str_radix(&row[0], 16).unwrap();
            let value = u32::from_str_radix(&row[1], 16).unwrap().swap_bytes() as i32;
            let (hours, minutes, seconds) = (key / 3600, key / 60 % 60, key % 60);
            let sign = if value < 0 { "-" } else { "" };
            let (whole, rest) = (value.unsigned_abs() / 1000, value.unsigned_abs() % 1000);
            lines.push(format!("1970-01-01T{hours:02}:{minutes:02}:{seconds:02}Z,{sign}{whole}.{rest:03}"));
        }
        if browser.value("byId('keys-more') === null") == true {
            return lines;
        }
        browser.click("keys-more");
    }
}

#[test]
fn the_power_of_an_index_is_cut_and_the_page_shows_what_the_command_prints() {
    let desk = desk();
    desk.succeed("--quiet log create log.img --part test-16x1024");
    desk.succeed("--quiet explore log.img");
    let mut browser = Browser::start();
    browser.open_file(&desk.path("log.html"));
    assert!(browser.text("byId('facts').textContent").contains("a sorted map"));
    // A list of small objects, of which blocks are moved early; the command takes it for a log, too.
    browser.value("openExample('index on test-12x1024')");
    let mut random = fastrand::Rng::with_seed(2011);
    browser.value("byId('seed').value = 3");
    browser.click("record");
    let [first, last] =
        ["min", "max"].map(|end| number(&browser.text(&format!("byId('slider').{end}"))).as_u64().unwrap());
    assert!(last - first > 1000, "{first}..{last}");
    // From where on there are readings: of a log without any, the command says so and fails.
    let first = first + 200;
    let (mut repaired, mut moved) = (0, 0);
    for cut in 0..CUTS {
        let (operation, shape, seed) = (random.u64(first..last), cut % 11, random.u16(..));
        let what = format!("cut {cut}: operation {operation}, shape {shape}, seed {seed}");
        browser.value(&format!("moveTo({operation}); byId('shape').value = {shape}; byId('seed').value = {seed}"));
        browser.click("cut");
        desk.write("torn.img", browser.image());
        let dump: Value = serde_json::from_str(&desk.succeed("log dump torn.img --raw --json")).unwrap();
        let blocks = page_blocks(&mut browser);
        let cells = browser.text("String(ask('turnstiles').blocks[0].cells.length)");
        assert_eq!(blocks, command_blocks(&dump, &cells), "{what}");
        moved += usize::from(blocks.iter().any(|block| block[2] != "0"));
        compare_cells(&mut browser, &desk, random.u16(..12), &what);
        let readings = desk.succeed("log range torn.img");
        assert_eq!(page_readings(&mut browser), readings.lines().skip(1).collect::<Vec<_>>(), "{what}");
        repaired += usize::from(mounted(&mut browser, &what) > 0);
        desk.write("mounted.img", browser.image());
        desk.succeed("--quiet log check mounted.img");
        assert_eq!(desk.succeed("log range mounted.img"), readings, "{what}");
    }
    assert!(repaired > CUTS / 4 && moved > 0, "{repaired} mounts repaired something, {moved} after moves");
}

/// Compares each cell of a unit: what it is, and its pointers.
fn compare_cells(browser: &mut Browser, desk: &norn_desk::Desk, unit: u16, what: &str) {
    let dump: Value =
        serde_json::from_str(&desk.succeed(&format!("log dump torn.img --raw --unit {unit} --json"))).unwrap();
    for cell in dump["cells"].as_array().unwrap().iter().filter(|cell| cell["state"]["is"] != "free") {
        let address = &cell["address"];
        let found = browser.value(&format!("ask('at', {{ address: {address} }})"));
        let (title, is) = (found["title"].as_str().unwrap(), cell["state"]["is"].as_str().unwrap());
        assert!(title.starts_with(&format!("cell {unit}.{}: {is}", cell["cell"])), "{what}: {title}, {cell}");
        let says = |piece: &Value| {
            let rest = piece["value"].as_str()?.strip_prefix("level ")?;
            Some(rest.replace(": turnstile ", ":").replace(", cell ", "."))
        };
        let pieces = found["pieces"].as_array().unwrap();
        let pointers: Vec<String> = pieces.iter().filter(|piece| piece["name"] == "pointer").filter_map(says).collect();
        for pointer in cell["pointers"].as_array().unwrap() {
            let level = pointer.as_str().unwrap().split(':').next().unwrap();
            let last = pointers.iter().rfind(|pointer| pointer.split(':').next() == Some(level));
            assert_eq!(last.map(String::as_str), pointer.as_str(), "{what}: {cell}");
        }
    }
}

#[test]
fn a_search_leads_over_the_levels_and_pointers_to_the_cells_that_they_mean() {
    let (_desk, mut browser) = shown();
    browser.value("openExample('index on test-16x1024')");
    assert!(browser.text("byId('facts').textContent").contains("a sorted map"));
    browser.value("byId('seed').value = 11");
    browser.click("record");
    browser.value("moveTo(byId('slider').max)");
    browser.click("tab-keys");
    let [first, .., last] = &browser.rows("keys", 0)[..] else { panic!("no keys") };
    let (least, key, value) = (&first[0], last[0].clone(), &last[1]);
    browser.value(&format!("byId('find').value = '{}'", key.trim_start_matches('0')));
    browser.click("find-go");
    let facts = browser.text("byId('find-facts').textContent");
    assert!(facts.starts_with(&format!("Key {key} has the value {value}. The search read ")), "{facts}");
    let steps = browser.rows("keys", 0);
    assert!(
        steps.len() > 3 && steps.iter().all(|step| step[2].starts_with("cell ") || step[2] == "erased"),
        "{steps:?}"
    );
    assert!(steps[0][2].contains(": head, level 2") && steps[0][3].contains("pointer"), "{steps:?}");
    assert!(steps.last().unwrap()[3].contains("key of slot "), "{steps:?}");
    browser.picture("index-search.png");
    browser.click("find-levels");
    let visited = browser.value("document.querySelectorAll('#levels .tower.visited').length");
    assert!(visited.as_u64().unwrap() >= 1, "{visited}");

    browser.click("tab-levels");
    let objects = browser.rows("levels", 0);
    assert_eq!(objects[0][2], "head of the list");
    assert!(objects[1][2] <= *least && objects.len() == 24, "{objects:?}");
    let towers = browser.value("document.querySelectorAll('#levels .tower').length");
    assert_eq!(towers, 24);
    browser.picture("index-levels.png");
    // The first pointer of the lowest level means a column of cells, one of which is the first object.
    let pointer = browser.text("ask('levels').links[0][0][2]");
    let enter = "const arrows = [...document.querySelectorAll('#levels .arrow')]; const arrow = arrows.find((one) => \
                 one.querySelector('title').textContent.includes('turnstile ') && \
                 one.querySelector('text').textContent === POINTER); arrow.focus(); \
                 arrow.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))";
    browser.value(&format!("(() => {{ {} }})()", enter.replace("POINTER", &format!("'{pointer}'"))));
    assert_eq!(browser.value("document.querySelectorAll('#turnstiles .column').length"), 1);
    assert!(browser.text("byId('turnstiles').textContent").contains(&format!("what the pointer {pointer} means")));
    browser.picture("index-turnstiles.png");

    browser.value("showAddress(ask('levels').objects[1].at)");
    let rows = browser.rows("bytes", 0);
    assert!(rows.iter().any(|row| row[1] == "low key") && rows.iter().any(|row| row[1] == "pointer"), "{rows:?}");
    browser.value("document.querySelector('#bytes tr[data-line=\"3:stamp\"] td:last-child button').click()");
    let line = browser.text("document.querySelector('#format .on').textContent");
    assert!(line.starts_with("stamp2"), "{line}");
    let wrong = "guarded(() => find('zz'))().then(() => byId('problem').textContent)";
    assert_eq!(browser.text(wrong), "\"zz\" is no key: hexadecimal digits, or text in quotes");

    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.call("Emulation.setEmulatedMedia", dark);
    browser.value("complain(null); showLevels()");
    browser.picture("index-dark.png");
    let narrow = json!({ "width": 390, "height": 1800, "deviceScaleFactor": 1, "mobile": false });
    browser.call("Emulation.setDeviceMetricsOverride", narrow);
    for panel in ["turnstiles", "keys", "levels"] {
        browser.click(&format!("tab-{panel}"));
        browser.value("new Promise((done) => setTimeout(() => done(1), 100))");
        assert_eq!(browser.value("document.documentElement.scrollWidth <= innerWidth"), true, "{panel} is cut off");
    }
    browser.picture("index-narrow.png");
}
