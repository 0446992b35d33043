//! Proves that every command that refuses an image says what the image is, and names a command that opens it, if one
//! does.
//!
//! The table is every kind of image, damaged and foreign files included, by every command that opens images.

use std::time::SystemTime;

use norn_code_pager::{Crc32c, ImageWriter, Room};
use norn_desk::Desk;
use norn_flash::{
    Address, Block, Column, EraseUnit, Label, LabelDevice, Nand, NandLabel, Nor, NorLabel, NorPartition, TenantKind,
};
use norn_flash_sim::{NandSim, NorSim, Tear, catalogue, nand_catalogue};
use norn_log_heap::{Layout, LogHeap};
use norn_nand_ftl::{Ftl, FtlConfig, Lba, MountError};
use norn_nor_store::format::{IDENTITY_BYTES, Identity};
use norn_object_heap::{Config, Heap};
use norn_ordered_index::{FatList, OrderedIndex, Settings, Varying, VaryingList, codes, fat_list};

/// Every command that opens an image, by its group.
const COMMANDS: [(Group, &str); 15] = [
    (Group::Heap, "heap check IMAGE"),
    (Group::Heap, "heap show IMAGE"),
    (Group::Heap, "heap dump IMAGE"),
    (Group::Log, "log append IMAGE readings.csv"),
    (Group::Log, "log mean IMAGE"),
    (Group::Log, "log range IMAGE"),
    (Group::Log, "log plot IMAGE"),
    (Group::Log, "log check IMAGE"),
    (Group::Nbd, "nbd check IMAGE"),
    (Group::Nbd, "nbd serve IMAGE --listen 127.0.0.1:0"),
    (Group::Code, "code status IMAGE"),
    (Group::Code, "code boot IMAGE"),
    (Group::Code, "code confirm IMAGE"),
    (Group::Code, "code update IMAGE readings.csv --program-version 1.2.3 --confirmed"),
    (Group::Code, "code rollback IMAGE"),
];

