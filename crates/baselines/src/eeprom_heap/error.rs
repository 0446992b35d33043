//! Why an EEPROM heap was not formatted or mounted; its other errors are those of the flash heap.

use core::fmt;

use norn_flash::EepromPartError;
use norn_nor_store::{Corruption, StoreError};

/// Why a part could not be formatted or mounted. It is as it was, except that a recovery may have begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EepromMountError<E> {
    /// The device failed.
    Device(E),
    /// The device describes no possible part.
    Part(EepromPartError),
    /// The part or the log cannot be used: which bound it violates.
    Unsuitable(&'static str),
    /// The part holds no heap: it is blank, foreign, or its formatting was cut short.
    NotFormatted,
    /// The image was written by another version.
    OtherFormat {
        /// Its format version.
        found: u32,
    },
    /// The image was made for a part of another size.
    WrongSize {
        /// The size in bytes that the image states.
        size_bytes: u32,
    },
    /// The part holds something impossible.
    Corrupted(Corruption),
}

impl<E> EepromMountError<E> {
    /// The error that the client sees; `corruption` is what was found impossible.
    pub(crate) fn explained(error: StoreError<E>, corruption: Option<Corruption>) -> EepromMountError<E> {
        match (error, corruption) {
            (StoreError::Device(error), _) => EepromMountError::Device(error),
            (_, Some(corruption)) => EepromMountError::Corrupted(corruption),
            (_, None) => EepromMountError::NotFormatted,
        }
    }
}

impl<E: fmt::Debug> fmt::Display for EepromMountError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EepromMountError::Device(error) => write!(f, "the device failed: {error:?}"),
            EepromMountError::Part(error) => write!(f, "impossible part: {error}"),
            EepromMountError::Unsuitable(why) => write!(f, "unsuitable part: {why}"),
            EepromMountError::NotFormatted => f.write_str("not formatted: no heap found"),
            EepromMountError::OtherFormat { found } => {
                write!(f, "format version {found} is not this program's ({})", super::format::VERSION)
            }
            EepromMountError::WrongSize { size_bytes } => {
                write!(f, "the image was made for a part of {size_bytes} bytes")
            }
            EepromMountError::Corrupted(corruption) => write!(f, "corrupted: {corruption}"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for EepromMountError<E> {}
