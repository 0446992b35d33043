//! What clients call.

use core::ops::Bound;

use norn_flash::{Nor, Violation};

use super::format::Kind;
use super::leaves::Leaves;
use super::room::{Purpose, STEPS_MAX};
use crate::error::{IndexError, Outcome};
use crate::index::{Entry, IndexStats, OrderedIndex, Reclaimed};
use crate::step::{Direction, Hint};

/// A sorted map from keys of `K` bytes to values of `V` bytes, on a part whose words may be programmed only once
/// between two erases, as those of flash with error-correcting codes: words of up to 32 bytes. It also works on all
/// other NOR parts.
///
/// Each erase unit is a leaf: a range of keys, and a log of records. A change is one record programmed, atomic and
/// durable. It suits logs best: a key above all others costs a record, and an erase for each unit that fills up. A
/// change of a leaf without room copies what counts in it to another unit.
///
/// There is nothing to stop before the power goes: every mount takes the map for cut. The first change of each leaf
/// after a mount copies the leaf, since a word may have been programmed after its last record that reads erased.
///
/// RAM: 120 bytes on a processor of 32 bits with keys of 4 bytes, for any number of keys.
///
/// ```
/// use std::ops::Bound;
///
/// use norn_flash_sim::{NorSim, catalogue};
/// use norn_ordered_index::{LeafMap, OrderedIndex};
///
/// // Readings by the minute in the flash of an STM32L4, whose words of 8 bytes are programmed once.
/// let mut readings: LeafMap<_, 4, 2> = LeafMap::format(NorSim::new(catalogue::stm32l4())).unwrap();
/// for minute in 0..100_000_u32 {
///     readings.insert_in_ring(&minute.to_be_bytes(), &(minute as u16).to_le_bytes()).unwrap(); // durable
/// }
/// readings.update(&99_000_u32.to_be_bytes(), &[0, 0]).unwrap();
/// readings.remove(&99_001_u32.to_be_bytes()).unwrap();
///
/// let mut readings: LeafMap<_, 4, 2> = LeafMap::mount(readings.into_device()).unwrap();
/// let from = Bound::Included(99_000_u32.to_be_bytes());
/// let found: Vec<_> = readings.range(from, Bound::Unbounded).take(2).map(|entry| entry.unwrap()).collect();
/// assert_eq!(found[0], (99_000_u32.to_be_bytes(), [0, 0]));
/// assert_eq!(found[1].0, 99_002_u32.to_be_bytes());
/// assert!(readings.len().unwrap() > 60_000); // 512 KB: 8.3 bytes of flash a reading
/// ```
#[derive(Clone, Debug)]
pub struct LeafMap<D, const K: usize, const V: usize> {
    pub(super) leaves: Leaves<D, K, V>,
    pub(super) keys: Option<u32>,
}

impl<D: Nor, const K: usize, const V: usize> LeafMap<D, K, V> {
    /// The device.
    pub fn device(&self) -> &D {
        self.leaves.flash.device()
    }

    /// The device, for a test or a tool that looks at it. Changing what is on it damages the map.
    pub fn device_mut(&mut self) -> &mut D {
        self.leaves.flash.device_mut()
    }

    /// Gives the device back.
    pub fn into_device(self) -> D {
        self.leaves.flash.into_device()
    }

    /// Keys that fit whatever was inserted and removed before: as long as there are fewer, an insertion does not say
    /// `Full`. Ascending keys fit twice as often.
    pub fn guaranteed_keys(&self) -> u32 {
        // No unit is left, and no two neighbours can be joined.
        let leaves = self.leaves.layout.facts.unit_count - 1;
        u32::from(leaves / 2) * u32::from(self.leaves.joined_max() + 1)
    }

    /// Adds a key to a ring: a map whose keys ascend, as those of a log do, and which drops its least keys when no unit
    /// is left. Returns how many it dropped: those of a unit. If the key belongs into the first unit, and no unit is
    /// left, a quarter of that unit's keys are dropped, as far as they are below the key; both, if it belongs into the
    /// second one. A cut leaves the new key there or not; if it is not, keys may have been dropped for it already.
    ///
    /// Cost: a record programmed; for each unit that fills up, a header and an erase besides.
    ///
    /// # Errors
    /// `KeyExists`, `Corrupted` and the device's. `BelowRing` if no unit is left and the key would be the first one to
    /// drop; nothing has changed then.
    pub fn insert_in_ring(&mut self, key: &[u8; K], value: &[u8; V]) -> Outcome<u32, D> {
        let mut dropped = 0;
        for _ in 0..STEPS_MAX {
            if self.leaves.floor.is_some_and(|floor| *key < floor) {
                if !self.leaves.can_grow() {
                    return Err(IndexError::BelowRing);
                }
                self.leaves.lower_floor()?;
            }
            let (leaf, shape) = self.leaves.enter_at(key)?;
            if self.leaves.find(leaf.unit, &shape, key)?.is_some() {
                return Err(IndexError::KeyExists);
            }
            if self.leaves.has_place(&shape, Purpose::Insertion) {
                self.leaves.append(&leaf, &shape, Kind::Put, (key, value))?;
                self.count_added();
                return Ok(dropped);
            }
            let gone = self.leaves.make_room_in_ring((&leaf, &shape), key)?;
            self.count_removed(gone);
            dropped += gone;
        }
        self.leaves.endless()
    }