/// Commands that are only run on what they refuse: on what they open, they make a file, change more, or go on.
const REFUSED: [(Group, &str); 9] = [
    (Group::Heap, "heap export IMAGE"),
    (Group::Heap, "heap convert IMAGE new.img"),
    (Group::Log, "log append IMAGE readings.csv --cut-power 7"),
    (Group::Log, "log append IMAGE readings.csv --follow"),
    (Group::Log, "log export IMAGE out.csv"),
    (Group::Log, "log show IMAGE"),
    (Group::Log, "log dump IMAGE"),
    (Group::Code, "code install IMAGE readings.csv --program-version 1.2.3"),
    (Group::Code, "code read IMAGE out.bin"),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Group {
    Heap,
    Log,
    Nbd,
    Code,
}

/// An image, the commands that open it, and what the others say.
struct Case {
    image: &'static str,
    make: fn(&Desk, &str),
    opened_by: &'static [Group],
    holds: &'static str,
    /// The command that messages name, if one opens it.
    named: Option<&'static str>,
}

const NOTHING_MAKES: &str = "it holds no format that norn knows; --part NAME says which part a dump is of, `norn \
                             heap`, `log`, `nbd` and `code create` make images";
const AS_IT_IS: &str = "no norn command opens it as it is";

fn cases() -> Vec<Case> {
    let refused = |image, make, holds| Case { image, make, opened_by: &[], holds, named: None };
    vec![
        Case {
            image: "heap.img",
            make: |desk, image| {
                drop(desk.succeed(&format!("heap create {image} --engine tinystore --part test-16x4096")))
            },
            opened_by: &[Group::Heap],
            holds: "it holds an object heap on 16 units of 4096 bytes",
            named: Some("norn heap check heap.img"),
        },
        Case {
            image: "spares.img",
            make: |desk, image| {
                drop(desk.succeed(&format!("heap create {image} --engine tinystore --part test-16x4096 --spares 2")))
            },
            opened_by: &[Group::Heap],
            holds: "it holds an overlay for limited parts on 16 units of 4096 bytes",
            named: Some("norn heap check spares.img"),
        },
        Case {
            image: "once.img",
            make: |desk, image| drop(desk.succeed(&format!("heap create {image} --engine tinystore --part stm32l4"))),
            opened_by: &[Group::Heap],
            holds: "it holds an overlay for limited parts on 256 units of",
            named: Some("norn heap check once.img"),
        },
        Case {
            image: "log-structured.img",
            make: |desk, image| {
                drop(desk.succeed(&format!("heap create {image} --part stm32l4 --engine log")));
            },
            opened_by: &[Group::Heap],
            holds: "it holds a log-structured heap on 256 units of 2048 bytes",
            named: Some("norn heap check log-structured.img"),
        },
        Case {
            image: "log.img",
            make: |desk, image| {
                desk.succeed(&format!("log create {image} --part test-16x4096"));
                desk.succeed(&format!("log append {image} readings.csv"));
            },
            opened_by: &[Group::Log],
            holds: "it holds a sorted map on 16 units of 4096 bytes",
            named: Some("norn log check log.img"),
        },
        Case {
            image: "disk.img",
            make: |desk, image| {
                drop(desk.succeed(&format!("nbd create {image} --part nandtest-32x16x512 --bad-blocks 1")))
            },
            opened_by: &[Group::Nbd],
            holds: "it holds a block device on NAND",
            named: Some("norn nbd check disk.img"),
        },
        refused(
            "cut-disk.img",
            make_a_cut_disk,
            "it holds a block device on NAND whose formatting was cut short, which no norn command opens",
        ),
        refused(
            "pages.img",
            make_pages_of_a_disk,
            "it holds pages of a block device on NAND without its checkpoint, which no norn command opens",
        ),
        refused("wide.img", make_a_wide_index, "it holds a sorted map on 16 units of 4096 bytes"),
        refused("varied.img", make_a_varied_index, "it holds a sorted map on 16 units of 4096 bytes"),
        Case {
            image: "rooms.img",
            make: |desk, image| {
                desk.succeed(&format!("code create {image} --part nandtest-32x16x512 --bad-blocks 1"));
                desk.succeed(&format!("code install {image} readings.csv --program-version 1.0.0"));
            },
            opened_by: &[Group::Code],
            holds: "it holds programs in two rooms",
            named: Some("norn code status rooms.img"),
        },
        refused("code.img", make_code, "in a single room: `norn explore code.img` shows it"),
        refused(
            "tenants.img",
            make_tenants,
            "tenant \"objects\" (heap) in 0..8: an object heap on 8 units of 4096 bytes",
        ),
        refused(
            "nand-label.img",
            |desk, image| {
                let part = nand_catalogue::test_part(24, 8, 256);
                NandLabel(NandSim::create_image(&desk.path(image), part).unwrap()).store(&Label::default()).unwrap();
            },
            "it holds a label with a partition table on 24 units or blocks of 2048 bytes",
        ),
        refused(
            "blank.img",
            |desk, image| drop(NorSim::create_image(&desk.path(image), catalogue::tinystore()).unwrap()),
            "it is a blank tinystore: nothing has been written to it",
        ),
        refused(
            "blank-nand.img",
            |desk, image| drop(NandSim::create_image(&desk.path(image), nand_catalogue::k9f2808()).unwrap()),
            "it is a blank k9f2808: nothing has been written to it",
        ),
        refused(
            "noise.img",
            |desk, image| {
                let mut part = NorSim::create_image(&desk.path(image), catalogue::tinystore()).unwrap();
                let mut random = fastrand::Rng::with_seed(1);
                let noise: Vec<u8> = (0..part.part().size_bytes()).map(|_| random.u8(..)).collect();
                part.poke(Address(0), &noise);
            },
            "it is a tinystore with data of no format that norn knows",
        ),
        refused(
            "newer-heap.img",
            make_a_newer_heap,
            "an object heap on 56 units of 8192 bytes, in format version 9, newer",
        ),
        refused("newer-log.img", make_a_newer_index, "it holds a sorted map, in format version 9, newer"),
        refused(
            "torn-heap.img",
            |desk, image| {
                desk.succeed(&format!("heap create {image} --engine tinystore"));
                // The assignment of unit 0, which is the log unit of a new image.
                NorSim::open_image(&desk.path(image)).unwrap().poke(Address(16), &[0; 8]);
            },
            "it holds an object heap on 56 units of 8192 bytes",
        ),
        refused(
            "torn-log-heap.img",
            make_a_torn_log_structured_heap,
            "a log-structured heap on 56 units of 8192 bytes",
        ),
        refused(
            "empty.img",
            |desk, image| desk.write(image, ""),
            "not an image of a simulated part: the file is empty",
        ),
        refused("photo.img", |desk, image| desk.write(image, b"\xFF\xD8\xFF\xE0\0\x10JFIF\0\x01"), NOTHING_MAKES),
        refused("letter.img", |desk, image| desk.write(image, "Dear friend".repeat(1000)), NOTHING_MAKES),
        refused(
            "blank.bin",
            |desk, image| desk.write(image, [0xFF; 0x8000]),
            "as a chip's dump of 32768 bytes, it is blank: every byte is erased; --part NAME says which part",
        ),
        refused(
            "start.bin",
            |desk, image| {
                desk.succeed("heap create whole.img --part stm32l4:32");
                desk.succeed("image export whole.img whole.bin");
                let whole = std::fs::read(desk.path("whole.bin")).unwrap();
                desk.write(image, &whole[..whole.len() - 5000]);
            },
            "as a chip's dump of 60536 bytes, it holds the start of a log-structured heap on 32 units of 2048 bytes, \
             65536 bytes in all: read all of them from the chip",
        ),
        refused("short.img", |desk, image| truncate(desk, image, "heap create", 100), AS_IT_IS),
        refused("short-nand.img", |desk, image| truncate(desk, image, "nbd create", 100), AS_IT_IS),
        refused("stub.img", |desk, image| truncate(desk, image, "heap create", 450_000), AS_IT_IS),
        refused(
            "later.img",
            |desk, image| change(desk, image, 8, 99),
            "image format 99 is newer than this program's (1)",
        ),
        refused("geometry.img", |desk, image| change(desk, image, 64, 3), "its header is damaged"),
    ]
}

fn make_a_wide_index(desk: &Desk, image: &str) {
    let part = NorSim::create_image(&desk.path(image), catalogue::test_part(16, 4096)).unwrap();
    let mut list = FatList::<_, 8, 8>::format(part, Settings::paper_2011()).unwrap();
    list.insert(&[1; 8], &[2; 8]).unwrap();
    list.stop().unwrap();
}

/// As wide as a log, but its values vary.
fn make_a_varied_index(desk: &Desk, image: &str) {
    let part = NorSim::create_image(&desk.path(image), catalogue::test_part(16, 4096)).unwrap();
    let widths: Varying<4, 4> = Varying { key_bytes: 4, value_bytes: 4, log_bytes: 0 };
    let mut list = VaryingList::format(part, widths, Settings::paper_2011()).unwrap();
    list.insert(&[1; 4], &[2; 4]).unwrap();
    list.insert(&[2; 4], &[3; 2]).unwrap();
    list.update(&[1; 4], &[]).unwrap();
    list.stop().unwrap();
}

#[test]
fn a_raw_dump_shows_an_index_whose_values_vary() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    make_a_varied_index(&desk, "varied.img");
    let unit = desk.succeed("log dump varied.img --raw --unit 0");
    assert!(unit.contains("values of varying length, up to 4, in logs of"), "{unit}");
    let object = unit.lines().find(|line| line.contains("object, level 0")).unwrap();
    // Two records count, and one does no more.
    let numbers: Vec<&str> = object.split_whitespace().rev().skip(1).take(3).collect();
    assert_eq!(numbers, ["0", "1", "2"], "{unit}");
    desk.succeed("log dump varied.img --raw");
    desk.fail("log show varied.img", &["it holds a sorted map on 16 units of 4096 bytes"]);
}

