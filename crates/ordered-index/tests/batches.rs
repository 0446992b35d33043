//! A batch happens wholly or not at all: random batches answer as a map does, and none is lost or halved by cuts at
//! every operation, during recovery again, and a third time.

use crate::model;

use std::collections::BTreeMap;

use model::{
    Answer, Key, Op, Pair, SETUPS, Setup, TestList, Value, assert_within, audit, check, contents, objects, replay,
    setups,
};
use norn_conformance::{Context, PowerLost, Subject, Sweep, Tally, Trial, from_environment, one_of_each};
use norn_flash_sim::NorSim;
use norn_ordered_index::{Change, IndexError, MountError};

type Map = BTreeMap<Key, Value>;
type Batch = Vec<Change<Key, Value>>;

/// Changes of keys near and far, at times several of one key.
fn draw(pair: &Pair, random: &mut fastrand::Rng) -> Batch {
    let start = random.u16(0..pair.keys);
    let is_near = random.bool();
    (0..random.usize(0..=pair.list.changes_max()))
        .map(|at| {
            let number = if is_near { (start + at as u16) % pair.keys } else { random.u16(0..pair.keys) };
            let key = (number * 7).to_be_bytes();
            match random.u8(0..4) {
                0 => Change::Remove(key),
                _ => Change::Put(key, [random.u8(..); 3]),
            }
        })
        .collect()
}

fn after(map: &Map, batch: &Batch) -> Map {
    let mut map = map.clone();
    for change in batch {
        match *change {
            Change::Put(key, value) => _ = map.insert(key, value),
            Change::Remove(key) => _ = map.remove(&key),
        }
    }
    map
}

/// Applies `batch` within its bound; whether there was room for it.
fn apply(pair: &mut Pair, batch: &Batch, context: Context<'_>) -> bool {
    let objects = objects(&mut pair.list) + 2;
    let bound = pair.list.batch_bound(objects, batch.len() as u32);
    let before = pair.list.device().counters();
    let outcome = pair.list.apply(batch);
    assert_within(pair.list.device().counters() - before, bound, context);
    match outcome {
        Ok(()) => pair.map = after(&pair.map, batch),
        Err(IndexError::Full) => {}
        Err(error) => panic!("{error} {}", context()),
    }
    outcome.is_ok()
}

#[test]
fn random_batches_answer_as_a_map() {
    let (mut refused, mut made) = (0, 0);
    for seed in from_environment("NORN_SEED").map_or(0..20, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        // Few keys, or so many that there is hardly room for them.
        let keys = if random.bool() { 40 } else { 2_000 };
        let mut pair = Pair::new(&setups()[seed as usize % SETUPS], keys);
        for step in 0..400 {
            let context = || format!("at step {step} {}", replay("batches", "random_batches", seed));
            if random.bool() {
                let op = pair.draw(&mut random);
                pair.step(&op, &context);
            } else {
                let batch = draw(&pair, &mut random);
                let is_made = apply(&mut pair, &batch, &context);
                (made, refused) = (made + u32::from(is_made), refused + u32::from(!is_made));
            }
            pair.check(&context);
        }
    }
    println!("{made} batches made, {refused} found no room");
    assert!(
        from_environment("NORN_SEED").is_some() || (made > 1_000 && refused > 50),
        "{made} made, {refused} refused"
    );
}

