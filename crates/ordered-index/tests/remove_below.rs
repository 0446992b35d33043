//! Keys below a given one go as objects do, the least ones first: what is left is what a map would keep, each call
//! stays within its bound, and a cut leaves least keys away and no others.

use crate::model;

use model::{Cut, Op, Pair, SETUPS, assert_within, check, lacks_least_keys_only, objects, replay, setups};
use norn_conformance::{Sweep, Tally, Trial, from_environment, one_of_each};
use norn_ordered_index::OrderedIndex;

/// Some calls that change what the list holds, most of them new keys.
fn fill(pair: &mut Pair, random: &mut fastrand::Rng, context: model::Context<'_>) {
    for _ in 0..random.u8(20..120) {
        let key = (random.u16(..) / 8).to_be_bytes();
        let op = match pair.map.contains_key(&key) {
            true => Op::Remove(key),
            false => Op::Insert(key, [random.u8(..), 2, 3]),
        };
        pair.step(&op, context);
    }
}

/// A key that is there, or near one, or beyond all.
fn limit(pair: &Pair, random: &mut fastrand::Rng) -> [u8; 2] {
    let at = random.usize(..=pair.map.len());
    match pair.map.keys().nth(at) {
        Some(key) => (u16::from_be_bytes(*key) + random.u16(0..2)).to_be_bytes(),
        None => [0xFF; 2],
    }
}

#[test]
fn keys_below_one_go_and_no_others() {
    let (mut whole, mut single) = (0, 0);
    for seed in from_environment("NORN_SEED").map_or(0..18, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(&setups()[seed as usize % SETUPS], 1);
        for round in 0..40 {
            let context = || format!("in round {round} {}", replay("remove_below", "keys_below", seed));
            fill(&mut pair, &mut random, &context);
            let key = limit(&pair, &mut random);
            loop {
                let objects = objects(&mut pair.list) + 2;
                let bound = pair.list.ring_bound(objects);
                let before = pair.list.device().counters();
                let removed = pair.list.remove_below(&key).unwrap();
                assert_within(pair.list.device().counters() - before, bound, &context);
                for _ in 0..removed {
                    let (least, _) = pair.map.pop_first().expect("no more keys go than there are");
                    assert!(least < key, "{least:?} is not below {key:?} {}", context());
                }
                check(&mut pair.list, &pair.map, &context);
                match removed {
                    0 => break,
                    1 => single += 1,
                    _ => whole += 1,
                }
            }
            assert!(pair.map.keys().all(|left| *left >= key), "{}", context());
            assert_eq!(pair.list.first().unwrap(), pair.map.first_key_value().map(|(key, value)| (*key, *value)));
            assert_eq!(pair.list.last().unwrap(), pair.map.last_key_value().map(|(key, value)| (*key, *value)));
            assert_eq!(pair.list.is_empty().unwrap(), pair.map.is_empty(), "{}", context());
            assert_eq!(pair.list.len().unwrap() as usize, pair.map.len(), "{}", context());
        }
    }
    println!("{whole} calls took several keys, {single} one");
    assert!(whole > 200 && single > 20, "{whole}, {single}");
}

#[test]
fn a_cut_leaves_least_keys_away_and_no_others() {
    let mut sums = Tally::default();
    for seed in from_environment("NORN_SEED").map_or(0..9, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(&setups()[seed as usize % SETUPS], 1);
        for round in 0..6 {
            let context = || format!("in round {round} {}", replay("remove_below", "a_cut_leaves", seed));
            fill(&mut pair, &mut random, &context);
            let op = Op::RemoveBelow(limit(&pair, &mut random));
            let (before, list) = (pair.map.clone(), pair.list.clone());
            pair.step(&op, &context);
            let after = pair.map.clone();
            let operations = pair.list.device().operations() - list.device().operations();
            let sweep = Sweep { stride: 1 + operations / 40, second_period: 3, ..Sweep::default() };
            let trial = Trial {
                subject: &Cut(list),
                call: &op,
                shapes: &one_of_each,
                admitted: &|found| lacks_least_keys_only(found, &before) && found.len() >= after.len(),
                go_on: &mut |Cut(mut list), _, _, context| {
                    model::perform(&mut list, &op).unwrap_or_else(|error| panic!("{error} {}", context()));
                    check(&mut list, &after, context);
                },
                context: &context,
            };
            sums += sweep.cut(trial, &mut random);
        }
    }
    println!("{sums:?}");
    assert!(sums.cuts > 3_000 && sums.second_cuts > 500, "{sums:?}");
}
