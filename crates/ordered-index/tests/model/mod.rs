//! A sorted map in plain memory, random calls on it and on a list, and the comparison of the two.

pub mod list;

use std::collections::BTreeMap;
use std::ops::Bound;

use norn_conformance::{PowerLost, Subject};
use norn_flash::{Collected, Nor, Reprogramming};
use norn_flash_sim::{Counters, NorSim, PartSpec, SimError, catalogue};
use norn_ordered_index::fat_list::CallBound;
use norn_ordered_index::{IndexError, MountError, OrderedIndex, Settings};

pub type Key = [u8; 2];
pub type Value = [u8; 3];
pub type TestList = list::EitherList<NorSim>;
pub use norn_conformance::Context;

/// One call that changes the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Insert(Key, Value),
    InsertInRing(Key, Value),
    Update(Key, Value),
    Remove(Key),
    /// All keys below one, in as many calls as it takes.
    RemoveBelow(Key),
    Reclaim,
    Stop,
}

/// A part and what the list on it is made like.
#[derive(Clone, Debug)]
pub struct Setup {
    pub spec: PartSpec,
    pub settings: Settings,
    /// Bytes of an object's log where values vary.
    pub log_bytes: Option<u16>,
}

/// How many setups there are.
pub const SETUPS: usize = 9;

fn limited(unit_count: u16, unit_size_bytes: u32, program_unit_bytes: u8) -> PartSpec {
    catalogue::limited_test_part(unit_count, unit_size_bytes, program_unit_bytes, Reprogramming::Unlimited)
}

/// Small parts, on which blocks are moved often: of several turnstiles, with program units of 1, 2 and 4 bytes. In the
/// lists on the last four of them values vary.
pub fn setups() -> [Setup; SETUPS] {
    let fat =
        |turnstile_blocks, levels, slots, keys| Settings { turnstile_blocks, levels, slots, keys, pool: 2 * levels };
    let fixed = |spec, settings| Setup { spec, settings, log_bytes: None };
    let varied = |spec, settings, log_bytes| Setup { spec, settings, log_bytes: Some(log_bytes) };
    [
        fixed(limited(8, 1024, 2), fat(4, 3, 10, 7)),
        fixed(limited(6, 768, 1), fat(3, 2, 8, 5)),
        fixed(limited(7, 1024, 4), fat(4, 4, 5, 2)),
        fixed(limited(8, 512, 2), Settings { turnstile_blocks: 3, levels: 3, slots: 2, keys: 1, pool: 6 }),
        fixed(limited(2, 2048, 2), fat(8, 1, 12, 8)),
        // Records of up to 46 bytes: logs with room for hardly more than four, for many, and with few slots for them.
        varied(limited(8, 1024, 2), fat(4, 3, 12, 6), 194),
        varied(limited(6, 2048, 1), fat(3, 2, 40, 20), 600),
        varied(limited(7, 2048, 4), fat(4, 4, 5, 3), 320),
        varied(limited(8, 1024, 1), fat(8, 2, 9, 4), 0),
    ]
}

impl Setup {
    /// An empty list on `device`.
    pub fn format<D: Nor<Error = SimError>>(&self, device: D) -> Result<list::EitherList<D>, MountError<SimError>> {
        match self.log_bytes {
            None => list::EitherList::format(device, self.settings),
            Some(log_bytes) => list::EitherList::format_varied(device, self.settings, log_bytes),
        }
    }
}

/// A list and what it should hold.
#[derive(Clone)]
pub struct Pair {
    pub list: TestList,
    pub map: BTreeMap<Key, Value>,
    /// Keys are drawn from this number of keys.
    pub keys: u16,
}

/// What a call should answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Done,
    Exists,
    Absent,
    Full,
}

pub fn answer(outcome: Result<(), IndexError<SimError>>, context: Context<'_>) -> Answer {
    match outcome {
        Ok(()) => Answer::Done,
        Err(IndexError::KeyExists) => Answer::Exists,
        Err(IndexError::KeyAbsent) => Answer::Absent,
        Err(IndexError::Full) => Answer::Full,
        Err(error) => panic!("{error} {}", context()),
    }
}

