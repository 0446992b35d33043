//! What can go wrong: laying out and mounting, and working on a mounted part.

use core::fmt;

use norn_flash::{GuardError, MountError};

/// Why an operation on the virtual part failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemapError<E> {
    /// The device failed, and another unit did not help.
    Device(E),
    /// The operation has to move or erase a unit, and every spare one has been retired. Reading still works.
    NoSpare,
    /// A call that the contract does not allow: its range leaves the part, or a program is not made of whole program
    /// units.
    Misused,
    /// The device did not answer an earlier call; mount it again.
    Halted,
}

impl<E: fmt::Debug> fmt::Display for RemapError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemapError::Device(error) => write!(f, "the device failed: {error:?}"),
            RemapError::NoSpare => f.write_str("no spare unit is left: all have been retired"),
            RemapError::Misused => f.write_str("a range that leaves the part or is not aligned"),
            RemapError::Halted => f.write_str("the device did not answer earlier: mount it again"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for RemapError<E> {}

impl<E> From<GuardError<E>> for RemapError<E> {
    fn from(error: GuardError<E>) -> Self {
        match error {
            GuardError::Device(error) => RemapError::Device(error),
            GuardError::Halted => RemapError::Halted,
        }
    }
}

/// Why a part could not be formatted or mounted.
pub type RemapMountError<E> = MountError<E, TooManyBadUnits>;

/// Too many units fail for the virtual units and one spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyBadUnits {
    /// Units that do not fail.
    pub good: u16,
}

impl fmt::Display for TooManyBadUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "only {} erase units work: too few", self.good)
    }
}

impl<E> From<RemapError<E>> for RemapMountError<E> {
    fn from(error: RemapError<E>) -> Self {
        match error {
            RemapError::Device(error) => RemapMountError::Device(error),
            // Mounting and formatting ask for nothing else, and end at the first call that the device does not answer.
            RemapError::NoSpare | RemapError::Misused | RemapError::Halted => {
                RemapMountError::Refused(TooManyBadUnits { good: 0 })
            }
        }
    }
}
