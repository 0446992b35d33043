//! Steps of cursors: the next entry, forwards and backwards.
//!
//! The slots of an object are in the order of writing. When a cursor enters an object, it reads the keys once and notes
//! which slots are ahead of it, a bit for each, and whether their keys ascend, as those of a log do. Then a step reads
//! its own slot only; else it finds the four nearest keys among the slots that are left, for four steps. Sorting all of
//! them would take a byte of RAM for each slot.
//!
//! Invariants: each slot that counts and is ahead of the cursor is returned once, with its code verified; a cursor goes
//! to higher low keys only, or to lower ones only, so that it ends on any flash content.

use core::ops::Bound;

use norn_flash::Nor;

use crate::error::Outcome;
use crate::fat_list::ground::cells::slots::slots_of;
use crate::fat_list::layout::Cell;
use crate::fat_list::search::{Limit, Node, SkipList};
use crate::fat_list::widths::{EntryOf, Widths};
use crate::step::{Direction, Hint, NEAREST_MAX, Place};

impl<D: Nor, W: Widths> SkipList<D, W> {
    /// The entry next to `bound`, and in `hint` where it is.
    pub fn step(
        &mut self,
        bound: Bound<&W::Key>,
        direction: Direction,
        hint: &mut Hint,
    ) -> Outcome<Option<EntryOf<W>>, D> {
        let changes = self.cells().changes();
        let known = hint.0.filter(|place| place.changes == changes && place.direction == direction);
        let mut place = match known {
            Some(place) => place,
            None => {
                let node = self.start(bound, direction)?;
                self.enter(&node, bound, direction)?
            }
        };
        while place.ahead == 0 {
            let Some(next) = self.beyond(&place)? else { return Ok(None) };
            place = self.enter(&next, Bound::Unbounded, direction)?;
        }
        let slot = self.take_nearest(&mut place)?;
        *hint = Hint(Some(place));
        self.cells().entry(Cell::from_u32(place.cell), slot).map(Some)
    }

    /// The object in whose range `bound` is.
    fn start(&mut self, bound: Bound<&W::Key>, direction: Direction) -> Outcome<Node<W::Key>, D> {
        match (bound, direction) {
            (Bound::Included(key) | Bound::Excluded(key), _) => self.descend(Limit::AtMost(key)),
            (Bound::Unbounded, Direction::Forwards) => Ok(self.head_node()),
            (Bound::Unbounded, Direction::Backwards) => self.descend(Limit::End),
        }
    }

    /// The object after that of `place`, or before it; the head is before all others.
    fn beyond(&mut self, place: &Place) -> Outcome<Option<Node<W::Key>>, D> {
        let Some(node) = self.node(Cell::from_u32(place.cell))? else { return Ok(None) };
        match (place.direction, node.low) {
            (Direction::Forwards, _) => self.successor(&node, 0),
            (Direction::Backwards, Some(low)) => self.descend(Limit::Below(&low)).map(Some),
            (Direction::Backwards, None) => Ok(None),
        }
    }

    /// The place before the first key of an object that is beyond `bound`.
    fn enter(&mut self, node: &Node<W::Key>, bound: Bound<&W::Key>, direction: Direction) -> Outcome<Place, D> {
        let slots = if node.low.is_none() { 0 } else { self.cells().survey(node.cell)?.valid };
        self.look(node.cell, slots, bound, direction)
    }

    /// The slots among `slots` that are ahead of a cursor at `bound`, and the nearest of them.
    fn look(&mut self, cell: Cell, slots: u64, bound: Bound<&W::Key>, direction: Direction) -> Outcome<Place, D> {
        let mut place = Place {
            cell: cell.to_u32(),
            ahead: 0,
            ascends: true,
            nearest: [0; NEAREST_MAX],
            nearest_count: 0,
            direction,
            changes: self.cells().changes(),
        };
        let (mut before, mut nearest) = (None, [None; NEAREST_MAX]);
        for slot in slots_of(slots) {
            let key = self.cells().key_at(cell, slot)?;
            if !is_ahead(&key, bound, direction) {
                continue;
            }
            place.ahead |= 1 << slot;
            place.ascends &= before < Some(key);
            before = Some(key);
            place.note(slot, &key, &mut nearest);
        }
        Ok(place)
    }

    /// Takes the slot with the nearest key from those ahead, of which there is one.
    fn take_nearest(&mut self, place: &mut Place) -> Outcome<u8, D> {
        if !place.ascends && place.nearest_count == 0 {
            *place = self.look(Cell::from_u32(place.cell), place.ahead, Bound::Unbounded, place.direction)?;
        }
        let slot = match place.direction {
            _ if !place.ascends => {
                place.nearest_count -= 1;
                place.nearest[usize::from(place.nearest_count)]
            }
            Direction::Forwards => place.ahead.trailing_zeros() as u8,
            Direction::Backwards => place.ahead.ilog2() as u8,
        };
        place.ahead &= !(1 << slot);
        Ok(slot)
    }
}

impl Place {
    /// Puts `slot`, which has `key`, among the nearest slots, whose keys are in `keys`, if it is one of them.
    fn note<K: Ord + Copy>(&mut self, slot: u8, key: &K, keys: &mut [Option<K>; NEAREST_MAX]) {
        let count = usize::from(self.nearest_count);
        let is_farther =
            |other: &Option<K>| other.is_some_and(|other| is_ahead(&other, Bound::Excluded(key), self.direction));
        let farther = keys[..count].iter().take_while(|other| is_farther(other)).count();
        let at = if count < NEAREST_MAX {
            self.nearest.copy_within(farther..count, farther + 1);
            keys.copy_within(farther..count, farther + 1);
            self.nearest_count += 1;
            farther
        } else if farther > 0 {
            self.nearest.copy_within(1..farther, 0);
            keys.copy_within(1..farther, 0);
            farther - 1
        } else {
            return;
        };
        (self.nearest[at], keys[at]) = (slot, Some(*key));
    }
}

/// Whether `key` is beyond `bound`.
fn is_ahead<K: Ord>(key: &K, bound: Bound<&K>, direction: Direction) -> bool {
    match (bound, direction) {
        (Bound::Unbounded, _) => true,
        (Bound::Included(start), Direction::Forwards) => key >= start,
        (Bound::Excluded(start), Direction::Forwards) => key > start,
        (Bound::Included(end), Direction::Backwards) => key <= end,
        (Bound::Excluded(end), Direction::Backwards) => key < end,
    }
}
