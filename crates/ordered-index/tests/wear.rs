//! A key that is updated all the time wears all blocks, and not just those that its object was first in.

use crate::model;

use model::{Op, Pair, Setup, setups};
use norn_flash::Reprogramming;
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::{FatList, OrderedIndex, Settings};

/// Erases of the least and the most worn block after `updates` updates of one key among others.
fn worn(setup: &Setup, others: u8, updates: u16) -> (u32, u32) {
    let mut pair = Pair::new(setup, 1);
    for key in 0..others {
        pair.step(&Op::Insert([key + 1, 0], [key; 3]), &String::new);
    }
    pair.step(&Op::Insert([10, 10], [0; 3]), &String::new);
    for update in 0..updates {
        pair.step(&Op::Update([10, 10], [update as u8; 3]), &String::new);
    }
    pair.check(&String::new);
    let stats = pair.list.stats().unwrap();
    (stats.erases_min, stats.erases_max)
}

#[test]
fn one_key_that_is_updated_all_the_time_wears_all_blocks() {
    for (number, setup) in setups().iter().enumerate() {
        for others in [0, 20] {
            let (least, most) = worn(setup, others, 20_000);
            println!("setup {number}, {others} other keys: {least} to {most} erases");
            // Of lists of one key an object, which nearly fill their part, few cells are free: wear is looked at once
            // in eight moves.
            // Where values vary, an object has room for few long records, and is moved more often between two looks.
            let gap = match setup {
                Setup { settings: Settings { keys: 1, .. }, .. } => most * 9 / 10,
                Setup { log_bytes: Some(_), .. } => 16 + 2 * WEAR_PERIOD,
                _ => 16 + WEAR_PERIOD,
            };
            assert!(most - least <= gap, "setup {number}, {others} other keys: {least} to {most} erases");
        }
    }
}

/// Full pools wait for each other in a chain. A call that did not look along all of it moved the block of its last
/// object again and again: 1,896 erases of it, where the mean is 64.
#[test]
fn a_chain_of_full_pools_does_not_wear_one_block() {
    let spec = catalogue::limited_test_part(64, 1024, 2, Reprogramming::Unlimited);
    let settings = Settings { turnstile_blocks: 8, levels: 2, slots: 8, keys: 4, pool: 6 };
    let mut list = FatList::<_, 4, 2>::format(NorSim::new(spec), settings).unwrap();
    (0..1_000_u32).for_each(|key| list.insert(&key.to_be_bytes(), &[0; 2]).unwrap());
    for update in 0..100_000_u32 {
        list.update(&500_u32.to_be_bytes(), &(update as u16).to_le_bytes()).unwrap();
    }
    let (most, mean) = (u64::from(list.stats().unwrap().erases_max), list.device().counters().erases / 64);
    println!("{most} erases at most, {mean} on average");
    assert!(most <= 2 * mean, "{most} erases at most, {mean} on average");
}

/// Reclamations of which one looks at wear.
const WEAR_PERIOD: u32 = 8;
