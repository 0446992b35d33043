//! What all lists over slices of bytes can do, whether their values vary in length or not: ends, ranges, numbers, and
//! steps ahead of need.

use core::fmt;
use core::iter::FusedIterator;
use core::ops::Bound;

use norn_flash::Nor;

use crate::error::IndexError;
use crate::fat_list::bytes::{Outcome, filled};
use crate::fat_list::list::FatListOf;
use crate::fat_list::widths::{AtMost, EntryOf, Varying, Widths};
use crate::index::{IndexStats, Reclaimed};
use crate::step::{Direction, Hint, Span};

/// Widths that are known when a program runs: those of [`ByteFatList`](crate::ByteFatList) and
/// [`VaryingList`](crate::VaryingList), whose keys and values are slices of bytes.
pub trait RunTimeWidths: Widths {}

impl<const K: usize, const V: usize> RunTimeWidths for AtMost<K, V> {}

impl<const K: usize, const V: usize> RunTimeWidths for Varying<K, V> {}

impl<D: Nor, W: RunTimeWidths> FatListOf<D, W> {
    /// The entry with the least key.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn first(&mut self) -> Outcome<Option<EntryOf<W>>, D> {
        Ok(self.step(Bound::Unbounded, Direction::Forwards, &mut Hint::default())?)
    }

    /// The entry with the greatest key.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn last(&mut self) -> Outcome<Option<EntryOf<W>>, D> {
        Ok(self.step(Bound::Unbounded, Direction::Backwards, &mut Hint::default())?)
    }

    /// The entries between two bounds, from either end. The list cannot change meanwhile.
    ///
    /// ```
    /// # use std::ops::Bound;
    /// # use norn_flash_sim::{NorSim, catalogue};
    /// # use norn_ordered_index::{AtMost, ByteFatList, Settings};
    /// # let part = NorSim::new(catalogue::w25q());
    /// let widths = AtMost { key_bytes: 4, value_bytes: 1 };
    /// let mut list: ByteFatList<_, 16, 32> = ByteFatList::format(part, widths, Settings::paper_2011()).unwrap();
    /// [b"lamp", b"door", b"oven"].map(|key| list.insert(key, b"1").unwrap());
    /// let range = list.range(Bound::Included(b"e..."), Bound::Unbounded).unwrap();
    /// let keys: Vec<_> = range.rev().map(|entry| entry.unwrap().0.as_ref().to_vec()).collect();
    /// assert_eq!(keys, [b"oven", b"lamp"]);
    /// ```
    ///
    /// # Errors
    /// `Width`.
    pub fn range(&mut self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Outcome<ByteRange<'_, D, W>, D> {
        let span = Span::new(self.bound(from)?, self.bound(to)?);
        Ok(ByteRange { list: self, span, has_failed: false })
    }

    /// A bound in RAM.
    pub(super) fn bound(&self, bound: Bound<&[u8]>) -> Outcome<Bound<W::Key>, D> {
        Ok(match bound {
            Bound::Included(key) => Bound::Included(self.key_of(key)?),
            Bound::Excluded(key) => Bound::Excluded(self.key_of(key)?),
            Bound::Unbounded => Bound::Unbounded,
        })
    }

    /// A key in RAM.
    pub(super) fn key_of(&self, key: &[u8]) -> Outcome<W::Key, D> {
        filled(self.widths().zero_key(), "key", key)
    }

    /// Takes a key away.
    ///
    /// # Errors
    /// `Width`, `KeyAbsent`, `Corrupted` and the device's.
    pub fn remove(&mut self, key: &[u8]) -> Outcome<(), D> {
        let key = self.key_of(key)?;
        Ok(self.remove_entry(&key)?)
    }

    /// Takes least keys away that are below `key`, as many as go at a time, and returns how many:
    /// [`FatList::remove_below`](crate::FatList::remove_below) has the contract.
    ///
    /// # Errors
    /// As there, and `Width`.
    pub fn remove_below(&mut self, key: &[u8]) -> Outcome<u32, D> {
        let key = self.key_of(key)?;
        Ok(self.remove_entries_below(&key)?)
    }

    /// Whether there are no keys.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn is_empty(&mut self) -> Outcome<bool, D> {
        Ok(self.first()?.is_none())
    }

    /// Counts the keys: [`OrderedIndex::len`](crate::OrderedIndex::len) has the cost.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn len(&mut self) -> Outcome<u32, D> {
        Ok(self.count_keys()?)
    }

    /// Counts what the list holds. Reads all objects, and the state of every place.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn stats(&mut self) -> Outcome<IndexStats, D> {
        Ok(self.count_all()?)
    }

    /// Takes a step ahead of need: [`OrderedIndex::reclaim_step`](crate::OrderedIndex::reclaim_step).
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn reclaim_step(&mut self) -> Outcome<Reclaimed, D> {
        Ok(self.reclaim_ahead()?)
    }
}

/// A cursor over a range of a list whose keys and values are slices, and an iterator over its entries, in descending
/// order with `rev`. Keys and values are copies, which [`as_ref`](AsRef::as_ref) returns as slices. The iterator ends
/// after the first error.
pub struct ByteRange<'a, D: Nor, W: Widths> {
    list: &'a mut FatListOf<D, W>,
    span: Span<W::Key>,
    has_failed: bool,
}

impl<D: Nor, W: Widths> fmt::Debug for ByteRange<'_, D, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteRange").field("span", &self.span).finish_non_exhaustive()
    }
}

impl<D: Nor, W: RunTimeWidths> ByteRange<'_, D, W> {
    /// The next entry in ascending order.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn next_entry(&mut self) -> Result<Option<EntryOf<W>>, IndexError<D::Error>> {
        self.take(Direction::Forwards)
    }

    /// The next entry in descending order, from the other end.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn next_entry_back(&mut self) -> Result<Option<EntryOf<W>>, IndexError<D::Error>> {
        self.take(Direction::Backwards)
    }

    /// Goes on at `key`, or at the least key above it: what lies before is passed over. A key that the range has passed
    /// changes nothing.
    ///
    /// Cost: none here; the next step is a search.
    ///
    /// # Errors
    /// `Width`.
    pub fn seek(&mut self, key: &[u8]) -> Outcome<(), D> {
        let key = self.list.key_of(key)?;
        self.span.seek(key);
        Ok(())
    }

    fn take(&mut self, direction: Direction) -> Result<Option<EntryOf<W>>, IndexError<D::Error>> {
        let step = |bound: Bound<&_>, hint: &mut Hint| self.list.step(bound, direction, hint);
        self.span.take(direction, step)
    }

    fn item(&mut self, direction: Direction) -> Option<<Self as Iterator>::Item> {
        if self.has_failed {
            return None;
        }
        let found = self.take(direction);
        self.has_failed = found.is_err();
        found.transpose()
    }
}

impl<D: Nor, W: RunTimeWidths> Iterator for ByteRange<'_, D, W> {
    type Item = Result<EntryOf<W>, IndexError<D::Error>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.item(Direction::Forwards)
    }
}

impl<D: Nor, W: RunTimeWidths> DoubleEndedIterator for ByteRange<'_, D, W> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.item(Direction::Backwards)
    }
}

impl<D: Nor, W: RunTimeWidths> FusedIterator for ByteRange<'_, D, W> {}
