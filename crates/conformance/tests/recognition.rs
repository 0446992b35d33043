//! Each format's crate recognises its own, and no other; of another version, too; and writes nothing for it.

use norn_code_pager::{Crc32c, ImageWriter, Room, Rooms, Standing};
use norn_flash::{
    Address, Block, Label, LabelDevice, Nand, NandLabel, NorLabel, NorPartition, Recognised, StatedGeometry, TenantKind,
};
use norn_flash_sim::{NandSim, NorSim, Tear, catalogue, nand_catalogue};
use norn_nand_ftl::{FORMAT_CUT_SHORT, Ftl, FtlConfig, Lba, recognition_bytes};
use norn_nor_remap::{Remap, RemapConfig};
use norn_object_heap::{Config, Heap};
use norn_ordered_index::{FatList, Settings, codes, fat_list};

const GEOMETRY: StatedGeometry = StatedGeometry { count: 16, size_bytes: 1024 };

fn nor() -> NorSim {
    NorSim::new(catalogue::test_part(GEOMETRY.count, GEOMETRY.size_bytes))
}

/// What the crates recognise on a NOR part.
fn found_on(part: &mut NorSim) -> Vec<Recognised> {
    let operations = part.operations();
    let found = [
        NorLabel(&mut *part).recognise(),
        norn_nor_remap::recognise(part),
        norn_object_heap::recognise(part),
        norn_ordered_index::recognise(part),
    ];
    assert_eq!(part.operations(), operations, "recognising writes nothing");
    found.into_iter().filter_map(Result::unwrap).collect()
}

#[test]
fn nor_formats_are_told_apart() {
    assert_eq!(found_on(&mut nor()), []);

    let mut labelled = nor();
    NorLabel(&mut labelled).store(&Label::default()).unwrap();
    let heap = Heap::<_, 32>::format(nor(), Config::default()).unwrap().into_device();
    let settings = Settings { turnstile_blocks: 4, levels: 3, slots: 10, keys: 7, pool: 6 };
    let index = FatList::<_, 2, 4>::format(nor(), settings).unwrap().into_device();
    let remap = Remap::<_, 32>::format(nor(), RemapConfig { spare_units: 1 }).unwrap();
    let remapped = Heap::<_, 32>::format(remap, Config::default()).unwrap().into_device().into_device();

    let parts = [
        (labelled, TenantKind::LABEL),
        (heap, TenantKind::HEAP),
        (index, TenantKind::INDEX),
        (remapped, TenantKind::REMAP),
    ];
    for (mut part, kind) in parts {
        let found = found_on(&mut part);
        assert_eq!(found.len(), 1, "{kind}: {found:?}");
        assert_eq!((found[0].kind, found[0].version, found[0].geometry), (kind, 1, Some(GEOMETRY)));
        assert_eq!(found[0].known_version, 1);
    }
}

#[test]
fn a_tenant_is_recognised_where_it_lies_beside_the_label() {
    let mut part = nor();
    NorLabel(&mut part).store(&Label::default()).unwrap();
    let tenant = NorPartition::new(&mut part, 2..12).unwrap();
    let mut tenant = Heap::<_, 32>::format(tenant, Config::default()).unwrap().into_device();
    let found = norn_object_heap::recognise(&mut tenant).unwrap().unwrap();
    assert_eq!(found.geometry, Some(StatedGeometry { count: 10, size_bytes: 1024 }));
    assert_eq!(NorLabel(&mut tenant).recognise().unwrap(), None, "the label is not in the tenant's range");
    assert_eq!(NorLabel(&mut part).recognise().unwrap().unwrap().kind, TenantKind::LABEL);
}

#[test]
fn other_versions_are_recognised_and_named() {
    let mut part = nor();
    let identity =
        norn_nor_store::format::Identity { version: 7, unit_size_bytes: 2048, unit_count: 9, erase_count: 3 };
    part.poke(Address(5 * 1024), &identity.encode());
    let found = norn_object_heap::recognise(&mut part).unwrap().unwrap();
    assert_eq!((found.version, found.known_version), (7, 1));
    let text = "an object heap on 9 units of 2048 bytes, in format version 7, newer than this program's (1)";
    assert_eq!(found.to_string(), text);

    let mut part = nor();
    part.poke(Address(0), &codes::encode_identity(fat_list::format::MAGIC, 9, |_| {}));
    let found = norn_ordered_index::recognise(&mut part).unwrap().unwrap();
    assert_eq!((found.version, found.geometry), (9, None));
}

