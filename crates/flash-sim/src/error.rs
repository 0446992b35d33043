//! What a simulated part refuses, and what can be wrong with an image file.

use std::io;
use std::path::PathBuf;

use norn_flash::{Address, EraseUnit};

use crate::image_kind::ImageKind;

/// Why the part did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// The power is off: the planned cut came, and nothing works until `power_on`.
    #[error("the power is off")]
    PowerLost,
    /// The range leaves the part.
    #[error("{len} bytes at {address} leave the part, which ends at {end:#x}")]
    OutOfRange {
        /// Start of the range.
        address: Address,
        /// Its length in bytes.
        len: usize,
        /// The part's size in bytes.
        end: u32,
    },
    /// A program does not start and end on program-unit borders.
    #[error("a program of {len} bytes at {address} is not made of whole program units of {program_unit} bytes")]
    Misaligned {
        /// Start of the range.
        address: Address,
        /// Its length in bytes.
        len: usize,
        /// The part's program unit in bytes.
        program_unit: u8,
    },
    /// A program asks for cleared bits to be set.
    #[error("programming {requested:#04x} over {stored:#04x} at {address} would set bits")]
    SetsBits {
        /// The first byte concerned.
        address: Address,
        /// What is there.
        stored: u8,
        /// What was to be programmed.
        requested: u8,
    },
    /// A program unit has been programmed as often as the part allows between erases.
    #[error("the program unit at {address} has been programmed {times} times since its erase, and may not be again")]
    OverBudget {
        /// The program unit.
        address: Address,
        /// Programs that it has had.
        times: u8,
    },
    /// An erase of the unit was cut, and something other than zeros is programmed before it is erased again.
    #[error("programming at {address}, in {unit}, whose erase was cut short")]
    TornErase {
        /// Start of the range.
        address: Address,
        /// The unit.
        unit: EraseUnit,
    },
    /// There is no such erase unit.
    #[error("{unit} does not exist: the part has {unit_count}")]
    NoSuchUnit {
        /// The unit.
        unit: EraseUnit,
        /// Units of the part.
        unit_count: u16,
    },
    /// The unit has reached its endurance; its erase failed.
    #[error("{unit} is worn out after {erases} erases")]
    WornOut {
        /// The unit.
        unit: EraseUnit,
        /// Erases that it has had.
        erases: u32,
    },
    /// Programs in the unit were made to fail.
    #[error("the program at {address} failed")]
    ProgramFailed {
        /// Start of the range.
        address: Address,
    },
    /// The image file could not be written.
    #[error("the image file could not be written: {0}")]
    Image(io::ErrorKind),
}

/// Why an image file could not be made or opened.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The file system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of the name of a new image exists.
    #[error("{path}: there is such a file; an image is never overwritten, choose another name")]
    Exists {
        /// The file.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// Another process has the image open.
    #[error("{path}: in use by another process")]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file is no image of a simulated part.
    #[error("{path}: not an image of a simulated part: {why}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What differs.
        why: String,
    },
    /// The file is an image of another kind of part.
    #[error("{path}: an image of a simulated {found} part, not of a {wanted} part")]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// The kind that it is of.
        found: ImageKind,
        /// The requested kind.
        wanted: ImageKind,
    },
    /// The image was written by a newer version.
    #[error("{path}: image format {found} is newer than this program's ({known})")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u16,
        /// The newest that is known.
        known: u16,
    },
    /// The file does not have the length that its header states.
    #[error("{path}: an image of a simulated {part}, {found} bytes long instead of {wanted}: truncated or extended")]
    Length {
        /// The file.
        path: PathBuf,
        /// The part's name.
        part: String,
        /// Its length.
        found: u64,
        /// The length that the header asks for.
        wanted: u64,
    },
}

impl ImageError {
    /// Whether the file was read, and is not the requested image.
    pub fn is_refusal(&self) -> bool {
        match self {
            ImageError::Foreign { .. }
            | ImageError::OtherKind { .. }
            | ImageError::Newer { .. }
            | ImageError::Length { .. } => true,
            ImageError::Io { .. } | ImageError::Exists { .. } | ImageError::Locked { .. } => false,
        }
    }
}
