//! What every ordered index does: a map from keys of `K` bytes to values of `V` bytes, sorted by the keys' bytes.
//!
//! Numbers sort as numbers when they are written big-endian. Every call that returns `Ok` is durable; one that a power
//! cut hits has happened wholly or not at all.

use core::iter::FusedIterator;
use core::ops::Bound;

use norn_flash::{Nor, Violation};

use crate::error::IndexError;
use crate::step::{Direction, Hint, Span};

/// A key and its value.
pub type Entry<const K: usize, const V: usize> = ([u8; K], [u8; V]);

/// The error of an index over the device `D`.
pub type ErrorOf<D> = IndexError<<D as Nor>::Error>;

/// What a step of reclamation ahead of need has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reclaimed {
    /// A block was moved and erased, or objects were merged, so that one can be.
    Block,
    /// There is nothing that would be worth it.
    Nothing,
}

/// What an index holds and how worn its part is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexStats {
    /// Keys.
    pub keys: u32,
    /// Places for objects or pages that are in use.
    pub live: u32,
    /// Places that a reclamation would free.
    pub dead: u32,
    /// Places that can be written.
    pub free: u32,
    /// Erases of the least worn block.
    pub erases_min: u32,
    /// Erases of the most worn block.
    pub erases_max: u32,
}

/// A sorted map on NOR flash.
pub trait OrderedIndex<const K: usize, const V: usize> {
    /// The device under it.
    type Device: Nor;

    /// Adds a key.
    ///
    /// # Errors
    /// `KeyExists`, `Full`, `Corrupted` and the device's.
    fn insert(&mut self, key: &[u8; K], value: &[u8; V]) -> Result<(), ErrorOf<Self::Device>>;

    /// Changes the value of a key.
    ///
    /// # Errors
    /// `KeyAbsent`, `Full`, `Corrupted` and the device's.
    fn update(&mut self, key: &[u8; K], value: &[u8; V]) -> Result<(), ErrorOf<Self::Device>>;

    /// The value of a key.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    fn get(&mut self, key: &[u8; K]) -> Result<Option<[u8; V]>, ErrorOf<Self::Device>>;

    /// Takes a key away.
    ///
    /// # Errors
    /// `KeyAbsent`, `Corrupted` and the device's.
    fn remove(&mut self, key: &[u8; K]) -> Result<(), ErrorOf<Self::Device>>;

    /// The entry next to `bound`, which is the lower bound going forwards and the upper one going backwards. `hint` is
    /// the default, or what the step left there that returned the key of `bound`. The index may change between two
    /// steps: a step finds what there is then, at the cost of a search.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    fn neighbour(
        &mut self,
        bound: Bound<&[u8; K]>,
        direction: Direction,
        hint: &mut Hint,
    ) -> Result<Option<Entry<K, V>>, ErrorOf<Self::Device>>;

    /// Counts the keys. A [`FatList`](crate::FatList) knows their number after a format, after a stop that knew it, and
    /// once they were counted; else this reads all objects.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    fn len(&mut self) -> Result<u32, ErrorOf<Self::Device>>;

    /// Counts what the index holds. Reads all objects, and the state of every place.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    fn stats(&mut self) -> Result<IndexStats, ErrorOf<Self::Device>>;

    /// Takes a step ahead of need, which moves one block at most: reclaims a block, if that frees much or few places
    /// are free; merges what is sparse, if little room is left; gives pointers room that a removal would need. After a
    /// step that finds nothing to do, the next change of a [`FatList`](crate::FatList) moves one block at most.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    fn reclaim_step(&mut self) -> Result<Reclaimed, ErrorOf<Self::Device>>;

    /// What the last call that failed with `Corrupted` found, and where.
    fn corruption(&self) -> Option<Violation>;

    /// Adds a key or changes its value, whichever it takes.
    ///
    /// # Errors
    /// `Full`, `Corrupted` and the device's.
    fn put(&mut self, key: &[u8; K], value: &[u8; V]) -> Result<(), ErrorOf<Self::Device>> {
        match self.update(key, value) {
            Err(IndexError::KeyAbsent) => self.insert(key, value),
            outcome => outcome,
        }
    }

    /// Whether there are no keys.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    fn is_empty(&mut self) -> Result<bool, ErrorOf<Self::Device>> {
        Ok(self.first()?.is_none())
    }

    /// The entry with the least key.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    fn first(&mut self) -> Result<Option<Entry<K, V>>, ErrorOf<Self::Device>> {
        self.neighbour(Bound::Unbounded, Direction::Forwards, &mut Hint::default())
    }

    /// The entry with the greatest key.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    fn last(&mut self) -> Result<Option<Entry<K, V>>, ErrorOf<Self::Device>> {
        self.neighbour(Bound::Unbounded, Direction::Backwards, &mut Hint::default())
    }

    /// The entries between two bounds, from either end. The index cannot change meanwhile.
    fn range(&mut self, from: Bound<[u8; K]>, to: Bound<[u8; K]>) -> Range<'_, Self, K, V>
    where
        Self: Sized,
    {
        Range { index: self, span: Span::new(from, to), has_failed: false }
    }
}

