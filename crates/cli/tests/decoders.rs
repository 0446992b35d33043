//! The decoders in Python (`tools/decoders`), which are written from the format documents alone, read from images what
//! the commands read.

mod nbd;
mod purses;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use nbd::*;
use norn_desk::Desk;
use norn_flash_sim::NorSim;
use norn_heap::{Layout, ObjectHeap, Ref};
use norn_heap_image::{ImageHeap, mount};
use purses::make_purses;

/// What a decoder prints for a file of the desk, with further arguments that name files of the desk or anything else.
fn decoded(desk: &Desk, decoder: &str, image: &str, further: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/decoders").join(decoder);
    let mut command = Command::new("python3");
    let output = command.arg("-B").arg(script).arg(desk.path(image)).args(further).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{decoder} {image}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The lines of `norn heap show --fields` as the decoder has them: roots by name, then objects by slot.
fn as_decoded(shown: &str) -> Vec<String> {
    let mut roots = Vec::new();
    let mut kinds = BTreeMap::new();
    let mut objects: Vec<(String, String, Vec<String>)> = Vec::new();
    for line in shown.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        match *words {
            [name, reference] if reference.starts_with('#') => roots.push(format!("root {name} {reference}")),
            [reference, kind, ..] if reference.starts_with('#') => drop(kinds.insert(reference, kind)),
            [reference] if reference.starts_with('#') => objects.push((reference.into(), "-".into(), Vec::new())),
            ["header", header] if !objects.is_empty() => objects.last_mut().unwrap().1 = header.into(),
            [number, value] if !objects.is_empty() && number.parse::<u32>().is_ok() => {
                objects.last_mut().unwrap().2.push(value.into());
            }
            _ => {}
        }
    }
    roots.sort();
    let objects = objects.iter().map(|(reference, header, values)| {
        format!("{} {reference} {header} {}", kinds[reference.as_str()], values.join(" "))
    });
    roots.into_iter().chain(objects).collect()
}

#[test]
fn log_structured_heaps_of_every_kind_of_part() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    for part in ["tinystore", "nrf52840", "test-16x4096", "stm32l4", "stm32u5"] {
        let image = format!("{part}.img");
        desk.succeed(&format!("heap create {image} --part {part} --engine log"));
        make_purses(&desk, &image, None, Some((7, 100)));
        desk.succeed(&format!("heap check {image}"));
        let shown = as_decoded(&desk.succeed(&format!("heap show {image} --fields")));
        assert!(shown.len() >= 9, "three roots and six objects: {shown:?}");
        assert_eq!(decoded(&desk, "log_heap.py", &image, &[]).lines().collect::<Vec<_>>(), shown, "{part}");
    }
}

#[test]
fn object_heaps_with_every_setting() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    for (number, options) in [
        "--part tinystore",
        "--part w25q80",
        "--part test-24x1024",
        "--part test-16x4096 --error-detection on",
        "--part test-16x4096 --delta-records off --initialization-flags off --list-length 5",
        "--part test-16x4096 --array-threshold 7",
    ]
    .into_iter()
    .enumerate()
    {
        let image = format!("{number}.img");
        desk.succeed(&format!("heap create {image} --engine tinystore {options}"));
        make_purses(&desk, &image, None, Some((7, 100)));
        expect_the_same_objects(&desk, &image, options);
    }
}

/// What the decoder of object heaps prints is what the command shows.
fn expect_the_same_objects(desk: &Desk, image: &str, what: &str) {
    let shown = as_decoded(&desk.succeed(&format!("heap show {image} --fields")));
    assert!(shown.len() >= 9, "three roots and six objects: {shown:?}");
    assert_eq!(decoded(desk, "object_heap.py", image, &[]).lines().collect::<Vec<_>>(), shown, "{what}");
}

