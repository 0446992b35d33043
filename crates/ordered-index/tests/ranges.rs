//! What ranges read, and what a cursor answers when the list changes between two steps.

use crate::model;

use std::ops::Bound;

use model::{Op, Pair, SETUPS, replay, setups};
use norn_conformance::from_environment;
use norn_flash::NorPart;
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::{Direction, FatList, Hint, OrderedIndex, Settings};

type Log = FatList<NorSim, 4, 4>;

// A range has two of them on the stack.
const _: () = assert!(size_of::<Hint>() <= 32);

/// A list on 1 MB in units of 64 KB.
fn list(settings: Settings) -> Log {
    let mut spec = catalogue::k8c1215etm();
    spec.part = NorPart { unit_count: 16, unit_size_bytes: 64 << 10, ..spec.part };
    FatList::format(NorSim::new(spec), settings).unwrap()
}

/// Words read for each entry of a range.
fn words_an_entry(log: &mut Log, from: u32, to: u32, direction: Direction) -> f64 {
    let before = log.device().counters();
    let range = log.range(Bound::Included(from.to_be_bytes()), Bound::Excluded(to.to_be_bytes()));
    let count = match direction {
        Direction::Forwards => range.map(Result::unwrap).count(),
        Direction::Backwards => range.rev().map(Result::unwrap).count(),
    };
    (log.device().counters() - before).reads() as f64 / count as f64
}

#[test]
fn a_range_of_a_log_reads_little_more_than_the_entries() {
    let mut log = list(Settings::log());
    for minute in 0..100_000_u32 {
        log.insert_in_ring(&minute.to_be_bytes(), &[1, 2, 3, 4]).unwrap();
    }
    for day in [60_000, 71_111, 98_000] {
        let [forwards, backwards] = [Direction::Forwards, Direction::Backwards]
            .map(|direction| words_an_entry(&mut log, day, day + 1_440, direction));
        println!("a day from minute {day} on: {forwards:.2} words an entry, {backwards:.2} backwards");
        assert!(forwards < 10.0 && backwards < 18.0, "an entry has 5 words");
    }
}

#[test]
fn a_range_of_keys_in_random_order_looks_for_each_key_in_its_object_only() {
    let mut keys: Vec<u32> = (0..10_000).collect();
    fastrand::Rng::with_seed(4).shuffle(&mut keys);
    let mut list = list(Settings::paper_2011());
    keys.iter().for_each(|key| list.insert(&key.to_be_bytes(), &[1, 2, 3, 4]).unwrap());
    let words = words_an_entry(&mut list, 3_000, 6_000, Direction::Forwards);
    println!("{words:.2} words an entry");
    assert!(words < 18.0, "{words} words an entry");
}

#[test]
fn a_cursor_finds_what_there_is_after_changes_between_its_steps() {
    for seed in from_environment("NORN_SEED").map_or(0..30, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(&setups()[seed as usize % SETUPS], 60);
        let (mut bound, mut hint, mut direction) = (Bound::Unbounded, Hint::default(), Direction::Forwards);
        for step in 0..3_000 {
            let context = || format!("at step {step}, from {bound:?} {}", replay("ranges", "a_cursor_finds", seed));
            if random.bool() {
                let op = if random.u8(0..4) == 0 { Op::Reclaim } else { pair.draw(&mut random) };
                pair.step(&op, &context);
            }
            let found = pair.list.neighbour(bound.as_ref(), direction, &mut hint).unwrap();
            let expected = match direction {
                Direction::Forwards => pair.map.range((bound, Bound::Unbounded)).next(),
                Direction::Backwards => pair.map.range((Bound::Unbounded, bound)).next_back(),
            };
            assert_eq!(found, expected.map(|(key, value)| (*key, *value)), "{}", context());
            bound = found.map_or(Bound::Unbounded, |(key, _)| Bound::Excluded(key));
            if found.is_none() || random.u8(0..30) == 0 {
                hint = if found.is_none() { Hint::default() } else { hint };
                direction = if random.bool() { Direction::Forwards } else { Direction::Backwards };
            }
        }
    }
}
