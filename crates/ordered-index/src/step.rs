//! Steps of cursors, and what is left of a range of keys that is being walked through from both ends.

use core::ops::{Bound, RangeBounds};

/// Which neighbour of a place among the keys is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The least key at or above a bound.
    Forwards,
    /// The greatest key at or below a bound.
    Backwards,
}

/// Where a step of a cursor ended, to spare the next one the search. A step ignores that of before a change. It is of
/// no use after the list is mounted again: begin with the default then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hint(pub(crate) Option<Place>);

impl Hint {
    /// Keeps the hint true after a change that is known not to concern it.
    pub(crate) fn renew(&mut self, changes: u32) {
        if let Some(place) = &mut self.0 {
            place.changes = changes;
        }
    }
}

/// Slots that a cursor finds at once.
pub(crate) const NEAREST_MAX: usize = 4;

/// The object that a cursor is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub cell: u32,
    /// Its slots whose keys the cursor has not passed, a bit for each.
    pub ahead: u64,
    /// Whether the keys of these slots ascend with the slots' numbers.
    pub ascends: bool,
    /// If they do not, those with the nearest keys, the nearest one last.
    pub nearest: [u8; NEAREST_MAX],
    /// How many these are.
    pub nearest_count: u8,
    pub direction: Direction,
    /// The changes of flash before.
    pub changes: u32,
}

impl Place {
    /// A place in an object whose keys ascend, of which the next one is at `ahead`.
    pub fn in_order(cell: u32, ahead: u64, direction: Direction, changes: u32) -> Self {
        Place { cell, ahead, ascends: true, nearest: [0; NEAREST_MAX], nearest_count: 0, direction, changes }
    }
}

/// The ends, and where a step from each of them goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<Key> {
    from: Bound<Key>,
    to: Bound<Key>,
    front: Hint,
    back: Hint,
}

impl<Key: Copy + Ord> Span<Key> {
    pub fn new(from: Bound<Key>, to: Bound<Key>) -> Self {
        Span { from, to, front: Hint::default(), back: Hint::default() }
    }

    /// Takes the entry at one end out, which `neighbour` finds.
    pub fn take<Value, E>(
        &mut self,
        direction: Direction,
        neighbour: impl FnOnce(Bound<&Key>, &mut Hint) -> Result<Option<(Key, Value)>, E>,
    ) -> Result<Option<(Key, Value)>, E> {
        let (near, hint, far) = match direction {
            Direction::Forwards => (&mut self.from, &mut self.front, (Bound::Unbounded, self.to)),
            Direction::Backwards => (&mut self.to, &mut self.back, (self.from, Bound::Unbounded)),
        };
        let found = neighbour(near.as_ref(), hint)?.filter(|(key, _)| far.contains(key));
        if let Some((key, _)) = found {
            *near = Bound::Excluded(key);
        }
        Ok(found)
    }

    /// Passes over what is below `key`, if the span has not passed that itself.
    pub fn seek(&mut self, key: Key) {
        if (self.from, Bound::Unbounded).contains(&key) {
            (self.from, self.front) = (Bound::Included(key), Hint::default());
        }
    }
}
