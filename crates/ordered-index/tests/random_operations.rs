//! Random calls on lists of several makes answer as a map in memory does, and every invariant holds after each of them.

mod model;

use std::ops::Bound;

use model::{Answer, Key, Op, Pair, TestList, from_environment, replay, setups};
use norn_ordered_index::OrderedIndex;

/// Compares what a list answers to questions with what the map does.
fn ask(pair: &mut Pair, random: &mut fastrand::Rng, context: model::Context<'_>) {
    let key: Key = (random.u16(0..pair.keys) * 7 + random.u16(0..2)).to_be_bytes();
    let to: Key = random.u16(..).to_be_bytes();
    assert_eq!(pair.list.get(&key).unwrap(), pair.map.get(&key).copied(), "{key:?} {}", context());
    assert_eq!(pair.list.len().unwrap() as usize, pair.map.len(), "{}", context());
    assert_eq!(pair.list.first().unwrap(), pair.map.first_key_value().map(|(k, v)| (*k, *v)), "{}", context());
    assert_eq!(pair.list.last().unwrap(), pair.map.last_key_value().map(|(k, v)| (*k, *v)), "{}", context());
    if key >= to {
        return;
    }
    let bound =
        |key, random: &mut fastrand::Rng| if random.bool() { Bound::Included(key) } else { Bound::Excluded(key) };
    let (from, to) = (bound(key, random), bound(to, random));
    let mut expected: std::collections::VecDeque<_> = pair.map.range((from, to)).map(|(k, v)| (*k, *v)).collect();
    let mut range = pair.list.range(from, to);
    // Both ends approach each other.
    loop {
        let (found, wanted) = match random.bool() {
            true => (range.next_entry().unwrap(), expected.pop_front()),
            false => (range.next_entry_back().unwrap(), expected.pop_back()),
        };
        assert_eq!(found, wanted, "{from:?} to {to:?} {}", context());
        if wanted.is_none() {
            break;
        }
    }
}

fn run(seed: u64, steps: usize) -> [u32; 3] {
    let mut random = fastrand::Rng::with_seed(seed);
    let setup = &setups()[seed as usize % 5];
    let keys = random.u16(4..90);
    let mut pair = Pair::new(setup, keys);
    let (mut full, mut remounts, mut most_erases) = (0, 0, 0);
    for step in 0..steps {
        let op = pair.draw(&mut random);
        let context = || format!("at step {step}, {op:?} {}", replay("random_operations", "random", seed));
        let (bound, before) = (pair.list.call_bound(), pair.list.device().counters());
        full += u32::from(pair.step(&op, &context) == Answer::Full);
        let cost = pair.list.device().counters() - before;
        let is_bounded = cost.erases <= bound.erases.into() && cost.programmed_bytes() <= bound.programmed_bytes;
        assert!(is_bounded, "{cost} of at most {bound:?} {}", context());
        most_erases = most_erases.max(cost.erases);
        pair.check(&context);
        if random.u8(0..4) == 0 {
            ask(&mut pair, &mut random, &context);
        }
        if op == Op::Stop || random.u8(0..60) == 0 {
            let mut device = pair.list.into_device();
            let before = device.operations();
            pair.list = TestList::mount(device.clone()).unwrap_or_else(|error| panic!("{error} {}", context()));
            device = pair.list.device().clone();
            assert_eq!(device.operations(), before, "a mount without a cut changes nothing {}", context());
            pair.check(&context);
            remounts += 1;
        }
        assert_eq!(pair.list.device().refusals(), 0, "{}", context());
    }
    [full, remounts, most_erases as u32]
}

#[test]
fn random_calls_answer_as_a_map() {
    let (mut sums, mut most_erases) = ([0; 2], 0);
    for seed in from_environment("NORN_SEED").map_or(0..60, |seed| seed..seed + 1) {
        let counts = run(seed, 800);
        sums = [sums[0] + counts[0], sums[1] + counts[1]];
        most_erases = most_erases.max(counts[2]);
    }
    println!("{} calls found no room, {} mounts; at most {most_erases} blocks erased by a call", sums[0], sums[1]);
    assert!(from_environment("NORN_SEED").is_some() || sums.iter().all(|&sum| sum > 50), "{sums:?}");
}
