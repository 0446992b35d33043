//! Random calls on lists of several makes answer as a map in memory does, and every invariant holds after each of them.

use crate::model;

use std::ops::Bound;

use model::{Answer, Key, Op, Pair, SETUPS, TestList, assert_within, objects, replay, setups};
use norn_conformance::from_environment;
use norn_ordered_index::OrderedIndex;
use norn_ordered_index::fat_list::CallBound;

/// Runs a call that only reads, and asserts that it reads no more than `bound`.
fn read_within<T>(
    list: &mut TestList,
    bound: u64,
    context: model::Context<'_>,
    call: impl FnOnce(&mut TestList) -> T,
) -> T {
    let before = list.device().counters();
    let answer = call(list);
    let cost = list.device().counters() - before;
    assert!(
        cost.read_bytes() <= bound && cost.programs() + cost.erases == 0,
        "{cost} of at most {bound} {}",
        context()
    );
    answer
}

/// Compares what a list answers to questions with what the map does, and what it reads with the bounds.
fn ask(pair: &mut Pair, random: &mut fastrand::Rng, context: model::Context<'_>) {
    let key: Key = (random.u16(0..pair.keys) * 7 + random.u16(0..2)).to_be_bytes();
    let to: Key = random.u16(..).to_be_bytes();
    let objects = objects(&mut pair.list);
    let (get, step) = (pair.list.get_bound(objects), pair.list.step_bound(objects));
    let found = read_within(&mut pair.list, get, context, |list| list.get(&key).unwrap());
    assert_eq!(found, pair.map.get(&key).copied(), "{key:?} {}", context());
    let (len, stats) = (pair.list.len_bound(objects), pair.list.stats_bound(objects));
    let found = read_within(&mut pair.list, len, context, |list| list.len().unwrap());
    assert_eq!(found as usize, pair.map.len(), "{}", context());
    let found = read_within(&mut pair.list, stats, context, |list| list.stats().unwrap());
    assert_eq!((found.keys as usize, found.live), (pair.map.len(), objects), "{}", context());
    let found = read_within(&mut pair.list, step, context, |list| list.first().unwrap());
    assert_eq!(found, pair.map.first_key_value().map(|(k, v)| (*k, *v)), "{}", context());
    let found = read_within(&mut pair.list, step, context, |list| list.last().unwrap());
    assert_eq!(found, pair.map.last_key_value().map(|(k, v)| (*k, *v)), "{}", context());
    if key >= to {
        return;
    }
    // Iterators, and a cursor that seeks.
    let ends = (Bound::Included(key), Bound::Excluded(to));
    let expected: Vec<_> = pair.map.range(ends).map(|(k, v)| (*k, *v)).collect();
    let found: Vec<_> = pair.list.range(ends.0, ends.1).rev().map(|entry| entry.unwrap()).collect();
    assert!(found.iter().rev().eq(expected.iter()), "backwards {}", context());
    let sought: Key = random.u16(..).to_be_bytes();
    let mut range = pair.list.range(ends.0, ends.1);
    let passed = range.next().map(|entry| entry.unwrap().0);
    range.seek(&sought);
    let found: Vec<_> = range.map(|entry| entry.unwrap()).collect();
    let expected = expected.iter().filter(|(key, _)| Some(*key) > passed && *key >= sought);
    assert!(found.iter().eq(expected), "after seeking {sought:?} {}", context());
    let bound =
        |key, random: &mut fastrand::Rng| if random.bool() { Bound::Included(key) } else { Bound::Excluded(key) };
    let (from, to) = (bound(key, random), bound(to, random));
    let mut expected: std::collections::VecDeque<_> = pair.map.range((from, to)).map(|(k, v)| (*k, *v)).collect();
    let (mut steps, before) = (0, pair.list.device().counters());
    let mut range = pair.list.range(from, to);
    // Both ends approach each other.
    loop {
        let (found, wanted) = match random.bool() {
            true => (range.next_entry().unwrap(), expected.pop_front()),
            false => (range.next_entry_back().unwrap(), expected.pop_back()),
        };
        assert_eq!(found, wanted, "{from:?} to {to:?} {}", context());
        steps += 1;
        if wanted.is_none() {
            break;
        }
    }
    let cost = pair.list.device().counters() - before;
    assert!(cost.read_bytes() <= steps * step, "{cost} of at most {steps} times {step} {}", context());
}

/// What `op` may cost: less where a cell is free or dead, since nothing is merged then.
fn bound_of(pair: &mut Pair, op: &Op, objects: u32) -> CallBound {
    pair.list.device_mut().freeze_counters();
    let stats = pair.list.stats().unwrap();
    pair.list.device_mut().thaw_counters();
    match op {
        Op::Insert(..) | Op::Update(..) if stats.free + stats.dead > 0 => pair.list.bound_with_cells(objects),
        _ => pair.list.call_bound(objects),
    }
}

fn run(seed: u64, steps: usize) -> [u32; 3] {
    let mut random = fastrand::Rng::with_seed(seed);
    let setup = &setups()[seed as usize % SETUPS];
    let keys = random.u16(4..90);
    let mut pair = Pair::new(setup, keys);
    let (mut full, mut remounts, mut most_erases) = (0, 0, 0);
    for step in 0..steps {
        let op = pair.draw(&mut random);
        let context = || format!("at step {step}, {op:?} {}", replay("random_operations", "random", seed));
        // A call may make two objects of one on the way.
        let objects_after = objects(&mut pair.list) + 2;
        let bound = bound_of(&mut pair, &op, objects_after);
        let before = pair.list.device().counters();
        full += u32::from(pair.step(&op, &context) == Answer::Full);
        assert_within(pair.list.device().counters() - before, bound, &context);
        let cost = pair.list.device().counters() - before;
        most_erases = most_erases.max(cost.erases);
        pair.check(&context);
        if random.u8(0..4) == 0 {
            ask(&mut pair, &mut random, &context);
        }
        if op == Op::Stop || random.u8(0..60) == 0 {
            let mut device = pair.list.into_device();
            let (before, counters) = (device.operations(), device.counters());
            pair.list = TestList::mount(device.clone()).unwrap_or_else(|error| panic!("{error} {}", context()));
            device = pair.list.device().clone();
            assert_eq!(device.operations(), before, "a mount without a cut changes nothing {}", context());
            let (cost, objects) = (device.counters() - counters, objects(&mut pair.list));
            let bound = match op {
                Op::Stop => pair.list.boot_bound(objects),
                _ => pair.list.recovery_bound(objects).read_bytes,
            };
            assert!(cost.read_bytes() <= bound, "{cost} of at most {bound} {}", context());
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
