//! What can go wrong: working on an index, and laying out and mounting one.

use core::fmt;

use norn_flash::{Address, PartError};

/// Why an operation on a mounted index failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexError<E> {
    /// The device failed.
    Device(E),
    /// The device failed in an earlier call; mount the index again.
    Halted,
    /// There is no room for a further key. Nothing has changed; removing keys makes room.
    Full,
    /// The key to insert is there already.
    KeyExists,
    /// The key to update or remove is not there.
    KeyAbsent,
    /// The flash holds something that no sequence of operations and power cuts leaves there.
    Corrupted {
        /// Where.
        address: Address,
        /// What is wrong there.
        what: &'static str,
    },
}

impl<E: fmt::Debug> fmt::Display for IndexError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexError::Device(error) => write!(f, "the device failed: {error:?}"),
            IndexError::Halted => f.write_str("the device failed earlier: mount the index again"),
            IndexError::Full => f.write_str("no room for a further key"),
            IndexError::KeyExists => f.write_str("the key is there already"),
            IndexError::KeyAbsent => f.write_str("the key is not there"),
            IndexError::Corrupted { address, what } => write!(f, "corrupted: {what} at {address}"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for IndexError<E> {}

/// Why an index could not be formatted or mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountError<E> {
    /// The device failed.
    Device(E),
    /// The device describes no possible part.
    Part(PartError),
    /// The part, the settings or the widths cannot be used: which bound they violate.
    Unsuitable(&'static str),
    /// The part holds no index: it is blank, foreign, or its formatting was cut short.
    NotFormatted,
    /// The image was written by a newer version.
    NewerFormat {
        /// Its format version.
        found: u8,
    },
    /// The image was made for another part, or for keys and values of other widths.
    WrongGeometry {
        /// What differs.
        what: &'static str,
        /// What the image states.
        image: u32,
        /// What the part or the caller's type states.
        expected: u32,
    },
    /// The flash holds something that no sequence of operations and power cuts leaves there.
    Corrupted {
        /// Where.
        address: Address,
        /// What is wrong there.
        what: &'static str,
    },
}

impl<E: fmt::Debug> fmt::Display for MountError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MountError::Device(error) => write!(f, "the device failed: {error:?}"),
            MountError::Part(error) => write!(f, "impossible part: {error}"),
            MountError::Unsuitable(why) => write!(f, "unsuitable: {why}"),
            MountError::NotFormatted => f.write_str("not formatted: no index found"),
            MountError::NewerFormat { found } => write!(f, "format version {found} is newer than this program's"),
            MountError::WrongGeometry { what, image, expected } => {
                write!(f, "the image was made for {what} of {image}, and not of {expected}")
            }
            MountError::Corrupted { address, what } => write!(f, "corrupted: {what} at {address}"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for MountError<E> {}

impl<E> From<IndexError<E>> for MountError<E> {
    fn from(error: IndexError<E>) -> Self {
        match error {
            IndexError::Device(error) => MountError::Device(error),
            IndexError::Corrupted { address, what } => MountError::Corrupted { address, what },
            // Recovery asks for no room and names no keys, and ends at the first call that fails.
            IndexError::Halted | IndexError::Full | IndexError::KeyExists | IndexError::KeyAbsent => {
                MountError::Corrupted { address: Address(0), what: "recovery that finds no room" }
            }
        }
    }
}
