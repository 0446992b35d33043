//! The formats on flash and in image files are those of 2026-11-22: fixed scripts leave the same bytes on parts as the
//! code of that day did.
//!
//! A checksum covers every byte of a part or a file after a few hundred operations. A change that was to leave the
//! format alone and changes a checksum has changed the format, or what operations do. If the format has changed, raise
//! its version and mark the change in CHANGELOG.md. If only the operations have changed, `old_images.rs` still passes;
//! record the new checksum here.

use norn_baselines::{EepromHeap, MuTree};
use norn_code_pager::{Crc32c, ImageWriter, Room};
use norn_flash::{
    Address, Block, EraseUnit, Label, LabelDevice, Nand, NandLabel, Nor, NorLabel, NorPart, Reprogramming, TenantKind,
};
use norn_flash_sim::{EepromSim, NandSim, NorSim, catalogue, nand_catalogue};
use norn_nand_ftl::{Ftl, FtlConfig, Lba, max_logical_pages};
use norn_nor_remap::{Remap, RemapConfig};
use norn_object_heap::{AccessError, Config, Elements, ErrorDetection, Heap, Layout, Ref, StoreError};
use norn_ordered_index::{FatList, IndexError, OrderedIndex, Settings};

const HEAP_TINYSTORE: u32 = 0x5CA4_E4F2;
const HEAP_DELTAS: u32 = 0x7F71_9129;
const HEAP_DETECTION: u32 = 0x25EA_F648;
const REMAP: u32 = 0x688A_36C1;
const FAT_LIST: u32 = 0x429D_3B1D;
const SOFT_LIST: u32 = 0x147A_CE4A;
const MU_TREE: u32 = 0x4AFB_752B;
const LOGGED_TREE: u32 = 0xBAB8_63E7;
const EEPROM_HEAP: u32 = 0xDCA1_E0BF;
const BLOCK_DEVICE: u32 = 0x125C_503A;
const CODE_IMAGE: u32 = 0xA229_6F17;
const NOR_LABEL: u32 = 0xE715_2E9A;
const NAND_LABEL: u32 = 0x714B_A1F4;
const NOR_IMAGE_FILE: u32 = 0x2683_6786;
const NAND_IMAGE_FILE: u32 = 0x2D59_5477;

/// CRC-32/ISO-HDLC, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes
        .iter()
        .fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| crc >> 1 ^ (0xEDB8_8320 * (crc & 1))))
}

/// Numbers that follow each other as if at random: a generator of this file's own, so that no library changes them.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % bound
    }
}

fn expect(what: &str, found: u32, recorded: u32) {
    assert_eq!(
        found, recorded,
        "{what}: checksum {found:#010x}, recorded {recorded:#010x}: if the format has changed, raise its version and \
         record that in CHANGELOG.md; if only what operations do has changed, record the checksum in formats.rs"
    );
}

/// Objects, arrays, headers, roots, transactions that commit and abort, deletions and a collection.
fn use_heap<D: Nor>(heap: &mut Heap<D, 64>) {
    let mut numbers = Numbers(7);
    let mut objects: Vec<(Ref, u32)> = Vec::new();
    for count in 1..12 {
        let header = [count as u8; 3];
        let layout = Layout::uniform(count, 2).with_header(&header[..count % 4]);
        let object = heap.create(layout).unwrap();
        heap.set_root(&[b'a' + count as u8], Some(object)).unwrap();
        objects.push((object, count as u32));
    }
    let array = heap.create_array(300, 2, b"samples").unwrap();
    heap.set_root(b"array", Some(array)).unwrap();
    for step in 0..400_u32 {
        let (object, count) = objects[numbers.below(objects.len() as u32) as usize];
        let value = (step as u16).to_le_bytes();
        match numbers.below(12) {
            0 => drop(heap.array_fill_non_atomic(Elements { array, first: step as usize % 200, count: 40 }, &value)),
            1 => heap.array_store(array, step as usize % 300, &value).unwrap(),
            2 => {
                heap.begin().unwrap();
                heap.put_field(object, 0, &value).unwrap();
                heap.array_store(array, 0, &value).unwrap();
                if step % 2 == 0 { heap.commit().unwrap() } else { heap.abort().unwrap() }
            }
            3 => match heap.create(Layout::fields(&[4, 1, 2])) {
                Ok(other) if step % 3 == 0 => heap.delete(other).unwrap(),
                Ok(_) => {}
                Err(error) => panic!("{error}"),
            },
            _ => match heap.put_field(object, numbers.below(count) as usize, &value) {
                Ok(()) => {}
                Err(AccessError::Store(StoreError::Full)) => {}
                Err(error) => panic!("{error:?}"),
            },
        }
        if step % 100 == 99 {
            heap.collect(&[], |_, _| Ok(())).unwrap();
        }
    }
}

