//! A ring keeps the newest keys: it answers as a map does from which the least keys go, an object's at a time; nothing
//! but least keys is lost, whatever is cut; and in steady state it erases a block once for a block of keys.

use crate::model;

use model::{Cut, Key, Op, Pair, SETUPS, Setup, assert_within, check, lacks_least_keys_only, objects, replay, setups};
use norn_conformance::{Sweep, Tally, Trial, from_environment, one_of_each};
use norn_flash_sim::NorSim;
use norn_ordered_index::{FatList, IndexError, OrderedIndex, Settings};

/// A ring and what it should hold.
struct Ring {
    pair: Pair,
    next: u16,
}

impl Ring {
    fn new(setup: &Setup) -> Ring {
        Ring { pair: Pair::new(setup, 1), next: 0 }
    }

    /// A key that mostly is the next one, at times a little behind it.
    fn draw(&mut self, random: &mut fastrand::Rng) -> Op {
        let late = match random.u8(0..24) {
            0 | 1 => random.u16(0..20),
            2 => random.u16(0..self.next.max(1)),
            _ => 0,
        };
        self.next += random.u16(1..4);
        Op::InsertInRing(self.next.saturating_sub(late).to_be_bytes(), [random.u8(..); 3])
    }

    /// Makes the call on both; returns how many keys were dropped.
    fn step(&mut self, op: &Op, context: model::Context<'_>) -> u32 {
        let Op::InsertInRing(key, value) = *op else {
            self.pair.step(op, context);
            return 0;
        };
        let objects_after = objects(&mut self.pair.list) + 2;
        let bound = self.pair.list.ring_bound(objects_after);
        let before = self.pair.list.device().counters();
        let outcome = self.pair.list.insert_in_ring(&key, &value);
        assert_within(self.pair.list.device().counters() - before, bound, context);
        match outcome {
            Ok(dropped) => {
                for _ in 0..dropped {
                    let (least, _) = self.pair.map.pop_first().expect("no more keys go than there are");
                    assert!(least < key, "{least:?} goes for {key:?} {}", context());
                }
                assert_eq!(self.pair.map.insert(key, value), None, "{}", context());
                dropped
            }
            Err(IndexError::KeyExists) => {
                assert!(self.pair.map.contains_key(&key), "{}", context());
                0
            }
            Err(IndexError::BelowRing) => {
                let below = self.pair.map.range(..key).count();
                assert!(below < 64 && self.pair.map.len() > below, "{below} keys below {}", context());
                0
            }
            Err(error) => panic!("{error} {}", context()),
        }
    }
}

#[test]
fn a_full_ring_takes_late_keys_unless_they_are_the_least() {
    for (number, setup) in setups().iter().enumerate() {
        let mut random = fastrand::Rng::with_seed(number as u64);
        let mut ring = Ring::new(setup);
        let (mut dropped, mut into_first, mut refused) = (0, 0, 0);
        for step in 0..3_000 {
            let key: Key = match ring.pair.map.first_key_value() {
                // Near the least keys.
                Some((&first, _)) if random.bool() => {
                    (u16::from_be_bytes(first) + random.u16(0..40)).saturating_sub(5).to_be_bytes()
                }
                _ => random.u16(..60_000).to_be_bytes(),
            };
            let op = Op::InsertInRing(key, [random.u8(..), 1, 1]);
            let context = || format!("setup {number} at step {step}, {op:?}");
            let held = ring.pair.map.clone();
            let gone = ring.step(&op, &context);
            dropped += gone;
            into_first += u32::from(gone == 1 && ring.pair.map.range(..key).count() < 8);
            refused += u32::from(!ring.pair.map.contains_key(&key));
            if !ring.pair.map.contains_key(&key) {
                assert_eq!(ring.pair.map, held);
            }
            if step % 16 == 0 {
                ring.pair.check(&context);
            }
        }
        println!(
            "setup {number}: {dropped} dropped, {into_first} calls for one key among the least, {refused} refused"
        );
        assert!(dropped > 100 && into_first > 20 && refused > 20, "{dropped}, {into_first}, {refused}");
        ring.pair.check(&String::new);
    }
}

