//! The guided tours, each played to its end: what a step tells is on the page, and the page shows what the command
//! prints for the image of the step.

use serde_json::Value;

use crate::browser::Browser;
use crate::index::{command_blocks, page_blocks, page_readings};
use crate::{command_report, page_report, shown, shown_of};

fn title(browser: &mut Browser) -> String {
    browser.text("byId('guide-title').textContent")
}

fn text(browser: &mut Browser) -> String {
    browser.text("byId('guide-text').textContent")
}

/// What the bytes say that a step shows: a line for each piece.
fn says(browser: &mut Browser) -> Vec<String> {
    browser.rows("bytes", 0).into_iter().map(|row| format!("{}: {}", row[1], row[2])).collect()
}

fn has(says: &[String], what: &str) -> bool {
    says.iter().any(|line| line == what)
}

#[test]
fn the_tour_of_a_log_structured_heap_shows_what_it_tells() {
    let (_desk, mut browser) = shown();
    browser.picture("start.png");
    browser.click("tour");

    assert_eq!(title(&mut browser), "1 of 5: An object is created");
    let created = says(&mut browser);
    assert!(has(&created, "fields: 2") && has(&created, "field 0: 00000000"), "{created:?}");
    browser.picture("tour-1.png");

    browser.click("guide-next");
    assert_eq!(title(&mut browser), "2 of 5: A field is updated");
    let updated = says(&mut browser);
    assert!(updated.iter().any(|line| line.ends_with(": delta of field 0")), "{updated:?}");
    assert!(!has(&updated, "place 1: torn or damaged"));

    browser.click("guide-next");
    assert_eq!(title(&mut browser), "3 of 5: The power fails");
    let torn = says(&mut browser);
    assert_eq!(torn.iter().filter(|line| line.ends_with(": torn or damaged")).count(), 1, "{torn:?}");
    browser.picture("tour-3.png");

    browser.click("guide-next");
    assert_eq!(title(&mut browser), "4 of 5: The mount repairs");
    let read = browser.rows("bytes", 0).into_iter().find(|row| row[1] == "field 0").unwrap();
    assert_eq!([&read[2], &read[3]], ["64000000", "100"], "the value before its deltas");
    browser.click("tab-objects");
    browser.value("document.querySelectorAll('#objects table')[1].querySelector('tbody button').click()");
    let fields = browser.rows("objects", 0);
    assert_eq!([&fields[0][1], &fields[0][2]], ["46000000", "70"]);
    let readings = ["ff", "416e6e0000", "fffffffffeff", "0a00"].map(|digits| format!("readings('{digits}')"));
    let readings = readings.map(|expression| browser.text(&expression));
    assert_eq!(readings, ["255, -1", "\"Ann\"", "", "10"]);
    browser.value("showStep(3)");
    let mounted = says(&mut browser);
    assert!(!mounted.iter().any(|line| line.contains("torn")), "{mounted:?}");
    assert!(browser.text("byId('guide-text').textContent").contains("Field 0 is 70"));

    browser.click("guide-next");
    assert_eq!(title(&mut browser), "5 of 5: A unit is reclaimed");
    browser.click("tab-unit");
    let areas = browser.rows("unit", 0);
    assert_eq!(areas.len(), 1, "the unit is erased: {areas:?}");
    assert_eq!(areas[0][1], "erased");
    browser.picture("tour-5.png");
    browser.click("guide-end");
    assert_eq!(browser.value("byId('guide').hidden"), true);
}

#[test]
fn the_tour_of_tinystores_structure_shows_what_the_command_prints() {
    let (desk, mut browser) = shown_of("tinystore");
    browser.click("tour");
    let titles =
        ["An object is created", "A field is updated", "The power fails", "The mount repairs", "A unit is reclaimed"];
    let lines = [
        "reference: #0.2",
        "delta of field 0: 46000000",
        "entry: torn or void",
        "delta of field 0: 1e000000, void",
        // The last one shows an erased unit.
        "",
    ];
    for (number, (wanted, line)) in titles.into_iter().zip(lines).enumerate() {
        if number > 0 {
            browser.click("guide-next");
        }
        assert_eq!(title(&mut browser), format!("{} of 5: {wanted}", number + 1));
        browser.picture(&format!("tour-tinystore-{}.png", number + 1));
        if number < 4 {
            let says = says(&mut browser);
            assert!(has(&says, line), "{says:?}");
        }
        let image = format!("step{number}.img");
        desk.write(&image, browser.image());
        if number == 4 {
            // This one is in the middle of a call; the command shows what a mount makes of it.
            browser.value("openImage(packedImage()); ask('mount'); refresh()");
        }
        assert_eq!(page_report(&mut browser), command_report(&desk, &image), "step {number}");
    }
    assert!(text(&mut browser).contains(" is erased. "));
    assert_eq!(browser.value("byId('guide-next').disabled"), true);
    desk.succeed("--quiet heap check step3.img");
    browser.value("showStep(3)");
    assert!(text(&mut browser).contains("Field 0 is 70"));
    browser.click("tab-objects");
    browser.value("document.querySelectorAll('#objects table')[1].querySelector('tbody button').click()");
    assert_eq!(browser.rows("objects", 0)[0][2], "70");
}

