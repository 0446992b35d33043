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

/// Words of a hint ([`Hint::to_words`]).
pub const HINT_WORDS: usize = 6;

/// In the last byte of a hint's fifth word, beside the number of nearest slots: what the place says besides.
const IS_PLACE: u8 = 0x80;
const ASCENDS: u8 = 0x40;
const IS_BACKWARDS: u8 = 0x20;
const COUNT_MASK: u8 = 0x1F;

impl Hint {
    /// The hint as words, for memory that other code may overwrite: [`from_words`](Self::from_words) takes them back.
    pub fn to_words(self) -> [u32; HINT_WORDS] {
        let Some(place) = self.0 else { return [0; HINT_WORDS] };
        let is = |flag: u8, holds: bool| if holds { flag } else { 0 };
        let flags = IS_PLACE | is(ASCENDS, place.ascends) | is(IS_BACKWARDS, place.direction == Direction::Backwards);
        let (low, high) = (place.ahead as u32, (place.ahead >> 32) as u32);
        let nearest = u32::from_le_bytes(place.nearest);
        [place.cell, low, high, nearest, u32::from(flags | place.nearest_count), place.changes]
    }

    /// The hint that words say, or `None` if they say none. Words that no hint has become may still be a hint that
    /// leads to another entry: a caller whose memory is not its own has a checksum.
    pub fn from_words(words: [u32; HINT_WORDS]) -> Option<Hint> {
        let [cell, low, high, nearest, flags, changes] = words;
        if words == [0; HINT_WORDS] {
            return Some(Hint(None));
        }
        let (flags, nearest) = (u8::try_from(flags).ok()?, nearest.to_le_bytes());
        let nearest_count = flags & COUNT_MASK;
        let slots_max = u64::BITS as u8;
        let has_place = flags & IS_PLACE != 0 && usize::from(nearest_count) <= NEAREST_MAX;
        if !has_place || nearest.iter().any(|&slot| slot >= slots_max) {
            return None;
        }
        let direction = if flags & IS_BACKWARDS == 0 { Direction::Forwards } else { Direction::Backwards };
        let (ahead, ascends) = (u64::from(low) | u64::from(high) << 32, flags & ASCENDS != 0);
        Some(Hint(Some(Place { cell, ahead, ascends, nearest, nearest_count, direction, changes })))
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

#[cfg(test)]
mod tests {
    //! Proves that hints survive as words, and that words of no hint are refused.
    use super::*;

    #[test]
    fn hints_are_read_as_they_were_written() {
        let in_order = Place::in_order(0x30_0007, 1 << 63 | 5, Direction::Backwards, 77);
        let drawn = Place { ascends: false, nearest: [63, 1, 2, 0], nearest_count: 4, ..in_order };
        let forwards = Place { direction: Direction::Forwards, ..drawn };
        for hint in [None, Some(in_order), Some(drawn), Some(forwards)].map(Hint) {
            assert_eq!(Hint::from_words(hint.to_words()), Some(hint));
        }
    }

    #[test]
    fn words_of_no_hint_are_refused() {
        let good = Hint(Some(Place::in_order(1, 2, Direction::Forwards, 3))).to_words();
        for (word, value) in [(4, 0), (4, 0x85), (4, 0x100), (3, 64), (3, 0xFF00_0000)] {
            let mut words = good;
            words[word] = value;
            assert_eq!(Hint::from_words(words), None, "word {word} is {value:#x}");
        }
    }
}
