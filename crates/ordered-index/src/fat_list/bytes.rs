//! The list whose keys and values are slices of bytes, of widths that are known when a program runs.

use core::fmt;
use core::ops::Bound;

use norn_flash::Nor;

use crate::error::{IndexError, MountError};
use crate::fat_list::batch::Change;
use crate::fat_list::layout::Settings;
use crate::fat_list::list::FatListOf;
use crate::fat_list::widths::{AtMost, Bytes, Widths};
use crate::step::{Direction, Hint};

/// A fat list on `device` from keys to values whose widths are known when the program runs: of keys at most `K` bytes,
/// of values at most `V`. What is on flash is what a [`FatList`](crate::FatList) of these widths has there.
///
/// Stack: each of its calls holds up to a dozen keys of `K` bytes and two values of `V` bytes.
///
/// ```
/// use norn_flash_sim::{NorSim, catalogue};
/// use norn_ordered_index::{AtMost, ByteFatList, Settings};
///
/// let part = NorSim::new(catalogue::w25q());
/// let widths = AtMost { key_bytes: 4, value_bytes: 2 }; // from a file, say
/// let mut list: ByteFatList<_, 16, 32> = ByteFatList::format(part, widths, Settings::paper_2011()).unwrap();
/// list.insert(b"wide", b"42").unwrap();
/// let mut value = [0; 2];
/// assert!(list.get(b"wide", &mut value).unwrap() && value == *b"42");
/// assert_eq!(list.insert(b"too wide", b"43").unwrap_err().to_string(), "a key of 4 bytes needed, one of 8 given");
/// ```
pub type ByteFatList<D, const K: usize, const V: usize> = FatListOf<D, AtMost<K, V>>;

/// Why an operation on a mounted [`ByteFatList`] failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteIndexError<E> {
    /// The key or value that was given is not as long as the list's keys or values are.
    Width {
        /// Which of the two.
        what: &'static str,
        /// How many bytes it has to have.
        needed: usize,
        /// How many were given.
        given: usize,
    },
    /// As with widths that are known when a program is compiled.
    Index(IndexError<E>),
}

