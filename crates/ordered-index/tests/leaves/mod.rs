//! A leaf map beside a sorted map in plain memory: random calls on both, and the comparison of the two.

use std::collections::BTreeMap;
use std::ops::Bound;

use norn_conformance::{Context, PowerLost, Subject};
use norn_flash::{Collected, Reprogramming};
use norn_flash_sim::{NorSim, PartSpec, SimError, catalogue};
use norn_ordered_index::{IndexError, LeafMap, MountError, OrderedIndex};

pub type Key = [u8; 2];
pub type Value = [u8; 3];
pub type TestMap = LeafMap<NorSim, 2, 3>;
pub type Contents = BTreeMap<Key, Value>;

/// How many parts there are.
pub const PARTS: usize = 7;

/// Small parts, on which leaves are written often: words of 8, 16 and 32 bytes programmed once, of 4 bytes programmed
/// twice, and of 1 and 2 bytes.
pub fn parts() -> [PartSpec; PARTS] {
    let part = catalogue::limited_test_part;
    [
        part(6, 256, 8, Reprogramming::Once),
        part(7, 512, 16, Reprogramming::Once),
        part(5, 768, 32, Reprogramming::Once),
        part(9, 256, 4, Reprogramming::Times(2)),
        part(3, 512, 8, Reprogramming::Once),
        part(6, 160, 1, Reprogramming::Unlimited),
        part(12, 192, 2, Reprogramming::Unlimited),
    ]
}

/// One call that changes the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Insert(Key, Value),
    InsertInRing(Key, Value),
    Update(Key, Value),
    Remove(Key),
    RemoveBelow(Key),
    Reclaim,
}

/// A map and what it should hold.
#[derive(Clone)]
pub struct Pair {
    pub map: TestMap,
    pub model: Contents,
    /// Keys are drawn from this number of keys.
    pub keys: u16,
}

pub fn perform(map: &mut TestMap, op: &Op) -> Result<u32, IndexError<SimError>> {
    match op {
        Op::Insert(key, value) => map.insert(key, value).map(|()| 0),
        Op::InsertInRing(key, value) => map.insert_in_ring(key, value),
        Op::Update(key, value) => map.update(key, value).map(|()| 0),
        Op::Remove(key) => map.remove(key).map(|()| 0),
        Op::RemoveBelow(key) => map.remove_below(key),
        Op::Reclaim => map.reclaim_step().map(|_| 0),
    }
}

impl Pair {
    pub fn new(spec: &PartSpec, keys: u16) -> Self {
        Pair { map: TestMap::format(NorSim::new(spec.clone())).unwrap(), model: Contents::new(), keys }
    }

    /// A call: keys that ascend, among them some that are late, or keys in random order.
    pub fn draw(&self, random: &mut fastrand::Rng) -> Op {
        let (key, value) = (random.u16(0..self.keys).to_be_bytes(), std::array::from_fn(|_| random.u8(..)));
        let last = self.model.last_key_value().map_or(0, |(&last, _)| u16::from_be_bytes(last));
        let next = last.saturating_add(random.u16(1..4)).to_be_bytes();
        let there = match self.model.len() {
            0 => key,
            len => *self.model.keys().nth(random.usize(0..len)).unwrap(),
        };
        match random.u8(0..40) {
            0..6 => Op::Insert(key, value),
            6..10 => Op::Insert(next, value),
            10..20 => Op::InsertInRing(next, value),
            20 => Op::InsertInRing(key, value),
            21..30 => Op::Update(there, value),
            30 => Op::Update(key, value),
            31..36 => Op::Remove(there),
            36 => Op::Remove(key),
            37 => Op::RemoveBelow(*self.model.keys().nth(self.model.len() / 8).unwrap_or(&key)),
            38 => Op::RemoveBelow([key[0] / 4, key[1]]),
            _ => Op::Reclaim,
        }
    }

    /// Makes a call on both, and compares what they answer.
    pub fn step(&mut self, op: &Op, context: Context<'_>) {
        let found = perform(&mut self.map, op);
        match (op, found) {
            (Op::Insert(..), Err(IndexError::Full)) => {
                let guaranteed = self.map.guaranteed_keys() as usize;
                assert!(self.model.len() >= guaranteed, "full with {} of {guaranteed} {}", self.model.len(), context());
            }
            (Op::InsertInRing(key, _), Err(IndexError::BelowRing)) => {
                assert!(self.model.first_key_value().is_some_and(|(first, _)| key < first), "{}", context());
            }
            (_, found) => {
                let dropped = found.as_ref().ok().copied().unwrap_or(0);
                let expected = apply(&mut self.model, op, dropped);
                let answer = found.map_err(|error| format!("{error}"));
                let expected = expected.map_err(|error| format!("{error}"));
                assert_eq!(answer, expected, "{op:?} {}", context());
            }
        }
    }

