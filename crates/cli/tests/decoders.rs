//! The decoders in Python (`tools/decoders`), which are written from the format documents alone, read from images what
//! the commands read.

use crate::nbd;
use crate::purses;

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

/// Whether a decoder succeeds with a file of the desk and further arguments, and what it prints.
fn run_decoder(desk: &Desk, decoder: &str, image: &str, further: &[&str]) -> Result<String, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/decoders").join(decoder);
    let mut command = Command::new("python3");
    command.arg("-B").arg(script).arg(image).args(further).current_dir(desk.path(""));
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

/// What a decoder prints for a file of the desk, with further arguments that name files of the desk or anything else.
fn decoded(desk: &Desk, decoder: &str, image: &str, further: &[&str]) -> String {
    run_decoder(desk, decoder, image, further).unwrap_or_else(|errors| panic!("{decoder} {image}: {errors}"))
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

const PAGES: [&str; 4] = ["--page-bytes", "512", "--pages-per-block", "16"];

/// Images for each decoder, with its further arguments for the image and for a raw dump.
fn make_images(desk: &Desk) -> [(&'static str, &'static str, Vec<&'static str>, Vec<&'static str>); 5] {
    desk.succeed("heap create log.img --part test-16x4096");
    desk.succeed("heap create old.img --part test-16x4096 --engine tinystore");
    make_purses(desk, "log.img", None, None);
    make_purses(desk, "old.img", None, None);
    desk.succeed("log create readings.img --part test-16x4096");
    desk.write("readings.csv", "60,1\n120,2.5\n");
    desk.succeed("log append readings.img readings.csv");
    desk.succeed("code create code.img --part nandtest-32x16x512 --bad-blocks 2");
    desk.write("one.bin", vec![1; 5_000]);
    desk.succeed("code install code.img one.bin --program-version 1.0.0");
    desk.succeed("nbd create disk.img --part nandtest-32x16x512 --bad-blocks 2");
    let units = vec!["--unit-bytes", "4096"];
    [
        ("log_heap.py", "log.img", vec![], units.clone()),
        ("object_heap.py", "old.img", vec![], units.clone()),
        ("sensor_log.py", "readings.img", vec![], units),
        ("code_image.py", "code.img", vec![], PAGES.to_vec()),
        ("nand_ftl.py", "disk.img", vec!["pages"], [&["pages"], &PAGES[..]].concat()),
    ]
}

#[test]
fn dumps_are_read_as_images_are() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    for (decoder, image, further, geometry) in make_images(&desk) {
        let from_image = decoded(&desk, decoder, image, &further);
        let dump = format!("{image}.bin");
        desk.succeed(&format!("image export {image} {dump}"));
        assert_eq!(decoded(&desk, decoder, &dump, &geometry), from_image, "{decoder}");
        let refused = run_decoder(&desk, decoder, &dump, &further).unwrap_err();
        assert!(refused.contains("raw dump --") && refused.lines().count() == 1, "{refused}");
        if !image.starts_with(['c', 'd']) {
            desk.succeed(&format!("image export {image} {image}.hex"));
            let refused = run_decoder(&desk, decoder, &format!("{image}.hex"), &geometry).unwrap_err();
            assert!(refused.contains("Intel HEX") && refused.contains("norn image import"), "{refused}");
        }
    }
}

/// Whatever a file holds, a decoder prints something, or ends with one line that names the file.
#[test]
fn damaged_files_end_decoders_with_one_line() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let (mut random, mut refused) = (fastrand::Rng::with_seed(2006), 0);
    for (decoder, image, further, geometry) in make_images(&desk) {
        let bytes = fs::read(desk.path(image)).unwrap();
        for round in 0..6 {
            let mut damaged = bytes.clone();
            match round {
                0 => damaged.truncate(random.usize(..bytes.len())),
                1 => damaged = (0..3 * 528 * 16).map(|_| random.u8(..)).collect(),
                // Where something was programmed, which is little of the file.
                _ => {
                    let programmed: Vec<usize> = (4096..bytes.len()).filter(|&at| bytes[at] != 0xFF).collect();
                    (0..20).for_each(|_| damaged[programmed[random.usize(..programmed.len())]] = random.u8(..));
                }
            }
            desk.write("damaged", damaged);
            let arguments = if round == 1 { &geometry } else { &further };
            if let Err(errors) = run_decoder(&desk, decoder, "damaged", arguments) {
                refused += 1;
                let expected = format!("{decoder}: damaged: ");
                assert!(errors.starts_with(&expected) && errors.lines().count() == 1, "{decoder}, {round}: {errors}");
            }
        }
    }
    assert!(refused >= 5, "{refused}");
}
