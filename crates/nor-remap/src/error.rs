//! What can go wrong: laying out and mounting, and working on a mounted part.

use core::fmt;

use norn_flash::{Address, PartError};

/// Why an operation on the virtual part failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemapError<E> {
    /// The device failed, and another unit did not help.
    Device(E),
    /// The operation has to move or erase a unit, and every spare one has been retired. Reading goes on.
    NoSpare,
    /// A call that the contract does not allow: its range leaves the part, or a program is not made of whole program units.
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

/// Why a part could not be formatted or mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemapMountError<E> {
    /// The device failed.
    Device(E),
    /// The device describes no possible part.
    Part(PartError),
    /// The part or the configuration cannot be used: which bound it violates.
    Unsuitable(&'static str),
    /// The part has more units than the table was sized for.
    TooManyUnits {
        /// Units of the part.
        part: u16,
        /// Units of the table.
        table: u16,
    },
    /// Too many units fail for the virtual units and one spare.
    TooManyBadUnits {
        /// Units that do not fail.
        good: u16,
    },
    /// The part holds no whole set of virtual units: it is blank, foreign, or its formatting was cut short.
    NotFormatted,
    /// The image was written by a newer version.
    NewerFormat {
        /// Its format version.
        found: u8,
    },
    /// The image was made for another part.
    WrongGeometry {
        /// Erase-unit size that the image states.
        unit_size_bytes: u32,
        /// Number of units that the image states.
        unit_count: u16,
        /// Program unit that the image states.
        program_unit_bytes: u8,
    },
    /// The flash holds something that no sequence of operations and power cuts leaves there.
    Corrupted {
        /// Where.
        address: Address,
        /// What is wrong there.
        what: &'static str,
    },
}

impl<E: fmt::Debug> fmt::Display for RemapMountError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemapMountError::Device(error) => write!(f, "the device failed: {error:?}"),
            RemapMountError::Part(error) => write!(f, "impossible part: {error}"),
            RemapMountError::Unsuitable(why) => write!(f, "unsuitable: {why}"),
            RemapMountError::TooManyUnits { part, table } => {
                write!(f, "the part has {part} erase units, and the table was built for at most {table}")
            }
            RemapMountError::TooManyBadUnits { good } => write!(f, "only {good} erase units work: too few"),
            RemapMountError::NotFormatted => f.write_str("not formatted: no whole set of virtual units found"),
            RemapMountError::NewerFormat { found } => {
                write!(f, "format version {found} is newer than this program's ({})", crate::format::FORMAT_VERSION)
            }
            RemapMountError::WrongGeometry { unit_size_bytes, unit_count, program_unit_bytes } => write!(
                f,
                "the image was made for {unit_count} units of {unit_size_bytes} bytes with program units of \
                 {program_unit_bytes}"
            ),
            RemapMountError::Corrupted { address, what } => write!(f, "corrupted: {what} at {address}"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for RemapMountError<E> {}

impl<E> From<RemapError<E>> for RemapMountError<E> {
    fn from(error: RemapError<E>) -> Self {
        match error {
            RemapError::Device(error) => RemapMountError::Device(error),
            // Mounting and formatting ask for nothing else, and end at the first call that the device does not answer.
            RemapError::NoSpare | RemapError::Misused | RemapError::Halted => {
                RemapMountError::TooManyBadUnits { good: 0 }
            }
        }
    }
}
