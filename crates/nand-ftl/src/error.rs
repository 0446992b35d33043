//! What goes wrong: when making a device from a part, and when using it.

use core::fmt;

use norn_flash::{GuardError, Nand, NandPart, PageAddress};

use crate::layout::Lba;

/// Why a part is not mounted or formatted.
pub type MountError<E> = norn_flash::MountError<E, MountRefusal, NandPart>;

/// Why the FTL refuses a part or an image, besides the errors of all formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountRefusal {
    /// This number of logical pages does not fit the part.
    TooLarge {
        /// Requested logical pages.
        logical_pages: u32,
        /// Most that the part has room for, with its bad blocks.
        max: u32,
    },
    /// A format of no logical pages: a field that was not set.
    NoPages {
        /// Most that the part has room for, with its bad blocks.
        max: u32,
    },
    /// Too many blocks have gone bad: there is none to write to.
    NoSpace,
}

impl fmt::Display for MountRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MountRefusal::TooLarge { logical_pages, max } => {
                write!(f, "{logical_pages} logical pages requested; the part has room for {max}")
            }
            MountRefusal::NoPages { max } => write!(f, "no logical pages requested; the part has room for {max}"),
            MountRefusal::NoSpace => f.write_str("no block is left to write to"),
        }
    }
}

/// Why a mounted device did not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FtlError<E> {
    /// The device failed, and the FTL halts: what is on flash is as a power cut would leave it.
    Device(E),
    /// The FTL halted after a failure of the device. Mount again.
    Halted,
    /// Pages beyond the device.
    OutOfRange {
        /// First requested page.
        lba: Lba,
        /// Number of requested pages.
        count: u32,
        /// Logical pages of the device.
        logical_pages: u32,
    },
    /// The bytes given are not a multiple of a page.
    Length {
        /// Bytes given.
        bytes: usize,
        /// Bytes of a page.
        page_bytes: u16,
    },
    /// Too many blocks have gone bad: nothing more can be written, what is there can be read.
    NoSpace,
    /// A page has more wrong bits than its codes correct, however often it is read.
    Unreadable {
        /// The logical page; a number at [`Ftl::logical_pages`](crate::Ftl::logical_pages) or beyond is a page of the
        /// checkpoint.
        lba: Lba,
        /// Where it is.
        page: PageAddress,
    },
}

/// What a call on a device `D` returns.
pub(crate) type Outcome<T, D> = Result<T, FtlError<<D as Nand>::Error>>;

/// What an operation's failure is while mounting. The FTL's own state is in order then, so that nothing but the device
/// and room can fail.
pub(crate) fn mount_error<E>(error: FtlError<E>) -> MountError<E> {
    match error {
        FtlError::Device(error) => MountError::Device(error),
        _ => MountError::Refused(MountRefusal::NoSpace),
    }
}

pub(crate) fn memory_too_small<E>(needed: usize, given: usize) -> MountError<E> {
    MountError::TooSmall { what: "bytes of memory", needed: needed as u32, given: given as u32 }
}

impl<E: fmt::Debug> fmt::Display for FtlError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FtlError::Device(error) => write!(f, "the device failed: {error:?}"),
            FtlError::Halted => f.write_str("halted after a failure of the device; mount again"),
            FtlError::OutOfRange { lba, count, logical_pages } => {
                write!(f, "{count} pages from {} on leave the device, which has {logical_pages}", lba.0)
            }
            FtlError::Length { bytes, page_bytes } => {
                write!(f, "{bytes} bytes are not a multiple of a page's {page_bytes}")
            }
            FtlError::NoSpace => f.write_str("no block is left to write to"),
            FtlError::Unreadable { lba, page } => {
                write!(f, "logical page {} at {page} has more wrong bits than can be corrected", lba.0)
            }
        }
    }
}

impl<E: fmt::Debug> core::error::Error for FtlError<E> {}

impl<E> From<GuardError<E>> for FtlError<E> {
    fn from(error: GuardError<E>) -> Self {
        match error {
            GuardError::Device(error) => FtlError::Device(error),
            GuardError::Halted => FtlError::Halted,
        }
    }
}
