//! What can go wrong, a family per kind of operation: laying out and mounting, and working on a mounted store.

use core::fmt;

use norn_flash::{Address, PartError};

/// Something on flash that no sequence of operations and power cuts leaves there, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corruption {
    /// Where.
    pub address: Address,
    /// What is wrong there.
    pub what: &'static str,
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.what, self.address)
    }
}

/// Why an operation on a mounted store failed.
///
/// After `Device` the store is *halted*: the operation stands half done on flash, as after a power cut, and every further
/// call says `Halted` until the device is mounted again, which completes or undoes it.
///
/// It is kept small, since every call passes it on: one word beside what the device says. Bytes would take more code: a processor
/// returns, compares and copies words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum StoreError<E> {
    /// The device failed.
    Device(E),
    /// The flash holds something impossible: [`Store::corruption`](crate::Store::corruption) tells what, and where.
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
            StoreError::Full => f.write_str("full: no room for what is to be stored"),
            StoreError::TransactionTooLarge => f.write_str("the transaction exceeds the log units it may use"),
            StoreError::Halted => f.write_str("an earlier operation failed part-way: mount the device again"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for StoreError<E> {}

/// Why a device could not be formatted or mounted. The device is as it was, except that a recovery may have begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountError<E> {
    /// The device failed.
    Device(E),
    /// The device describes no possible part.
    Part(PartError),
    /// The part's units cannot be used: which bound they violate.
    Unsuitable(&'static str),
    /// The part has more units than this store's table was sized for.
    TooManyUnits {
        /// Units of the part.
        part: u16,
        /// Units of the table.
        table: u16,
    },
    /// The device holds no store: it is blank, foreign, or its formatting was cut short.
    NotFormatted,
    /// The image was written by a newer version.
    NewerFormat {
        /// Its format version.
        found: u8,
    },
    /// The image was made for another geometry.
    WrongGeometry {
        /// Erase-unit size that the image states.
        unit_size_bytes: u64,
        /// Number of units that the image states.
        unit_count: u16,
    },
    /// A store cannot be formatted with these settings: which bound they violate.
    Settings(&'static str),
    /// The image was made with settings that this program does not know.
    UnknownSettings,
    /// The image has what is named, or is to have it, and this program has no [code](crate::Features) for it.
    MissingFeature(&'static str),
    /// The flash holds something impossible.
    Corrupted(Corruption),
    /// Recovery found no room or log space for its own records: the image is damaged.
    Unrecoverable,
}

impl<E: fmt::Debug> fmt::Display for MountError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MountError::Device(error) => write!(f, "the device failed: {error:?}"),
            MountError::Part(error) => write!(f, "impossible part: {error}"),
            MountError::Unsuitable(why) => write!(f, "unsuitable part: {why}"),
            MountError::TooManyUnits { part, table } => {
                write!(f, "the part has {part} erase units, and the store was built for at most {table}")
            }
            MountError::NotFormatted => f.write_str("not formatted: no complete log unit found"),
            MountError::NewerFormat { found } => {
                write!(f, "format version {found} is newer than this program's ({})", crate::format::FORMAT_VERSION)
            }
            MountError::WrongGeometry { unit_size_bytes, unit_count } => {
                write!(f, "the image was made for {unit_count} units of {unit_size_bytes} bytes")
            }
            MountError::Settings(why) => write!(f, "impossible settings: {why}"),
            MountError::UnknownSettings => f.write_str("the image's settings are not known to this program"),
            MountError::MissingFeature(feature) => {
                write!(
                    f,
                    "the image has {feature}, or is to be formatted with it, and this program's `Features` leave it out"
                )
            }
            MountError::Corrupted(corruption) => write!(f, "corrupted: {corruption}"),
            MountError::Unrecoverable => f.write_str("recovery has no room for its own records: the image is damaged"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for MountError<E> {}

/// Why a mount fails, as long as the store is there to tell more.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MountFault<E> {
    NotFormatted,
    NewerFormat { found: u8 },
    WrongGeometry { unit_size_bytes: u64, unit_count: u16 },
    UnknownSettings,
    MissingFeature(&'static str),
    Store(StoreError<E>),
}

impl<E> From<StoreError<E>> for MountFault<E> {
    fn from(error: StoreError<E>) -> Self {
        MountFault::Store(error)
    }
}

impl<E> MountFault<E> {
    /// The error that the client sees; `corruption` is what was found impossible.
    pub fn explained(self, corruption: Option<Corruption>) -> MountError<E> {
        match (self, corruption) {
            (MountFault::NotFormatted, _) => MountError::NotFormatted,
            (MountFault::NewerFormat { found }, _) => MountError::NewerFormat { found },
            (MountFault::WrongGeometry { unit_size_bytes, unit_count }, _) => {
                MountError::WrongGeometry { unit_size_bytes, unit_count }
            }
            (MountFault::UnknownSettings, _) => MountError::UnknownSettings,
            (MountFault::MissingFeature(feature), _) => MountError::MissingFeature(feature),
            (MountFault::Store(StoreError::Device(error)), _) => MountError::Device(error),
            (MountFault::Store(StoreError::Corrupted), Some(corruption)) => MountError::Corrupted(corruption),
            (MountFault::Store(_), _) => MountError::Unrecoverable,
        }
    }
}
