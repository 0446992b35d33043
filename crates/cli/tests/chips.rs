//! Proves that chips' dumps are opened in every form, wherever the store is in them, that commands which look change no
//! file, and that a file for a programmer is the part.

use std::fs::{self, File};

use norn_desk::{Desk, line};
use norn_flash::NorPartition;
use norn_flash_sim::{NorSim, catalogue};
use norn_heap::ObjectHeap;
use norn_heap_image::{mount, violations};
use norn_object_heap::{Config, Heap, Layout};

/// Address of the tests' chips in their processors' memory.
const BASE: u32 = 0x0807_8000;

fn desk() -> Desk {
    Desk::of(env!("CARGO_BIN_EXE_norn"))
}

/// Makes an image with a root, an object and an array in it.
fn make_heap(desk: &Desk, image: &str, part_and_engine: &str) {
    desk.succeed(&format!("heap create {image} --part {part_and_engine}"));
    let mut device = NorSim::open_image(&desk.path(image)).unwrap();
    let mut heap = mount(&mut device).unwrap();
    let object = heap.create(Layout::uniform(3, 4).with_header(b"node")).unwrap();
    heap.put_field(object, 1, &[1, 2, 3, 4]).unwrap();
    let array = heap.create_array(20, 2, b"").unwrap();
    heap.array_store(array, 19, &[7, 8]).unwrap();
    heap.set_root(b"top", Some(object)).unwrap();
    heap.set_root(b"rows", Some(array)).unwrap();
}

/// What is shown of a heap, without the part's wear and counters.
fn heap_shown(desk: &Desk, image: &str) -> String {
    let shown = desk.succeed(&format!("heap show {image} --fields"));
    let end = shown.find("\npart ").expect("the part is shown");
    shown[..end].to_owned()
}

