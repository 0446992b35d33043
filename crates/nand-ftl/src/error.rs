//! What goes wrong: when making a device from a part, and when using it.

use core::fmt;

use norn_flash::{NandPart, NandPartError, PageAddress};

use crate::ftl::Lba;

/// Why a part is not mounted or formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountError<E> {
    /// The device failed.
    Device(E),
    /// The device describes no possible part.
    Part(NandPartError),
    /// The part asks for more correction than a wrong bit in a code word, or its out-of-band area, its pages or its blocks
    /// are too small (16 bytes a code word, 64 bytes, two pages), or it has too many pages.
    Unsupported(NandPart),
    /// The memory is too small.
    Memory {
        /// Bytes that it has to have.
        needed: usize,
        /// Bytes that were given.
        given: usize,
    },
    /// So many logical pages do not fit the part.
    TooLarge {
        /// Logical pages that were asked for.
        logical_pages: u32,
        /// Most that the part has room for, with its bad blocks.
        max: u32,
    },
    /// No chunk of a checkpoint was found: the part was not formatted, or formatting it was cut short.
    NotFormatted,
    /// Too many blocks have gone bad: there is none to write to.
    NoSpace,
}

impl<E: fmt::Debug> fmt::Display for MountError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MountError::Device(error) => write!(f, "the device failed: {error:?}"),
            MountError::Part(error) => write!(f, "no possible part: {error}"),
            MountError::Unsupported(part) => write!(
                f,
                "the part is not supported: {} blocks of {} pages of {} + {} bytes, {} wrong bits in {}",
                part.block_count,
                part.pages_per_block,
                part.page_bytes,
                part.oob_bytes,
                part.correction.bits,
                part.correction.bytes
            ),
            MountError::Memory { needed, given } => write!(f, "{given} bytes of memory given, {needed} are needed"),
            MountError::TooLarge { logical_pages, max } => {
                write!(f, "{logical_pages} logical pages asked for, the part has room for {max}")
            }
            MountError::NotFormatted => f.write_str("the part is not formatted: no page of a checkpoint was found"),
            MountError::NoSpace => f.write_str("no block is left to write to"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for MountError<E> {}

/// Why a mounted device did not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FtlError<E> {
    /// The device failed, and the FTL halts: what is on flash is as a power cut would leave it.
    Device(E),
    /// The FTL halted after a failure of the device. Mount again.
    Halted,
    /// Pages beyond the device.
    OutOfRange {
        /// First page asked for.
        lba: Lba,
        /// Number of pages asked for.
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
        /// The logical page; a number at [`Ftl::logical_pages`](crate::Ftl::logical_pages) or beyond is a page of the checkpoint.
        lba: Lba,
        /// Where it is.
        page: PageAddress,
    },
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
                write!(f, "{bytes} bytes are no multiple of a page's {page_bytes}")
            }
            FtlError::NoSpace => f.write_str("no block is left to write to"),
            FtlError::Unreadable { lba, page } => {
                write!(f, "logical page {} at {page} has more wrong bits than can be corrected", lba.0)
            }
        }
    }
}

impl<E: fmt::Debug> core::error::Error for FtlError<E> {}
