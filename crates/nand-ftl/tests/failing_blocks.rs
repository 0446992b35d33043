//! Blocks that fail while something depends on them: what was there before does not come back, and nothing is lost.

use crate::model;

use model::{Model, Operation, TestFtl, formatted, memory};
use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::{NandSpec, test_part};
use norn_nand_ftl::{Ftl, FtlConfig, FtlError, Lba, longest_write, max_logical_pages};

fn worn(spec: &NandSpec, seed: u64, operations: u32) -> (TestFtl, Model, fastrand::Rng) {
    let logical_pages = max_logical_pages(&spec.part, 2) * 7 / 10;
    let (mut ftl, mut model) = formatted(spec.clone(), 2, logical_pages, seed);
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..operations {
        Operation::draw(&mut random, logical_pages).run(&mut ftl, &mut model).unwrap();
    }
    (ftl, model, random)
}

fn mount_again(mut sim: NandSim) -> TestFtl {
    sim.power_on();
    let part = sim.spec().part;
    Ftl::mount(sim, memory(&part)).expect("mounts")
}

#[test]
fn a_format_over_a_block_that_can_no_longer_be_erased_shows_nothing_of_before() {
    let spec = test_part(40, 8, 128);
    for block in spec.part.blocks() {
        let (ftl, model, _) = worn(&spec, 3, 800);
        let logical_pages = model.pages.len() as u32 - 8;
        let mut sim = ftl.into_device();
        sim.fail_block(block);
        let ftl = Ftl::format(sim, memory(&spec.part), FtlConfig { logical_pages }).unwrap();
        let mut ftl = mount_again(ftl.into_device());
        assert_eq!(ftl.logical_pages(), logical_pages, "{block}");
        for lba in 0..logical_pages {
            let mut page = [0xFF; 128];
            ftl.read(Lba(lba), &mut page).unwrap_or_else(|error| panic!("{block}: page {lba}: {error}"));
            assert_eq!(page, [0; 128], "{block}: page {lba}");
        }
    }
}

/// The program of a page of the checkpoint fails, and the page reads as whole: what was programmed in its place counts.
#[test]
fn flushed_trims_stay_after_a_page_of_the_checkpoint_has_failed() {
    for seed in 0..60 {
        let spec = [test_part(30, 8, 128), test_part(34, 4, 128), test_part(40, 8, 512)][seed as usize % 3].clone();
        let (mut ftl, mut model, mut random) = worn(&spec, seed, 150 + seed as u32);
        for number in 0..40 {
            let (mut failing, mut expected) = (ftl.clone(), model.clone());
            let lba = random.u32(0..model.pages.len() as u32);
            failing.device_mut().fail_after(0);
            failing.trim(Lba(lba), 1).unwrap();
            expected.pages[lba as usize] = 0;
            failing.flush().unwrap();
            failing.checkpoint_step().unwrap();
            expected.unflushed.clear();
            let mut sim = failing.into_device();
            for boot in 0..6 {
                let mut mounted = mount_again(sim);
                expected.check(&mut mounted, &format!("seed {seed}, trim {number}, boot {boot}"));
                sim = mounted.into_device();
            }
            Operation::draw(&mut random, model.pages.len() as u32).run(&mut ftl, &mut model).unwrap();
        }
    }
}

/// Once a flush has returned, a block that failed before is left alone by every mount: nothing is programmed to it or
/// erased in it, however long the device is used further.
#[test]
fn blocks_that_failed_before_a_flush_are_left_alone_after_every_mount() {
    let mut failed = 0;
    for seed in 0..24 {
        let spec = [test_part(30, 8, 128), test_part(34, 4, 128), test_part(60, 32, 128)][seed as usize % 3].clone();
        let (mut ftl, mut model, mut random) = worn(&spec, seed, 300);
        let logical_pages = model.pages.len() as u32;
        ftl.device_mut().fail_after(random.u64(0..20));
        while ftl.device().failed_blocks().is_empty() {
            Operation::draw(&mut random, logical_pages).run(&mut ftl, &mut model).unwrap();
        }
        ftl.flush().unwrap();
        model.unflushed.clear();
        let good = ftl.good_blocks();
        for boot in 0..3 {
            ftl = mount_again(ftl.into_device());
            assert_eq!(ftl.good_blocks(), good, "seed {seed}, boot {boot}");
            for _ in 0..200 {
                Operation::draw(&mut random, logical_pages).run(&mut ftl, &mut model).unwrap();
            }
            // The part fails a block that has failed whenever it is touched.
            assert_eq!(ftl.counters().retired, 0, "seed {seed}, boot {boot}");
            ftl.flush().unwrap();
            model.unflushed.clear();
            model.check(&mut ftl, &format!("seed {seed}, boot {boot}"));
        }
        failed += ftl.device().failed_blocks().len();
    }
    assert_eq!(failed, 24);
}