/// A block device on the part, which may lose power meanwhile.
fn format_disk<D: Nand>(part: D) -> Result<Ftl<D, Vec<u8>>, MountError<D::Error>> {
    let memory = vec![0; Ftl::<D, Vec<u8>>::memory_bytes(&part.part(), 40)];
    Ftl::format(part, memory, FtlConfig { logical_pages: 40 })
}

/// Power is lost after the page that says that the part is being formatted, and before the first of the checkpoint.
fn make_a_cut_disk(desk: &Desk, image: &str) {
    let mut part = NandSim::create_image(&desk.path(image), nand_catalogue::test_part(24, 8, 256)).unwrap();
    part.cut_power_after(5, Tear::Nothing);
    assert!(format_disk(&mut part).is_err());
}

/// What a client has written, without the pages of the checkpoint.
fn make_pages_of_a_disk(desk: &Desk, image: &str) {
    let spec = nand_catalogue::test_part(24, 8, 256);
    let mut part = NandSim::create_image(&desk.path(image), spec.clone()).unwrap();
    let mut disk = format_disk(NandSim::new(spec)).unwrap();
    (0..40).for_each(|number| disk.write(Lba(number), &[7; 256]).unwrap());
    let device = disk.into_device();
    for block in part.part().blocks() {
        for page in (0..8).map(|page| block.page(page)) {
            let cells = device.peek(page);
            if cells.starts_with(&[7; 256]) {
                part.poke(page, Column(0), &cells);
            }
        }
    }
}

