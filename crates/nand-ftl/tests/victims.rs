//! Which block a collector empties: of those with the fewest live pages, the one with the fewest erases; and the wear
//! leveler: any that is two erases behind the average.

use crate::model;

use model::formatted;
use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::test_part;
use norn_nand_ftl::{Ftl, Lba, LevelStep, RecycleStep};

const PAGES: u32 = 160;

#[test]
fn of_blocks_with_equal_live_pages_the_least_worn_is_emptied_first() {
    let mut compared = 0;
    for seed in 0..24 {
        let (mut ftl, model) = formatted(test_part(40, 8, 128), 2, PAGES, seed);
        let page = model.bytes(0, 1);
        let mut random = fastrand::Rng::with_seed(seed);
        for lba in 0..PAGES {
            ftl.write(Lba(lba), &page).unwrap();
        }
        // Hot pages wear some blocks more than others.
        for _ in 0..random.u32(2000..4000) {
            ftl.write(Lba(random.u32(0..24)), &page).unwrap();
        }
        // Full blocks are equal now, except those with the checkpoint: none of their pages is live.
        ftl.trim(Lba(0), PAGES).unwrap();
        let mut last = 0;
        while let Some(mut recycling) = ftl.start_recycling(1) {
            let erases = ftl.erase_counts().nth(usize::from(recycling.victim.0)).unwrap().unwrap();
            if ftl.recycle_step(&mut recycling).unwrap() != RecycleStep::Erased {
                ftl.stop_recycling(recycling);
                break;
            }
            assert!(erases >= last, "seed {seed}: {} with {erases} erases after one with {last}", recycling.victim);
            compared += u32::from(erases > last && last > 0);
            last = erases;
        }
    }
    assert!(compared > 20, "{compared} victims were less worn than the next");
}

#[test]
fn the_wear_leveler_is_idle_only_while_no_full_block_is_two_erases_behind() {
    idle_only_while_no_full_block_lags(2, |ftl| ftl.level_step().unwrap());
}

#[test]
fn a_lag_that_is_given_is_what_the_wear_leveler_waits_for() {
    idle_only_while_no_full_block_lags(6, |ftl| ftl.level_step_at_lag(6).unwrap());
}

/// Levels after each write, and finds what lags exactly when there is a step to take.
fn idle_only_while_no_full_block_lags(lag: u32, level: fn(&mut Ftl<NandSim, Vec<u8>>) -> LevelStep) {
    let (mut compared, mut copied) = (0, 0);
    for seed in 0..4 {
        let (mut ftl, model) = formatted(test_part(40, 8, 128), 2, PAGES, seed);
        let page = model.bytes(0, 1);
        let mut random = fastrand::Rng::with_seed(seed);
        (0..PAGES).for_each(|lba| ftl.write(Lba(lba), &page).unwrap());
        for _ in 0..750 * lag {
            ftl.write(Lba(random.u32(0..24)), &page).unwrap();
            let before = spread(&ftl);
            if level(&mut ftl) == LevelStep::Copied {
                assert!(before >= lag, "seed {seed}: a page was copied at a lag of {before}");
                copied += 1;
                continue;
            }
            let erases: Vec<_> = ftl.erase_counts().collect();
            let sum: u32 = erases.iter().flatten().sum();
            let good_blocks = erases.iter().flatten().count() as u32;
            for at in (0..PAGES).filter_map(|lba| ftl.page_of(Lba(lba)).unwrap()) {
                let is_full = ftl.device().peek(at.block.page(7)).iter().any(|&byte| byte != 0xFF);
                let Some(erases) = erases[usize::from(at.block.0)].filter(|_| is_full) else { continue };
                assert!(sum < (erases + lag) * good_blocks, "seed {seed}: {} with {erases} erases of {sum}", at.block);
                compared += u32::from(sum + good_blocks >= (erases + lag) * good_blocks);
            }
        }
    }
    assert!(compared > 100 && copied > 100, "{compared} pages an erase from it, {copied} copied");
}

/// How far the least worn block lags the average, in whole erases.
fn spread(ftl: &Ftl<NandSim, Vec<u8>>) -> u32 {
    let erases: Vec<u32> = ftl.erase_counts().flatten().collect();
    erases.iter().sum::<u32>() / erases.len() as u32 - erases.iter().min().unwrap()
}
