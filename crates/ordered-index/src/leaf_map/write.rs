//! Writing a leaf: the one change that concerns several keys.
//!
//! 1. erase the unit that is next, unless that was done ahead of need in this session;
//! 2. program the records that are copied into it, in ascending order;
//! 3. choose the unit that is next after this one: one in which nothing counts once this leaf does;
//! 4. program the header, then the seal: from here on the leaf counts.
//!
//! | what a cut leaves | cause | mount |
//! |---|---|---|
//! | the next unit with anything but a whole seal and a whole newer header | during 1 to 4 | it is passed over |
//! | a whole seal | after 4 | the leaf counts |
//! | a whole seal and an older header | during 1 | it is passed over: it counted no more before |
//!
//! Invariant: a unit is erased in the call that programs it, or earlier in the same session, so that it need not be
//! known whether an erase before the last mount was complete.

use core::ops::Bound;

use norn_flash::{EraseUnit, Nor};

use super::entry::Record;
use super::format::{
    HEADER_BYTES_MAX, Header, Kind, Mark, Outline, Range, SEAL_BYTES, check_header, header_bytes, outline, seal,
};
use super::leaves::Leaves;
use super::search::Point;
use crate::error::Outcome;
use crate::step::{Direction, Hint};

/// A header's bytes on the stack, rounded up to the largest program unit.
pub(super) const HEADER_BUFFER_BYTES: usize = HEADER_BYTES_MAX.next_multiple_of(32);

/// What a leaf begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// Nothing.
    Empty,
    /// What counts for its keys.
    Copies,
}

/// A leaf to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan<const K: usize> {
    pub low: [u8; K],
    pub high: Option<[u8; K]>,
    pub floor: Option<[u8; K]>,
    pub fill: Fill,
    /// Leaves that count when this one does.
    pub count: u16,
}

impl<D: Nor, const K: usize, const V: usize> Leaves<D, K, V> {
    /// Writes a leaf. Cost: an erase, a program for each record that is copied and two more; some bytes read of each
    /// unit for each one after this that counts, until one does not.
    pub fn write_leaf(&mut self, plan: &Plan<K>) -> Outcome<(), D> {
        self.erase_next()?;
        self.next_is_erased = false;
        let (unit, sequence) = (self.next, self.newest.0.wrapping_add(1));
        let copied = match plan.fill {
            Fill::Empty => 0,
            Fill::Copies => self.copy(unit, plan)?,
        };
        let next = self.choose_next(unit, plan)?;
        let next_erases = self.erases_of(next)?;
        let header = Header {
            range: Range { sequence, low: plan.low, high: plan.high },
            floor: plan.floor,
            erases: self.next_erases.saturating_add(1),
            next: next.0,
            next_erases,
            leaves: plan.count,
            copied,
        };
        let mut bytes = [0xFF; HEADER_BUFFER_BYTES];
        header.encode(self.facts(), &mut bytes);
        self.flash.program(self.layout.header(unit), &bytes[..self.layout.header_bytes()])?;
        let mut bytes = [0xFF; 32];
        bytes[..SEAL_BYTES].copy_from_slice(&seal(sequence));
        self.flash.program(self.layout.seal(unit), &bytes[..self.layout.seal_bytes()])?;
        (self.newest, self.next, self.next_erases) = ((sequence, unit), next, next_erases);
        (self.floor, self.count, self.entered) = (plan.floor, plan.count, None);
        Ok(())
    }

    /// Erases the unit of the next leaf, if that was not done in this session; whether it was not.
    pub fn erase_next(&mut self) -> Outcome<bool, D> {
        if self.next_is_erased {
            return Ok(false);
        }
        self.flash.erase(self.next)?;
        self.next_is_erased = true;
        Ok(true)
    }

    /// Step 2; how many records these are.
    fn copy(&mut self, unit: EraseUnit, plan: &Plan<K>) -> Outcome<u16, D> {
        let low = plan.floor.map_or(plan.low, |floor| floor.max(plan.low));
        let (mut bound, mut hint, mut place) = (Bound::Included(low), Hint::default(), 0);
        while let Some(record) = self.step(bound, Direction::Forwards, &mut hint)? {
            if plan.high.is_some_and(|high| record.key >= high) {
                break;
            }
            if place == self.layout.places {
                return Err(self.flash.damage(self.layout.record(unit, 0), "more keys than a leaf has room for"));
            }
            let mark = Mark { kind: Kind::Put, ascends: true };
            self.write_record(unit, place, &Record { mark, ..record })?;
            hint.renew(self.flash.changes());
            (bound, place) = (Bound::Excluded(record.key), place + 1);
        }
        Ok(place)
    }

    /// Step 3. Units take turns, so that those in which nothing counts wear alike.
    fn choose_next(&mut self, unit: EraseUnit, plan: &Plan<K>) -> Outcome<EraseUnit, D> {
        for distance in 1..self.layout.facts.unit_count {
            let candidate = self.layout.unit_after(unit, distance);
            if !self.counts_beside(candidate, (&plan.low, plan.high.as_ref()), plan.floor)? {
                return Ok(candidate);
            }
        }
        Err(self.flash.damage(self.layout.seal(unit), "leaves in all units"))
    }

    /// Erases of a unit, if a leaf in it says so, else none.
    pub fn erases_of(&mut self, unit: EraseUnit) -> Outcome<u32, D> {
        let mut bytes = [0; HEADER_BYTES_MAX];
        self.flash.read(self.layout.header(unit), &mut bytes[..header_bytes(K)])?;
        let is_known = matches!(outline(&bytes), Outline::Known(key_bytes, _) if usize::from(key_bytes) == K);
        Ok(if is_known { check_header(&bytes).map_or(0, |common| common.erases) } else { 0 })
    }

    /// The record next to a bound, of those that count.
    pub fn step(
        &mut self,
        bound: Bound<[u8; K]>,
        direction: Direction,
        hint: &mut Hint,
    ) -> Outcome<Option<Record<K, V>>, D> {
        let mut bound = bound;
        for _ in 0..=self.layout.facts.unit_count {
            let Some(point) = self.point_of(&bound, direction) else { return Ok(None) };
            let Some((leaf, shape)) = self.enter(point)? else { return Ok(None) };
            if let Some(record) = self.step_in_leaf((&leaf, &shape), bound.as_ref(), direction, hint)? {
                return Ok(Some(record));
            }
            bound = match (direction, leaf.high) {
                (Direction::Forwards, None) => return Ok(None),
                (Direction::Forwards, Some(high)) => Bound::Included(high),
                (Direction::Backwards, _) => Bound::Excluded(leaf.low),
            };
        }
        Err(self.flash.damage(self.layout.seal(self.newest.1), "leaves without an end"))
    }

    /// Where a step begins to search; `None` if there is nothing on that side of the floor.
    fn point_of(&self, bound: &Bound<[u8; K]>, direction: Direction) -> Option<Point<K>> {
        match (direction, *bound) {
            (Direction::Forwards, Bound::Unbounded) => Some(Point::At(self.above_floor([0; K]))),
            (Direction::Forwards, Bound::Included(key) | Bound::Excluded(key)) => {
                Some(Point::At(self.above_floor(key)))
            }
            (Direction::Backwards, Bound::Unbounded) => Some(Point::Top),
            (Direction::Backwards, Bound::Excluded(key)) => Some(Point::Below(key)),
            (Direction::Backwards, Bound::Included(key)) => {
                self.floor.is_none_or(|floor| floor <= key).then_some(Point::At(key))
            }
        }
    }
}
