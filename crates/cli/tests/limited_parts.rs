//! Heaps on parts whose words can be programmed once or twice, and on parts with spare units: made, used, cut, checked,
//! shown.

use crate::purses;

use norn_desk::{Desk, line};
use norn_flash_sim::catalogue;
use purses::make_purses;

#[test]
fn purses_survive_on_parts_of_every_kind() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    for part in ["stm32l4", "stm32u5", "stm32h7b", "nrf52840"] {
        make_purses(&desk, &format!("{part}.img"), catalogue::by_name(part), Some((7, 100)));
        let checked = desk.succeed(&format!("heap check {part}.img"));
        assert_eq!(line(&checked, "violations"), "0");
        let shown = desk.succeed(&format!("heap show {part}.img"));
        assert!(line(&shown, "remapped").contains("retired units none"), "{shown}");
    }
}

#[test]
fn a_part_without_limits_takes_spares_if_asked() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("heap create plain.img --engine tinystore --part test-16x1024");
    assert!(!desk.succeed("heap show plain.img").contains("remapped"));
    desk.succeed("heap create spare.img --engine tinystore --part test-16x1024 --spares 3");
    let shown = desk.succeed("heap show spare.img");
    assert!(line(&shown, "remapped").starts_with("13 virtual units"), "{shown}");
}

#[test]
fn dumps_show_the_virtual_part_and_raw_ones_the_physical() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("heap create a.img --engine tinystore --part stm32l4");
    let before = std::fs::read(desk.path("a.img")).unwrap();
    let raw = desk.succeed("heap dump a.img --raw");
    assert!(raw.contains("home of virtual unit 254") && raw.contains(" ready"), "{raw}");
    assert_eq!(std::fs::read(desk.path("a.img")).unwrap(), before);
    let dumped = desk.succeed("heap dump a.img");
    assert!(dumped.contains("Setting: ") && dumped.contains("Physical unit"), "{dumped}");
    assert!(desk.succeed("heap dump a.img --unit 0").contains("960 bytes"));
    desk.fail("heap dump a.img --unit 255", &["255"]);
}
