//! What to do about a leaf that has no room for a further record, one step at a time:
//! - a key above all others of a leaf that ascends begins a leaf of its own: nothing is copied, and the old leaf stays
//!   as full as it is;
//! - a leaf with few keys that count is copied, without what counts no more;
//! - else its upper half is copied to a leaf of its own, which leaves the lower half in a leaf with few keys that
//!   count;
//! - where no unit is left for that, two neighbours with few keys are copied into one leaf.
//!
//! Invariant: a leaf has a place fewer keys than places, so that it can be copied with a place left for the change of
//! a key that is there.

use core::ops::Bound;

use norn_flash::{EraseUnit, Nor};

use super::leaves::{Leaf, Leaves, Shape};
use super::search::Point;
use super::write::{Fill, Plan};
use crate::error::{IndexError, Outcome};
use crate::step::{Direction, Hint};

/// Steps of a call at most.
pub(super) const STEPS_MAX: usize = 8;
/// Erases between the next unit and the least worn one from which on the latter is moved.
const WEAR_GAP: u32 = 16;
/// One in this number of leaves looks at wear.
const WEAR_PERIOD: u32 = 8;
/// An eighth of a leaf stays free when neighbours are joined.
const SLACK_SHARE: u16 = 8;

/// What a record is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Add a key.
    Insertion,
    /// Change or remove a key that is there.
    Change,
}

impl<D: Nor, const K: usize, const V: usize> Leaves<D, K, V> {
    /// Whether a leaf takes a further record.
    pub fn has_place(&self, shape: &Shape, purpose: Purpose) -> bool {
        let kept = u16::from(purpose == Purpose::Insertion);
        !shape.is_closed && shape.written + shape.floors + kept < self.layout.places
    }

    /// Keys of two neighbours with which they are joined, at most.
    pub fn joined_max(&self) -> u16 {
        self.layout.places - (self.layout.places / SLACK_SHARE).max(2)
    }

    /// A step towards a leaf with room for a record of `key`, which `leaf` has not.
    ///
    /// # Errors
    /// `Full` if a key is to be added, no unit is left and nothing can be joined.
    pub fn make_room(&mut self, (leaf, shape): (&Leaf<K>, &Shape), key: &[u8; K], purpose: Purpose) -> Outcome<(), D> {
        if self.level_wear()? {
            return Ok(());
        }
        let (places, keys, can_grow) = (self.layout.places, self.count_keys(leaf)?, self.can_grow());
        if purpose == Purpose::Insertion && can_grow && keys >= places / 2 && self.is_run_end(leaf, shape, key)? {
            return self.write_leaf(&self.plan(*key, leaf.high, Fill::Empty, self.count + 1));
        }
        let free = self.layout.facts.unit_count - 1 - self.count;
        let few = match can_grow {
            true if free > self.layout.facts.unit_count / 4 => places / 3,
            true => places / 4 * 3,
            false => self.joined_max(),
        };
        if keys <= few.max(2) {
            return self.rewrite(leaf);
        }
        if can_grow {
            return self.split(leaf, keys);
        }
        match purpose {
            Purpose::Change => self.rewrite(leaf),
            Purpose::Insertion if self.join()? => Ok(()),
            Purpose::Insertion if keys + 2 <= places => self.rewrite(leaf),
            Purpose::Insertion => Err(IndexError::Full),
        }
    }

    /// Whether a leaf's keys ascend, and `key` is above all of them.
    fn is_run_end(&mut self, leaf: &Leaf<K>, shape: &Shape, key: &[u8; K]) -> Outcome<bool, D> {
        Ok(shape.written > 0 && self.continues_run(leaf.unit, shape, key)?)
    }

    /// A leaf to write that leaves the floor where it is.
    fn plan(&self, low: [u8; K], high: Option<[u8; K]>, fill: Fill, count: u16) -> Plan<K> {
        Plan { low, high, floor: self.floor, fill, count }
    }

    /// Copies a leaf, without what counts no more.
    pub(super) fn rewrite(&mut self, leaf: &Leaf<K>) -> Outcome<(), D> {
        self.write_leaf(&self.plan(leaf.low, leaf.high, Fill::Copies, self.count))
    }

