//! What can go wrong: working on an index, and laying out and mounting one.

use core::fmt;

use norn_flash::{Address, GuardError, Nor, Violation};

/// Why an operation on a mounted index failed.
///
/// It is kept small, since every call passes it on: one word besides the device's error. More bytes would take more
/// code: a processor returns, compares and copies words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexError<E> {
    /// The device failed.
    Device(E),
    /// The device failed in an earlier call; mount the index again.
    Halted,
    /// There is no room for a further key. Nothing has changed; removing keys makes room.
    Full,
    /// A ring is full, and the key to insert would be the first one to drop: it is below all keys, or those below it
    /// leave no room for it. Nothing has changed.
    BelowRing,
    /// The key to insert is there already.
    KeyExists,
    /// The key to update or remove is not there.
    KeyAbsent,
    /// The flash holds something that no sequence of operations and power cuts leaves there:
    /// [`OrderedIndex::corruption`](crate::OrderedIndex::corruption) returns what, and where.
    Corrupted,
}

impl<E: fmt::Debug> fmt::Display for IndexError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexError::Device(error) => write!(f, "the device failed: {error:?}"),
            IndexError::Halted => f.write_str("the device failed earlier: mount the index again"),
            IndexError::Full => f.write_str("no room for a further key"),
            IndexError::BelowRing => f.write_str("the ring is full, and the key would be the first one to drop"),
            IndexError::KeyExists => f.write_str("the key is there already"),
            IndexError::KeyAbsent => f.write_str("the key is not in the index"),
            IndexError::Corrupted => f.write_str("corrupted: the flash holds something impossible"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for IndexError<E> {}

impl<E> From<GuardError<E>> for IndexError<E> {
    fn from(error: GuardError<E>) -> Self {
        match error {
            GuardError::Device(error) => IndexError::Device(error),
            GuardError::Halted => IndexError::Halted,
        }
    }
}

/// What a call on a device `D` returns.
pub(crate) type Outcome<T, D> = Result<T, IndexError<<D as Nor>::Error>>;

/// Why an index could not be formatted or mounted.
pub type MountError<E> = norn_flash::MountError<E>;

/// That an image's version is beyond this program's, which is `known`.
pub(crate) fn newer_version<E>(known: u8) -> impl Fn(u8) -> MountError<E> {
    move |found| MountError::OtherVersion { found: u32::from(found), known: u32::from(known) }
}

impl<E> IndexError<E> {
    /// Why a mount fails in which a call of the index fails so; `corruption` is what it found impossible.
    pub fn in_mount(self, corruption: Option<Violation>) -> MountError<E> {
        match (self, corruption) {
            (IndexError::Device(error), _) => MountError::Device(error),
            (_, Some(corruption)) => MountError::Corrupted(corruption),
            // Recovery asks for no room and names no keys, and ends at the first call that fails.
            (_, None) => MountError::Corrupted(Violation { address: Address(0), what: "recovery that finds no room" }),
        }
    }
}
