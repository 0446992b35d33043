//! Why an EEPROM heap was not formatted or mounted; its other errors are those of the flash heap.

use core::convert::Infallible;

use norn_flash::{EepromPart, MountError, Violation};
use norn_heap::StoreError;

/// Why a part could not be formatted or mounted. It is as it was, except that a recovery may have begun.
pub type EepromMountError<E> = MountError<E, Infallible, EepromPart>;

/// The error that the client sees; `corruption` is what was found impossible.
pub(crate) fn explained<E>(error: StoreError<E>, corruption: Option<Violation>) -> EepromMountError<E> {
    match (error, corruption) {
        (StoreError::Device(error), _) => EepromMountError::Device(error),
        (_, Some(corruption)) => EepromMountError::Corrupted(corruption),
        (_, None) => EepromMountError::NotFormatted,
    }
}
