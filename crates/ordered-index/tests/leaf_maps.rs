//! Random calls on leaf maps beside a sorted map in plain memory: all answers are the same, every invariant holds after
//! each call, and no word is programmed more often than its part allows.

use crate::leaves;

use leaves::{PARTS, Pair, TestMap, parts};
use norn_conformance::seeds;
use norn_flash::Reprogramming;
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::{IndexError, LeafMap, OrderedIndex};

fn run(count: u64, steps: usize) {
    for run in seeds(0..count, "-p norn-ordered-index --test suite leaf_maps::") {
        let mut random = run.random();
        let spec = &parts()[run.seed as usize % PARTS];
        let keys = [40, 120, 400][random.usize(0..3)];
        let mut pair = Pair::new(spec, keys);
        for step in 0..steps {
            let context = || format!("on {} at step {step}, {}", spec.name, run.replay());
            let op = pair.draw(&mut random);
            pair.step(&op, &context);
            if random.u8(0..8) == 0 {
                pair.compare_range(&mut random, &context);
            }
            if random.u8(0..16) == 0 {
                pair.compare(&context);
            }
            if random.u8(0..50) == 0 {
                pair.map =
                    TestMap::mount(pair.map.into_device()).unwrap_or_else(|error| panic!("{error} {}", context()));
            }
            assert_eq!(pair.map.device().refusals(), 0, "the part's contract is broken, {}", context());
        }
        pair.compare(&|| run.replay().to_owned());
    }
}

#[test]
fn random_calls_are_answered_as_by_a_sorted_map() {
    run(140, 600);
}

#[test]
#[ignore = "minutes"]
fn random_calls_are_answered_as_by_a_sorted_map_widely() {
    run(3_000, 4_000);
}

/// One key is updated, all others stay: their units wear, too.
/// Such a key made a whole unit of keys go, and was refused then.
#[test]
fn a_ring_that_refuses_a_key_has_dropped_none() {
    for (units, unit_bytes) in [(3, 512), (4, 512), (6, 512), (5, 1024)] {
        let spec = catalogue::limited_test_part(units, unit_bytes, 8, Reprogramming::Once);
        let mut full = LeafMap::<_, 4, 2>::format(NorSim::new(spec)).unwrap();
        let (mut next, mut dropped) = (0u32, 0);
        while dropped == 0 {
            dropped = full.insert_in_ring(&next.to_be_bytes(), &[1, 2]).unwrap();
            next += 2;
        }
        for late in (1..next).step_by(2) {
            let mut ring = full.clone();
            // A key is missing below the late one, so that it may be the least of a unit.
            let _ = ring.remove(&(late - 1).to_be_bytes());
            let _ = ring.update(&(late + 1).to_be_bytes(), &[3, 4]);
            let keys = ring.len().unwrap();
            match ring.insert_in_ring(&late.to_be_bytes(), &[5, 6]) {
                Ok(dropped) => assert_eq!(ring.len().unwrap(), keys + 1 - dropped, "{units} units, key {late}"),
                Err(IndexError::BelowRing) => {
                    let (first, _) = ring.first().unwrap().unwrap();
                    assert!(late.to_be_bytes() < first, "{units} units: {late} is not below all");
                    assert_eq!(ring.len().unwrap(), keys, "{units} units: {late} is refused, and others are gone");
                }
                Err(error) => panic!("{units} units, key {late}: {error}"),
            }
        }
    }
}

#[test]
fn a_hot_key_wears_all_units() {
    for spec in parts().into_iter().filter(|spec| spec.part.unit_count > 5) {
        let mut map = TestMap::format(NorSim::new(spec.clone())).unwrap();
        let keys = (0..).take_while(|&key: &u16| map.insert(&key.to_be_bytes(), &[1, 2, 3]).is_ok()).count() as u16;
        (0..keys / 4).for_each(|key| map.remove(&key.to_be_bytes()).unwrap());
        for turn in 0..20_000_u32 {
            map.update(&(keys / 2).to_be_bytes(), &turn.to_le_bytes()[..3].try_into().unwrap()).unwrap();
        }
        let stats = map.stats().unwrap();
        println!("{}: {} to {} erases", spec.name, stats.erases_min, stats.erases_max);
        let gap = stats.erases_max - stats.erases_min;
        assert!(stats.erases_max > 60 && gap <= 40, "{}: {stats:?}", spec.name);
    }
}

/// As many keys as are guaranteed fit, whatever was there before.
#[test]
fn guaranteed_keys_fit_in_any_order() {
    for run in seeds(0..3 * PARTS as u64, "-p norn-ordered-index --test suite leaf_maps::") {
        let mut random = run.random();
        let mut map = TestMap::format(NorSim::new(parts()[run.seed as usize % PARTS].clone())).unwrap();
        let mut there = Vec::new();
        for round in 0..6_u16 {
            while there.len() < map.guaranteed_keys() as usize {
                let key = match (round + run.seed as u16) % 3 {
                    0 => random.u16(..),
                    1 => there.last().map_or(0, |last: &u16| last.wrapping_add(3)),
                    _ => 7_000 + random.u16(0..2_000),
                };
                match map.insert(&key.to_be_bytes(), &[1, 2, 3]) {
                    Ok(()) => there.push(key),
                    Err(IndexError::KeyExists) => {
                        let free = (0..u16::MAX).find(|key| !there.contains(key)).unwrap();
                        map.insert(&free.to_be_bytes(), &[1, 2, 3]).unwrap();
                        there.push(free);
                    }
                    Err(error) => panic!("{error} with {} keys, {}", there.len(), run.replay()),
                }
            }
            random.shuffle(&mut there);
            for key in there.split_off(there.len() / 3) {
                map.remove(&key.to_be_bytes()).unwrap();
            }
        }
    }
}
