//! Images that earlier code wrote are mounted by today's, and hold what was put into them.
//!
//! `tests/images` has a small image of each format, as the code of 2026-11-22 wrote it. Each is mounted, read, and used
//! further. What makes the images is here, too, so that an image of a new version can be put beside the old ones:
//! `NORN_IMAGES=write cargo test -p norn-embedded --test suite old_images::` writes those that are missing. An image
//! that is there is never written again. `formats.rs` compares what today's code writes, byte by byte.
//!
//! In the files, a line is an offset, 32 bytes, and how many such rows follow each other. What is left out is erased.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use norn_code_pager::policy::Lru;
use norn_code_pager::{CodeAddress, Crc32c, ImageWriter, Options, Pager, Room, RoomName, Rooms, Standing};
use norn_flash::{
    Address, Block, Column, FORMAT_HEAD_BYTES, Label, LabelDevice, Nand, NandLabel, NorLabel, Piece, Reprogramming,
    TenantKind, format_of_head,
};
use norn_flash_sim::{NandSim, NandSpec, NorSim, PartSpec, catalogue, nand_catalogue};
use norn_nand_ftl::{Ftl, FtlConfig, Lba, MountError, recognise, recognition_bytes};
use norn_nor_remap::{Remap, RemapConfig};
use norn_object_heap::{Config, Elements, ErrorDetection, Heap, Layout};
use norn_ordered_index::{FatList, OrderedIndex, Settings};

/// Bytes of a row.
const ROW: usize = 32;

/// An image file, what made it, and what it holds.
struct Image {
    file: &'static str,
    make: fn() -> Vec<u8>,
    /// Mounts the image and panics if it does not hold what was put into it.
    check: fn(&[u8]),
}

const IMAGES: [Image; 13] = [
    Image { file: "heap-1-slots", make: || cells(heap(slots())), check: |image| check_heap(part_of(slots(), image)) },
    Image {
        file: "heap-1-deltas",
        make: || cells(heap(deltas())),
        check: |image| check_heap(part_of(deltas(), image)),
    },
    Image {
        file: "heap-1-detection",
        make: || cells(heap(detection())),
        check: |image| check_heap(part_of(detection(), image)),
    },
    Image { file: "remap-1-once", make: || remapped(once()), check: |image| check_remapped(once(), image) },
    Image { file: "remap-1-spares", make: || remapped(plain()), check: |image| check_remapped(plain(), image) },
    Image { file: "fat-list-1", make: fat_list, check: check_fat_list },
    Image { file: "label-1-nor", make: nor_label, check: check_nor_label },
    Image { file: "label-1-nand", make: nand_label, check: check_nand_label },
    Image { file: "block-device-2", make: block_device, check: check_block_device },
    Image { file: "code-1", make: code_image, check: check_code_image },
    Image { file: "code-2", make: code_image, check: check_code_image },
    Image { file: "programs-1", make: programs, check: check_programs },
    Image { file: "programs-2", make: programs, check: check_programs },
];

#[test]
fn heads_of_all_formats_are_known() {
    let formats = [
        (cells(heap(slots())), "an object heap"),
        (remapped(once()), "an overlay for limited parts"),
        (fat_list(), "a sorted map"),
        (block_device(), "a block device on NAND"),
        (code_image(), "a code image"),
        (programs(), "programs in two rooms"),
        (nor_label(), "a label with a partition table"),
        (nand_label(), "a label with a partition table"),
    ];
    for (image, what) in formats {
        let heads = image.chunks(64).map(|bytes| bytes[..FORMAT_HEAD_BYTES].try_into().unwrap());
        assert_eq!(heads.into_iter().find_map(|head| format_of_head(&head)), Some(what));
    }
    assert_eq!(format_of_head(&[0xFF; FORMAT_HEAD_BYTES]), None);
}

#[test]
fn images_of_earlier_code_are_mounted() {
    for Image { file, make, check } in IMAGES {
        check(&make());
        let path = path_of(file);
        if std::env::var("NORN_IMAGES").is_ok_and(|asked| asked == "write") && !path.exists() {
            fs::write(&path, text(&make())).unwrap();
        }
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let image = bytes(&text, make().len());
        assert!(image.iter().any(|&byte| byte != 0xFF), "{file} holds something");
        println!("{file}: if this fails, raise the format's version, and record the change in CHANGELOG.md");
        check(&image);
    }
}

fn path_of(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/images/{file}.hex"))
}

