//! Which leaf counts for a key: of those that were written for it, the one that was sealed last.
//!
//! The units are looked at one by one, some bytes of each. A leaf counts from its least key, or the floor, up to the
//! least key of a newer leaf, or its own end.
//!
//! Invariant: a leaf that does not count at its least key, or at the floor if that is higher, counts nowhere. For a
//! leaf is written for all keys of some leaves, or for the upper part of one.

use norn_flash::{EraseUnit, Nor};

use super::format::{KEY_BYTES_MAX, Outline, Range, is_seal, outline, range_bytes};
use super::leaves::{Leaf, Leaves, Shape};
use crate::error::Outcome;

/// A place in the order of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point<const K: usize> {
    /// A key.
    At([u8; K]),
    /// Just below a key.
    Below([u8; K]),
    /// Above all keys.
    Top,
}

impl<const K: usize> Point<K> {
    /// Whether a range of keys has this point.
    fn is_in(&self, low: &[u8; K], high: Option<&[u8; K]>) -> bool {
        match self {
            Point::At(key) => low <= key && high.is_none_or(|high| key < high),
            Point::Below(key) => low < key && high.is_none_or(|high| key <= high),
            Point::Top => high.is_none(),
        }
    }

    /// Whether a leaf that begins at `low` is beyond this point.
    fn is_before(&self, low: &[u8; K]) -> bool {
        match self {
            Point::At(key) => key < low,
            Point::Below(key) => key <= low,
            Point::Top => false,
        }
    }
}

impl<D: Nor, const K: usize, const V: usize> Leaves<D, K, V> {
    /// For which keys the leaf in `unit` was written, if there is one.
    pub fn range_of(&mut self, unit: EraseUnit) -> Outcome<Option<Range<K>>, D> {
        if unit == self.next {
            return Ok(None);
        }
        let mut bytes = [0; 32 + range_bytes(KEY_BYTES_MAX)];
        let seal_bytes = self.layout.seal_bytes();
        let bytes = &mut bytes[..seal_bytes + range_bytes(K)];
        self.flash.read(self.layout.seal(unit), bytes)?;
        let (seal, header) = bytes.split_at(seal_bytes);
        let is_ours = outline(header) == Outline::Known(self.facts().key_bytes, self.facts().value_bytes);
        Ok((is_seal(seal) && is_ours).then(|| Range::decode(header)))
    }

    /// The newest leaf at a point, the floor aside.
    fn newest_at(&mut self, point: Point<K>) -> Outcome<Option<(EraseUnit, Range<K>)>, D> {
        let mut newest: Option<(EraseUnit, Range<K>)> = None;
        for unit in self.layout.units() {
            let Some(range) = self.range_of(unit)? else { continue };
            let is_newer = newest.is_none_or(|(_, found)| found.sequence < range.sequence);
            if is_newer && point.is_in(&range.low, range.high.as_ref()) {
                newest = Some((unit, range));
            }
        }
        Ok(newest)
    }

    /// The least key beyond `point` for which a leaf counts that is newer than `range`.
    fn end_of(&mut self, point: Point<K>, range: &Range<K>) -> Outcome<Option<[u8; K]>, D> {
        let mut end = range.high;
        for unit in self.layout.units() {
            let Some(other) = self.range_of(unit)? else { continue };
            let is_nearer = end.is_none_or(|end| other.low < end);
            if other.sequence > range.sequence && point.is_before(&other.low) && is_nearer {
                end = Some(other.low);
            }
        }
        Ok(end)
    }

    /// The unit of the leaf that counts for a key.
    fn unit_at(&mut self, key: [u8; K]) -> Outcome<(EraseUnit, Range<K>), D> {
        match self.newest_at(Point::At(key))? {
            Some(found) => Ok(found),
            None => Err(self.flash.damage(self.layout.seal(self.newest.1), "no leaf for a key")),
        }
    }

    /// The leaf that counts at a point, if that is not below the floor. Cost: some bytes of each unit, twice.
    pub fn leaf_at(&mut self, point: Point<K>) -> Outcome<Option<Leaf<K>>, D> {
        let (unit, range) = match point {
            Point::At(key) => self.unit_at(key)?,
            Point::Below(key) if key == [0; K] || self.floor.is_some_and(|floor| key <= floor) => return Ok(None),
            _ => match self.newest_at(point)? {
                Some(found) => found,
                None => return Err(self.flash.damage(self.layout.seal(self.newest.1), "no leaf for a key")),
            },
        };
        let high = self.end_of(point, &range)?;
        Ok(Some(Leaf { unit, sequence: range.sequence, low: self.above_floor(range.low), high }))
    }

    /// The leaf that counts at a point, and its shape: that where the last call worked, or another, which is
    /// remembered.
    pub fn enter(&mut self, point: Point<K>) -> Outcome<Option<(Leaf<K>, Shape)>, D> {
        if let Some((leaf, shape)) = self.entered
            && point.is_in(&leaf.low, leaf.high.as_ref())
        {
            return Ok(Some((leaf, shape)));
        }
        let Some(leaf) = self.leaf_at(point)? else { return Ok(None) };
        let shape = self.shape(&leaf)?;
        self.entered = Some((leaf, shape));
        Ok(Some((leaf, shape)))
    }

    /// The leaf that counts for a key, which is raised to the floor, as [`enter`](Self::enter).
    pub fn enter_at(&mut self, key: &[u8; K]) -> Outcome<(Leaf<K>, Shape), D> {
        let key = self.above_floor(*key);
        match self.enter(Point::At(key))? {
            Some(found) => Ok(found),
            None => Err(self.flash.damage(self.layout.seal(self.newest.1), "no leaf for a key")),
        }
    }

    /// The same for a key that is not below the floor, without looking where the leaf ends unless that is known: it may
    /// end earlier than is said.
    pub fn look_at(&mut self, key: &[u8; K]) -> Outcome<(Leaf<K>, Shape), D> {
        if let Some((leaf, shape)) = self.entered
            && Point::At(*key).is_in(&leaf.low, leaf.high.as_ref())
        {
            return Ok((leaf, shape));
        }
        let (unit, range) = self.unit_at(*key)?;
        let leaf = Leaf { unit, sequence: range.sequence, low: range.low, high: range.high };
        let shape = self.shape(&leaf)?;
        Ok((leaf, shape))
    }

    /// Whether the leaf in `unit` counts when all keys from `low` to `high`, and those below `floor`, are another's.
    pub fn counts_beside(
        &mut self,
        unit: EraseUnit,
        (low, high): (&[u8; K], Option<&[u8; K]>),
        floor: Option<[u8; K]>,
    ) -> Outcome<bool, D> {
        let Some(range) = self.range_of(unit)? else { return Ok(false) };
        let least = floor.map_or(range.low, |floor| floor.max(range.low));
        if range.high.is_some_and(|high| high <= least) || Point::At(least).is_in(low, high) {
            return Ok(false);
        }
        Ok(self.newest_at(Point::At(least))?.is_some_and(|(newest, _)| newest == unit))
    }
}