#[test]
fn a_page_of_the_checkpoint_that_finds_no_room_keeps_the_journal() {
    for seed in 0..40 {
        let (mut ftl, mut model, mut random) = worn(&test_part(40, 8, 128), seed, 400);
        while ftl.checkpoint_step().is_ok() {
            for _ in 0..random.u32(0..60) {
                if ftl.page_counts().free > 3 {
                    drop(ftl.level_step());
                }
            }
        }
        assert!(matches!(ftl.checkpoint_step(), Err(FtlError::NoSpace)), "seed {seed}");
        drop(ftl.recycle());
        let logical_pages = model.pages.len() as u32;
        let mut operations = (0..20).map(|_| Operation::draw(&mut random, logical_pages).run(&mut ftl, &mut model));
        let _ = operations.all(|outcome| outcome.is_ok());
        if ftl.flush().is_ok() {
            model.unflushed.clear();
        }
        model.lose_power();
        let mut sim = ftl.into_device();
        sim.power_on();
        let part = sim.spec().part;
        let mut ftl = Ftl::mount(sim, memory(&part)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        model.check(&mut ftl, &format!("seed {seed}"));
    }
}

/// On a part in full use whose blocks fail one after the other, each write ends within its bound, in success or without
/// room. What was written stays, and the part is mounted again.
#[test]
fn each_write_ends_on_a_full_part_whose_blocks_fail() {
    let small = [test_part(40, 8, 128), test_part(60, 32, 128), test_part(40, 64, 512)].map(|spec| (spec, 5));
    for (spec, seed) in small.into_iter().chain([5, 18].map(|seed| (test_part(40, 128, 512), seed))) {
        let logical_pages = max_logical_pages(&spec.part, 2);
        let (mut ftl, mut model) = formatted(spec.clone(), 2, logical_pages, seed);
        let mut random = fastrand::Rng::with_seed(seed);
        for lba in 0..logical_pages {
            Operation::Write { lba, count: 1 }.run(&mut ftl, &mut model).unwrap();
        }
        let pages = u64::from(spec.part.block_count) * u64::from(spec.part.pages_per_block);
        let (mut refused, mut longest) = (0, 0);
        for failures in 1..24 {
            ftl.device_mut().fail_after(random.u64(0..200));
            for _ in 0..200 {
                let write = Operation::Write { lba: random.u32(0..logical_pages), count: 1 };
                let (before, failed) = (ftl.device().operations(), ftl.device().failed_blocks().len());
                match write.run(&mut ftl, &mut model) {
                    Ok(()) => {}
                    Err(FtlError::NoSpace) => refused += 1,
                    Err(error) => panic!("{}, seed {seed}, {failures} failures: {error:?}", spec.name),
                }
                let failed = ftl.device().failed_blocks().len() - failed;
                let operations = ftl.device().operations() - before;
                let bound = longest_write(&spec.part, failed as u32);
                assert!(operations <= bound, "{}, seed {seed}: {operations} operations, not {bound}", spec.name);
                longest = longest.max(operations);
            }
        }
        // None takes more than a pass over the part: what the bound has beside one is for blocks that yield an eighth.
        assert!(longest <= pages, "{}, seed {seed}: {longest} operations, {pages} pages", spec.name);
        assert!((1..4_500).contains(&refused), "{}, seed {seed}: {refused} refused", spec.name);
        model.check(&mut ftl, &spec.name.to_string());
        model.check(&mut mount_again(ftl.into_device()), &spec.name.to_string());
    }
}
