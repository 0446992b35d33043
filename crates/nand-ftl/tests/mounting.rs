//! What mounting costs, counted; that everything is found without a checkpoint; and that no damage makes it panic, loop
//! or touch what is marked bad.

use crate::model;

use model::{Model, Operation, TestFtl, audit, formatted, memory, mounted};
use norn_flash::{Column, NandPart, PageNumber};
use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::{k9f2808, test_part};
use norn_nand_ftl::{Ftl, FtlConfig, Lba, MountError, max_logical_pages, programs_per_checkpoint_page};

/// Loads of a mount.
fn loads(ftl: TestFtl) -> (u64, TestFtl) {
    let before = ftl.device().counters().loads;
    let ftl = mounted(ftl.into_device());
    (ftl.device().counters().loads - before, ftl)
}

#[test]
fn mounting_looks_at_the_tail_only() {
    let spec = k9f2808();
    let (part, logical_pages) = (spec.part, 16_384);
    let (mut ftl, mut model) = formatted(spec, 10, logical_pages, 1);
    let mut random = fastrand::Rng::with_seed(1);
    for lba in 0..logical_pages {
        Operation::Write { lba, count: 1 }.run(&mut ftl, &mut model).unwrap();
    }
    for _ in 0..20_000 {
        Operation::Write { lba: random.u32(0..logical_pages), count: 1 }.run(&mut ftl, &mut model).unwrap();
    }
    let (loads, mut ftl) = loads(ftl);
    let chunks = u64::from(16_384_u32.div_ceil(116) + 1024_u32.div_ceil(58));
    let journal = u64::from(programs_per_checkpoint_page(&part));
    // The first page of each block, each chunk, the tail twice, and the blocks in which its start is looked for.
    let bound = 1024 + chunks + 2 * (2 * journal + 4) + 8 * 32;
    eprintln!("mounting loads {loads} of {} pages, at most {bound}", part.page_count());
    assert!(loads <= bound && loads > 1024 + chunks);
    model.check(&mut ftl, "k9f2808");
    audit(&mut ftl, &[], "k9f2808");
}

fn damaged(part: &NandPart, sim: &mut NandSim, random: &mut fastrand::Rng) {
    for _ in 0..random.u32(1..20) {
        let page = part.page_at(PageNumber(random.u32(0..part.page_count())));
        match random.u8(0..3) {
            0 => sim.flip_bits(page, random.usize(1..40), random.u64(..)),
            1 => {
                let bytes: Vec<u8> = (0..part.register_bytes()).map(|_| random.u8(..)).collect();
                sim.poke(page, Column(0), &bytes);
            }
            _ => {
                // Another page's content, checks and all.
                let other = sim.peek(part.page_at(PageNumber(random.u32(0..part.page_count()))));
                sim.poke(page, Column(0), &other);
            }
        }
    }
}

#[test]
fn damage_makes_no_panic() {
    let spec = test_part(24, 8, 128);
    let part = spec.part;
    let logical_pages = max_logical_pages(&part, 2) * 9 / 10;
    let (mut ftl, mut model) = formatted(spec, 2, logical_pages, 3);
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..600 {
        Operation::draw(&mut random, logical_pages).run(&mut ftl, &mut model).unwrap();
    }
    let sim = ftl.into_device();
    let (mut mounts, mut refusals) = (0, 0);
    for seed in 0..400 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut sim = sim.clone();
        damaged(&part, &mut sim, &mut random);
        sim.power_on();
        let Ok(mut ftl) = Ftl::mount(sim, memory(&part)) else {
            refusals += 1;
            continue;
        };
        mounts += 1;
        for lba in 0..logical_pages {
            let _ = ftl.read(Lba(lba), &mut [0; 128]);
        }
        for _ in 0..50 {
            let _ = Operation::draw(&mut random, logical_pages).run(&mut ftl, &mut model);
        }
    }
    eprintln!("{mounts} damaged parts mounted, {refusals} were refused");
    assert!(mounts > 300, "most damage costs pages, not the device");
}

#[test]
fn parts_without_a_format_are_refused() {
    let spec = test_part(24, 8, 128);
    let part = spec.part;
    assert_eq!(Ftl::mount(NandSim::new(spec.clone()), memory(&part)).err(), Some(MountError::NotFormatted));
    let mut sim = NandSim::new(spec.clone());
    let mut random = fastrand::Rng::with_seed(9);
    for number in 0..part.page_count() {
        let bytes: Vec<u8> = (0..part.register_bytes()).map(|_| random.u8(..)).collect();
        sim.poke(part.page_at(PageNumber(number)), Column(0), &bytes);
    }
    assert_eq!(Ftl::mount(sim, memory(&part)).err(), Some(MountError::NotFormatted));
    let (ftl, _) = formatted(spec, 2, 60, 1);
    let needed = TestFtl::memory_bytes(&part, 60);
    let error = Ftl::mount(ftl.into_device(), vec![0; needed - 1]).err();
    assert_eq!(
        error,
        Some(MountError::TooSmall { what: "bytes of memory", needed: needed as u32, given: needed as u32 - 1 })
    );
}

/// Without any chunk of the map that can be read, pages are found by looking at all of them.
/// A mount takes one block; of blocks of three pages it would take two, and could lose a page in cuts in a row.
#[test]
fn parts_with_blocks_of_fewer_than_four_pages_are_refused() {
    for (pages, is_refused) in [(2, true), (3, true), (4, false)] {
        let mut sim = NandSim::new(test_part(24, pages, 128));
        let part = sim.spec().part;
        let config = FtlConfig { logical_pages: 8 };
        let formatted =
            Ftl::format(&mut sim, vec![0; Ftl::<NandSim, Vec<u8>>::memory_bytes(&part, 8)], config).map(drop);
        match formatted {
            Ok(()) => assert!(!is_refused, "blocks of {pages} pages"),
            Err(error) => {
                assert!(is_refused, "blocks of {pages} pages: {error}");
                assert!(error.to_string().contains("blocks of fewer than four pages"), "{error}");
                assert_eq!(sim.operations(), 0, "nothing was touched");
            }
        }
    }
}

#[test]
fn a_lost_chunk_is_made_up_for_by_a_scan() {
    let spec = test_part(24, 8, 128);
    let part = spec.part;
    let logical_pages = max_logical_pages(&part, 2) / 2;
    let (mut ftl, mut model) = formatted(spec, 2, logical_pages, 5);
    for lba in 0..logical_pages {
        Operation::Write { lba, count: 1 }.run(&mut ftl, &mut model).unwrap();
    }
    let mut sim = ftl.into_device();
    // Destroy every page of chunk 0, which the out-of-band area calls 0x800000.
    let mut destroyed = 0;
    for number in 0..part.page_count() {
        let page = part.page_at(PageNumber(number));
        if sim.peek(page)[128..131] == [0, 0, 0x80] {
            sim.poke(page, Column(0), &[0; 144]);
            destroyed += 1;
        }
    }
    assert!(destroyed > 0);
    let mut ftl = Ftl::mount(sim, memory(&part)).unwrap();
    let mut model = Model { maybe: Vec::new(), ..model };
    model.check(&mut ftl, "without chunk 0");
}