#[test]
fn a_block_device_of_version_1_is_recognised_and_refused() {
    let image = bytes(&fs::read_to_string(path_of("block-device-1")).unwrap(), block_device().len());
    let mut part = nand_of(disk_nand(), &image);
    let mut buffer = vec![0; recognition_bytes(&disk_nand().part)];
    let recognised = recognise(&mut part, &mut buffer).unwrap().expect("it is recognised");
    assert_eq!((recognised.version, recognised.known_version), (1, 2));
    let before = (pages(&part), part.counters().programs, part.counters().erases);
    let error = Ftl::mount(&mut part, disk_memory()).err();
    assert_eq!(error, Some(MountError::OtherVersion { found: 1, known: 2 }));
    let said = error.unwrap().to_string();
    assert!(said.contains("version 1 is older") && said.contains("release that wrote it"), "{said}");
    assert_eq!((pages(&part), part.counters().programs, part.counters().erases), before, "it is left as it was");
}

#[test]
fn a_file_says_what_is_in_an_image() {
    let mut image = vec![0xFF; 5 * ROW];
    image[ROW..3 * ROW].fill(7);
    image[3 * ROW + 1] = 0;
    let written = text(&image);
    assert_eq!(written.lines().count(), 2, "{written}");
    assert_eq!(bytes(&written, image.len()), image);
}

fn text(image: &[u8]) -> String {
    let mut text = String::new();
    let rows: Vec<&[u8]> = image.chunks(ROW).collect();
    let mut at = 0;
    while at < rows.len() {
        let count = rows[at..].iter().take_while(|row| **row == rows[at]).count();
        if rows[at].iter().any(|&byte| byte != 0xFF) {
            let row: String = rows[at].iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(text, "{:06x} {row} {count}", at * ROW).unwrap();
        }
        at += count;
    }
    text
}

fn bytes(text: &str, len: usize) -> Vec<u8> {
    let mut image = vec![0xFF; len];
    for line in text.lines() {
        let [offset, row, count] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let row: Vec<u8> =
            (0..row.len()).step_by(2).map(|at| u8::from_str_radix(&row[at..at + 2], 16).unwrap()).collect();
        let rows = row.repeat(count.parse().unwrap());
        image[usize::from_str_radix(offset, 16).unwrap()..][..rows.len()].copy_from_slice(&rows);
    }
    image
}

/// The cells of a NOR part.
fn cells(part: NorSim) -> Vec<u8> {
    part.peek(Address(0), part.spec().part.size_bytes() as usize)
}

/// The pages of a NAND part.
fn pages(part: &NandSim) -> Vec<u8> {
    let all = part.part().blocks().flat_map(|block| (0..part.part().pages_per_block).map(move |page| block.page(page)));
    all.flat_map(|page| part.peek(page)).collect()
}

/// A NAND part with these pages.
fn nand_of(spec: NandSpec, image: &[u8]) -> NandSim {
    let (mut part, register_bytes) = (NandSim::new(spec.clone()), usize::from(spec.part.register_bytes()));
    for (number, page) in (0_u16..).zip(image.chunks(register_bytes)) {
        let block = Block(number / spec.part.pages_per_block);
        if page.iter().any(|&byte| byte != 0xFF) {
            part.program(block.page(number % spec.part.pages_per_block), &[Piece::new(Column(0), page)]).unwrap();
        }
    }
    part
}

fn slots() -> (PartSpec, Config) {
    (catalogue::test_part(12, 512), Config { array_threshold: 4, ..Config::tinystore_2006() })
}

fn deltas() -> (PartSpec, Config) {
    (catalogue::test_part(12, 512), Config { array_threshold: 4, ..Config::default() })
}

fn detection() -> (PartSpec, Config) {
    (catalogue::test_part(16, 512), Config { error_detection: ErrorDetection::On, ..slots().1 })
}

fn part_of((spec, _): (PartSpec, Config), image: &[u8]) -> NorSim {
    NorSim::from_cells(spec, image)
}

/// A heap with an object, a split array, roots, and a transaction that the power cut short.
fn heap((spec, config): (PartSpec, Config)) -> NorSim {
    let mut heap: Heap<_, 32> = Heap::format(NorSim::new(spec), config).unwrap();
    fill(&mut heap);
    heap.into_device()
}