#[test]
fn a_ring_answers_as_a_map_without_the_least_keys() {
    let mut most_dropped = 0;
    for seed in from_environment("NORN_SEED").map_or(0..20, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut ring = Ring::new(&setups()[seed as usize % SETUPS]);
        let (mut dropped, mut most) = (0, 0);
        for step in 0..3_000 {
            let op = match random.u8(0..40) {
                0 => Op::Stop,
                1 => Op::Reclaim,
                2..5 if !ring.pair.map.is_empty() => {
                    let at = random.usize(..ring.pair.map.len());
                    let key = *ring.pair.map.keys().nth(at).unwrap();
                    if random.bool() { Op::Remove(key) } else { Op::Update(key, [9; 3]) }
                }
                _ => ring.draw(&mut random),
            };
            let context = || format!("at step {step}, {op:?} {}", replay("ring", "a_ring_answers", seed));
            let gone = ring.step(&op, &context);
            (dropped, most) = (dropped + gone, most.max(gone));
            if gone > 0 || random.u8(0..8) == 0 {
                ring.pair.check(&context);
            }
            if random.u8(0..100) == 0 {
                let device = ring.pair.list.clone().into_device();
                ring.pair.list = model::TestList::mount(device).unwrap();
                ring.pair.check(&context);
            }
        }
        assert!(dropped > 500, "{dropped} keys dropped, seed {seed}");
        most_dropped = most_dropped.max(most);
    }
    println!("a call dropped at most {most_dropped} keys");
}

#[test]
fn a_cut_ring_lacks_least_keys_and_no_others() {
    let (mut sums, mut drops) = (Tally::default(), 0);
    for seed in from_environment("NORN_SEED").map_or(0..9, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        // Blocks with many small objects, of which several go at a time; and those of the other tests.
        let many = Settings { turnstile_blocks: 4, levels: 3, slots: 3, keys: 2, pool: 6 };
        let mut setup = setups()[seed as usize % SETUPS].clone();
        if seed % 2 == 0 {
            setup.settings = many;
        }
        let mut ring = Ring::new(&setup);
        for step in 0..700 {
            let op = ring.draw(&mut random);
            let context = || format!("at step {step}, {op:?} {}", replay("ring", "a_cut_ring", seed));
            let (before, list) = (ring.pair.map.clone(), ring.pair.list.clone());
            let gone = ring.step(&op, &context);
            if random.u16(0..400) >= if gone > 0 { 16 } else { 1 } {
                continue;
            }
            drops += u32::from(gone > 0);
            let mut after = before.clone();
            if let Op::InsertInRing(key, value) = op {
                after.entry(key).or_insert(value);
            }
            let operations = ring.pair.list.device().operations() - list.device().operations();
            let sweep = Sweep { stride: 1 + operations / 30, second_period: 3, ..Sweep::default() };
            let trial = Trial {
                subject: &Cut(list),
                call: &op,
                shapes: &one_of_each,
                admitted: &|found| lacks_least_keys_only(found, &before) || lacks_least_keys_only(found, &after),
                go_on: &mut |Cut(mut list), found, _, context| {
                    let Op::InsertInRing(key, value) = op else { return };
                    let mut map = found.clone();
                    match list.insert_in_ring(&key, &value) {
                        Err(IndexError::KeyExists) => assert!(map.contains_key(&key), "{}", context()),
                        Err(IndexError::BelowRing) => assert!(!map.contains_key(&key), "{}", context()),
                        outcome => {
                            (0..outcome.unwrap()).for_each(|_| _ = map.pop_first());
                            map.insert(key, value);
                        }
                    }
                    check(&mut list, &map, context);
                },
                context: &context,
            };
            sums += sweep.cut(trial, &mut random);
        }
    }
    println!("{sums:?}, {drops} calls that dropped keys");
    assert!(sums.cuts > 1_000 && sums.second_cuts > 500 && drops > 20, "{sums:?}, {drops} drops");
}

#[test]
fn a_ring_in_steady_state_erases_a_block_for_a_block_of_keys() {
    let setup = &setups()[0];
    let mut spec = setup.spec.clone();
    (spec.part.unit_count, spec.part.unit_size_bytes) = (32, 4096);
    let settings = Settings { turnstile_blocks: 16, slots: 16, keys: 8, pool: 12, ..Settings::paper_2011() };
    let mut list: FatList<_, 4, 2> = FatList::format(NorSim::new(spec), settings).unwrap();
    let (mut next, mut held) = (0_u32, 0);
    let mut append = |list: &mut FatList<_, 4, 2>, count: u32| {
        for _ in 0..count {
            held += 1;
            held -= list.insert_in_ring(&next.to_be_bytes(), &[1, 2]).unwrap();
            next += 1;
        }
        held
    };
    append(&mut list, 60_000);
    let before = list.device().counters();
    let held = append(&mut list, 60_000);
    let cost = list.device().counters() - before;
    let cells = list.stats().unwrap();
    let keys_per_block = (cells.live + cells.dead + cells.free) / 30 * 15;
    println!("{held} keys held, {} erases for 60,000 keys, {keys_per_block} keys a block", cost.erases);
    assert!(cost.erases <= u64::from(60_000 * 5 / 4 / keys_per_block), "{cost}");
    assert_eq!(list.len().unwrap(), held);
    assert!(held > keys_per_block * 26, "of 30 blocks a ring keeps 26 and more full: {held} keys");
    let stats = list.stats().unwrap();
    assert!(stats.erases_max - stats.erases_min <= 24, "{stats:?}");
}