fn whole(sim: &NorSim) -> Vec<u8> {
    sim.peek(Address(0), sim.spec().part.size_bytes() as usize)
}

#[test]
fn heaps() {
    let configs = [
        ("TinyStore's structure", Config::tinystore_2006(), HEAP_TINYSTORE),
        ("delta records", Config::default(), HEAP_DELTAS),
        ("error detection", Config { error_detection: ErrorDetection::On, ..Config::default() }, HEAP_DETECTION),
    ];
    for (what, config, recorded) in configs {
        let mut heap: Heap<_, 64> = Heap::format(NorSim::new(catalogue::test_part(16, 2048)), config).unwrap();
        use_heap(&mut heap);
        expect(what, checksum(&whole(&heap.into_device())), recorded);
    }
}

#[test]
fn a_heap_on_a_part_whose_words_are_programmed_once() {
    let part = catalogue::limited_test_part(24, 4096, 8, Reprogramming::Once);
    let remap: Remap<_, 64> = Remap::format(NorSim::new(part), RemapConfig { spare_units: 2 }).unwrap();
    let mut heap: Heap<_, 64> = Heap::format(remap, Config::tinystore_2006()).unwrap();
    use_heap(&mut heap);
    expect("remap", checksum(&whole(&heap.into_device().into_device())), REMAP);
}

/// Insertions, updates and removals of 400 keys.
fn use_index<I: OrderedIndex<2, 3>>(index: &mut I) {
    let mut numbers = Numbers(11);
    for step in 0..1500_u32 {
        let key = (numbers.below(400) as u16 * 7).to_be_bytes();
        let value = [step as u8, (step >> 8) as u8, 9];
        let outcome = if numbers.below(4) == 0 { index.remove(&key) } else { index.put(&key, &value) };
        assert!(matches!(outcome, Ok(()) | Err(IndexError::KeyAbsent | IndexError::Full)), "call {step}: {outcome:?}");
    }
}

#[test]
fn indexes() {
    let part = |units| NorSim::new(catalogue::limited_test_part(units, 2048, 2, Reprogramming::Unlimited));
    let fat = Settings { turnstile_blocks: 4, levels: 3, slots: 10, keys: 7, pool: 6 };
    let soft = Settings { turnstile_blocks: 4, levels: 3, slots: 2, keys: 1, pool: 6 };
    for (what, settings, recorded) in [("fat list", fat, FAT_LIST), ("soft list", soft, SOFT_LIST)] {
        let mut list: FatList<_, 2, 3> = FatList::format(part(12), settings).unwrap();
        use_index(&mut list);
        list.stop().unwrap();
        expect(what, checksum(&whole(&list.into_device())), recorded);
    }
    let mut tree: MuTree<_, 2, 3, 128> = MuTree::format(part(40)).unwrap();
    use_index(&mut tree);
    expect("µ-tree", checksum(&whole(&tree.into_device())), MU_TREE);
    let mut logged: MuTree<_, 2, 3, 128, 24> = MuTree::format(part(40)).unwrap();
    use_index(&mut logged);
    expect("logged leaves", checksum(&whole(&logged.into_device())), LOGGED_TREE);
}

#[test]
fn a_heap_on_eeprom() {
    let mut heap = EepromHeap::format(EepromSim::new(catalogue::eeprom_test_part(8192, 4)), 1024).unwrap();
    let mut numbers = Numbers(13);
    let objects: Vec<Ref> = (1..20).map(|count| heap.create(Layout::uniform(count, 2)).unwrap()).collect();
    heap.set_root(b"first", Some(objects[0])).unwrap();
    for step in 0..300_u32 {
        let object = objects[numbers.below(19) as usize];
        heap.begin().unwrap();
        heap.put_field(object, 0, &(step as u16).to_le_bytes()).unwrap();
        heap.write_header(object, &[step as u8; 5][..step as usize % 6]).unwrap();
        if step % 5 == 0 { heap.abort().unwrap() } else { heap.commit().unwrap() }
    }
    expect("EEPROM heap", checksum(&heap.into_device().peek(Address(0), 8192)), EEPROM_HEAP);
}