/// Keys at random that the list does not have.
fn new_keys(pair: &Pair, count: usize, random: &mut fastrand::Rng) -> Vec<Key> {
    let mut keys = Vec::new();
    while keys.len() < count {
        let key = random.u16(..).to_be_bytes();
        if !pair.map.contains_key(&key) && !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// Values of the greatest length, where they vary.
const LONG: Value = [(model::list::LONGEST - 3) as u8; 3];

#[test]
fn a_batch_finds_room_below_the_keys_that_are_guaranteed_with_it() {
    let (mut batches, mut full) = (0, 0);
    for (seed, setup) in (0..).zip(setups()) {
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..40 {
            let mut pair = Pair::new(&setup, u16::MAX / 7);
            let context = || format!("setup {seed}, round {round}");
            let puts = random.usize(1..=pair.list.changes_max());
            let guaranteed = pair.list.guaranteed_keys_with_batch(puts as u32) as usize;
            // Fill it, take keys away until one less is there, and put as many as go into a batch.
            while let key = new_keys(&pair, 1, &mut random)[0]
                && pair.step(&Op::Insert(key, LONG), &context) != Answer::Full
            {}
            full += 1;
            while pair.map.len() >= guaranteed.max(1) {
                let key = *pair.map.keys().nth(random.usize(..pair.map.len())).unwrap();
                pair.step(&Op::Remove(key), &context);
            }
            if guaranteed > 0 {
                let batch = new_keys(&pair, puts, &mut random).into_iter().map(|key| Change::Put(key, LONG)).collect();
                let keys = pair.map.len();
                assert!(apply(&mut pair, &batch, &context), "full at {keys} of {guaranteed} keys {}", context());
                pair.check(&context);
                batches += 1;
            }
        }
    }
    println!("{batches} batches after {full} lists were full");
    assert!(batches > 150, "{batches} batches");
}

/// A list whose power is cut while a batch is made.
#[derive(Clone)]
struct CutBatch(TestList);

impl Subject for CutBatch {
    type Device = NorSim;
    type Call = Batch;
    type Contents = Map;

    fn device_mut(&mut self) -> &mut NorSim {
        self.0.device_mut()
    }

    fn into_device(self) -> NorSim {
        self.0.into_device()
    }

    fn mount(device: NorSim, context: Context<'_>) -> Self {
        let counters = device.counters();
        let mut list = TestList::mount(device).unwrap_or_else(|error| panic!("{error} {}", context()));
        let cost = list.device().counters() - counters;
        let objects = objects(&mut list) + 2;
        let (mut bound, batch) = (list.recovery_bound(objects), list.batch_bound(objects, list.changes_max() as u32));
        bound.erases += batch.erases;
        bound.programmed_bytes += batch.programmed_bytes;
        bound.read_bytes += batch.read_bytes;
        assert_within(cost, bound, context);
        CutBatch(list)
    }

    fn try_mount(device: &mut NorSim) -> Result<(), PowerLost> {
        match model::list::EitherList::<_, 2>::mount(device) {
            Err(MountError::Device(_)) => Err(PowerLost),
            _ => Ok(()),
        }
    }

    fn make(&mut self, batch: &Batch) -> Result<(), PowerLost> {
        match self.0.apply(batch) {
            Err(IndexError::Device(_)) => Err(PowerLost),
            _ => Ok(()),
        }
    }

    fn contents(&mut self, context: Context<'_>) -> Map {
        audit(&mut self.0, context);
        contents(&mut self.0, context)
    }
}

/// A list that has been in use, and is nearly full at times.
fn used(setup: &Setup, random: &mut fastrand::Rng) -> Pair {
    let mut pair = Pair::new(setup, if random.bool() { 60 } else { 1_000 });
    for _ in 0..400 {
        let op = match pair.draw(random) {
            Op::Stop => Op::Reclaim,
            op => op,
        };
        pair.step(&op, &String::new);
    }
    pair
}

/// Cuts batches, and continues after each cut with further calls.
fn cut(seeds: std::ops::Range<u64>, stride: u64) -> (Tally, u64, u64) {
    let (mut sums, mut before_count, mut after_count) = (Tally::default(), 0, 0);
    for seed in from_environment("NORN_SEED").map_or(seeds, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = used(&setups()[seed as usize % SETUPS], &mut random);
        for round in 0..6 {
            let batch = draw(&pair, &mut random);
            let context = || format!("in round {round} {}", replay("batches", "cut_batches", seed));
            let (before, list) = (pair.map.clone(), pair.list.clone());
            if !apply(&mut pair, &batch, &context) {
                continue;
            }
            let operations = pair.list.device().operations() - list.device().operations();
            let sweep = Sweep { stride: 1 + operations / stride, second_period: 3, ..Sweep::default() };
            let trial = Trial {
                subject: &CutBatch(list),
                call: &batch,
                shapes: &one_of_each,
                admitted: &|found| *found == before || *found == pair.map,
                go_on: &mut |CutBatch(mut list), found, _, context| {
                    (before_count, after_count) =
                        (before_count + u64::from(found == before), after_count + u64::from(found == pair.map));
                    let now = match list.apply(&batch) {
                        Err(IndexError::Full) => found.clone(),
                        outcome => outcome.map(|()| pair.map.clone()).unwrap(),
                    };
                    check(&mut list, &now, context);
                },
                context: &context,
            };
            sums += sweep.cut(trial, &mut random);
        }
    }
    println!("{sums:?}; {before_count} before, {after_count} after");
    (sums, before_count, after_count)
}

#[test]
fn cut_batches_happen_wholly_or_not_at_all() {
    let (sums, before, after) = cut(0..10, 40);
    assert!(sums.cuts > 1_000 && sums.second_cuts > 500 && before > 200 && after > 200, "{sums:?}");
}

#[test]
#[ignore = "some minutes"]
fn cut_batches_happen_wholly_or_not_at_all_widely() {
    let (sums, ..) = cut(100..140, 400);
    assert!(sums.cuts > 10_000, "{sums:?}");
}
