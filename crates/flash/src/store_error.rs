//! Why a call of what is mounted on a part failed, shared by the store of the object heap and the log-structured heap.

use core::fmt;

use crate::guard::GuardError;

/// Why an operation on a mounted store failed.
///
/// After `Device` the store is *halted*: the operation is half done on flash, as after a power cut, and every further
/// call says `Halted` until the device is mounted again, which completes or undoes it.
///
/// It is kept small, since every call passes it on: one word besides the device's error. More bytes would take more
/// code: a processor returns, compares and copies words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum StoreError<E> {
    /// The device failed.
    Device(E),
    /// The flash holds something impossible: `corruption()` of what was called returns what, and where.
    Corrupted,
    /// No room.
    Full,
    /// The transaction has more log entries than the log units it may use have room for. Some stores have no such
    /// limit.
    TransactionTooLarge,
    /// An earlier operation failed part-way; mount the device again.
    Halted,
}

impl<E: fmt::Debug> fmt::Display for StoreError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Device(error) => write!(f, "the device failed: {error:?}"),
            StoreError::Corrupted => f.write_str("corrupted: the flash holds something impossible"),
            StoreError::Full => f.write_str("full: no room for the new data"),
            StoreError::TransactionTooLarge => f.write_str("the transaction exceeds the log units it may use"),
            StoreError::Halted => f.write_str("an earlier operation failed part-way: mount the device again"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for StoreError<E> {}

impl<E> From<GuardError<E>> for StoreError<E> {
    fn from(error: GuardError<E>) -> Self {
        match error {
            GuardError::Device(error) => StoreError::Device(error),
            GuardError::Halted => StoreError::Halted,
        }
    }
}
