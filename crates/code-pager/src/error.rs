//! What can be wrong with an image, with what is asked of it, and with the part below it.

use core::fmt;

use norn_flash::{Block, PageAddress};

use crate::address::{CodeAddress, RoomName};

/// Why a pager could not be opened or an image not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageError<E> {
    /// The device failed.
    Device(E),
    /// Cache pages of this size, with their codes, do not fit a page of the part; or they do not divide it, without a
    /// code.
    PageSize {
        /// Bytes of a cache page.
        cache_page_bytes: u16,
        /// Bytes of a page of the part.
        page_bytes: u16,
    },
    /// The policy takes no cache of this number of frames.
    Frames {
        /// Frames requested.
        given: u8,
        /// The most frames that the policy takes; the fewest are one.
        max: u8,
    },
    /// Memory that the caller lends is too small.
    TooSmall {
        /// What there is too little of.
        what: &'static str,
        /// How much is needed.
        needed: u32,
        /// How much was given.
        given: u32,
    },
    /// There is no image: none of the blocks that may bear its header has a whole one.
    NoImage {
        /// The first of them.
        start: Block,
        /// The last.
        end: Block,
    },
    /// The header is of a newer version.
    Newer {
        /// Its version.
        version: u8,
    },
    /// The image was written for other cache pages or another code.
    Layout {
        /// Bytes of its cache pages.
        cache_page_bytes: u16,
        /// Bytes of the code of each.
        code_bytes: u8,
    },
    /// The header says something that cannot be: it was written for another part, or by something else.
    Header {
        /// Where it is.
        page: PageAddress,
    },
    /// The image does not fit the blocks that it may use.
    TooLarge {
        /// Bytes of the image.
        image_bytes: u32,
        /// Blocks that it may use.
        blocks: u16,
        /// Those of them that are bad.
        bad_blocks: u16,
    },
    /// The image has more cache pages than a cache can number.
    TooManyPages {
        /// Bytes of the image.
        image_bytes: u32,
        /// Bytes of a cache page.
        cache_page_bytes: u16,
    },
    /// More blocks among those of the image are bad than its header names.
    TooManyBadBlocks {
        /// The block that was one too many.
        block: Block,
    },
    /// The image has no bytes.
    Empty,
    /// A cache page has more wrong bits than its code corrects.
    Damaged {
        /// The page of the part that it is in.
        page: PageAddress,
    },
    /// The image has other bytes than were written.
    OtherBytes {
        /// The CRC-32C of those that were written.
        expected: u32,
        /// The CRC-32C of its bytes.
        found: u32,
    },
}

impl<E> From<E> for ImageError<E> {
    fn from(error: E) -> Self {
        ImageError::Device(error)
    }
}

impl<E: fmt::Debug> fmt::Display for ImageError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Device(error) => write!(f, "the part failed: {error:?}"),
            ImageError::PageSize { cache_page_bytes, page_bytes } => {
                write!(f, "cache pages of {cache_page_bytes} bytes do not divide the part's pages of {page_bytes}")
            }
            ImageError::Frames { given, max } => write!(f, "a cache of {given} frames: the policy takes 1 to {max}"),
            ImageError::TooSmall { what, needed, given } => write!(f, "{needed} {what} needed, {given} given"),
            ImageError::NoImage { start, end } => write!(f, "no whole header of an image in {start} to {end}"),
            ImageError::Newer { version } => write!(f, "the image's version {version} is newer than this program's"),
            ImageError::Layout { cache_page_bytes, code_bytes } => {
                write!(
                    f,
                    "the image was written for cache pages of {cache_page_bytes} bytes with codes of {code_bytes}"
                )
            }
            ImageError::Header { page } => write!(f, "the header in {page} describes no image on this part"),
            ImageError::TooLarge { image_bytes, blocks, bad_blocks } => {
                write!(f, "an image of {image_bytes} bytes does not fit {blocks} blocks, {bad_blocks} of them bad")
            }
            ImageError::TooManyPages { image_bytes, cache_page_bytes } => {
                write!(
                    f,
                    "an image of {image_bytes} bytes has more than 65,535 cache pages of {cache_page_bytes} bytes"
                )
            }
            ImageError::TooManyBadBlocks { block } => write!(f, "{block} is one bad block more than an image may have"),
            ImageError::Empty => f.write_str("an image of no bytes"),
            ImageError::Damaged { page } => write!(f, "{page} of the image has more wrong bits than its code corrects"),
            ImageError::OtherBytes { expected, found } => {
                write!(f, "the image's CRC-32C is {found:#010x}, that of what was written {expected:#010x}")
            }
        }
    }
}