fn pages(sim: &NandSim) -> Vec<u8> {
    let part = sim.part();
    part.blocks().flat_map(|block| (0..part.pages_per_block).flat_map(move |page| sim.peek(block.page(page)))).collect()
}

#[test]
fn a_block_device() {
    let part = nand_catalogue::test_part(32, 16, 512);
    let config = FtlConfig { logical_pages: max_logical_pages(&part.part, 0) / 10 * 8 };
    let memory = vec![0; Ftl::<NandSim, Vec<u8>>::memory_bytes(&part.part, config.logical_pages)];
    let mut ftl = Ftl::format(NandSim::new(part), memory, config).unwrap();
    let mut numbers = Numbers(17);
    for step in 0..600_u32 {
        let lba = Lba(numbers.below(config.logical_pages));
        if step % 11 == 0 { ftl.trim(lba, 1).unwrap() } else { ftl.write(lba, &[step as u8; 512]).unwrap() }
    }
    ftl.flush().unwrap();
    expect("block device", checksum(&pages(&ftl.into_device())), BLOCK_DEVICE);
}

#[test]
fn an_image_of_code() {
    let mut part = NandSim::new(nand_catalogue::test_part(8, 8, 512));
    part.mark_bad(&[Block(2)]);
    let code: Vec<u8> = (0..12_000_u32).map(|at| (at / 3) as u8).collect();
    let room = Room { start: Block(1), blocks: 7 };
    ImageWriter::<64, 512, Crc32c>::new().write(&mut part, room, 12_000, &mut &code[..]).unwrap();
    expect("code image", checksum(&pages(&part)), CODE_IMAGE);
}

#[test]
fn labels() {
    let mut numbers = Numbers(19);
    let (mut nor, mut nand) =
        (NorSim::new(catalogue::test_part(64, 512)), NandSim::new(nand_catalogue::test_part(64, 4, 256)));
    nand.mark_bad(&[Block(60)]);
    for count in 0..12 {
        let mut label = Label::default();
        for tenant in 0..count {
            let (name, kind) = ([b'a' + tenant as u8; 12], [TenantKind::HEAP, TenantKind(*b"mine")][tenant % 2]);
            let start = 5 * tenant as u16;
            label.add(&name[..1 + tenant], kind, start..start + 1 + numbers.below(5) as u16).unwrap();
        }
        NorLabel(&mut nor).store(&label).unwrap();
        NandLabel(&mut nand).store(&label).unwrap();
    }
    expect("label on NOR", checksum(&whole(&nor)), NOR_LABEL);
    expect("label on NAND", checksum(&pages(&nand)), NAND_LABEL);
}

#[test]
fn image_files() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("nor.img");
    let mut sim = NorSim::create_image(&path, catalogue::nrf52840()).unwrap();
    let NorPart { unit_size_bytes, .. } = sim.part();
    for step in 0..40_u32 {
        sim.program(Address(step * 64), &[step as u8; 8]).unwrap();
        sim.read(Address(step), &mut [0; 13]).unwrap();
    }
    sim.erase(EraseUnit(1)).unwrap();
    sim.cut_power_after(1, norn_flash_sim::Tear::Unstable(3));
    sim.program(Address(3 * unit_size_bytes), &[0; 4]).unwrap();
    sim.erase(EraseUnit(2)).unwrap_err();
    drop(sim);
    expect("NOR image file", checksum(&std::fs::read(&path).unwrap()), NOR_IMAGE_FILE);

    let path = directory.path().join("nand.img");
    let mut sim = NandSim::create_image(&path, nand_catalogue::test_part(8, 4, 64)).unwrap();
    sim.mark_bad(&[Block(5)]);
    for page in 0..4 {
        let bytes = [page as u8 + 1; 64];
        sim.program(Block(1).page(page), &[norn_flash::Piece::new(norn_flash::Column(0), &bytes)]).unwrap();
        sim.load(Block(1).page(page)).unwrap();
        sim.fetch(&mut [0; 9]).unwrap();
    }
    sim.erase(Block(3)).unwrap();
    sim.cut_power_after(0, norn_flash_sim::Tear::Unstable(5));
    sim.erase(Block(1)).unwrap_err();
    drop(sim);
    expect("NAND image file", checksum(&std::fs::read(&path).unwrap()), NAND_IMAGE_FILE);
}
