//! An image file of a NAND part holds what the part holds, stays sparse, outlives a process that is killed, and is
//! refused with a reason when it is not whole.

use std::fs;
use std::path::Path;

use norn_flash::{Block, Column, Nand, PageAddress, Piece};
use norn_flash_sim::{ImageError, NandSim, NandSimError, Tear, nand_catalogue};

fn program(sim: &mut NandSim, page: PageAddress, fill: u8) -> Result<(), NandSimError> {
    let bytes = vec![fill; usize::from(sim.part().register_bytes())];
    sim.program(page, &[Piece::new(Column(0), &bytes)])
}

/// All that a part holds and has done.
fn everything(sim: &NandSim) -> (Vec<Vec<u8>>, Vec<u32>, String) {
    let part = sim.part();
    let pages = part.blocks().flat_map(|block| (0..part.pages_per_block).map(move |page| block.page(page)));
    let others = (sim.failed_blocks(), sim.counters(), sim.elapsed_ns(), sim.operations());
    let cells = pages.map(|page| sim.peek(page)).collect();
    (cells, sim.erase_counts().collect(), format!("{others:?}"))
}

fn loads_differ(sim: &mut NandSim, page: PageAddress) -> bool {
    let mut load = || {
        let mut bytes = [0; 64];
        sim.load(page).unwrap();
        sim.fetch(&mut bytes).unwrap();
        bytes
    };
    let first = load();
    (0..8).any(|_| load() != first)
}

#[test]
fn a_part_goes_on_where_it_stopped_and_as_one_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.img");
    let spec = nand_catalogue::test_part(6, 4, 64);
    let (mut sim, mut twin) = (NandSim::create_image(&path, spec.clone()).unwrap(), NandSim::new(spec));
    for sim in [&mut sim, &mut twin] {
        sim.mark_bad(&[Block(5)]);
        program(sim, Block(1).page(0), 0x3C).unwrap();
        program(sim, Block(1).page(2), 0xC3).unwrap();
        sim.erase(Block(2)).unwrap();
        sim.copy(Block(1).page(2), Block(2).page(1), &[]).unwrap();
        sim.fail_block(Block(4));
        assert!(sim.erase(Block(4)).is_err());
        program(sim, Block(3).page(0), 0).unwrap();
        sim.cut_power_after(0, Tear::Unstable(3));
        program(sim, Block(3).page(1), 0).unwrap_err();
        sim.power_on();
        sim.cut_power_after(0, Tear::Unstable(4));
        sim.erase(Block(1)).unwrap_err();
    }
    let before = everything(&sim);
    assert_eq!(before, everything(&twin));
    drop(sim);

    let mut sim = NandSim::open_image(&path).unwrap();
    assert_eq!(everything(&sim), before);
    let copy = sim.clone();
    assert!(loads_differ(&mut sim, Block(3).page(1)) && loads_differ(&mut sim, Block(1).page(0)));
    assert!(matches!(program(&mut sim, Block(1).page(3), 1), Err(NandSimError::TornErase { .. })));
    assert!(matches!(program(&mut sim, Block(2).page(1), 1), Err(NandSimError::OutOfOrder { .. })));
    assert!(matches!(sim.erase(Block(5)), Err(NandSimError::MarkedBad { .. })));
    assert_eq!(sim.is_marked_bad(Block(5)), Ok(true));
    assert!(matches!(sim.erase(Block(4)), Err(NandSimError::EraseFailed { .. })));
    sim.erase(Block(1)).unwrap();
    sim.sync().unwrap();
    drop(sim);
    let sim = NandSim::open_image(&path).unwrap();
    assert_eq!(sim.peek(Block(1).page(0)), [0xFF; 80]);
    assert_eq!(everything(&copy), before, "a clone lives in memory");
}

#[test]
fn a_process_that_is_killed_leaves_each_operation_done_or_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.img");
    let mut sim = NandSim::create_image(&path, nand_catalogue::test_part(4, 4, 64)).unwrap();
    program(&mut sim, Block(1).page(0), 0x3C).unwrap();
    let killed = dir.path().join("killed.img");
    fs::copy(&path, &killed).unwrap();
    // The cells of the next page are there, its block's record is not: as killed between the two.
    program(&mut sim, Block(1).page(1), 0).unwrap();
    let whole = fs::read(&path).unwrap();
    let mut half = fs::read(&killed).unwrap();
    half[8192..].copy_from_slice(&whole[8192..]);
    fs::write(&killed, &half).unwrap();
    let mut sim = NandSim::open_image(&killed).unwrap();
    assert_eq!((sim.peek(Block(1).page(0)), sim.peek(Block(1).page(1))), (vec![0x3C; 80], vec![0xFF; 80]));
    program(&mut sim, Block(1).page(1), 7).unwrap();
    assert_eq!(sim.peek(Block(1).page(1)), [7; 80]);
}