impl<E: fmt::Debug> core::error::Error for ImageError<E> {}

/// Why a program could not be chosen, updated, confirmed or rolled back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramError<E> {
    /// The device failed, or an image could not be written.
    Image(ImageError<E>),
    /// The rooms cannot be on this part: why.
    Rooms(&'static str),
    /// The switch is about other rooms.
    OtherRooms {
        /// Start and blocks of room A.
        a: (Block, u16),
        /// Start and blocks of room B.
        b: (Block, u16),
    },
    /// The switch is of a newer version.
    NewerSwitch {
        /// Its version.
        version: u8,
    },
    /// Too many of the switch's blocks are bad.
    NoSwitchBlock {
        /// The first of them.
        start: Block,
        /// How many there are.
        blocks: u16,
    },
    /// No program was ever switched to.
    NothingRuns {
        /// The first block of room A.
        a: Block,
    },
    /// A program was switched to already.
    Adopted {
        /// The room whose program runs.
        room: RoomName,
    },
    /// There is no whole program: to boot, in neither room; to roll back to, in this one.
    NoProgram {
        /// The room whose program was to run.
        room: RoomName,
        /// What is wrong with it.
        reason: ImageError<E>,
    },
    /// The program that runs is on trial: the other room has the one that was confirmed, and is not written to.
    OnTrial {
        /// The room of the program on trial.
        room: RoomName,
    },
}

impl<E> From<ImageError<E>> for ProgramError<E> {
    fn from(error: ImageError<E>) -> Self {
        ProgramError::Image(error)
    }
}

impl<E: fmt::Debug> fmt::Display for ProgramError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::Image(error) => error.fmt(f),
            ProgramError::Rooms(why) => write!(f, "two rooms and a switch cannot be here: {why}"),
            ProgramError::OtherRooms { a: (a, a_blocks), b: (b, b_blocks) } => {
                write!(f, "the switch is about rooms of {a_blocks} blocks from {a} on and {b_blocks} from {b} on")
            }
            ProgramError::NewerSwitch { version } => {
                write!(f, "the switch's version {version} is newer than this program's")
            }
            ProgramError::NoSwitchBlock { start, blocks } => {
                write!(f, "too many of the switch's {blocks} blocks from {start} on are bad")
            }
            ProgramError::NothingRuns { a } => {
                write!(f, "no program was switched to; one that was written to {a} on without a switch can be adopted")
            }
            ProgramError::Adopted { room } => write!(f, "the switch names {room} already"),
            ProgramError::NoProgram { room, reason } => write!(f, "no whole program in {room}: {reason}"),
            ProgramError::OnTrial { room } => {
                write!(f, "the program in {room} is on trial: confirm it, or roll back, before an update")
            }
        }
    }
}

impl<E: fmt::Debug> core::error::Error for ProgramError<E> {}

/// Why bytes of the image could not be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError<E> {
    /// The device failed.
    Device(E),
    /// The range leaves the image.
    OutOfImage {
        /// Its start.
        address: CodeAddress,
        /// Its length.
        len: usize,
        /// Bytes of the image.
        image_bytes: u32,
    },
    /// More bits are wrong than the code corrects.
    Uncorrectable {
        /// The first byte of the cache page.
        address: CodeAddress,
    },
}

impl<E> From<E> for ReadError<E> {
    fn from(error: E) -> Self {
        ReadError::Device(error)
    }
}

impl<E: fmt::Debug> fmt::Display for ReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Device(error) => write!(f, "the part failed: {error:?}"),
            ReadError::OutOfImage { address, len, image_bytes } => {
                write!(f, "{len} bytes at {address} leave the image of {image_bytes} bytes")
            }
            ReadError::Uncorrectable { address } => {
                write!(f, "the cache page at {address} has more wrong bits than its code corrects")
            }
        }
    }
}

impl<E: fmt::Debug> core::error::Error for ReadError<E> {}