/// What the crates recognise on a NAND part.
fn found_on_nand(part: &mut NandSim) -> Vec<Recognised> {
    let operations = part.operations();
    let mut buffer = vec![0; recognition_bytes(&part.part())];
    let found = [
        NandLabel(&mut *part).recognise(),
        norn_nand_ftl::recognise(part, &mut buffer),
        norn_code_pager::recognise(part),
    ];
    assert_eq!(part.operations(), operations, "recognising writes nothing");
    found.into_iter().filter_map(Result::unwrap).collect()
}

#[test]
fn nand_formats_are_told_apart() {
    let nand = || {
        let mut part = NandSim::new(nand_catalogue::test_part(24, 8, 256));
        part.mark_bad(&[Block(1), Block(22)]);
        part
    };
    assert_eq!(found_on_nand(&mut nand()), []);

    let mut labelled = nand();
    NandLabel(&mut labelled).store(&Label::default()).unwrap();
    let mut code = nand();
    let mut writer = ImageWriter::<64, 256, Crc32c>::new();
    writer.write(&mut code, Room { start: Block(3), blocks: 9 }, 900, &mut &*vec![7; 900]).unwrap();
    let mut rooms = nand();
    let mut writer = ImageWriter::<64, 256, Crc32c>::new();
    let split = Rooms::split(Room { start: Block(2), blocks: 20 });
    writer.update(&mut rooms, &split, 900, &mut &*vec![7; 900], Standing::Confirmed).unwrap();
    assert_eq!(found_on_nand(&mut rooms)[0].to_string(), "programs in two rooms");
    let memory = vec![0; Ftl::<NandSim, Vec<u8>>::memory_bytes(&nand().part(), 40)];
    let mut disk = Ftl::format(nand(), memory, FtlConfig { logical_pages: 40 }).unwrap();
    for number in 0..200 {
        disk.write(Lba(number % 40), &[number as u8; 256]).unwrap();
    }

    let parts = [
        (labelled, TenantKind::LABEL, 1),
        (code, TenantKind::CODE, 2),
        (rooms, TenantKind::CODE, 2),
        (disk.into_device(), TenantKind::DISK, 2),
    ];
    for (mut part, kind, version) in parts {
        let found = found_on_nand(&mut part);
        assert_eq!(found.len(), 1, "{kind}: {found:?}");
        assert_eq!((found[0].kind, found[0].version, found[0].known_version), (kind, version, version));
        assert_eq!(norn_nand_ftl::recognise(&mut part, &mut [0; 100]).unwrap(), None, "the buffer is too small");
    }
}

/// A new block device; none where power is lost meanwhile.
fn format_disk(part: &mut NandSim) -> Option<Ftl<&mut NandSim, Vec<u8>>> {
    let memory = vec![0; Ftl::<NandSim, Vec<u8>>::memory_bytes(&part.part(), 40)];
    Ftl::format(part, memory, FtlConfig { logical_pages: 40 }).ok()
}

#[test]
fn a_block_device_is_recognised_wherever_its_formatting_was_cut() {
    let fresh = NandSim::new(nand_catalogue::test_part(24, 8, 256));
    let mut used = fresh.clone();
    let mut disk = format_disk(&mut used).unwrap();
    (0..40).for_each(|number| disk.write(Lba(number), &[number as u8; 256]).unwrap());
    for (part, is_used) in [(fresh, false), (used, true)] {
        let (mut cut_short, mut devices) = (0, 0);
        for operations in 0.. {
            let mut part = part.clone();
            part.cut_power_after(operations, Tear::Nothing);
            if format_disk(&mut part).is_some() {
                break;
            }
            part.power_on();
            match found_on_nand(&mut part)[..] {
                [] => assert!(!is_used && operations < 2, "nothing after {operations} operations"),
                [found] if found.what == FORMAT_CUT_SHORT => cut_short += 1,
                [found] => {
                    assert_eq!(found.to_string(), "a block device on NAND", "after {operations} operations");
                    devices += 1;
                }
                ref found => panic!("{found:?}"),
            }
        }
        assert!(cut_short > 10 && devices > 0, "{cut_short} cut short, {devices} devices");
    }
}