fn fill<D: norn_flash::Nor>(heap: &mut Heap<D, 32>) {
    let purse = heap.create(Layout::fields(&[4, 1, 2]).with_header(b"purse")).unwrap();
    heap.set_root(b"purse", Some(purse)).unwrap();
    let array = heap.create_array(10, 2, b"ten").unwrap();
    heap.set_root(b"array", Some(array)).unwrap();
    let gone = heap.create(Layout::uniform(2, 4)).unwrap();
    for value in 1..=9_u32 {
        heap.put_field(purse, 0, &(value * 1000).to_le_bytes()).unwrap();
        heap.array_store(array, value as usize, &[value as u8, 0xA0]).unwrap();
    }
    heap.delete(gone).unwrap();
    heap.begin().unwrap();
    heap.put_field(purse, 0, &[0xEE; 4]).unwrap();
    heap.put_field(purse, 1, &[0xEE]).unwrap();
}

fn check_heap<D: norn_flash::Nor>(part: D) {
    let mut heap: Heap<_, 32> = Heap::mount(part).unwrap();
    let purse = heap.root(b"purse").unwrap().expect("a root");
    let (mut value, mut header) = ([0; 4], [0; 5]);
    heap.get_field(purse, 0, &mut value).unwrap();
    heap.read_header(purse, &mut header).unwrap();
    assert_eq!((u32::from_le_bytes(value), &header), (9000, b"purse"));
    heap.get_field(purse, 1, &mut value[..1]).unwrap();
    assert_eq!(value[0], 0, "what was not committed is undone");
    let array = heap.root(b"array").unwrap().expect("a root");
    let mut elements = [0; 20];
    heap.array_read(array, 0, &mut elements).unwrap();
    assert_eq!(elements[..6], [0, 0, 1, 0xA0, 2, 0xA0]);
    assert_eq!(elements[18..], [9, 0xA0]);
    let mut audited = norn_flash::Collected::default();
    heap.audit(&mut audited).unwrap();
    assert_eq!(audited.violations, []);
    for step in 0..200_u32 {
        heap.put_field(purse, 0, &step.to_le_bytes()).unwrap();
        heap.array_fill_non_atomic(Elements { array, first: 2, count: 5 }, &[step as u8, 1]).unwrap();
    }
}

fn once() -> PartSpec {
    catalogue::limited_test_part(14, 1536, 8, Reprogramming::Once)
}

fn plain() -> PartSpec {
    catalogue::test_part(14, 1024)
}

fn remapped(spec: PartSpec) -> Vec<u8> {
    let remap: Remap<_, 32> = Remap::format(NorSim::new(spec), RemapConfig { spare_units: 2 }).unwrap();
    let mut heap = Heap::format(remap, slots().1).unwrap();
    fill(&mut heap);
    cells(heap.into_device().into_device())
}

fn check_remapped(spec: PartSpec, image: &[u8]) {
    check_heap(Remap::<_, 32>::mount(NorSim::from_cells(spec, image)).unwrap());
}

fn index_part() -> PartSpec {
    catalogue::limited_test_part(4, 1024, 2, Reprogramming::Unlimited)
}

fn fat_list() -> Vec<u8> {
    let settings = Settings { turnstile_blocks: 4, levels: 3, slots: 6, keys: 4, pool: 6 };
    let mut list: FatList<_, 2, 3> = FatList::format(NorSim::new(index_part()), settings).unwrap();
    for key in 0..30_u8 {
        list.insert(&[0, 7 * key], &[key, 1, 2]).unwrap();
    }
    for key in 0..10 {
        list.remove(&[0, 21 * key]).unwrap();
        list.update(&[0, 21 * key + 7], &[key, 8, 8]).unwrap();
    }
    cells(list.into_device())
}

fn check_fat_list(image: &[u8]) {
    let mut list: FatList<_, 2, 3> = FatList::mount(NorSim::from_cells(index_part(), image)).unwrap();
    assert_eq!(list.stats().unwrap().keys, 20);
    for key in 0..10 {
        assert_eq!(list.get(&[0, 21 * key]).unwrap(), None);
        assert_eq!(list.get(&[0, 21 * key + 7]).unwrap(), Some([key, 8, 8]));
        assert_eq!(list.get(&[0, 21 * key + 14]).unwrap(), Some([3 * key + 2, 1, 2]));
    }
    let mut audited: norn_flash::Collected = norn_flash::Collected::default();
    list.audit(&mut audited).unwrap();
    assert_eq!(audited.violations, []);
    for step in 0..200 {
        list.put(&[0, 14], &[step, 0, 0]).unwrap();
    }
}

fn label() -> Label {
    let mut label = Label::default();
    label.add(b"objects", TenantKind::HEAP, 0..3).unwrap();
    label.add(b"own", TenantKind(*b"mine"), 4..5).unwrap();
    label
}