impl<E: fmt::Debug> fmt::Display for ByteIndexError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ByteIndexError::Width { what, needed, given } => {
                write!(f, "a {what} of {needed} bytes needed, one of {given} given")
            }
            ByteIndexError::Index(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for ByteIndexError<E> {}

impl<E> From<IndexError<E>> for ByteIndexError<E> {
    fn from(error: IndexError<E>) -> Self {
        ByteIndexError::Index(error)
    }
}

pub(super) type Outcome<T, D> = Result<T, ByteIndexError<<D as Nor>::Error>>;

/// Refuses bytes that are not as many as `needed`.
pub(super) fn check_width<E>(what: &'static str, needed: usize, given: usize) -> Result<(), ByteIndexError<E>> {
    if given == needed { Ok(()) } else { Err(ByteIndexError::Width { what, needed, given }) }
}

/// Copies `from` into `to`, if it is as long as it has to be.
pub(super) fn filled<B: Bytes, E>(to: B, what: &'static str, from: &[u8]) -> Result<B, ByteIndexError<E>> {
    check_width(what, to.as_ref().len(), from.len())?;
    Ok(copied(to, from))
}

/// Copies `from` into `to`, whose length it has.
pub(super) fn copied<B: Bytes>(mut to: B, from: &[u8]) -> B {
    to.as_mut().copy_from_slice(from);
    to
}

impl<D: Nor, const K: usize, const V: usize> ByteFatList<D, K, V> {
    /// As [`FatList::format`](crate::FatList::format), for keys and values of these widths.
    ///
    /// # Errors
    /// As there; [`TooSmall`](MountError::TooSmall) when the widths are more than `K` and `V`.
    pub fn format(device: D, widths: AtMost<K, V>, settings: Settings) -> Result<Self, MountError<D::Error>> {
        Self::format_of(device, widths, settings)
    }

    /// As [`FatList::mount`](crate::FatList::mount), for keys and values of these widths.
    ///
    /// # Errors
    /// As there; [`TooSmall`](MountError::TooSmall) when the widths are more than `K` and `V`, and
    /// [`WrongGeometry`](MountError::WrongGeometry) when the list has others.
    pub fn mount(device: D, widths: AtMost<K, V>) -> Result<Self, MountError<D::Error>> {
        Self::mount_of(device, widths)
    }

    fn entry(
        &self,
        key: &[u8],
        value: &[u8],
    ) -> Outcome<(<AtMost<K, V> as Widths>::Key, <AtMost<K, V> as Widths>::Value), D> {
        Ok((self.key_of(key)?, filled(self.widths().zero_value(), "value", value)?))
    }

    /// Adds a key.
    ///
    /// # Errors
    /// `Width`, `KeyExists`, `Full`, `Corrupted` and the device's.
    pub fn insert(&mut self, key: &[u8], value: &[u8]) -> Outcome<(), D> {
        let (key, value) = self.entry(key, value)?;
        Ok(self.insert_entry(&key, &value)?)
    }

    /// Adds a key to a ring: [`FatList::insert_in_ring`](crate::FatList::insert_in_ring) has the contract.
    ///
    /// # Errors
    /// As there, and `Width`.
    pub fn insert_in_ring(&mut self, key: &[u8], value: &[u8]) -> Outcome<u32, D> {
        let (key, value) = self.entry(key, value)?;
        Ok(self.insert_entry_in_ring(&key, &value)?)
    }

    /// Makes several changes together: [`FatList::apply`](crate::FatList::apply) has the contract.
    ///
    /// # Errors
    /// As there, and `Width`.
    ///
    /// # Panics
    /// When there are more changes than [`changes_max`](Self::changes_max).
    pub fn apply(&mut self, changes: &[Change<&[u8], &[u8]>]) -> Outcome<(), D> {
        self.apply_each(changes.len(), |at| changes[at])
    }

    /// As [`apply`](Self::apply), for `count` changes that `change_at` returns by their numbers, however often it is
    /// called: of a program that has them in another form.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn apply_each<'a>(
        &mut self,
        count: usize,
        change_at: impl Fn(usize) -> Change<&'a [u8], &'a [u8]>,
    ) -> Outcome<(), D> {
        let widths = *self.widths();
        for change in (0..count).map(&change_at) {
            check_width("key", widths.key_bytes(), change.key().len())?;
            if let Change::Put(_, value) = change {
                check_width("value", widths.value_bytes(), value.len())?;
            }
        }
        let copied_at = |at: usize| match change_at(at) {
            Change::Put(key, value) => Change::Put(copied(widths.zero_key(), key), copied(widths.zero_value(), value)),
            Change::Remove(key) => Change::Remove(copied(widths.zero_key(), key)),
        };
        Ok(self.apply_changes(count, copied_at)?)
    }

    /// Changes the value of a key.
    ///
    /// # Errors
    /// `Width`, `KeyAbsent`, `Full`, `Corrupted` and the device's.
    pub fn update(&mut self, key: &[u8], value: &[u8]) -> Outcome<(), D> {
        let (key, value) = self.entry(key, value)?;
        Ok(self.update_entry(&key, &value)?)
    }

    /// Adds a key or changes its value, whichever it takes.
    ///
    /// # Errors
    /// `Width`, `Full`, `Corrupted` and the device's.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Outcome<(), D> {
        match self.update(key, value) {
            Err(ByteIndexError::Index(IndexError::KeyAbsent)) => self.insert(key, value),
            outcome => outcome,
        }
    }

    /// Copies the value of a key into `value`, and returns whether the key is there.
    ///
    /// # Errors
    /// `Width`, `Corrupted` and the device's.
    pub fn get(&mut self, key: &[u8], value: &mut [u8]) -> Outcome<bool, D> {
        check_width("value", self.widths().value_bytes(), value.len())?;
        let key = self.key_of(key)?;
        let found = self.look_up(&key)?;
        if let Some(found) = &found {
            value.copy_from_slice(found.as_ref());
        }
        Ok(found.is_some())
    }

    /// Copies the entry next to `bound` into `key` and `value`, and returns whether there is one.
    /// [`OrderedIndex::neighbour`](crate::OrderedIndex::neighbour) says which, and what `hint` is.
    ///
    /// # Errors
    /// `Width`, `Corrupted` and the device's.
    pub fn neighbour(
        &mut self,
        bound: Bound<&[u8]>,
        direction: Direction,
        hint: &mut Hint,
        (key, value): (&mut [u8], &mut [u8]),
    ) -> Outcome<bool, D> {
        check_width("key", self.widths().key_bytes(), key.len())?;
        check_width("value", self.widths().value_bytes(), value.len())?;
        let bound = self.bound(bound)?;
        let found = self.step(bound.as_ref(), direction, hint)?;
        if let Some((found_key, found_value)) = &found {
            key.copy_from_slice(found_key.as_ref());
            value.copy_from_slice(found_value.as_ref());
        }
        Ok(found.is_some())
    }
}
