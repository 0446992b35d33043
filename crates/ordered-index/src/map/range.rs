//! Ranges of a map.

use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::{Bound, RangeBounds};

use norn_flash::Nor;

use crate::fat_list::{AtMost, FatListOf, UpTo};
use crate::map::error::{Outcome, decoded_entry, encoded};
use crate::map::value::{Key, TooLong, Value};
use crate::map::widths::MapWidths;
use crate::step::{Direction, Hint, Span};

/// A cursor over a range of keys, and an iterator over its entries, in descending order with `rev`. The iterator ends
/// after the first error.
#[derive(Debug)]
pub struct MapRange<
    'a,
    D: Nor,
    K,
    V,
    const KEY_MAX: usize,
    const VALUE_MAX: usize,
    W: MapWidths<KEY_MAX, VALUE_MAX> = AtMost<KEY_MAX, VALUE_MAX>,
> {
    list: &'a mut FatListOf<D, W>,
    /// Nothing if an end of it does not fit.
    span: Result<Span<UpTo<KEY_MAX>>, TooLong>,
    has_failed: bool,
    types: PhantomData<fn(K) -> V>,
}

impl<'a, D, K, V, const KEY_MAX: usize, const VALUE_MAX: usize, W> MapRange<'a, D, K, V, KEY_MAX, VALUE_MAX, W>
where
    D: Nor,
    K: Key,
    V: Value,
    W: MapWidths<KEY_MAX, VALUE_MAX>,
{
    pub(super) fn new(list: &'a mut FatListOf<D, W>, keys: impl RangeBounds<K>) -> Self {
        let zeros = list.widths().zero_key();
        let bytes_of = |bound: Bound<&K>| {
            Ok(match bound {
                Bound::Included(key) => Bound::Included(encoded(key, zeros)?),
                Bound::Excluded(key) => Bound::Excluded(encoded(key, zeros)?),
                Bound::Unbounded => Bound::Unbounded,
            })
        };
        let span = bytes_of(keys.start_bound()).and_then(|from| Ok(Span::new(from, bytes_of(keys.end_bound())?)));
        MapRange { list, span, has_failed: false, types: PhantomData }
    }

    /// The next entry in ascending order.
    ///
    /// # Errors
    /// `TooLong` if an end of the range is; `OtherType`, `Corrupted` and the device's.
    pub fn next_entry(&mut self) -> Outcome<Option<(K, V)>, D> {
        self.take(Direction::Forwards)
    }

    /// The next entry in descending order, from the other end.
    ///
    /// # Errors
    /// `TooLong` if an end of the range is; `OtherType`, `Corrupted` and the device's.
    pub fn next_entry_back(&mut self) -> Outcome<Option<(K, V)>, D> {
        self.take(Direction::Backwards)
    }

    /// Goes on at `key`, or at the least key above it: what lies before is passed over. A key that the range has passed
    /// changes nothing.
    ///
    /// Cost: none here; the next step is a search.
    ///
    /// # Errors
    /// `TooLong`.
    pub fn seek(&mut self, key: &K) -> Outcome<(), D> {
        let key = encoded(key, self.list.widths().zero_key())?;
        self.span.as_mut().map_err(|error| *error)?.seek(key);
        Ok(())
    }

    fn take(&mut self, direction: Direction) -> Outcome<Option<(K, V)>, D> {
        let step = |bound: Bound<&_>, hint: &mut Hint| self.list.step(bound, direction, hint);
        let found = self.span.as_mut().map_err(|error| *error)?.take(direction, step)?;
        found.map(|entry| decoded_entry::<K, V, _, W, KEY_MAX, VALUE_MAX>(&entry)).transpose()
    }
}

impl<D, K, V, const KEY_MAX: usize, const VALUE_MAX: usize, W> Iterator for MapRange<'_, D, K, V, KEY_MAX, VALUE_MAX, W>
where
    D: Nor,
    K: Key,
    V: Value,
    W: MapWidths<KEY_MAX, VALUE_MAX>,
{
    type Item = Outcome<(K, V), D>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let found = self.next_entry();
        self.has_failed = found.is_err();
        found.transpose()
    }
}

impl<D, K, V, const KEY_MAX: usize, const VALUE_MAX: usize, W> DoubleEndedIterator
    for MapRange<'_, D, K, V, KEY_MAX, VALUE_MAX, W>
where
    D: Nor,
    K: Key,
    V: Value,
    W: MapWidths<KEY_MAX, VALUE_MAX>,
{
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let found = self.next_entry_back();
        self.has_failed = found.is_err();
        found.transpose()
    }
}

impl<D, K, V, const KEY_MAX: usize, const VALUE_MAX: usize, W> FusedIterator
    for MapRange<'_, D, K, V, KEY_MAX, VALUE_MAX, W>
where
    D: Nor,
    K: Key,
    V: Value,
    W: MapWidths<KEY_MAX, VALUE_MAX>,
{
}