    /// Copies the upper half of a leaf.
    fn split(&mut self, leaf: &Leaf<K>, keys: u16) -> Outcome<(), D> {
        let Some(middle) = self.key_number(leaf, keys / 2)? else {
            return Err(self.flash.damage(self.layout.seal(leaf.unit), "a leaf whose keys change"));
        };
        self.write_leaf(&self.plan(middle, leaf.high, Fill::Copies, self.count + 1))
    }

    /// Keys of a leaf that count.
    pub fn count_keys(&mut self, leaf: &Leaf<K>) -> Outcome<u16, D> {
        Ok(self.count_up_to(leaf, u16::MAX)?.0)
    }

    /// The key of a leaf before which it has `number` keys.
    pub fn key_number(&mut self, leaf: &Leaf<K>, number: u16) -> Outcome<Option<[u8; K]>, D> {
        Ok(self.count_up_to(leaf, number)?.1)
    }

    /// Counts a leaf's keys up to that before which it has `number` keys, and returns that.
    #[inline(never)]
    fn count_up_to(&mut self, leaf: &Leaf<K>, number: u16) -> Outcome<(u16, Option<[u8; K]>), D> {
        let (mut keys, mut bound, mut hint) = (0, Bound::Included(leaf.low), Hint::default());
        while let Some(record) = self.step(bound, Direction::Forwards, &mut hint)? {
            if leaf.high.is_some_and(|high| record.key >= high) {
                break;
            }
            if keys == number {
                return Ok((keys, Some(record.key)));
            }
            (keys, bound) = (keys + 1, Bound::Excluded(record.key));
        }
        Ok((keys, None))
    }

    /// The first leaf.
    pub fn first_leaf(&mut self) -> Outcome<Leaf<K>, D> {
        self.enter_at(&[0; K]).map(|(leaf, _)| leaf)
    }

    /// The leaf after another.
    pub fn leaf_after(&mut self, leaf: &Leaf<K>) -> Outcome<Option<Leaf<K>>, D> {
        match leaf.high {
            Some(high) => Ok(self.enter(Point::At(high))?.map(|(leaf, _)| leaf)),
            None => Ok(None),
        }
    }

    /// Copies the first two neighbours with few keys into one leaf; whether there are such. Cost: reads all leaves up
    /// to these.
    pub fn join(&mut self) -> Outcome<bool, D> {
        let mut left = self.first_leaf()?;
        let mut keys = self.count_keys(&left)?;
        for _ in 0..self.layout.facts.unit_count {
            let Some(right) = self.leaf_after(&left)? else { return Ok(false) };
            let more = self.count_keys(&right)?;
            if keys + more <= self.joined_max() {
                self.write_leaf(&self.plan(left.low, right.high, Fill::Copies, self.count - 1))?;
                return Ok(true);
            }
            (left, keys) = (right, more);
        }
        Ok(false)
    }

    /// Makes keys count again that are below the floor, of which none is there.
    pub fn lower_floor(&mut self) -> Outcome<(), D> {
        let first = self.first_leaf()?;
        let plan = Plan { low: [0; K], floor: None, ..self.plan(first.low, first.high, Fill::Copies, self.count) };
        self.write_leaf(&plan)
    }

    /// Moves the leaf in the least worn unit, if it has stayed there for long; whether it did. Cost: at times, a header
    /// read of each unit.
    fn level_wear(&mut self) -> Outcome<bool, D> {
        if !self.newest.0.is_multiple_of(WEAR_PERIOD) {
            return Ok(false);
        }
        let mut coldest: Option<(u32, EraseUnit)> = None;
        for unit in self.layout.units() {
            let erases = if unit == self.next { continue } else { self.erases_of(unit)? };
            coldest = Some(coldest.map_or((erases, unit), |found| found.min((erases, unit))));
        }
        let Some((_, unit)) = coldest.filter(|(erases, _)| erases + WEAR_GAP <= self.next_erases) else {
            return Ok(false);
        };
        let Some(range) = self.range_of(unit)? else { return Ok(false) };
        let (leaf, _) = self.enter_at(&range.low)?;
        if leaf.unit != unit {
            return Ok(false);
        }
        self.rewrite(&leaf).map(|()| true)
    }
}
