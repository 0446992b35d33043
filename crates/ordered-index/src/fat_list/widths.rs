//! How long keys and values are: known when a program is compiled, or when it runs.
//!
//! A list is the same code over both. What differs is where it keeps a key while it works: in an array of just its
//! length, or in one of the greatest length with a separate length.

use core::cmp::Ordering;
use core::fmt;

use crate::error::MountError;

/// A key or a value in RAM.
pub trait Bytes: AsRef<[u8]> + AsMut<[u8]> + Copy + Ord + fmt::Debug {}

impl<T: AsRef<[u8]> + AsMut<[u8]> + Copy + Ord + fmt::Debug> Bytes for T {}

/// The widths of a list's keys and values: [`Fixed`] or [`AtMost`].
pub trait Widths: Copy + fmt::Debug {
    /// A key in RAM.
    type Key: Bytes;
    /// A value in RAM.
    type Value: Bytes;

    /// Bytes of a key.
    fn key_bytes(&self) -> usize;

    /// Bytes of a value.
    fn value_bytes(&self) -> usize;

    /// A key of zeros.
    fn zero_key(&self) -> Self::Key;

    /// A value of zeros.
    fn zero_value(&self) -> Self::Value;

    /// Whether keys and values of these widths have room in RAM.
    ///
    /// # Errors
    /// [`TooSmall`](MountError::TooSmall).
    fn check<E>(&self) -> Result<(), MountError<E>>;
}

/// A key and its value.
pub(crate) type EntryOf<W> = (<W as Widths>::Key, <W as Widths>::Value);

/// Keys of `K` bytes and values of `V` bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fixed<const K: usize, const V: usize>;

impl<const K: usize, const V: usize> Widths for Fixed<K, V> {
    type Key = [u8; K];
    type Value = [u8; V];

    fn key_bytes(&self) -> usize {
        K
    }

    fn value_bytes(&self) -> usize {
        V
    }

    fn zero_key(&self) -> [u8; K] {
        [0; K]
    }

    fn zero_value(&self) -> [u8; V] {
        [0; V]
    }

    fn check<E>(&self) -> Result<(), MountError<E>> {
        Ok(())
    }
}

/// Widths that are known when the program runs: of keys at most `K` bytes, of values at most `V`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtMost<const K: usize, const V: usize> {
    /// Bytes of a key.
    pub key_bytes: u8,
    /// Bytes of a value.
    pub value_bytes: u8,
}

impl<const K: usize, const V: usize> Widths for AtMost<K, V> {
    type Key = UpTo<K>;
    type Value = UpTo<V>;

    fn key_bytes(&self) -> usize {
        usize::from(self.key_bytes)
    }

    fn value_bytes(&self) -> usize {
        usize::from(self.value_bytes)
    }

    fn zero_key(&self) -> UpTo<K> {
        UpTo { len: self.key_bytes, bytes: [0; K] }
    }

    fn zero_value(&self) -> UpTo<V> {
        UpTo { len: self.value_bytes, bytes: [0; V] }
    }

    fn check<E>(&self) -> Result<(), MountError<E>> {
        let facts = [("bytes for a key", self.key_bytes, K), ("bytes for a value", self.value_bytes, V)];
        match facts.into_iter().find(|&(_, needed, given)| usize::from(needed) > given) {
            Some((what, needed, given)) => {
                Err(MountError::TooSmall { what, needed: u32::from(needed), given: given as u32 })
            }
            None => Ok(()),
        }
    }
}

/// A key or a value of at most `N` bytes. It compares as its bytes do. Invariant: its length is `N` at most.
#[derive(Clone, Copy)]
pub struct UpTo<const N: usize> {
    len: u8,
    bytes: [u8; N],
}

impl<const N: usize> AsRef<[u8]> for UpTo<N> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl<const N: usize> AsMut<[u8]> for UpTo<N> {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..usize::from(self.len)]
    }
}

impl<const N: usize> fmt::Debug for UpTo<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

impl<const N: usize> PartialEq for UpTo<N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl<const N: usize> Eq for UpTo<N> {}

impl<const N: usize> PartialOrd for UpTo<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> Ord for UpTo<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_ref().cmp(other.as_ref())
    }
}
