//! Dropping the least keys: of a ring ahead of need, or those below a given one.
//!
//! The floor is the least key that counts. A leaf that is written says where it is; so does a record at the end of the
//! newest leaf. All leaves below the floor count no more, without a program or an erase for each.
//!
//! Invariant: keys go from the least one on, so that a cut leaves a ring that lacks some of its least keys and no
//! others.

use norn_flash::Nor;

use super::format::Kind;
use super::leaves::{Leaf, Leaves, Shape};
use super::room::Purpose;
use super::write::{Fill, Plan};
use crate::error::{IndexError, Outcome};

impl<D: Nor, const K: usize, const V: usize> Leaves<D, K, V> {
    /// A step towards room in a ring for a key that its leaf has no place for; how many keys it dropped.
    pub fn make_room_in_ring(&mut self, (leaf, shape): (&Leaf<K>, &Shape), key: &[u8; K]) -> Outcome<u32, D> {
        if self.can_grow() {
            return self.make_room((leaf, shape), key, Purpose::Insertion).map(|()| 0);
        }
        let first = self.first_leaf()?;
        match first.high.filter(|_| first.unit != leaf.unit) {
            Some(high) => self.replace_first(&first, high, (leaf, shape), key),
            None => self.drop_least(&first, key),
        }
    }

    /// Writes a leaf with room for `key` in place of the first one.
    fn replace_first(
        &mut self,
        first: &Leaf<K>,
        floor: [u8; K],
        (leaf, shape): (&Leaf<K>, &Shape),
        key: &[u8; K],
    ) -> Outcome<u32, D> {
        let (dropped, before) = (self.count_keys(first)?, (self.floor, self.count));
        (self.floor, self.count) = (Some(floor), self.count - 1);
        // The leaf that is written says where the floor is.
        let outcome = self.make_room((leaf, shape), key, Purpose::Insertion);
        if outcome.is_err() {
            (self.floor, self.count, self.entered) = (before.0, before.1, None);
        }
        outcome.map(|()| u32::from(dropped))
    }

    /// Copies the first leaf without a quarter of its keys, the least ones, as far as they are below `key`. If none is,
    /// what counts no more may leave room: it does where the leaf was split for the key.
    fn drop_least(&mut self, first: &Leaf<K>, key: &[u8; K]) -> Outcome<u32, D> {
        let keys = self.count_keys(first)?;
        let below = self.count_keys(&Leaf { high: Some(*key), ..*first })?;
        let dropped = below.min((keys / 4).max(1));
        let floor = match dropped {
            0 if keys + 2 <= self.layout.places => return self.rewrite(first).map(|()| 0),
            0 => return Err(IndexError::BelowRing),
            dropped if dropped == below => *key,
            dropped => self.key_number(first, dropped)?.unwrap_or(*key),
        };
        let (low, high, count) = (first.low, first.high, self.count);
        self.write_leaf(&Plan { low, high, floor: Some(floor), fill: Fill::Copies, count })?;
        Ok(u32::from(dropped))
    }

    /// Takes all keys below `key` away; how many there were.
    pub fn raise_floor(&mut self, key: &[u8; K]) -> Outcome<u32, D> {
        let (mut leaf, mut removed, mut count) = (self.first_leaf()?, 0, self.count);
        loop {
            let high = leaf.high.filter(|high| high < key);
            removed += u32::from(self.count_keys(&Leaf { high: high.or(Some(*key)), ..leaf })?);
            match leaf.high.filter(|high| high <= key) {
                Some(high) => (leaf, count) = (self.enter_at(&high)?.0, count.saturating_sub(1)),
                None => break,
            }
        }
        if removed == 0 {
            return Ok(0);
        }
        if !self.note_floor(key)? {
            let (low, high) = (leaf.low, leaf.high);
            self.write_leaf(&Plan { low, high, floor: Some(*key), fill: Fill::Copies, count })?;
        }
        (self.floor, self.count, self.entered) = (Some(*key), count, None);
        Ok(removed)
    }

    /// Says in the newest leaf where the floor is, if that has a place for it; whether it has.
    fn note_floor(&mut self, key: &[u8; K]) -> Outcome<bool, D> {
        let (sequence, unit) = self.newest;
        let leaf = Leaf { unit, sequence, low: [0; K], high: None };
        let shape = self.shape(&leaf)?;
        if !self.has_place(&shape, Purpose::Change) {
            return Ok(false);
        }
        self.append(&leaf, &shape, Kind::Floor, (key, &[0xFF; V]))?;
        Ok(true)
    }
}
