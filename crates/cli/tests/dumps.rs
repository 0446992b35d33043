//! Proves that a dump shows units in full, agrees with itself, and leaves an image alone when it is to.

use crate::purses;

use norn_desk::{Desk, line};
use norn_flash::Address;
use norn_flash_sim::{NorSim, catalogue};
use norn_object_heap::{Heap, Layout};
use purses::make_purses;

/// Where the assignment of unit 0 is, which is the log unit of a new image.
const FIRST_ASSIGNMENT: Address = Address(16);

fn desk_with_purses() -> Desk {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    make_purses(&desk, "a.img", None, None);
    desk
}

/// The words of the rows of `dumped` that have `word` for their third, as the role in the unit table.
fn rows_of<'a>(dumped: &'a str, word: &str) -> Vec<Vec<&'a str>> {
    let rows = dumped.lines().map(|row| row.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.get(2) == Some(&word)).collect()
}

#[test]
fn a_data_unit_lists_the_descriptors_that_the_table_counts() {
    let desk = desk_with_purses();
    let units = desk.succeed("heap dump a.img");
    let data = rows_of(&units, "data");
    assert!(!data.is_empty(), "{units}");
    for row in data {
        let unit = desk.succeed(&format!("heap dump a.img --unit {}", row[0]));
        assert_eq!(line(&unit, "identity"), "version 1, 56 units of 8192 bytes, erase count 1");
        assert_eq!(line(&unit, "assignment"), format!("DataUnit: logical number {}, sparse prefix 0", row[3]));
        let live = unit.lines().filter(|line| line.ends_with(" live")).map(|line| line.split_whitespace().nth(4));
        let live: Vec<u32> = live.map(|bytes| bytes.unwrap().parse().unwrap()).collect();
        assert_eq!((live.len().to_string().as_str(), live.iter().sum::<u32>().to_string().as_str()), (row[6], row[7]));
        assert!(unit.contains(" obsolete"), "{unit}");
    }
    desk.fail("heap dump a.img --unit 56", &["a.img: unit 56 does not exist: the part has 56"]);
}

#[test]
fn a_log_unit_lists_entries_with_addresses_and_bytes() {
    let desk = desk_with_purses();
    let unit = desk.succeed("heap dump a.img --unit 0");
    assert_eq!(line(&unit, "assignment"), "LogUnit: sequence number 1");
    for row in [
        "0  0x000018  14 00 00 00 00 00 20 cf  Chain: from sequence number 1 on",
        "1  0x000020  03 20 00 04 00 00 00 e7  Setting: key 0, value 0x00004002",
        "7  0x000050  01 00 00 00 00 00 30 37  Ready",
    ] {
        assert!(unit.contains(row), "{row} is not in\n{unit}");
    }
    assert!(!unit.contains("Some") && !unit.contains('{'), "{unit}");
    let free = desk.succeed("heap dump a.img --unit 55");
    assert!(line(&free, "assignment").starts_with("erased") && free.contains("The body is erased."), "{free}");
}

#[test]
fn a_raw_dump_shows_what_cannot_be_mounted_and_changes_nothing() {
    let desk = desk_with_purses();
    drop(NorSim::create_image(&desk.path("blank.img"), catalogue::tinystore()).unwrap());
    NorSim::open_image(&desk.path("a.img")).unwrap().poke(FIRST_ASSIGNMENT, &[0; 8]);
    for (image, role) in [("blank.img", "no identity"), ("a.img", "torn")] {
        let before = std::fs::read(desk.path(image)).unwrap();
        let shown = desk.succeed(&format!("heap dump {image} --raw"));
        assert!(shown.lines().nth(1).unwrap().contains(role), "{shown}");
        desk.succeed(&format!("heap dump {image} --raw --unit 0"));
        assert!(std::fs::read(desk.path(image)).unwrap() == before, "{image} has changed");
        desk.fail(&format!("heap dump {image}"), &["cannot be mounted"]);
    }
}

#[test]
fn a_raw_dump_does_not_recover_and_another_one_does() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("heap create a.img --engine tinystore");
    let mut device = NorSim::open_image(&desk.path("a.img")).unwrap();
    let mut heap = Heap::<_, 64>::mount(&mut device).unwrap();
    heap.begin().unwrap();
    heap.create(Layout::uniform(2, 4)).unwrap();
    drop(device);
    for _ in 0..2 {
        let raw = desk.succeed("heap dump a.img --raw");
        assert!(raw.contains("New: ") && !raw.contains("Abort: "), "{raw}");
    }
    assert!(desk.succeed("heap dump a.img").contains("Abort: "));
}
