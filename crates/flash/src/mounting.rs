//! Why a part could not be formatted or mounted: one family for every format.
//!
//! Errors common to all formats are here; errors of one format alone are its `R`, [`MountError::Refused`]. Each
//! format's crate has an alias with its own `R`, so that its users write `MountError::NotFormatted` and nothing more.

use core::convert::Infallible;
use core::fmt;

use crate::audit::Violation;
use crate::eeprom::{EepromPart, EepromPartError};
use crate::nand::{NandPart, NandPartError, PageAddress};
use crate::nor::{Address, NorPart, PartError};

/// A kind of part: what is wrong with an impossible one, and how a place on one is named.
pub trait PartKind: Copy + fmt::Debug + Eq {
    /// Why a value describes no possible part of this kind.
    type Impossible: Copy + fmt::Debug + fmt::Display + Eq;
    /// A place on the part.
    type Place: Copy + fmt::Debug + fmt::Display + Eq;
}

impl PartKind for NorPart {
    type Impossible = PartError;
    type Place = Address;
}

impl PartKind for NandPart {
    type Impossible = NandPartError;
    type Place = PageAddress;
}

impl PartKind for EepromPart {
    type Impossible = EepromPartError;
    type Place = Address;
}

/// Why a part of kind `K` could not be formatted or mounted. It is as it was, except that a recovery may have begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountError<E, R = Infallible, K: PartKind = NorPart> {
    /// The device failed.
    Device(E),
    /// The device describes no possible part.
    Part(K::Impossible),
    /// The part, the settings or the types of the caller cannot be used: which bound they violate.
    Unsuitable(&'static str),
    /// The room that the caller provides in RAM is too small for this part or image.
    TooSmall {
        /// What there is too little of.
        what: &'static str,
        /// How much the part or image needs.
        needed: u32,
        /// How much was given.
        given: u32,
    },
    /// The part holds nothing of this format: it is blank, foreign, or its formatting was cut short.
    NotFormatted,
    /// The image was written in another version of the format.
    OtherVersion {
        /// The image's version.
        found: u32,
        /// The version that this program writes.
        known: u32,
    },
    /// The image was made for another part, or for other settings of the caller's.
    WrongGeometry {
        /// What differs.
        what: &'static str,
        /// What the image states.
        image: u32,
        /// What the part or the caller's type states.
        expected: u32,
    },
    /// The part holds something that no sequence of operations and power cuts leaves there.
    Corrupted(Violation<K::Place>),
    /// What this format alone may find.
    Refused(R),
}

impl<E: fmt::Debug, R: fmt::Display, K: PartKind> fmt::Display for MountError<E, R, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MountError::Device(error) => write!(f, "the device failed: {error:?}"),
            MountError::Part(error) => write!(f, "impossible part: {error}"),
            MountError::Unsuitable(why) => write!(f, "unsuitable: {why}"),
            MountError::TooSmall { what, needed, given } => write!(f, "{needed} {what} needed, {given} given"),
            MountError::NotFormatted => f.write_str("not formatted: blank, foreign, or formatting was cut short"),
            MountError::OtherVersion { found, known } => {
                let (age, advice) = match found > known {
                    true => ("newer", "open it with a newer release"),
                    false => ("older", "open it with the release that wrote it, and copy what it holds"),
                };
                write!(f, "format version {found} is {age} than this program's ({known}): {advice}")
            }
            MountError::WrongGeometry { what, image, expected } => {
                write!(f, "the image was made for {image} {what}, and not for {expected}")
            }
            MountError::Corrupted(violation) => write!(f, "corrupted: {violation}"),
            MountError::Refused(why) => why.fmt(f),
        }
    }
}

impl<E: fmt::Debug, R: fmt::Debug + fmt::Display, K: PartKind> core::error::Error for MountError<E, R, K> {}