#[test]
fn the_tour_of_an_index_shows_what_the_command_prints() {
    let (desk, mut browser) = shown();
    browser.value("openExample('index on test-16x1024')");
    browser.click("tour");
    let titles = ["A key is put", "Its value changes", "The power fails", "The mount repairs", "A block is reclaimed"];
    let lines =
        ["bitmap: 1 slot counts", "value of slot 2: 00000046", "key of slot 3, torn", "key of slot 3, obsolete", ""];
    let mut values = Vec::new();
    for (number, (wanted, line)) in titles.into_iter().zip(lines).enumerate() {
        if number > 0 {
            browser.click("guide-next");
        }
        assert_eq!(title(&mut browser), format!("{} of 5: {wanted}", number + 1));
        browser.picture(&format!("tour-index-{}.png", number + 1));
        if number < 4 {
            let says = says(&mut browser);
            assert!(says.iter().any(|one| one.starts_with(line)), "{says:?}");
        }
        let image = format!("step{number}.img");
        desk.write(&image, browser.image());
        let dump: Value = serde_json::from_str(&desk.succeed(&format!("log dump {image} --raw --json"))).unwrap();
        let blocks = page_blocks(&mut browser);
        let cells = browser.text("String(ask('turnstiles').blocks[7].cells.length)");
        assert_eq!(blocks, command_blocks(&dump, &cells), "step {number}");
        let readings = desk.succeed(&format!("log range {image}"));
        assert_eq!(page_readings(&mut browser), readings.lines().skip(1).collect::<Vec<_>>(), "step {number}");
        values.push(browser.rows("keys", 0)[0].clone());
    }
    let value = |step: usize| [&*values[step][0], &*values[step][1]];
    assert_eq!([value(0), value(1)], [["00000007", "00000064"], ["00000007", "00000046"]]);
    assert_eq!([value(2), value(3)], [value(1), value(1)], "the update that was cut is not there");
    browser.value("showStep(3)");
    assert!(text(&mut browser).contains("Key 7 has the value 70"));
    desk.succeed("--quiet log check step3.img");
    browser.click("guide-end");
    assert!(browser.text("byId('facts').textContent").contains("a sorted map"), "the image from before the tour");
    assert_eq!(browser.value("openExample('nandtest-48x16x512'); byId('tour').disabled"), true);
    assert!(browser.text("byId('tour').title").contains("heaps and of sorted maps only"), "why it is disabled");
    assert_eq!(browser.text("openExample('test-32x4096'); byId('tour').title"), "");
}

/// The name of the image stood over the tour's example, and nothing led back from what was played on it.
#[test]
fn a_tour_is_named_as_what_it_is_and_left_at_any_place() {
    let (_desk, mut browser) = shown();
    let (name, facts) = ("byId('name').textContent", "byId('facts').textContent");
    let own = browser.text(facts);
    assert_eq!(browser.text(name), "heap.img");
    browser.click("tour");
    browser.click("guide-next");
    assert_eq!(browser.text(name), "The tour's example");
    browser.click("record");
    assert_eq!(browser.text(name), "The tour's example");
    assert_ne!(browser.text(facts), own);
    assert_eq!(browser.text("byId('return').textContent"), "Back to heap.img");
    browser.click("return");
    assert_eq!([browser.text(name), browser.text(facts)], ["heap.img".to_owned(), own.clone()]);
    assert_eq!(browser.value("byId('return').hidden && byId('player').hidden && byId('guide').hidden"), true);
    browser.click("tour");
    browser.click("guide-end");
    assert_eq!([browser.text(name), browser.text(facts)], ["heap.img".to_owned(), own]);
}