/// The host may cut the write of a process that is killed between pages of its cache, and its own power between
/// sectors.
#[test]
fn what_a_program_changes_of_its_blocks_record_lies_in_one_sector() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.img");
    let mut sim = NandSim::create_image(&path, nand_catalogue::test_part(120, 32, 64)).unwrap();
    let records = 4096..12288;
    let mut before = fs::read(&path).unwrap();
    for block in sim.part().blocks() {
        program(&mut sim, block.page(31), 0x3C).unwrap();
        let after = fs::read(&path).unwrap();
        let changed: Vec<usize> = records.clone().filter(|&at| before[at] != after[at]).collect();
        let (first, last) = (changed[0], changed[changed.len() - 1]);
        assert!(first < last && first / 512 == last / 512, "{block}: bytes {first} to {last}");
        before = after;
    }
}

#[cfg(unix)]
#[test]
fn a_gigabyte_is_a_sparse_file() {
    use std::os::unix::fs::MetadataExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.img");
    let mut sim = NandSim::create_image(&path, nand_catalogue::k9k8g08()).unwrap();
    for block in sim.part().blocks().step_by(128) {
        program(&mut sim, block.page(0), 0x11).unwrap();
    }
    drop(sim);
    let metadata = fs::metadata(&path).unwrap();
    assert!(metadata.len() > 1 << 30 && metadata.blocks() * 512 < 8 << 20, "{} blocks", metadata.blocks());
    let sim = NandSim::open_image(&path).unwrap();
    assert_eq!((sim.programmed_pages(), sim.peek(Block(128).page(0))), (64, vec![0x11; 2112]));
}

#[test]
fn an_image_that_is_not_whole_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.img");
    drop(NandSim::create_image(&path, nand_catalogue::test_part(4, 4, 64)).unwrap());
    assert!(matches!(NandSim::create_image(&path, nand_catalogue::k9f2808()), Err(ImageError::Exists { .. })));
    let good = fs::read(&path).unwrap();
    let open_with = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        NandSim::open_image(&path).unwrap_err().to_string()
    };
    assert!(open_with(b"").contains("the file is empty"));
    assert!(open_with(b"NORNSIM\0").ends_with("an image of a simulated NOR part, not of a NAND part"));
    assert!(open_with(&good[..100]).contains("its 100 bytes are less than an image's header"));
    assert!(open_with(&good[..good.len() - 1]).contains("truncated or extended"));
    assert!(open_with(&[&good[..], &[0]].concat()).contains("truncated or extended"));
    let damaged = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    assert!(open_with(&damaged(9)).contains("newer"));
    let mut older = good.clone();
    older[8] = 1;
    assert!(open_with(&older).contains("its format 1 is older than this program's, 2"));
    for at in [10, 12, 64, 71, 72] {
        assert!(open_with(&damaged(at)).contains("header is damaged"), "byte {at}");
    }
    fs::write(&path, &good).unwrap();
    let _open = NandSim::open_image(&path).unwrap();
    assert!(matches!(NandSim::open_image(&path), Err(ImageError::Locked { .. })));
    assert!(NandSim::open_image(Path::new("/nowhere")).unwrap_err().to_string().starts_with("/nowhere"));
}

#[test]
fn an_image_that_is_read_stays_as_it_is_and_is_saved_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (path, copy) = (dir.path().join("part.img"), dir.path().join("copy.img"));
    let mut sim = NandSim::create_image(&path, nand_catalogue::test_part(6, 4, 64)).unwrap();
    sim.mark_bad(&[Block(5)]);
    program(&mut sim, Block(1).page(0), 0x3C).unwrap();
    sim.cut_power_after(0, Tear::Unstable(3));
    program(&mut sim, Block(3).page(1), 0).unwrap_err();
    drop(sim);
    let before = fs::read(&path).unwrap();
    let mut read = NandSim::read_image(&path).unwrap();
    let everything_read = everything(&read);
    read.save_image(&copy).unwrap();
    program(&mut read, Block(1).page(1), 0x77).unwrap();
    read.erase(Block(3)).unwrap();
    assert_eq!((read.peek(Block(1).page(1))[0], read.peek(Block(1).page(0))[0]), (0x77, 0x3C));
    drop(read);
    assert!(fs::read(&path).unwrap() == before);
    let copied = NandSim::open_image(&copy).unwrap();
    assert_eq!(everything(&copied), everything_read);
}

#[test]
fn the_bytes_of_an_image_are_a_part_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.img");
    let mut sim = NandSim::create_image(&path, nand_catalogue::test_part(6, 4, 64)).unwrap();
    program(&mut sim, Block(1).page(0), 0x5A).unwrap();
    sim.cut_power_after(0, Tear::Subset(3));
    sim.erase(Block(2)).unwrap_err();
    drop(sim);
    let bytes = fs::read(&path).unwrap();
    let mut again = NandSim::from_image_bytes(bytes[..].into()).unwrap();
    assert_eq!(everything(&again), everything(&NandSim::read_image(&path).unwrap()));
    program(&mut again, Block(1).page(1), 0x33).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes, "the file is left as it is");
    assert!(NandSim::from_image_bytes(bytes[..bytes.len() - 1].into()).is_err());
}
