//! The open panel shows what is shown now: after the slider has moved, another unit was chosen, or the power was cut.

use norn_flash_sim::{NorSim, catalogue};
use norn_heap::Layout;
use norn_log_heap::LogHeap;

use crate::browser::Browser;
use crate::{desk, shown};

/// What is in the open panel, and after it was opened anew.
fn now_and_anew(browser: &mut Browser, panel: &str) -> [String; 2] {
    let text = format!("byId('{panel}').innerText");
    let now = browser.text(&text);
    browser.click(&format!("tab-{panel}"));
    [now, browser.text(&text)]
}

/// Objects stayed as they were, and units, until somebody clicked again.
#[test]
fn the_open_panel_follows_the_slider_the_mount_and_the_choice_of_a_unit() {
    let (_desk, mut browser) = shown();
    browser.click("record");
    for panel in ["objects", "unit", "bytes"] {
        browser.value("moveTo(byId('slider').min)");
        browser.value("choose(1, -1); showAddress(chip.overview.unit_bytes)");
        browser.click(&format!("tab-{panel}"));
        let before = browser.text(&format!("byId('{panel}').innerText"));
        browser.value("moveTo(byId('slider').max)");
        let [now, anew] = now_and_anew(&mut browser, panel);
        assert!(now != before && now == anew, "{panel}: {before} / {now} / {anew}");
    }
    browser.click("tab-unit");
    browser.value("byId('units').focus()");
    browser.press("ArrowDown");
    assert!(browser.text("byId('unit').innerText").starts_with("Unit 2: "));
    let [now, anew] = now_and_anew(&mut browser, "unit");
    assert_eq!(now, anew);
    // An object that is opened is read again, and one that is gone is said to be.
    browser.click("tab-objects");
    browser.value("document.querySelectorAll('#objects table')[1].querySelector('tbody button').click()");
    let opened = browser.text("byId('objects').innerText");
    browser.value("moveTo(byId('slider').min)");
    let gone = browser.text("byId('objects').innerText");
    assert!(!gone.is_empty() && gone != opened, "{gone}");
    assert_eq!(browser.text("byId('problem').textContent"), "");
    browser.value("moveTo(byId('slider').max)");
    assert_eq!(browser.text("byId('objects').innerText"), opened);
}

#[test]
fn what_people_marked_and_where_they_are_in_a_panel_stays() {
    let (_desk, mut browser) = shown();
    browser.click("record");
    browser.value("moveTo(byId('slider').max)");
    let unit = browser.value("chip.overview.units.findIndex(([, role]) => role === 'updated')").as_u64().unwrap();
    browser.value(&format!("showAddress(areasOf({unit})[1].at)"));
    browser.value("document.querySelectorAll('#bytes tbody tr')[2].querySelector('button').focus()");
    browser.value("document.activeElement.click(); byId('bytes').scrollTop = 9");
    // The marked row, the one with the focus, and how far the panel is scrolled.
    let state = "(() => { const rows = [...document.querySelectorAll('#bytes tbody tr')]; return JSON.stringify([ \
                 rows.findIndex((row) => row.classList.contains('on')), \
                 rows.findIndex((row) => row.contains(document.activeElement)), byId('bytes').scrollTop]); })()";
    let before = browser.text(state);
    assert!(before.starts_with("[2,2,"), "{before}");
    browser.value("refresh()");
    assert_eq!(browser.text(state), before);
}

/// More than fit one answer were there without a word.
#[test]
fn objects_beyond_the_first_answer_are_announced() {
    let desk = desk();
    let mut heap: LogHeap<_, 32> = LogHeap::format(NorSim::new(catalogue::test_part(32, 4096))).unwrap();
    for _ in 0..410 {
        heap.create(Layout::uniform(2, 4)).unwrap();
    }
    heap.into_device().save_image(&desk.path("full.img")).unwrap();
    desk.succeed("--quiet explore full.img");
    let mut browser = Browser::start();
    browser.open_file(&desk.path("full.html"));
    browser.click("tab-objects");
    assert!(browser.text("byId('objects-range').innerText").starts_with("Objects 1 to 200; there are more."));
    browser.click("objects-more");
    let text = browser.text("byId('objects-range').innerText");
    assert!(text.starts_with("Objects 201 to 400"), "{text}");
    let second = browser.text("byId('objects').innerText");
    browser.value("refresh()");
    assert_eq!(browser.text("byId('objects').innerText"), second);
    browser.click("objects-first");
    assert!(browser.text("byId('objects-range').innerText").starts_with("Objects 1 to 200"));
}

/// After Enter on a reference, nothing had the focus, and Tab began at the top of the page.
#[test]
fn the_focus_stays_where_a_button_led() {
    let (_desk, mut browser) = shown();
    browser.click("record");
    browser.value("moveTo(byId('slider').max)");
    let focus = "document.activeElement.id";
    browser.click("tab-objects");
    browser.value("document.querySelectorAll('#objects table')[1].querySelector('tbody button').focus()");
    browser.value("document.activeElement.click()");
    assert_eq!(browser.text(focus), "objects");
    browser.click("tab-unit");
    browser.value("document.querySelector('#unit tbody button').focus(); document.activeElement.click()");
    assert_eq!(browser.text(focus), "bytes");
    browser.value("document.querySelector('#bytes td:last-child button').focus(); document.activeElement.click()");
    let line = "document.activeElement.classList.contains('on') && byId('format').contains(document.activeElement)";
    assert_eq!(browser.value(line), true, "the line that describes the bytes");
    browser.press("Enter");
    assert_eq!(browser.value("byId('bytes').hidden"), false, "it leads back");
    browser.click("tour");
    browser.value("byId('guide-end').focus(); byId('guide-end').click()");
    assert_eq!(browser.text(focus), "tour");
    browser.click("record");
    browser.value("byId('return').focus(); byId('return').click()");
    assert_eq!(browser.text(focus), "record");
}

#[test]
fn every_table_has_a_name() {
    let (_desk, mut browser) = shown();
    browser.click("record");
    browser.value("moveTo(byId('slider').max); showAddress(0)");
    for panel in ["bytes", "unit", "objects", "format"] {
        browser.click(&format!("tab-{panel}"));
        let names = "[...document.querySelectorAll('#panels table')].map((one) => one.getAttribute('aria-label'))";
        let names = browser.value(names);
        let names = names.as_array().unwrap();
        assert!(
            !names.is_empty() && names.iter().all(|name| name.as_str().is_some_and(|name| !name.is_empty())),
            "{names:?}"
        );
    }
}