pub fn perform(list: &mut TestList, op: &Op) -> Result<(), IndexError<SimError>> {
    match op {
        Op::Insert(key, value) => list.insert(key, value),
        Op::InsertInRing(key, value) => list.insert_in_ring(key, value).map(|_| ()),
        Op::Update(key, value) => list.update(key, value),
        Op::Remove(key) => list.remove(key),
        Op::RemoveBelow(key) => {
            while list.remove_below(key)? > 0 {}
            Ok(())
        }
        Op::Reclaim => list.reclaim_step().map(|_| ()),
        Op::Stop => list.stop(),
    }
}

/// A list whose power can be cut.
#[derive(Clone)]
pub struct Cut(pub TestList);

impl Subject for Cut {
    type Device = NorSim;
    type Call = Op;
    type Contents = BTreeMap<Key, Value>;

    fn device_mut(&mut self) -> &mut NorSim {
        self.0.device_mut()
    }

    fn into_device(self) -> NorSim {
        self.0.into_device()
    }

    /// Mounts within the bound on recovery.
    fn mount(device: NorSim, context: Context<'_>) -> Self {
        let counters = device.counters();
        let mut list = TestList::mount(device).unwrap_or_else(|error| panic!("{error} {}", context()));
        let cost = list.device().counters() - counters;
        let objects = objects(&mut list) + 2;
        assert_within(cost, list.recovery_bound(objects), context);
        Cut(list)
    }

    fn try_mount(device: &mut NorSim) -> Result<(), PowerLost> {
        match list::EitherList::<_, 2>::mount(device) {
            Err(MountError::Device(_)) => Err(PowerLost),
            _ => Ok(()),
        }
    }

    fn make(&mut self, op: &Op) -> Result<(), PowerLost> {
        match perform(&mut self.0, op) {
            Err(IndexError::Device(_)) => Err(PowerLost),
            _ => Ok(()),
        }
    }

    fn contents(&mut self, context: Context<'_>) -> Self::Contents {
        audit(&mut self.0, context);
        contents(&mut self.0, context)
    }
}

impl Pair {
    pub fn new(setup: &Setup, keys: u16) -> Pair {
        let list = setup.format(NorSim::new(setup.spec.clone())).unwrap();
        Pair { list, map: BTreeMap::new(), keys }
    }

    /// A call that makes sense; keys are near each other at times, and at times the least or the greatest.
    pub fn draw(&self, random: &mut fastrand::Rng) -> Op {
        let key = match random.u8(0..20) {
            0 => [0, 0],
            1 => [0xFF, 0xFF],
            _ => (random.u16(0..self.keys) * 7).to_be_bytes(),
        };
        let value = if random.u8(0..8) == 0 { [0xFF; 3] } else { std::array::from_fn(|_| random.u8(..)) };
        match (random.u8(0..100), self.map.contains_key(&key)) {
            (0, _) => Op::Stop,
            (1, _) => Op::Reclaim,
            (2..22, _) => Op::Remove(key),
            (22..25, true) | (25..28, false) => Op::Insert(key, value),
            (_, true) => Op::Update(key, value),
            (_, false) if random.u8(0..3) > 0 => Op::Insert(key, value),
            (_, false) => Op::Update(key, value),
        }
    }

    /// What the map is after `op`, of which a ring may lack the least keys, and what the list should answer if it is
    /// not full.
    pub fn after(&self, op: &Op) -> (BTreeMap<Key, Value>, Answer) {
        let mut map = self.map.clone();
        let answer = match *op {
            Op::Insert(key, _) | Op::InsertInRing(key, _) if map.contains_key(&key) => Answer::Exists,
            Op::Update(key, _) | Op::Remove(key) if !map.contains_key(&key) => Answer::Absent,
            Op::Insert(key, value) | Op::InsertInRing(key, value) | Op::Update(key, value) => {
                map.insert(key, value);
                Answer::Done
            }
            Op::Remove(key) => {
                map.remove(&key);
                Answer::Done
            }
            Op::RemoveBelow(key) => {
                map.retain(|other, _| *other >= key);
                Answer::Done
            }
            Op::Reclaim | Op::Stop => Answer::Done,
        };
        (map, answer)
    }

