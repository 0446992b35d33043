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

/// Something that a list keeps in RAM where its values vary in length: nothing where they do not.
pub trait IfVaried<T>: Copy + Default + fmt::Debug {
    /// What is kept, or the default.
    fn get(&self) -> T;

    /// Keeps something.
    fn set(&mut self, what: T);
}

/// Nothing, in a list whose values have one length.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl<T: Default> IfVaried<T> for Nothing {
    fn get(&self) -> T {
        T::default()
    }

    fn set(&mut self, _: T) {}
}

/// What a list keeps whose values vary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept<T>(T);

impl<T: Copy + Default + fmt::Debug> IfVaried<T> for Kept<T> {
    fn get(&self) -> T {
        self.0
    }

    fn set(&mut self, what: T) {
        self.0 = what;
    }
}

/// The widths of a list's keys and values: [`Fixed`] or [`AtMost`], or [`Varying`] where values differ in length.
pub trait Widths: Copy + fmt::Debug {
    /// A key in RAM.
    type Key: Bytes;
    /// A value in RAM.
    type Value: Bytes;
    /// What is kept only where values vary.
    type IfVaried<T: Copy + Default + fmt::Debug>: IfVaried<T>;
    /// Whether values differ in length.
    const VARIES: bool;
    /// Tactics that are left out, for experiments only.
    const WITHOUT: u8 = 0;

    /// Bytes of a key.
    fn key_bytes(&self) -> usize;

    /// Bytes of a value; where they vary, of the longest.
    fn value_bytes(&self) -> usize;

    /// A key of zeros.
    fn zero_key(&self) -> Self::Key;

    /// A value of zeros; where they vary, the empty one.
    fn zero_value(&self) -> Self::Value;

    /// A value of zeros of `length` bytes, where they vary.
    fn value_of(&self, length: usize) -> Self::Value;

    /// Bytes of an object's log of records where values vary; 0 until that is known, and where they do not.
    fn log_bytes(&self) -> u16 {
        0
    }

    /// The same widths with another number of bytes of a log, where values vary.
    #[must_use]
    fn with_log_bytes(self, _: u16) -> Self {
        self
    }

    /// Whether keys and values of these widths have room in RAM.
    ///
    /// # Errors
    /// [`TooSmall`](MountError::TooSmall).
    fn check<E>(&self) -> Result<(), MountError<E>>;
}

/// A key and its value.
pub(crate) type EntryOf<W> = (<W as Widths>::Key, <W as Widths>::Value);

/// What a list can be made without, to measure what it is good for: numbers whose sum [`Fixed`] takes. A list that was
/// made without something can only be mounted without it.
pub mod without {
    /// Each level has a fixed number of pointers in an object, instead of a pool for all (section 0.5.1).
    pub const POOL: u8 = 1;
    /// An object is split as soon as it would have more than its share of keys (section 0.5.2).
    pub const DELAYED_SPLITS: u8 = 2;
    /// An object is merged as soon as it has few keys (section 0.5.3).
    pub const LAZY_MERGES: u8 = 4;
    /// Neighbours are merged into a new object only (Figure 11).
    pub const SHIFTS: u8 = 8;
}

/// Keys of `K` bytes and values of `V` bytes. `WITHOUT` is the sum of what an experiment leaves out ([`without`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fixed<const K: usize, const V: usize, const WITHOUT: u8 = 0>;

impl<const K: usize, const V: usize, const WITHOUT: u8> Widths for Fixed<K, V, WITHOUT> {
    const WITHOUT: u8 = WITHOUT;
    type Key = [u8; K];
    type Value = [u8; V];
    type IfVaried<T: Copy + Default + fmt::Debug> = Nothing;
    const VARIES: bool = false;

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

