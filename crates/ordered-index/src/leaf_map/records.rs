//! The records of a leaf: how many there are, and which is the newest of a key, or the one next to it.
//!
//! The first records of a leaf ascend: all of them in a log, or what was copied when the leaf was written. These are
//! bisected. Each of them says that it ascends, so that their number is found by bisection, too. The others, the
//! leaf's *tail*, are looked at one by one.

use core::ops::Bound;

use norn_flash::{EraseUnit, Nor};

use super::entry::Record;
use super::format::Kind;
use super::leaves::{Leaf, Leaves, Shape};
use crate::error::Outcome;
use crate::step::{Direction, Hint, Place};

/// What is found in a leaf by bisection: places on one side of it are before it, all others after.
#[derive(Clone, Copy, Debug)]
enum Border<'a, const K: usize> {
    /// The end of the records.
    Records,
    /// The end of those that ascend.
    Run,
    /// The end of the floors, counted from the last place.
    Floors,
    /// A key among those that ascend.
    Key(&'a [u8; K]),
    /// A bound among them.
    Bound(Bound<&'a [u8; K]>, Direction),
}

/// Whether a record of a leaf is wanted.
fn is_within<const K: usize>(key: &[u8; K], bound: Bound<&[u8; K]>, direction: Direction) -> bool {
    match (bound, direction) {
        (Bound::Unbounded, _) => true,
        (Bound::Included(bound), Direction::Forwards) => key >= bound,
        (Bound::Excluded(bound), Direction::Forwards) => key > bound,
        (Bound::Included(bound), Direction::Backwards) => key <= bound,
        (Bound::Excluded(bound), Direction::Backwards) => key < bound,
    }
}

impl<D: Nor, const K: usize, const V: usize> Leaves<D, K, V> {
    /// The first place from 0 to `end` that is after a border.
    fn bisect(&mut self, unit: EraseUnit, end: u16, border: &Border<'_, K>) -> Outcome<u16, D> {
        let (mut before, mut after) = (0, end);
        while before < after {
            let middle = before + (after - before) / 2;
            match self.is_after(unit, middle, border)? {
                true => after = middle,
                false => before = middle + 1,
            }
        }
        Ok(before)
    }

    fn is_after(&mut self, unit: EraseUnit, place: u16, border: &Border<'_, K>) -> Outcome<bool, D> {
        Ok(match *border {
            Border::Records => self.is_erased_at(unit, place)?,
            Border::Run => {
                let mark = self.whole_record(unit, place)?.mark;
                !mark.ascends || mark.kind != Kind::Put
            }
            Border::Floors => {
                let place = self.layout.places - 1 - place;
                self.record_at(unit, place)?.is_none_or(|record| record.mark.kind != Kind::Floor)
            }
            Border::Key(key) => self.whole_record(unit, place)?.key >= *key,
            Border::Bound(bound, direction) => {
                let key = self.key_at(unit, place)?;
                is_within(&key, bound, direction) == (direction == Direction::Forwards)
            }
        })
    }

    /// How the places of a leaf are used. Cost: three bisections.
    pub fn shape(&mut self, leaf: &Leaf<K>) -> Outcome<Shape, D> {
        let (unit, places) = (leaf.unit, self.layout.places);
        let floors = self.bisect(unit, places, &Border::Floors)?;
        let (mut end, mut is_closed) = (places - floors, !self.is_of_session(leaf));
        // The last program in the leaf may have been cut, at either side of what is free.
        if end > 0 && !self.is_erased_at(unit, end - 1)? && self.record_at(unit, end - 1)?.is_none() {
            end -= 1;
            self.expect_torn(leaf, end)?;
            is_closed = true;
        }
        let mut written = self.bisect(unit, end, &Border::Records)?;
        if written > 0 && self.record_at(unit, written - 1)?.is_none() {
            written -= 1;
            self.expect_torn(leaf, written)?;
            is_closed = true;
        }
        let ascending = self.bisect(unit, written, &Border::Run)?;
        Ok(Shape { written, ascending, floors, is_closed })
    }

    /// Refuses what no cut leaves at a place without a whole record, or not in this session.
    fn expect_torn(&mut self, leaf: &Leaf<K>, place: u16) -> Outcome<(), D> {
        match !self.is_of_session(leaf) && self.may_be_torn_at(leaf.unit, place)? {
            true => Ok(()),
            false => Err(self.flash.damage(self.layout.record(leaf.unit, place), "a record whose code is wrong")),
        }
    }

    /// The last floor of a leaf.
    pub fn last_floor(&mut self, unit: EraseUnit, shape: &Shape) -> Outcome<Option<[u8; K]>, D> {
        match shape.floors {
            0 => Ok(None),
            floors => Ok(Some(self.whole_record(unit, self.layout.places - floors)?.key)),
        }
    }

    /// The newest record of a key. All records that it passes over are verified.
    pub fn find(&mut self, unit: EraseUnit, shape: &Shape, key: &[u8; K]) -> Outcome<Option<[u8; V]>, D> {
        for place in (shape.ascending..shape.written).rev() {
            let record = self.whole_record(unit, place)?;
            if record.key == *key {
                return Ok((record.mark.kind == Kind::Put).then_some(record.value));
            }
        }
        let place = self.bisect(unit, shape.ascending, &Border::Key(key))?;
        if place == shape.ascending {
            return Ok(None);
        }
        let record = self.whole_record(unit, place)?;
        Ok((record.key == *key).then_some(record.value))
    }

    /// The record in a leaf next to a bound, of those that count; and its place if the leaf has no tail.
    fn nearest(
        &mut self,
        (leaf, shape): (&Leaf<K>, &Shape),
        bound: Bound<[u8; K]>,
        direction: Direction,
    ) -> Outcome<Option<(u16, Record<K, V>)>, D> {
        let (unit, mut bound) = (leaf.unit, bound);
        loop {
            let Some((key, place)) = self.nearest_key(unit, shape, bound.as_ref(), direction)? else {
                return Ok(None);
            };
            let record = self.whole_record(unit, place)?;
            if key < leaf.low || leaf.high.is_some_and(|high| key >= high) {
                return Ok(None);
            }
            if record.mark.kind == Kind::Put {
                return Ok(Some((place, record)));
            }
            bound = Bound::Excluded(key);
        }
    }

    /// The key in a leaf next to a bound, and the place of its newest record.
    fn nearest_key(
        &mut self,
        unit: EraseUnit,
        shape: &Shape,
        bound: Bound<&[u8; K]>,
        direction: Direction,
    ) -> Outcome<Option<([u8; K], u16)>, D> {
        let border = self.bisect(unit, shape.ascending, &Border::Bound(bound, direction))?;
        let in_run = match direction {
            Direction::Forwards => Some(border).filter(|&place| place < shape.ascending),
            Direction::Backwards => border.checked_sub(1),
        };
        let mut nearest = match in_run {
            Some(place) => Some((self.key_at(unit, place)?, place)),
            None => None,
        };
        for place in shape.ascending..shape.written {
            let key = self.key_at(unit, place)?;
            let is_nearer = nearest.is_none_or(|(found, _)| match direction {
                Direction::Forwards => key <= found,
                Direction::Backwards => key >= found,
            });
            if is_nearer && is_within(&key, bound, direction) {
                nearest = Some((key, place));
            }
        }
        Ok(nearest)
    }

    /// Verifies the records that a cursor would pass over: those of the tail.
    fn verify_tail(&mut self, unit: EraseUnit, shape: &Shape) -> Outcome<(), D> {
        for place in shape.ascending..shape.written {
            self.whole_record(unit, place)?;
        }
        Ok(())
    }

    /// The record in a leaf next to a bound, from where `hint` says if that is still true.
    pub fn step_in_leaf(
        &mut self,
        (leaf, shape): (&Leaf<K>, &Shape),
        bound: Bound<&[u8; K]>,
        direction: Direction,
        hint: &mut Hint,
    ) -> Outcome<Option<Record<K, V>>, D> {
        let is_current = |place: &Place| {
            place.cell == u32::from(leaf.unit.0)
                && place.changes == self.flash.changes()
                && place.direction == direction
        };
        let place = hint.0.filter(is_current);
        let found = match place {
            Some(place) if shape.ascending == shape.written => self.record_in_run((leaf, shape), place.ahead)?,
            _ => {
                if place.is_none() {
                    self.verify_tail(leaf.unit, shape)?;
                }
                self.nearest((leaf, shape), within(leaf, bound, direction), direction)?
            }
        };
        *hint = Hint(found.map(|(place, _)| self.place_after(leaf, place, direction)));
        Ok(found.map(|(_, record)| record))
    }

    /// The record at a place of a leaf that ascends, if the leaf counts for its key.
    fn record_in_run(
        &mut self,
        (leaf, shape): (&Leaf<K>, &Shape),
        place: u64,
    ) -> Outcome<Option<(u16, Record<K, V>)>, D> {
        if place >= u64::from(shape.ascending) {
            return Ok(None);
        }
        let record = self.whole_record(leaf.unit, place as u16)?;
        let counts = record.key >= leaf.low && leaf.high.is_none_or(|high| record.key < high);
        Ok(counts.then_some((place as u16, record)))
    }

    fn place_after(&self, leaf: &Leaf<K>, place: u16, direction: Direction) -> Place {
        let ahead = match direction {
            Direction::Forwards => u64::from(place) + 1,
            Direction::Backwards => u64::from(place).wrapping_sub(1),
        };
        Place::in_order(u32::from(leaf.unit.0), ahead, direction, self.flash.changes())
    }
}

/// A bound, no further out than the leaf.
fn within<const K: usize>(leaf: &Leaf<K>, bound: Bound<&[u8; K]>, direction: Direction) -> Bound<[u8; K]> {
    match (direction, leaf.high) {
        (Direction::Forwards, _) if is_within(&leaf.low, bound, direction) => Bound::Included(leaf.low),
        (Direction::Backwards, Some(high)) if is_within(&high, bound, direction) => Bound::Excluded(high),
        _ => bound.cloned(),
    }
}