    /// Whether a full list may refuse `op`: a new key, or a value that becomes longer.
    fn may_be_full(&self, op: &Op) -> bool {
        match op {
            Op::Insert(..) => true,
            Op::Update(key, value) if matches!(self.list, TestList::Varied(_)) => {
                list::length_of(&self.map[key]) < list::length_of(value)
            }
            _ => false,
        }
    }

    /// Makes the call on both; a full list leaves both as they are.
    pub fn step(&mut self, op: &Op, context: Context<'_>) -> Answer {
        let (after, expected) = self.after(op);
        let outcome = perform(&mut self.list, op);
        let corruption = self.list.corruption();
        let found = answer(outcome, &|| corruption.map_or(String::new(), |one| one.to_string()) + &context());
        match found {
            Answer::Full => assert!(self.may_be_full(op), "{op:?} finds no room {}", context()),
            _ => {
                assert_eq!(found, expected, "{op:?} {}", context());
                self.map = after;
            }
        }
        found
    }

    /// Asserts that the list holds the map, and every invariant.
    pub fn check(&mut self, context: Context<'_>) {
        check(&mut self.list, &self.map, context);
    }
}

/// Whether `found` is `map` without some of its least keys.
pub fn lacks_least_keys_only(found: &BTreeMap<Key, Value>, map: &BTreeMap<Key, Value>) -> bool {
    let skipped = map.len().saturating_sub(found.len());
    map.iter().skip(skipped).eq(found.iter())
}

/// What a list holds, from the first key on.
pub fn contents(list: &mut TestList, context: Context<'_>) -> BTreeMap<Key, Value> {
    let mut map = BTreeMap::new();
    let mut range = list.range(Bound::Unbounded, Bound::Unbounded);
    while let Some((key, value)) = range.next_entry().unwrap_or_else(|error| panic!("{error} {}", context())) {
        assert!(map.last_key_value().is_none_or(|(last, _)| *last < key), "keys ascend {}", context());
        map.insert(key, value);
    }
    map
}

pub fn audit(list: &mut TestList, context: Context<'_>) {
    let mut found: Collected = Collected::default();
    list.audit(&mut found).unwrap_or_else(|error| panic!("{error} {}", context()));
    assert!(found.violations.is_empty(), "{:?} {}", found.violations, context());
}

/// Asserts that `list` holds `map`, and every invariant.
pub fn check(list: &mut TestList, map: &BTreeMap<Key, Value>, context: Context<'_>) {
    list.device_mut().freeze_counters();
    audit(list, context);
    assert_eq!(contents(list, context), *map, "{}", context());
    list.device_mut().thaw_counters();
}

/// Objects of a list, the head among them.
pub fn objects(list: &mut TestList) -> u32 {
    list.device_mut().freeze_counters();
    let objects = list.stats().unwrap().live;
    list.device_mut().thaw_counters();
    objects
}

/// Asserts that a call cost no more than its bound.
pub fn assert_within(cost: Counters, bound: CallBound, context: Context<'_>) {
    let is_within = cost.erases <= bound.erases.into()
        && cost.programmed_bytes() <= bound.programmed_bytes
        && cost.read_bytes() <= bound.read_bytes;
    assert!(is_within, "{cost} of at most {bound:?} {}", context());
}

/// How to replay a failure of the test with `name` in its name in a file.
pub fn replay(file: &str, name: &str, seed: u64) -> String {
    format!("in a test of {name}; NORN_SEED={seed} cargo test -p norn-ordered-index --test suite {file}::")
}