fn make_code(desk: &Desk, image: &str) {
    let mut part = NandSim::create_image(&desk.path(image), nand_catalogue::test_part(24, 8, 256)).unwrap();
    let room = Room { start: Block(3), blocks: 9 };
    ImageWriter::<64, 256, Crc32c>::new().write(&mut part, room, 900, &mut &*vec![7; 900]).unwrap();
}

fn make_tenants(desk: &Desk, image: &str) {
    let mut part = NorSim::create_image(&desk.path(image), catalogue::test_part(16, 4096)).unwrap();
    let mut label = Label::default();
    label.add(b"objects", TenantKind::HEAP, 0..8).unwrap();
    label.add(b"empty", TenantKind::INDEX, 8..14).unwrap();
    NorLabel(&mut part).store(&label).unwrap();
    Heap::<_, 64>::format(NorPartition::new(&mut part, 0..8).unwrap(), Config::default()).unwrap();
}

fn make_a_newer_heap(desk: &Desk, image: &str) {
    desk.succeed(&format!("heap create {image} --engine tinystore"));
    let mut device = NorSim::open_image(&desk.path(image)).unwrap();
    let part = device.part();
    for unit in (0..part.unit_count).map(EraseUnit) {
        let bytes: [u8; IDENTITY_BYTES] = device.peek(part.start_of(unit), IDENTITY_BYTES).try_into().unwrap();
        let identity = Identity { version: 9, ..Identity::decode(&bytes).unwrap() };
        device.poke(part.start_of(unit), &identity.encode());
    }
}

/// Without the head of its log's unit, but with those of others.
fn make_a_torn_log_structured_heap(desk: &Desk, image: &str) {
    desk.succeed(&format!("heap create {image} --engine log"));
    let mut device = NorSim::open_image(&desk.path(image)).unwrap();
    let mut heap = LogHeap::<_, 64>::mount(&mut device).unwrap();
    heap.create(Layout::uniform(2, 4)).unwrap();
    let part = device.part();
    for start in (0..part.unit_count).map(|unit| part.start_of(EraseUnit(unit))) {
        let head = device.peek(start, 24);
        if head.starts_with(b"NLH1") && head[16] == 3 {
            device.poke(start, &[0; 24]);
        }
    }
}

fn make_a_newer_index(desk: &Desk, image: &str) {
    desk.succeed(&format!("log create {image} --part test-16x4096"));
    let mut device = NorSim::open_image(&desk.path(image)).unwrap();
    for unit in (0..16).map(EraseUnit) {
        let start = device.part().start_of(unit);
        device.poke(start, &codes::encode_identity(fat_list::format::MAGIC, 9, |_| {}));
    }
}

/// An image without its last bytes.
fn truncate(desk: &Desk, image: &str, create: &str, missing: usize) {
    desk.succeed(&format!("{create} {image}"));
    let mut bytes = std::fs::read(desk.path(image)).unwrap();
    bytes.truncate(bytes.len() - missing);
    desk.write(image, bytes);
}