    /// Takes all keys away that are below `key`, and returns how many there were. A cut leaves all of them away or
    /// none.
    ///
    /// Cost: a record, if the newest unit has room for it, else a unit copied and erased, whatever the number of keys.
    /// These are read.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn remove_below(&mut self, key: &[u8; K]) -> Outcome<u32, D> {
        let removed = self.leaves.raise_floor(key)?;
        self.count_removed(removed);
        Ok(removed)
    }

    fn count_added(&mut self) {
        self.keys = self.keys.map(|keys| keys + 1);
    }

    fn count_removed(&mut self, removed: u32) {
        self.keys = self.keys.map(|keys| keys.saturating_sub(removed));
    }

    /// The value of a key, and in which leaf its record is.
    fn find(&mut self, key: &[u8; K]) -> Outcome<Option<[u8; V]>, D> {
        if self.leaves.floor.is_some_and(|floor| *key < floor) {
            return Ok(None);
        }
        let (leaf, shape) = self.leaves.look_at(key)?;
        self.leaves.find(leaf.unit, &shape, key)
    }

    /// Writes a record that changes or removes a key.
    fn change(&mut self, kind: Kind, key: &[u8; K], value: &[u8; V]) -> Outcome<(), D> {
        for _ in 0..STEPS_MAX {
            if self.leaves.floor.is_some_and(|floor| *key < floor) {
                return Err(IndexError::KeyAbsent);
            }
            let (leaf, shape) = self.leaves.look_at(key)?;
            if self.leaves.find(leaf.unit, &shape, key)?.is_none() {
                return Err(IndexError::KeyAbsent);
            }
            if self.leaves.has_place(&shape, Purpose::Change) {
                return self.leaves.append(&leaf, &shape, kind, (key, value));
            }
            let (leaf, shape) = self.leaves.enter_at(key)?;
            self.leaves.make_room((&leaf, &shape), key, Purpose::Change)?;
        }
        self.leaves.endless()
    }

    /// Adds a key, if there is room.
    fn add(&mut self, key: &[u8; K], value: &[u8; V]) -> Outcome<(), D> {
        for _ in 0..STEPS_MAX {
            if self.leaves.floor.is_some_and(|floor| *key < floor) {
                self.leaves.lower_floor()?;
            }
            let (leaf, shape) = self.leaves.enter_at(key)?;
            if self.leaves.find(leaf.unit, &shape, key)?.is_some() {
                return Err(IndexError::KeyExists);
            }
            if self.leaves.has_place(&shape, Purpose::Insertion) {
                return self.leaves.append(&leaf, &shape, Kind::Put, (key, value));
            }
            self.leaves.make_room((&leaf, &shape), key, Purpose::Insertion)?;
        }
        self.leaves.endless()
    }
}

impl<D: Nor, const K: usize, const V: usize> OrderedIndex<K, V> for LeafMap<D, K, V> {
    type Device = D;

    fn insert(&mut self, key: &[u8; K], value: &[u8; V]) -> Outcome<(), D> {
        self.add(key, value)?;
        self.count_added();
        Ok(())
    }

    fn update(&mut self, key: &[u8; K], value: &[u8; V]) -> Outcome<(), D> {
        self.change(Kind::Put, key, value)
    }

    fn get(&mut self, key: &[u8; K]) -> Outcome<Option<[u8; V]>, D> {
        self.find(key)
    }

    fn remove(&mut self, key: &[u8; K]) -> Outcome<(), D> {
        self.change(Kind::Removal, key, &[0xFF; V])?;
        self.count_removed(1);
        Ok(())
    }

    fn neighbour(
        &mut self,
        bound: Bound<&[u8; K]>,
        direction: Direction,
        hint: &mut Hint,
    ) -> Outcome<Option<Entry<K, V>>, D> {
        let record = self.leaves.step(bound.cloned(), direction, hint)?;
        Ok(record.map(|record| (record.key, record.value)))
    }

    /// Known after a format, and once they were counted; else reads all leaves.
    fn len(&mut self) -> Outcome<u32, D> {
        self.leaves.flash.expect_running()?;
        if let Some(keys) = self.keys {
            return Ok(keys);
        }
        let (mut keys, mut bound, mut hint) = (0, Bound::Unbounded, Hint::default());
        while let Some(record) = self.leaves.step(bound, Direction::Forwards, &mut hint)? {
            (keys, bound) = (keys + 1, Bound::Excluded(record.key));
        }
        self.keys = Some(keys);
        Ok(keys)
    }

    /// Places are units.
    fn stats(&mut self) -> Outcome<IndexStats, D> {
        let keys = self.len()?;
        let live = u32::from(self.leaves.count);
        let free = u32::from(self.leaves.layout.facts.unit_count) - live;
        let mut stats = IndexStats { keys, live, free, dead: 0, erases_min: u32::MAX, erases_max: 0 };
        for unit in self.leaves.layout.units() {
            let erases = match unit == self.leaves.next {
                true => self.leaves.next_erases,
                false => self.leaves.erases_of(unit)?,
            };
            (stats.erases_min, stats.erases_max) = (stats.erases_min.min(erases), stats.erases_max.max(erases));
        }
        Ok(stats)
    }

    /// Erases the unit of the next leaf, so that no change erases before it writes a second one; where no unit is left,
    /// joins neighbours with few keys.
    fn reclaim_step(&mut self) -> Outcome<Reclaimed, D> {
        let has_joined = !self.leaves.can_grow() && self.leaves.join()?;
        let has_stepped = has_joined || self.leaves.erase_next()?;
        Ok(if has_stepped { Reclaimed::Block } else { Reclaimed::Nothing })
    }

    fn corruption(&self) -> Option<Violation> {
        self.leaves.flash.corruption()
    }
}
