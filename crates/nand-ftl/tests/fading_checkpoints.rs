//! Pages of the checkpoint that are whole at one mount and not at the next, as the contract of NAND parts allows after
//! a cut: neither trims that were flushed nor acknowledged writes come undone.

use crate::model;

use model::{Model, Operation, TestFtl, formatted, memory, mounted};
use norn_flash::{Block, Column, PageAddress};
use norn_flash_sim::nand_catalogue::{NandSpec, test_part};
use norn_flash_sim::{NandSim, Tear};
use norn_nand_ftl::{Ftl, RecycleStep, max_logical_pages};

/// A device with two bad blocks, after random operations on `tenths` of the logical pages that it can have.
fn worn(spec: &NandSpec, tenths: u32, seed: u64) -> (TestFtl, Model, fastrand::Rng) {
    let logical_pages = max_logical_pages(&spec.part, 2) * tenths / 10;
    let (mut ftl, mut model) = formatted(spec.clone(), 2, logical_pages, seed);
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..150 + seed % 100 {
        Operation::draw(&mut random, logical_pages).run(&mut ftl, &mut model).unwrap();
    }
    (ftl, model, random)
}

/// Cuts a mount at its operation `at`; whether it took so many.
fn cut_mount(sim: &mut NandSim, at: u64) -> bool {
    let memory = memory(&sim.spec().part);
    sim.power_on();
    sim.cut_power_after(at, Tear::Nothing);
    Ftl::mount(&mut *sim, memory).is_err()
}

/// The program of the newest page of the checkpoint is cut, and so is the mount that may have found it whole.
#[test]
fn a_page_of_the_checkpoint_that_fades_leaves_the_page_before_it() {
    for seed in 0..18 {
        let spec = [test_part(24, 8, 128), test_part(30, 4, 128), test_part(20, 5, 128)][seed as usize % 3].clone();
        let (mut ftl, mut model, mut random) = worn(&spec, 10, seed);
        for _ in 0..20 {
            let mut torn = ftl.clone();
            torn.device_mut().cut_power_after(0, Tear::Wavering(random.u64(..)));
            assert!(torn.checkpoint_step().is_err(), "seed {seed}: a page of the checkpoint is a program");
            let mut cut_model = model.clone();
            cut_model.lose_power();
            for at in 0..18 {
                let mut sim = torn.clone().into_device();
                sim.reseed(at);
                if cut_mount(&mut sim, at / 3) {
                    let mut model = cut_model.clone();
                    let mut ftl = mounted(sim);
                    model.check(&mut ftl, &format!("seed {seed}, the mount cut at {}", at / 3));
                    model.check(&mut mounted(ftl.into_device()), &format!("seed {seed}, once more"));
                }
            }
            Operation::draw(&mut random, model.pages.len() as u32).run(&mut ftl, &mut model).unwrap();
        }
    }
}

/// Recycles a block up to its erase, which is cut and changes nothing yet. `None` if there is no block to recycle.
fn cut_erase(mut ftl: TestFtl) -> Option<(NandSim, Block)> {
    let mut recycling = ftl.start_recycling(1)?;
    loop {
        let mut cut = ftl.clone();
        let erases = cut.device().counters().erases;
        cut.device_mut().cut_power_after(0, Tear::Nothing);
        assert!(cut.recycle_step(&mut recycling.clone()).is_err());
        if cut.device().counters().erases > erases {
            return Some((cut.into_device(), recycling.victim));
        }
        if ftl.recycle_step(&mut recycling).unwrap() != RecycleStep::Copied {
            return None;
        }
    }
}

/// Makes some bits of each page of a block read as erased.
fn fade(sim: &mut NandSim, block: Block) {
    for page in 0..sim.spec().part.pages_per_block {
        let mut bytes = sim.peek(block.page(page));
        let programmed = bytes.iter_mut().step_by(3).filter(|byte| **byte != 0xFF);
        programmed.take(9).for_each(|byte| *byte |= *byte + 1);
        sim.poke(block.page(page), Column(0), &bytes);
    }
}

/// An erase is cut when all of its block was copied. The block reads as before at the next mount, and not after.
#[test]
fn a_block_whose_erase_was_cut_fades_later() {
    for seed in (0..12).chain([156, 264]) {
        let spec = [test_part(24, 8, 128), test_part(30, 4, 128), test_part(40, 8, 512)][seed as usize % 3].clone();
        let (mut ftl, mut model, mut random) = worn(&spec, 9, seed);
        for _ in 0..40 {
            Operation::draw(&mut random, model.pages.len() as u32).run(&mut ftl, &mut model).unwrap();
            Operation::Flush.run(&mut ftl, &mut model).unwrap();
            let Some((sim, victim)) = cut_erase(ftl.clone()) else { continue };
            let pages = |sim: &NandSim| -> Vec<_> {
                (0..spec.part.pages_per_block).map(|page| sim.peek(victim.page(page))).collect()
            };
            let before = pages(&sim);
            let mut sim = mounted(sim).into_device();
            if pages(&sim) == before {
                fade(&mut sim, victim);
            }
            model.clone().check(&mut mounted(sim), &format!("seed {seed}, victim {victim}"));
        }
    }
}

/// A page of the checkpoint is lost, so the map is made from all pages; a cut in that mount leaves the newest writes.
#[test]
fn a_checkpoint_that_is_written_anew_leaves_the_newest_write() {
    let spec = test_part(40, 8, 128);
    let part = spec.part;
    for seed in (0..8).step_by(2) {
        let logical_pages = max_logical_pages(&part, 2) * 8 / 10;
        let (mut ftl, mut model) = formatted(spec.clone(), 2, logical_pages, seed);
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..500 + seed % 50 {
            let lba = random.u32(0..logical_pages);
            Operation::Write { lba, count: 1 }.run(&mut ftl, &mut model).unwrap();
        }
        let sim = ftl.into_device();
        for page in older_checkpoint_pages(&sim) {
            let mut damaged = sim.clone();
            damaged.flip_bits(page, 20, seed);
            for at in (0..).step_by(3) {
                let mut cut = damaged.clone();
                if !cut_mount(&mut cut, at) {
                    break;
                }
                cut.power_on();
                let mut ftl = Ftl::mount(cut, memory(&part)).unwrap();
                model.check(&mut ftl, &format!("seed {seed}, page {page}, the mount cut at {at}"));
            }
        }
    }
}

/// The pages of the checkpoint that the newest one follows, the newest four of them.
fn older_checkpoint_pages(sim: &NandSim) -> Vec<PageAddress> {
    let part = sim.spec().part;
    let as_of = |page: PageAddress| u64::from_le_bytes(sim.peek(page)[16..24].try_into().unwrap());
    let all = part.blocks().flat_map(|block| (0..part.pages_per_block).map(move |page| block.page(page)));
    let mut pages: Vec<PageAddress> = all.filter(|&page| sim.peek(page).starts_with(b"NFT2")).collect();
    pages.sort_by_key(|&page| std::cmp::Reverse(as_of(page)));
    pages.into_iter().skip(1).take(4).collect()
}
