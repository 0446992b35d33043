//! What can go wrong, a family per kind of operation: laying out and mounting, and working on a mounted store.

use core::fmt;

use norn_flash::{GuardError, Violation};

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
    /// The flash holds something impossible: [`Store::corruption`](crate::Store::corruption) returns what, and where.
    Corrupted,
    /// No room.
    Full,
    /// The transaction has more log entries than the log units it may use have room for.
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

/// Why a device could not be formatted or mounted. The device is as it was, except that a recovery may have begun.
pub type MountError<E> = norn_flash::MountError<E, MountRefusal>;

/// Why a store or heap refuses an image, besides the errors of all formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountRefusal {
    /// The image was made with settings that this program does not know.
    UnknownSettings,
    /// The image has what is named, or is to have it, and this program has no [code](crate::Features) for it.
    MissingFeature(&'static str),
    /// Recovery found no room or log space for its own records: the image is damaged.
    Unrecoverable,
}

impl fmt::Display for MountRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MountRefusal::UnknownSettings => f.write_str("the image's settings are not known to this program"),
            MountRefusal::MissingFeature(feature) => {
                write!(f, "the image has {feature}, or is to have it, and this program's `Features` leave it out")
            }
            MountRefusal::Unrecoverable => {
                f.write_str("recovery has no room for its own records: the image is damaged")
            }
        }
    }
}

/// Why a mount fails, while the store is still available for details.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MountFault<E> {
    /// What is known already.
    Found(MountError<E>),
    /// An operation of the store failed.
    Store(StoreError<E>),
}

impl<E> From<StoreError<E>> for MountFault<E> {
    fn from(error: StoreError<E>) -> Self {
        MountFault::Store(error)
    }
}

impl<E> From<MountError<E>> for MountFault<E> {
    fn from(error: MountError<E>) -> Self {
        MountFault::Found(error)
    }
}

impl<E> MountFault<E> {
    /// The error that the client sees; `corruption` is what was found impossible.
    pub fn explained(self, corruption: Option<Violation>) -> MountError<E> {
        match (self, corruption) {
            (MountFault::Found(error), _) => error,
            (MountFault::Store(StoreError::Device(error)), _) => MountError::Device(error),
            (MountFault::Store(StoreError::Corrupted), Some(corruption)) => MountError::Corrupted(corruption),
            (MountFault::Store(_), _) => MountError::Refused(MountRefusal::Unrecoverable),
        }
    }
}
