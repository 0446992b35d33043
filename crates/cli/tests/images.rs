//! Proves that images are made, checked and shown.

use crate::purses;

use norn_desk::{Desk, line};
use norn_flash::Address;
use norn_flash_sim::{NorSim, catalogue};
use purses::make_purses;

#[test]
fn a_new_image_is_sound_and_empty() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("heap create a.img --engine tinystore");
    let checked = desk.succeed("heap check a.img");
    for (title, value) in
        [("objects", "0"), ("roots", "0"), ("violations", "0"), ("erase counts", "min 1, mean 1.00, max 1")]
    {
        assert_eq!(line(&checked, title), value);
    }
    let shown = desk.succeed("heap show a.img");
    assert!(shown.contains("No roots.") && shown.contains("No objects."), "{shown}");
    assert!(line(&shown, "part").starts_with("tinystore, 56 units of 8192 bytes"));
    let dumped = desk.succeed("heap dump a.img");
    assert!(dumped.lines().any(|row| row.trim_start().starts_with("1 to 55") && row.contains("free")), "{dumped}");
    assert!(dumped.contains("Log in unit") && dumped.contains("Ready"), "{dumped}");
}

#[test]
fn an_image_remembers_part_and_configuration() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed(
        "heap create a.img --engine tinystore --part test-16x4096 --list-length 5 --initialization-flags off \
         --array-threshold 40 --log-units 3 --wear-period 0",
    );
    let shown = desk.succeed("heap show a.img");
    assert!(line(&shown, "part").starts_with("test-16x4096, 16 units of 4096 bytes"));
    for (title, expected) in [
        ("list length", "5"),
        ("initialization flags", "off"),
        ("array threshold", "40"),
        ("log units", "3"),
        ("wear period", "0"),
        ("error detection", "off"),
        ("delta records", "on"),
    ] {
        assert_eq!(line(&shown, title), expected, "{title}");
    }
}

#[test]
fn purses_are_shown_with_their_fields() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    make_purses(&desk, "a.img", None, None);
    let checked = desk.succeed("heap check a.img");
    assert_eq!((line(&checked, "objects"), line(&checked, "arrays"), line(&checked, "roots")), ("4", "2", "3"));
    let shown = desk.succeed("heap show a.img --fields");
    let alice: String = b"alice".iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(shown.contains(&format!("header  {alice}")), "{shown}");
    assert!(!desk.succeed("heap show a.img").contains(&alice));
    // Looking twice shows the same: neither look changes the heap.
    assert_eq!(desk.succeed("heap dump a.img"), desk.succeed("heap dump a.img"));
}

#[test]
fn the_dumped_bytes_add_up_to_what_the_check_found() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    make_purses(&desk, "a.img", None, None);
    let dumped = desk.succeed("heap dump a.img");
    // Unit, address, role, logical, erases twice, sectors, live and obsolete bytes.
    let rows = dumped.lines().map(|row| row.split_whitespace().collect::<Vec<_>>()).filter(|row| row.contains(&"data"));
    let live: u32 = rows.map(|row| row[7].parse::<u32>().unwrap()).sum();
    let checked = desk.succeed("heap check a.img");
    let checked: u32 = line(&checked, "bytes in use").strip_suffix(", with descriptors").unwrap().parse().unwrap();
    // The check counts descriptors, too, and those of freed sectors.
    assert!(live > 500 && live < checked, "{live} of {checked}\n{dumped}");
}

#[test]
fn create_overwrites_nothing_and_leaves_nothing_useless() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.write("a.img", "precious");
    desk.fail(
        "heap create a.img --engine tinystore",
        &["a.img", "there is such a file", "never overwritten, choose another name"],
    );
    assert_eq!(std::fs::read(desk.path("a.img")).unwrap(), b"precious");
    desk.fail("heap create b.img --engine tinystore --part stm32l4 --spares 0", &["b.img", "unsuitable", "spare"]);
    desk.fail("heap create b.img --engine tinystore --part flux", &["flux", "tinystore-2k"]);
    desk.fail("heap create b.img --engine tinystore --log-units 1", &["1 is not in 2..=8"]);
    for (part, said) in [
        ("test-0x0", "the part has no erase units"),
        ("test-axb", "named test-UNITSxBYTES"),
        ("test-4081x4096", "4081 erase units: a store has up to 4080"),
    ] {
        desk.fail(&format!("heap create b.img --engine tinystore --part {part}"), &[part, said]);
    }
    desk.fail(
        "heap create b.img --engine tinystore --part test-8x513",
        &["b.img", "erase units that are not a multiple of 32 bytes"],
    );
    assert!(!desk.path("b.img").exists());
}

#[test]
fn damage_is_a_finding_with_its_address() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    make_purses(&desk, "a.img", None, None);
    let mut device = NorSim::open_image(&desk.path("a.img")).unwrap();
    device.poke(Address(0x6FFFC), &[0; 4]); // The end of the last unit, which is free.
    drop(device);
    let answer = desk.run("heap check a.img");
    assert_eq!(answer.code, 1, "{answer:?}");
    assert_eq!(line(&answer.output, "violations"), "1");
    assert_eq!(line(&answer.output, "violation:"), "unused space that is not erased at 0x06fffc");
}

#[test]
fn the_catalogue_names_every_part() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let listed = desk.succeed("parts");
    for spec in catalogue::all() {
        assert!(listed.contains(&format!("{}: {}", spec.name, spec.source)), "{}", spec.name);
    }
}

#[test]
fn flipped_bits_are_reported_with_error_detection_and_not_without() {
    for (detection, code, found) in
        [("on", 1, "violation: a sector that does not agree with its code at"), ("off", 0, "")]
    {
        let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
        desk.succeed(&format!("heap create a.img --engine tinystore --error-detection {detection}"));
        make_purses(&desk, "a.img", None, None);
        let checked = desk.succeed("heap check a.img");
        assert!(!checked.contains("notice"), "{checked}");
        let deltas = if detection == "on" { "off" } else { "on" };
        let shown = desk.succeed("heap show a.img");
        assert_eq!((line(&shown, "error detection"), line(&shown, "delta records")), (detection, deltas), "{shown}");
        let mut image = std::fs::read(desk.path("a.img")).unwrap();
        let headers: Vec<usize> = (4096..image.len() - 5).filter(|&at| image[at..].starts_with(b"alice")).collect();
        headers.iter().for_each(|&at| image[at] ^= 0x20);
        desk.write("a.img", image);
        let checked = desk.run("heap check a.img");
        assert_eq!(checked.code, code, "{}", checked.output);
        assert!(checked.output.contains(found), "{}", checked.output);
    }
}