fn nor_label() -> Vec<u8> {
    let mut part = NorSim::new(catalogue::test_part(8, 512));
    NorLabel(&mut part).store(&Label::default()).unwrap();
    NorLabel(&mut part).store(&label()).unwrap();
    cells(part)
}

fn check_nor_label(image: &[u8]) {
    let mut part = NorSim::from_cells(catalogue::test_part(8, 512), image);
    assert_eq!(NorLabel(&mut part).load(), Ok(label()));
}

fn label_nand() -> NandSpec {
    nand_catalogue::test_part(12, 4, 256)
}

fn nand_label() -> Vec<u8> {
    let mut part = NandSim::new(label_nand());
    NandLabel(&mut part).store(&Label::default()).unwrap();
    NandLabel(&mut part).store(&label()).unwrap();
    pages(&part)
}

fn check_nand_label(image: &[u8]) {
    assert_eq!(NandLabel(&mut nand_of(label_nand(), image)).load(), Ok(label()));
}

const SECTORS: u32 = 12;

fn disk_nand() -> NandSpec {
    nand_catalogue::test_part(20, 4, 256)
}

fn disk_memory() -> Vec<u8> {
    vec![0; Ftl::<NandSim, Vec<u8>>::memory_bytes(&disk_nand().part, SECTORS)]
}

fn block_device() -> Vec<u8> {
    let config = FtlConfig { logical_pages: SECTORS };
    let mut disk = Ftl::format(NandSim::new(disk_nand()), disk_memory(), config).unwrap();
    for number in 0..100 {
        disk.write(Lba(number % SECTORS), &[number as u8; 256]).unwrap();
    }
    disk.trim(Lba(5), 1).unwrap();
    disk.flush().unwrap();
    pages(&disk.into_device())
}

fn check_block_device(image: &[u8]) {
    let mut disk = Ftl::mount(nand_of(disk_nand(), image), disk_memory()).unwrap();
    let mut page = [0; 256];
    for number in 88..100 {
        disk.read(Lba(number % SECTORS), &mut page).unwrap();
        assert_eq!(page, [if number % SECTORS == 5 { 0 } else { number as u8 }; 256], "{number}");
    }
    assert_eq!(disk.audit(&[]).unwrap(), None);
    for number in 0..100 {
        disk.write(Lba(number % SECTORS), &[number as u8; 256]).unwrap();
    }
}

fn code_nand() -> NandSpec {
    nand_catalogue::test_part(4, 8, 256)
}

fn code() -> Vec<u8> {
    (0..1500_u32).map(|at| (at / 64) as u8).collect()
}

fn code_image() -> Vec<u8> {
    let mut part = NandSim::new(code_nand());
    let room = Room { start: Block(1), blocks: 3 };
    ImageWriter::<64, 256, Crc32c>::new().write(&mut part, room, 1500, &mut &*code()).unwrap();
    pages(&part)
}

fn check_code_image(image: &[u8]) {
    let part = nand_of(code_nand(), image);
    let mut pager: Pager<_, Lru<8>, 8, 64, Crc32c> = Pager::open(part, Block(1), Options::default()).unwrap();
    let mut found = vec![0; 1500];
    pager.read(CodeAddress(0), &mut found).unwrap();
    assert_eq!(found, code());
}

fn programs_nand() -> NandSpec {
    nand_catalogue::test_part(12, 4, 256)
}

const ROOMS: Rooms = Rooms::split(Room { start: Block(0), blocks: 12 });

/// A program that runs, and one on trial.
fn programs() -> Vec<u8> {
    let mut part = NandSim::new(programs_nand());
    for (version, bytes) in [("1.0.0", 700), ("1.1.0", 1200)] {
        let mut writer = ImageWriter::<64, 256, Crc32c>::new().with_version(version.parse().unwrap());
        writer.update(&mut part, &ROOMS, bytes, &mut &code()[..], Standing::Trial { boots_left: 2 }).unwrap();
    }
    pages(&part)
}

fn check_programs(image: &[u8]) {
    let mut part = nand_of(programs_nand(), image);
    for (version, room) in [("1.1.0", RoomName::B), ("1.1.0", RoomName::B), ("1.0.0", RoomName::A)] {
        let boot = ROOMS.boot::<_, Crc32c>(&mut part, &mut [0; 64]).unwrap();
        assert_eq!((boot.header.version.to_string().as_str(), boot.room), (version, room));
    }
    let mut writer = ImageWriter::<64, 256, Crc32c>::new();
    writer.update(&mut part, &ROOMS, 1200, &mut &code()[..], Standing::Confirmed).unwrap();
}