/// A heap's image with one byte of its header changed.
fn change(desk: &Desk, image: &str, at: usize, byte: u8) {
    desk.succeed(&format!("heap create {image} --engine tinystore"));
    let mut bytes = std::fs::read(desk.path(image)).unwrap();
    bytes[at] = byte;
    desk.write(image, bytes);
}

/// An image file, and when it was written last.
fn state_of(desk: &Desk, image: &str) -> (Vec<u8>, SystemTime) {
    let path = desk.path(image);
    (std::fs::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap())
}

/// The command with its words in their places.
fn words(command: &str, image: &str) -> String {
    command.replace("IMAGE", image)
}

#[test]
fn whoever_refuses_an_image_says_what_it_is_and_what_opens_it() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.write("readings.csv", "60,1\n120,2\n");
    for Case { image, make, opened_by, holds, named } in cases() {
        make(&desk, image);
        let before = state_of(&desk, image);
        let is_refused = |(group, command): &&(Group, &str)| {
            // A first program is installed on a blank part.
            !(opened_by.contains(group) || image == "blank-nand.img" && command.starts_with("code install"))
        };
        for (_, command) in COMMANDS.iter().chain(&REFUSED).filter(is_refused) {
            let words = words(command, image);
            let answer = desk.run(&words);
            assert_eq!((answer.code, answer.output.as_str()), (2, ""), "norn {words}: {answer:?}");
            let said = answer.errors.strip_suffix('\n').unwrap();
            assert!(said.starts_with(&format!("norn: {image}: ")), "norn {words}: {said}");
            assert!(said.contains(holds), "norn {words}: {holds:?} is not in {said:?}");
            assert!(!said.contains('\n') && !said.contains('{'), "norn {words}: one line, in words: {said}");
            if let Some(named) = named {
                assert!(said.ends_with(&format!(": `{named}` opens it")), "norn {words}: {said}");
            }
            assert!(state_of(&desk, image) == before, "norn {words}: what is refused is not written to");
        }
        if let Some(named) = named {
            desk.succeed(named.strip_prefix("norn ").unwrap());
        }
        let opens = |command: &str| !command.starts_with("nbd serve"); // It would serve until a signal.
        for (_, command) in COMMANDS.iter().filter(|(group, command)| opened_by.contains(group) && opens(command)) {
            desk.succeed(&words(command, image));
        }
    }
}

#[test]
fn a_heap_that_cannot_be_mounted_is_shown_raw() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("heap create a.img --engine tinystore");
    NorSim::open_image(&desk.path("a.img")).unwrap().poke(Address(16), &[0; 8]);
    for command in ["heap check a.img", "heap show a.img", "heap dump a.img"] {
        desk.fail(command, &["cannot be mounted", "`norn heap dump a.img --raw` shows its cells as they are"]);
    }
    desk.succeed("heap dump a.img --raw");
    make_a_newer_heap(&desk, "newer.img");
    assert!(desk.succeed("heap dump newer.img --raw").contains("say format version 9, which is newer"));
}

#[test]
fn a_file_that_is_missing_or_in_use_is_not_explained() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("heap create used.img --engine tinystore");
    desk.write("readings.csv", "60,1");
    let _used = NorSim::open_image(&desk.path("used.img")).unwrap();
    for (_, command) in COMMANDS {
        let missing = desk.run(&words(command, "none.img"));
        assert_eq!(missing.errors, "norn: none.img: No such file or directory\n", "{command}");
    }
    let used = desk.run("heap check used.img");
    let said = "norn: used.img: in use by another process; `lsof used.img` shows which; stop it, or wait until it has \
                ended. Commands that only look share a file with each other, not with one that changes it\n";
    assert_eq!(used.errors, said);
    let converted = desk.run("heap convert used.img new.img");
    assert_eq!(converted.errors, said, "whoever opened it");
    std::fs::create_dir(desk.path("used.card")).unwrap();
    std::fs::hard_link(desk.path("used.img"), desk.path("used.card/nor.img")).unwrap();
    desk.fail("card show used.card", &["used.card/nor.img: in use by another process; `lsof used.card/nor.img` shows"]);
}