    /// Compares all that can be asked.
    pub fn compare(&mut self, context: Context<'_>) {
        assert_eq!(contents_of(&mut self.map, context), self.model, "{}", context());
        assert_eq!(self.map.len().unwrap() as usize, self.model.len(), "{}", context());
        for key in (0..self.keys).map(u16::to_be_bytes) {
            assert_eq!(self.map.get(&key).unwrap(), self.model.get(&key).copied(), "{key:?} {}", context());
        }
    }

    /// Compares a range from both ends.
    pub fn compare_range(&mut self, random: &mut fastrand::Rng, context: Context<'_>) {
        let (a, b) = (random.u16(0..self.keys).to_be_bytes(), random.u16(0..self.keys).to_be_bytes());
        let (low, high) = (a.min(b), a.max(b));
        let mut expected: Vec<_> = self.model.range(low..high).map(|(&key, &value)| (key, value)).collect();
        let mut range = self.map.range(Bound::Included(low), Bound::Excluded(high));
        let (mut front, mut back) = (Vec::new(), Vec::new());
        loop {
            let entry = if random.bool() {
                range.next().map(|entry| front.push(entry.unwrap()))
            } else {
                range.next_back().map(|entry| back.push(entry.unwrap()))
            };
            if entry.is_none() {
                break;
            }
        }
        back.reverse();
        front.append(&mut back);
        assert_eq!(front, std::mem::take(&mut expected), "{low:?}..{high:?} {}", context());
    }
}

/// What a call answers and does in plain memory, if the map drops so many least keys for it.
pub fn apply(model: &mut Contents, op: &Op, dropped: u32) -> Result<u32, IndexError<SimError>> {
    match *op {
        Op::Insert(key, _) | Op::InsertInRing(key, _) if model.contains_key(&key) => return Err(IndexError::KeyExists),
        Op::Update(key, _) | Op::Remove(key) if !model.contains_key(&key) => return Err(IndexError::KeyAbsent),
        Op::Insert(key, value) | Op::Update(key, value) => _ = model.insert(key, value),
        Op::InsertInRing(key, value) => {
            (0..dropped).for_each(|_| _ = model.pop_first());
            assert!(dropped == 0 || model.keys().all(|_| true), "a key that is dropped for itself");
            model.insert(key, value);
        }
        Op::Remove(key) => _ = model.remove(&key),
        Op::RemoveBelow(key) => {
            let kept = model.split_off(&key);
            let removed = std::mem::replace(model, kept).len() as u32;
            return Ok(removed);
        }
        Op::Reclaim => {}
    }
    Ok(dropped)
}

/// What a map holds, after its checker has found nothing.
pub fn contents_of(map: &mut TestMap, context: Context<'_>) -> Contents {
    let mut found = Collected::<()>::default();
    map.audit(&mut found).unwrap_or_else(|error| panic!("{error} {:?} {}", map.corruption(), context()));
    assert!(found.violations.is_empty(), "{:?} {}", found.violations, context());
    let entries = map.range(Bound::Unbounded, Bound::Unbounded);
    let entries: Result<Vec<_>, _> = entries.collect();
    let entries = entries.unwrap_or_else(|error| panic!("{error} {}", context()));
    let mut backwards: Vec<_> =
        map.range(Bound::Unbounded, Bound::Unbounded).rev().map(|entry| entry.unwrap()).collect();
    backwards.reverse();
    assert_eq!(entries, backwards, "{}", context());
    entries.into_iter().collect()
}

impl Subject for Pair {
    type Device = NorSim;
    type Call = Op;
    type Contents = Contents;

    fn device_mut(&mut self) -> &mut NorSim {
        self.map.device_mut()
    }

    fn into_device(self) -> NorSim {
        self.map.into_device()
    }

    fn mount(device: NorSim, context: Context<'_>) -> Self {
        let map = TestMap::mount(device).unwrap_or_else(|error| panic!("{error} {}", context()));
        Pair { map, model: Contents::new(), keys: 0 }
    }

    fn try_mount(device: &mut NorSim) -> Result<(), PowerLost> {
        match LeafMap::<_, 2, 3>::mount(device) {
            Err(MountError::Device(_)) => Err(PowerLost),
            _ => Ok(()),
        }
    }

    fn make(&mut self, call: &Op) -> Result<(), PowerLost> {
        match perform(&mut self.map, call) {
            Err(IndexError::Device(_)) => Err(PowerLost),
            Err(IndexError::Corrupted | IndexError::Halted) => panic!("{:?}", self.map.corruption()),
            _ => Ok(()),
        }
    }

    fn contents(&mut self, context: Context<'_>) -> Contents {
        self.model = contents_of(&mut self.map, context);
        self.model.clone()
    }
}