/// A cursor over a range of keys, and an iterator over its entries, in descending order with `rev`. The iterator ends
/// after the first error.
///
/// ```
/// # use std::ops::Bound;
/// # use norn_flash_sim::{NorSim, catalogue};
/// # use norn_ordered_index::{FatList, OrderedIndex, Settings};
/// # let part = NorSim::new(catalogue::w25q());
/// let mut list: FatList<_, 1, 1> = FatList::format(part, Settings::paper_2011()).unwrap();
/// (0..9).for_each(|key| list.insert(&[key], &[2 * key]).unwrap());
/// let mut range = list.range(Bound::Included([2]), Bound::Unbounded);
/// assert_eq!(range.by_ref().rev().take(2).map(|entry| entry.unwrap().0).collect::<Vec<_>>(), [[8], [7]]);
/// range.seek(&[5]);
/// assert_eq!(range.collect::<Result<Vec<_>, _>>().unwrap(), [([5], [10]), ([6], [12])]);
/// ```
#[derive(Debug)]
pub struct Range<'a, I, const K: usize, const V: usize> {
    index: &'a mut I,
    span: Span<[u8; K]>,
    has_failed: bool,
}

impl<I: OrderedIndex<K, V>, const K: usize, const V: usize> Range<'_, I, K, V> {
    /// The next entry in ascending order.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn next_entry(&mut self) -> Result<Option<Entry<K, V>>, ErrorOf<I::Device>> {
        let step = |bound: Bound<&_>, hint: &mut Hint| self.index.neighbour(bound, Direction::Forwards, hint);
        self.span.take(Direction::Forwards, step)
    }

    /// The next entry in descending order, from the other end.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn next_entry_back(&mut self) -> Result<Option<Entry<K, V>>, ErrorOf<I::Device>> {
        let step = |bound: Bound<&_>, hint: &mut Hint| self.index.neighbour(bound, Direction::Backwards, hint);
        self.span.take(Direction::Backwards, step)
    }
}

impl<I: OrderedIndex<K, V>, const K: usize, const V: usize> Range<'_, I, K, V> {
    /// Goes on at `key`, or at the least key above it: what lies before is passed over. A key that the range has passed
    /// changes nothing.
    ///
    /// Cost: none here; the next step is a search.
    pub fn seek(&mut self, key: &[u8; K]) {
        self.span.seek(*key);
    }
}

impl<I: OrderedIndex<K, V>, const K: usize, const V: usize> Iterator for Range<'_, I, K, V> {
    type Item = Result<Entry<K, V>, ErrorOf<I::Device>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let found = self.next_entry();
        self.has_failed = found.is_err();
        found.transpose()
    }
}

impl<I: OrderedIndex<K, V>, const K: usize, const V: usize> DoubleEndedIterator for Range<'_, I, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let found = self.next_entry_back();
        self.has_failed = found.is_err();
        found.transpose()
    }
}

impl<I: OrderedIndex<K, V>, const K: usize, const V: usize> FusedIterator for Range<'_, I, K, V> {}