#[test]
fn object_heaps_in_the_middle_of_a_transaction() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    for (image, options) in [("deltas.img", ""), ("records.img", "--delta-records off")] {
        desk.succeed(&format!("heap create {image} --part test-16x4096 --engine tinystore {options}"));
        make_purses(&desk, image, None, None);
        let mut device = NorSim::open_image(&desk.path(image)).unwrap();
        let mut heap = mount(&mut device).unwrap();
        let accounts: Vec<Ref> = (3..=5).filter_map(|slot| of_slot(&mut heap, slot)).collect();
        assert_eq!(accounts.len(), 3);
        heap.put_field(accounts[0], 0, &[1; 4]).unwrap();
        heap.begin().unwrap();
        for account in accounts {
            heap.put_field(account, 0, &[7; 4]).unwrap();
        }
        heap.create(Layout::uniform(2, 4)).unwrap();
        drop(device);
        expect_the_same_objects(&desk, image, options);
    }
}

/// The reference of what a slot holds.
fn of_slot(heap: &mut ImageHeap<'_>, slot: u16) -> Option<Ref> {
    let mut after = None;
    while let Some(reference) = heap.next_object(after).unwrap() {
        if reference.slot() == slot {
            return Some(reference);
        }
        after = Some(reference);
    }
    None
}

#[test]
fn logs_of_readings() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let readings: String = (0..700).map(|at| format!("{},{}.5\n", 1_795_255_200 + 61 * at, 300 - at)).collect();
    fs::write(desk.path("readings.csv"), readings).unwrap();
    desk.succeed("log create a.img");
    desk.succeed("log append a.img readings.csv --cut-power 7 --cuts-every 100");
    desk.succeed("log export a.img out.csv");
    let exported = fs::read_to_string(desk.path("out.csv")).unwrap();
    assert_eq!(exported.lines().count(), 701);
    assert_eq!(decoded(&desk, "sensor_log.py", "a.img", &[]), exported);
}

#[test]
fn programs_in_two_rooms() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let programs = [(1, 40_000_u32), (7, 70_001)]
        .map(|(factor, length)| (0..length).map(|at| (at.wrapping_mul(factor) >> 3) as u8).collect::<Vec<_>>());
    for (name, program) in ["first", "second"].into_iter().zip(&programs) {
        fs::write(desk.path(name), program).unwrap();
    }
    desk.succeed("code create a.img");
    desk.succeed("code install a.img first --program-version 1.0.0");
    desk.succeed("code update a.img second --program-version 1.2.3");
    desk.succeed("code boot a.img");
    let rooms = ["A", "B"].map(|room| {
        let file = desk.path(room);
        let printed = decoded(&desk, "code_image.py", "a.img", &[room, file.to_str().unwrap()]);
        (printed, fs::read(file).unwrap())
    });
    let status = "A: 1.0.0, 40000 bytes\nB: 1.2.3, 70001 bytes runs\non trial, boots left: 0\n";
    for ((printed, program), expected) in rooms.iter().zip(&programs) {
        assert_eq!(printed, status);
        assert!(program == expected, "another program");
    }
}

#[test]
fn block_devices_with_pages_of_both_sizes() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    for (part, size) in [("k9f2808", "2M"), ("mt29f2g08", "8M")] {
        let image = format!("{part}.img");
        desk.succeed(&format!("nbd create {image} --part {part} --size {size}"));
        let server = Served::start(&desk, &image);
        let mut random = fastrand::Rng::with_seed(11);
        let contents: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(1_500_000).collect();
        fs::write(desk.path("contents"), contents).unwrap();
        let uri = server.uri();
        for request in ["write -s contents 4096 1499136", "discard 524288 262144", "write -P 7 530000 9000"] {
            run(&desk.path(""), &["qemu-io", "-f", "raw", "-c", request, &uri]);
        }
        run(&desk.path(""), &["nbdcopy", &uri, "copied"]);
        server.stop();
        let out = desk.path("out");
        let printed = decoded(&desk, "nand_ftl.py", &image, &[out.to_str().unwrap()]);
        assert!(printed.ends_with(" logical pages have contents\n") && !printed.starts_with("0 "), "{printed}");
        assert!(fs::read(out).unwrap() == fs::read(desk.path("copied")).unwrap(), "other contents on {part}");
    }
}