/// An ELF file whose only segment is loaded at an address in flash, and runs at another one.
fn elf(address: u32, bytes: &[u8]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = b"\x7FELF\x01\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend([2, 0, 40, 0]); // An executable for ARM.
    file.extend(words(&[1, 0, 52, 0, 0]));
    file.extend([52, 0, 32, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    file.extend(words(&[1, 84, 0x2000_0000, address, bytes.len() as u32, bytes.len() as u32, 4, 4]));
    file.extend(bytes);
    file
}

#[test]
fn a_heap_is_the_same_in_every_form() {
    let desk = desk();
    for (part, detected) in [
        ("stm32l4:16 --engine log", "stm32l4:16"),
        ("nrf52840:16 --engine tinystore", "nrf52840:16"),
        ("w25q80:16 --engine tinystore", "w25q80:16"),
        ("test-24x1024 --engine tinystore", "test-24x1024"),
    ] {
        make_heap(&desk, "a.img", part);
        let shown = heap_shown(&desk, "a.img");
        assert!(shown.contains("6e6f6465") && shown.contains("rows"), "{shown}");
        for file in ["a.bin", "a.hex", "a.uf2"] {
            desk.succeed(&format!("image export a.img {file} --base {BASE:#x}"));
        }
        desk.write("a.elf", elf(BASE, &fs::read(desk.path("a.bin")).unwrap()));
        for file in ["a.bin", "a.hex", "a.uf2", "a.elf"] {
            assert_eq!(heap_shown(&desk, file), shown, "{part}, {file}");
            assert_eq!(heap_shown(&desk, &format!("{file} --part {detected}")), shown, "{part}, {file}");
            assert_eq!(line(&desk.succeed(&format!("heap check {file}")), "violations"), "0");
            desk.succeed(&format!("heap dump {file}"));
            desk.succeed(&format!("heap dump {file} --raw"));
            fs::remove_file(desk.path(file)).unwrap();
        }
        fs::remove_file(desk.path("a.img")).unwrap();
    }
}

#[test]
fn a_part_is_detected_by_what_its_store_says() {
    let desk = desk();
    for (part, said) in [
        ("stm32l4", "stm32l4, 256 units of 2048 bytes"),
        ("stm32l4 --engine tinystore", "stm32l4, 256 units of 2048 bytes"),
        ("nrf52840 --engine tinystore", "nrf52840, 256 units of 4096 bytes"),
        ("w25q80 --engine tinystore", "w25q80, 256 units of 4096 bytes"),
        ("tinystore-16k --engine tinystore", "tinystore-16k, 28 units of 16384 bytes"),
    ] {
        desk.succeed(&format!("heap create a.img --part {part}"));
        desk.succeed("image export a.img a.bin");
        let shown = desk.succeed("image show a.bin");
        assert_eq!(line(&shown, "part  "), said, "{shown}");
        assert!(shown.contains("`norn heap check a.bin` opens it"), "{shown}");
        fs::remove_file(desk.path("a.img")).unwrap();
        fs::remove_file(desk.path("a.bin")).unwrap();
    }
}

#[test]
fn a_store_in_a_part_of_a_dump_is_opened_by_its_region() {
    let desk = desk();
    make_heap(&desk, "a.img", "stm32l4:16 --engine tinystore");
    desk.succeed("image export a.img a.bin");
    let cells = fs::read(desk.path("a.bin")).unwrap();
    let mut random = fastrand::Rng::with_seed(4);
    let program: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(0x8000).collect();
    desk.write("chip.bin", [&*program, &cells, &program].concat());
    let region = "0x8000..0x10000";
    let said = "a part of it holds an overlay for limited parts on 16 units of 2048 bytes: --region 0x8000..0x10000";
    desk.fail("heap check chip.bin", &[said]);
    assert_eq!(heap_shown(&desk, &format!("chip.bin --region {region}")), heap_shown(&desk, "a.img"));
    desk.fail(
        &format!("log check chip.bin --region {region}"),
        &["`norn heap check chip.bin --region 0x8000..0x10000`"],
    );
    desk.fail("heap check chip.bin --region 0x8000..0x20000", &["0x8000..0x20000 is not within 0x0..0x18000"]);
    desk.fail(
        "heap check chip.bin --part stm32l4 --region 0x8010..0x9000",
        &["0x8010..0x9000 is not a whole number of erase units of stm32l4, of 2048 bytes each"],
    );
    desk.fail("heap check chip.bin --region 0x9000", &["0x9000 is not a region: write START..END"]);
    // The region of a store whose first unit is erased begins there, too.
    make_heap(&desk, "b.img", "stm32l4:16 --engine log");
    let mut device = NorSim::open_image(&desk.path("b.img")).unwrap();
    let mut heap = mount(&mut device).unwrap();
    let object = heap.root(b"top").unwrap().unwrap();
    // The power was cut when that was to get a header.
    let erased = (0..4000_u32).find_map(|value| {
        heap.put_field(object, 1, &value.to_le_bytes()).unwrap();
        let mut cells = heap.device().cells();
        cells[..2048].fill(0xFF);
        let mut part = NorSim::from_cells(heap.device().spec().clone(), &cells);
        let is_free = value % 50 == 49
            && mount(&mut part).is_ok_and(|mut heap| violations(&mut heap).is_ok_and(|found| found.is_empty()));
        is_free.then_some(cells)
    });
    let mut cells = erased.expect("the first unit is free at times");
    desk.write("b.bin", &cells);
    desk.write("erased.bin", [&*program, &cells, &program].concat());
    desk.fail("heap check erased.bin", &["a part of it holds a log-structured heap", "--region 0x8000..0x10000 opens"]);
    assert_eq!(heap_shown(&desk, &format!("erased.bin --region {region}")), heap_shown(&desk, "b.bin"));
    // Of one that is damaged, none is named.
    cells.chunks_mut(2048).for_each(|unit| unit[24..].iter_mut().for_each(|byte| *byte &= 0x5A));
    desk.write("damaged.bin", [&*program, &cells, &program].concat());
    let damaged = desk.succeed("image show damaged.bin");
    assert!(damaged.contains("it is damaged, or not all of it is there"), "{damaged}");
    assert!(damaged.contains("32768 bytes in all, of which the first unit with a header is at 0x8800"), "{damaged}");
    desk.write("chip.elf", elf(BASE, &fs::read(desk.path("chip.bin")).unwrap()));
    let shown = heap_shown(&desk, &format!("chip.elf --region {:#x}..{:#x}", BASE + 0x8000, BASE + 0x10000));
    assert_eq!(shown, heap_shown(&desk, "a.img"));
}

#[test]
fn what_a_file_for_a_programmer_leaves_out_is_erased() {
    let desk = desk();
    make_heap(&desk, "a.img", "w25q80:16 --engine log");
    desk.succeed("image export a.img a.hex");
    // Other tools leave out records of erased cells, at the end too.
    let text = fs::read_to_string(desk.path("a.hex")).unwrap();
    assert!(text.ends_with(":00000001FF\n") && !text.contains("\n\n"));
    let is_erased = |record: &str| record.len() > 40 && record[9..record.len() - 2].bytes().all(|digit| digit == b'F');
    let kept: Vec<&str> = text.lines().filter(|record| !is_erased(record)).collect();
    assert!(kept.len() * 2 < text.lines().count(), "most records are of erased cells");
    desk.write("a.hex", kept.join("\r\n") + "\r\n");
    assert_eq!(heap_shown(&desk, "a.hex --part w25q80"), heap_shown(&desk, "a.img"));
    // A file that was cut off is no such file.
    desk.write("a.hex", kept[..kept.len() - 1].join("\n"));
    desk.fail("heap show a.hex --part w25q80", &["a.hex: a damaged Intel HEX file: the record of its end is missing"]);
    let bytes = fs::read(desk.path("a.img")).unwrap();
    desk.write("short.bin", &bytes[8192..20_000]);
    desk.fail("heap show short.bin --part w25q80", &["short.bin", "is not a whole number of erase units of w25q80"]);
}

#[test]
fn an_imported_dump_is_changed_as_any_image() {
    let desk = desk();
    desk.write("readings.csv", "60,1\n120,2\n");
    desk.write("more.csv", "180,3\n");
    desk.succeed("log create a.img --part w25q80:16");
    desk.succeed("log append a.img readings.csv");
    desk.succeed("image export a.img a.uf2 --base 0x10000000 --family 0xe48bff56");
    assert_eq!(desk.succeed("log range a.uf2"), desk.succeed("log range a.img"));
    for command in ["mean", "plot", "show", "check", "dump"] {
        desk.succeed(&format!("log {command} a.uf2"));
    }
    desk.succeed("log export a.uf2 out.csv");
    desk.fail(
        "log append a.uf2 more.csv",
        &["it is a chip's dump with a sorted map", "`norn image import a.uf2 NEW.img`"],
    );
    desk.succeed("image import a.uf2 b.img --part w25q80:16");
    desk.succeed("log append b.img more.csv");
    assert_eq!(line(&desk.succeed("log mean b.img"), "readings"), "3");
    desk.fail("image import a.uf2 b.img --part w25q80:16", &["b.img", "never overwritten"]);
    desk.fail("image export a.img out.csv", &["out.csv: a file for a programmer is named .bin, .hex or .uf2"]);
    desk.fail("image export a.img x.hex --base 0xffff8000", &["addresses of more than 32 bits"]);
    desk.fail("image export a.img a.uf2", &["a.uf2: there is such a file; it is never overwritten"]);
    assert_eq!(desk.names(), ["a.img", "a.uf2", "b.img", "more.csv", "out.csv", "readings.csv"]);
}

#[test]
fn a_dump_that_may_be_of_several_parts_is_imported_by_a_name() {
    let desk = desk();
    desk.succeed("heap create a.img --part nrf52840 --engine log");
    desk.succeed("image export a.img a.bin");
    desk.succeed("heap check a.bin");
    desk.fail(
        "image import a.bin b.img",
        &["the dump may be of several parts: w25q80, nrf52840; an image is of one of them: name the part"],
    );
    let shown = desk.succeed("image show a.bin");
    assert!(shown.contains("one of w25q80, nrf52840; it is taken for w25q80, 256 units of 4096 bytes\n"), "{shown}");
    let shown: serde_json::Value = serde_json::from_str(&desk.succeed("image show a.bin --json")).unwrap();
    assert_eq!(shown["possible_parts"], serde_json::json!(["w25q80", "nrf52840"]));
    desk.succeed("image import a.bin b.img --part nrf52840");
    assert!(line(&desk.succeed("heap show b.img"), "part").starts_with("nrf52840, 256 units of 4096 bytes"));
}

/// The message was that of the first part with such units: "made for 8 bytes of a granule, and not for 4".
#[test]
fn a_damaged_dump_is_of_the_part_that_its_store_was_made_for() {
    let desk = desk();
    for (part, several) in [
        ("stm32l4:16 --engine log", None),
        ("stm32l4:16 --engine tinystore", None),
        ("nrf52840:16 --engine log", Some("tinystore-4k:16, w25q80:16, nrf52840:16")),
        ("stm32h7b:16 --engine log", None),
    ] {
        make_heap(&desk, "a.img", part);
        desk.succeed("image export a.img a.bin");
        let cells = fs::read(desk.path("a.bin")).unwrap();
        let (mut random, mut refused) = (fastrand::Rng::with_seed(5), 0);
        for _ in 0..100 {
            let mut cells = cells.clone();
            for _ in 0..8 {
                // A programmed byte of the first units.
                let at = (0..).map(|_| random.usize(..cells.len() / 4)).find(|&at| cells[at] != 0xFF).unwrap();
                cells[at] ^= 1 << random.u8(..8);
            }
            desk.write("a.bin", cells);
            let answer = desk.run("heap check a.bin");
            if answer.code != 2 || !answer.errors.contains("a.bin: cannot be mounted: ") {
                continue;
            }
            refused += 1;
            assert!(!answer.errors.contains("the image was made for"), "{part}: {}", answer.errors);
            let said = several.map(|parts| format!("several parts, {parts}, and was taken for a tinystore-4k:16"));
            assert_eq!(answer.errors.contains("several parts"), several.is_some(), "{}", answer.errors);
            assert!(answer.errors.contains(&said.unwrap_or_default()), "{}", answer.errors);
            let shown = desk.succeed("image show a.bin");
            let name = part.split(' ').next().unwrap();
            assert!(line(&shown, "part  ").contains(name), "{part}: {shown}");
        }
        assert!(refused >= 5, "{part}: {refused}");
        fs::remove_file(desk.path("a.img")).unwrap();
        fs::remove_file(desk.path("a.bin")).unwrap();
    }
}

/// The message was that a region is for NOR parts.
#[test]
fn a_region_without_a_store_holds_nothing_that_is_known() {
    let desk = desk();
    let mut random = fastrand::Rng::with_seed(6);
    desk.write("noise.bin", std::iter::repeat_with(|| random.u8(..)).take(0x10000).collect::<Vec<u8>>());
    let shown = desk.succeed("image show noise.bin --region 0x4000..0x8000");
    assert!(shown.contains("it holds no format that norn knows"), "{shown}");
    for command in ["heap check", "log check", "image export"] {
        let words = format!("{command} noise.bin --region 0x4000..0x8000");
        let words = if command.starts_with("image") { format!("{words} a.hex") } else { words };
        desk.fail(&words, &["as a chip's dump of 16384 bytes, it holds no format that norn knows"]);
    }
}

#[test]
fn a_nand_part_is_dumped_with_its_out_of_band_areas() {
    let desk = desk();
    desk.write("program", vec![7; 9000]);
    desk.succeed("code create a.img --part nandtest-32x16x512 --bad-blocks 2");
    desk.succeed("code install a.img program --program-version 1.2.3");
    desk.succeed("image export a.img a.bin");
    assert_eq!(fs::metadata(desk.path("a.bin")).unwrap().len(), 32 * 16 * 528);
    let status = desk.succeed("code status a.bin --part nandtest-32x16x512");
    assert_eq!(status.replace("a.bin", "a.img"), desk.succeed("code status a.img"));
    desk.succeed("code read a.bin out --part nandtest-32x16x512");
    assert!(fs::read(desk.path("out")).unwrap() == [7; 9000]);
    desk.succeed("image import a.bin b.img --part nandtest-32x16x512");
    desk.succeed("code update b.img program --program-version 2.0.0 --confirmed");
    desk.succeed("nbd create d.img --part k9f2808 --size 1M --bad-blocks 9");
    desk.succeed("image export d.img d.bin");
    let checked = desk.succeed("nbd check d.bin");
    assert!(checked.contains("1048576 bytes (1.0 MiB) on k9f2808, 1015 good blocks"), "{checked}");
    desk.fail("heap check d.bin", &["`norn nbd check d.bin` opens it"]);
    desk.fail("image export d.img d.hex", &["d.hex: the cells of a NAND part have no addresses"]);
    desk.fail("nbd check a.bin --part k9f2808", &["270336 bytes, and not the 17301504 of a k9f2808"]);
    desk.fail("nbd check a.bin --part w25q80", &["an image of a w25q80, a NOR part, not of a NAND part"]);
}

#[test]
fn a_tenant_of_a_partition_table_is_opened_by_its_region() {
    use norn_flash::{Label, LabelDevice, NorLabel, NorPartition, TenantKind};
    let desk = desk();
    let mut part = NorSim::create_image(&desk.path("a.img"), norn_flash_sim::catalogue::test_part(16, 4096)).unwrap();
    let mut label = Label::default();
    label.add(b"objects", TenantKind::HEAP, 4..12).unwrap();
    NorLabel(&mut part).store(&label).unwrap();
    norn_object_heap::Heap::<_, 64>::format(NorPartition::new(&mut part, 4..12).unwrap(), Default::default()).unwrap();
    drop(part);
    desk.fail("heap check a.img", &["--region opens one of them, such as 0x4000..0xc000"]);
    let checked = desk.succeed("heap check a.img --region 0x4000..0xc000");
    assert_eq!((line(&checked, "violations"), line(&checked, "free units")), ("0", "7 of 8"));
}

/// A card's part: a heap, and a journal in the unit after it. The command that was named failed.
#[test]
fn a_heap_on_fewer_units_than_the_part_has_is_named_with_its_region() {
    let desk = desk();
    for (image, start) in [("first.img", 0), ("later.img", 3)] {
        let mut part = NorSim::new(catalogue::test_part(16, 4096));
        let units = NorPartition::new(&mut part, start..start + 12).unwrap();
        let mut heap = Heap::<_, 16>::format(units, Config::default()).unwrap();
        heap.create(Layout::uniform(3, 4)).unwrap();
        part.save_image(&desk.path(image)).unwrap();
        let region = format!("{:#x}..{:#x}", start * 4096, (start + 12) * 4096);
        let holds = "it holds an object heap on 12 units of 4096 bytes";
        let opens = format!("{holds}: `norn heap check {image} --region {region}` opens it");
        let shown = desk.succeed(&format!("image show {image}"));
        assert!(shown.contains(&opens) && shown.contains("engine  tinystore"), "{shown}");
        desk.fail(&format!("heap check {image}"), &[&opens]);
        desk.fail(&format!("log check {image}"), &[&opens]);
        let checked = desk.succeed(&format!("heap check {image} --region {region}"));
        assert_eq!(line(&checked, "violations"), "0");
        let json: serde_json::Value =
            serde_json::from_str(&desk.succeed(&format!("image show {image} --json"))).unwrap();
        assert_eq!([&json["contents"][0]["start"], &json["contents"][0]["end"]], [start, start + 12]);
        desk.succeed(&format!("--quiet explore {image} --svg {image}.svg"));
        let picture = fs::read_to_string(desk.path(&format!("{image}.svg"))).unwrap();
        assert_eq!(picture.matches("class=\"row\"").count(), 12, "a row for each unit of the heap");
        assert!(picture.contains("class=\"descriptor\""), "{picture}");
    }
}

#[test]
fn a_region_of_a_nand_part_is_refused() {
    let desk = desk();
    desk.succeed("nbd create disk.img --part nandtest-32x16x512");
    for command in ["nbd check", "image show", "explore", "explore --serve 127.0.0.1:0", "explore --svg disk.svg"] {
        let said = "disk.img: --region is for NOR parts; a NAND part is opened as a whole";
        desk.fail(&format!("{command} disk.img --region 0..0x2000"), &[said]);
    }
    assert_eq!(desk.names(), ["disk.img"]);
}

#[test]
fn whoever_looks_changes_no_file_and_shares_it() {
    let desk = desk();
    desk.write("readings.csv", "60,1\n120,2\n");
    desk.write("program", vec![7; 9000]);
    make_heap(&desk, "heap.img", "test-16x4096 --engine tinystore");
    desk.succeed("log create log.img --part test-16x4096");
    desk.succeed("log append log.img readings.csv");
    desk.succeed("nbd create disk.img --part nandtest-32x16x512");
    desk.succeed("code create code.img --part nandtest-32x16x512");
    desk.succeed("code install code.img program --program-version 1.2.3");
    for (image, commands) in [
        ("heap.img", &["heap check", "heap show", "heap dump", "image show"][..]),
        ("log.img", &["log mean", "log range", "log plot", "log show", "log dump", "log check"]),
        ("disk.img", &["nbd check"]),
        ("code.img", &["code status"]),
    ] {
        let before = fs::read(desk.path(image)).unwrap();
        let file = File::options().write(true).open(desk.path(image)).unwrap();
        file.lock_shared().unwrap();
        for command in commands {
            desk.succeed(&format!("{command} {image}"));
            assert!(fs::read(desk.path(image)).unwrap() == before, "{command} changes {image}");
        }
        file.unlock().unwrap();
        file.lock().unwrap();
        desk.fail(&format!("{} {image}", commands[0]), &[image, "in use by another process"]);
    }
    fs::create_dir(desk.path("my.card")).unwrap();
    desk.write("my.card/nor.img", "");
    desk.fail(
        "heap show my.card",
        &["my.card", "it is a card: `norn card show my.card` opens it, `norn explore my.card/nor.img` and"],
    );
    desk.fail("card show heap.img", &["heap.img", "`norn heap check heap.img` opens it"]);
}

/// A dump and a simulator's file of the same part are described alike, whatever the part holds.
#[test]
fn a_dump_is_shown_as_the_image_is() {
    let desk = desk();
    desk.write("readings.csv", "60,1\n");
    for (name, create) in [
        ("heap", "heap create heap.img --part stm32l4:16 --error-detection on"),
        ("old", "heap create old.img --part stm32l4 --engine tinystore"),
        ("log", "log create log.img --part w25q80"),
        ("disk", "nbd create disk.img --part k9f2808"),
        ("code", "code create code.img --part k9f2808"),
    ] {
        desk.succeed(create);
        if name == "code" {
            desk.succeed("code install code.img readings.csv --program-version 1.0.0");
        }
        desk.succeed(&format!("image export {name}.img {name}.bin"));
        let shown = |file: &str| desk.succeed(&format!("image show {file}"));
        let (image, dump) = (shown(&format!("{name}.img")), shown(&format!("{name}.bin")));
        assert!(dump.starts_with(&format!("{name}.bin: binary dump, ")), "{dump}");
        let (image, dump) = (image.split_once('\n').unwrap().1, dump.split_once('\n').unwrap().1);
        assert_eq!(dump, image.replace(&format!("{name}.img"), &format!("{name}.bin")), "{name}");
        let json = |file: &str| -> serde_json::Value {
            serde_json::from_str(&desk.succeed(&format!("image show {file} --json"))).unwrap()
        };
        let (image, dump) = (json(&format!("{name}.img")), json(&format!("{name}.bin")));
        for member in ["part", "erase_units", "erase_unit_bytes", "state", "contents"] {
            assert_eq!(dump[member], image[member], "{name}: {member}");
        }
        assert_eq!((image["form"].as_str(), dump["form"].as_str()), (Some("simulator"), Some("binary")));
    }
    desk.write("blank.bin", [0xFF; 0x8000]);
    desk.write("text.bin", "no store");
    let shown = desk.succeed("image show blank.bin");
    assert!(shown.contains("part  not detected: --part NAME") && shown.contains("it is blank"), "{shown}");
    assert!(desk.succeed("image show text.bin").contains("it holds no format that norn knows"));
    desk.write("short.bin", &std::fs::read(desk.path("old.bin")).unwrap()[..200_000]);
    let shown = desk.succeed("image show short.bin");
    assert!(shown.contains("it holds the start of an overlay for limited parts on 256 units of 2048 bytes"), "{shown}");
    let missing =
        "of a k9f2808 it lacks 17101504 bytes of 17301504, of a k9f1208q0b it lacks 69006016 bytes of 69206016";
    for (name, what) in [("disk", "a block device on NAND"), ("code", "programs in two rooms")] {
        desk.write("short.bin", &std::fs::read(desk.path(&format!("{name}.bin"))).unwrap()[..200_000]);
        let said = format!("it holds the start of {what}: {missing}");
        let shown = desk.succeed("image show short.bin");
        let advice = "; read all pages with their out-of-band areas";
        assert!(shown.contains(&said) && shown.contains(advice), "{shown}");
        desk.fail("nbd check short.bin", &[&format!("as a chip's dump of 200000 bytes, {said}")]);
    }
    make_heap(&desk, "own.img", "test-24x1024 --engine tinystore");
    desk.succeed("image export own.img own.bin");
    let shown = desk.succeed("image show own.bin");
    assert!(
        shown.contains("part  none of the catalogue has this geometry; it is taken for test-24x1024, 24 units"),
        "{shown}"
    );
    assert!(desk.succeed("image show own.img").contains("part  test-24x1024, 24 units of 1024 bytes"));
    assert!(desk.succeed("image show blank.bin --part stm32l4").contains("it is a blank stm32l4:16: nothing has been"));
    desk.write("empty.bin", "");
    desk.fail("image show empty.bin", &["empty.bin"]);
}

/// Names of parts beyond 1,024 erase units were taken, and failed later or said something else.
#[test]
fn parts_of_many_units_are_used_like_others() {
    let desk = desk();
    desk.write("readings.csv", "60,1\n");
    make_heap(&desk, "a.img", "w25q80:2048");
    desk.succeed("image export a.img a.bin");
    assert_eq!(heap_shown(&desk, "a.bin"), heap_shown(&desk, "a.img"));
    assert_eq!(heap_shown(&desk, "a.bin --part w25q80:2048"), heap_shown(&desk, "a.img"));
    desk.succeed("log create log.img --part w25q80:4080");
    desk.succeed("log append log.img readings.csv");
    let too_many =
        "4096 erase units: a store has up to 4080. Take a region of the part with fewer units, or larger units";
    for create in ["heap create b.img", "log create b.img"] {
        desk.fail(&format!("{create} --part w25q80:4096"), &[too_many]);
    }
    desk.write("large.bin", vec![0xFF; 4096 * 256]);
    desk.fail(
        "heap check large.bin --part test-16x256",
        &["large.bin: it has 4096 erase units: a store has up to 4080"],
    );
    desk.fail(
        "log create b.img --part stm32l4",
        &["a log needs a part of unlimited reprogramming: `norn parts` lists"],
    );
}