    fn value_of(&self, _: usize) -> [u8; V] {
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
    type IfVaried<T: Copy + Default + fmt::Debug> = Nothing;
    const VARIES: bool = false;

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

    fn value_of(&self, _: usize) -> UpTo<V> {
        self.zero_value()
    }

    fn check<E>(&self) -> Result<(), MountError<E>> {
        check_room((self.key_bytes.into(), K), (self.value_bytes.into(), V))
    }
}

/// Refuses keys and values of which more bytes are needed than there are in RAM.
fn check_room<E>(key: (u32, usize), value: (u32, usize)) -> Result<(), MountError<E>> {
    let facts = [("bytes for a key", key), ("bytes for a value", value)];
    match facts.into_iter().find(|&(_, (needed, given))| needed as usize > given) {
        Some((what, (needed, given))) => Err(MountError::TooSmall { what, needed, given: given as u32 }),
        None => Ok(()),
    }
}

/// Values that differ in length: of keys `key_bytes` bytes, at most `K`; of values up to `value_bytes`, at most `V`.
///
/// `value_bytes` is what a list is laid out for and says on flash: an object has room for four such values at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Varying<const K: usize, const V: usize> {
    /// Bytes of a key.
    pub key_bytes: u8,
    /// Bytes of the longest value.
    pub value_bytes: u16,
    /// Bytes of an object's log of records: 0 lets a format choose, for a mean value of some 16 bytes. A mount takes
    /// what is on flash.
    pub log_bytes: u16,
}

impl<const K: usize, const V: usize> Widths for Varying<K, V> {
    type Key = UpTo<K>;
    type Value = UpToVaried<V>;
    type IfVaried<T: Copy + Default + fmt::Debug> = Kept<T>;
    const VARIES: bool = true;

    fn key_bytes(&self) -> usize {
        usize::from(self.key_bytes)
    }

    fn value_bytes(&self) -> usize {
        usize::from(self.value_bytes)
    }

    fn zero_key(&self) -> UpTo<K> {
        UpTo { len: self.key_bytes, bytes: [0; K] }
    }

    fn zero_value(&self) -> UpToVaried<V> {
        UpToVaried { len: 0, bytes: [0; V] }
    }

    fn value_of(&self, length: usize) -> UpToVaried<V> {
        UpToVaried { len: length.min(V) as u16, bytes: [0; V] }
    }

    fn log_bytes(&self) -> u16 {
        self.log_bytes
    }

    fn with_log_bytes(self, log_bytes: u16) -> Self {
        Varying { log_bytes, ..self }
    }

    fn check<E>(&self) -> Result<(), MountError<E>> {
        check_room((self.key_bytes.into(), K), (self.value_bytes.into(), V))
    }
}

/// Bytes up to a length, with the length.
macro_rules! up_to {
    ($(#[$doc:meta])* $name:ident, $length:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<const N: usize> {
            len: $length,
            bytes: [u8; N],
        }

        impl<const N: usize> AsRef<[u8]> for $name<N> {
            fn as_ref(&self) -> &[u8] {
                &self.bytes[..usize::from(self.len)]
            }
        }

        impl<const N: usize> AsMut<[u8]> for $name<N> {
            fn as_mut(&mut self) -> &mut [u8] {
                &mut self.bytes[..usize::from(self.len)]
            }
        }

        impl<const N: usize> fmt::Debug for $name<N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.as_ref().fmt(f)
            }
        }

        impl<const N: usize> PartialEq for $name<N> {
            fn eq(&self, other: &Self) -> bool {
                self.as_ref() == other.as_ref()
            }
        }

        impl<const N: usize> Eq for $name<N> {}

        impl<const N: usize> PartialOrd for $name<N> {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl<const N: usize> Ord for $name<N> {
            fn cmp(&self, other: &Self) -> Ordering {
                self.as_ref().cmp(other.as_ref())
            }
        }
    };
}

up_to!(
    /// A key or a value of at most `N` bytes. It compares as its bytes do. Invariant: its length is `N` at most.
    UpTo,
    u8
);
up_to!(
    /// The same for values that vary, which may be longer.
    UpToVaried,
    u16
);
