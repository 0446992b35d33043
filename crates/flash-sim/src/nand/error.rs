//! What a simulated NAND part refuses, and how its blocks fail.

use std::io;

use norn_flash::{Block, Column, NandError, NandErrorKind, PageAddress};

/// Why the part did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NandSimError {
    /// The power is off: the planned cut came, and nothing works until `power_on`.
    #[error("the power is off")]
    PowerLost,
    /// There is no such page.
    #[error("{page} does not exist: the part has {block_count} blocks of {pages_per_block} pages")]
    NoSuchPage {
        /// The page.
        page: PageAddress,
        /// Blocks of the part.
        block_count: u16,
        /// Pages of a block.
        pages_per_block: u16,
    },
    /// There is no such block.
    #[error("{block} does not exist: the part has {block_count}")]
    NoSuchBlock {
        /// The block.
        block: Block,
        /// Blocks of the part.
        block_count: u16,
    },
    /// The register is used while it is empty.
    #[error("the register is empty: no page was loaded since the last program, erase or loss of power")]
    NothingLoaded,
    /// A range of columns leaves the register.
    #[error("{len} bytes at {column} leave the register, which has {register_bytes}")]
    OutOfRegister {
        /// Start of the range.
        column: Column,
        /// Its length in bytes.
        len: usize,
        /// Bytes of the register.
        register_bytes: u16,
    },
    /// The register's position is asked to go back, and cannot.
    #[error("{column} is before the register's position, {position}, which only moves forwards")]
    Backwards {
        /// Where it was to go.
        column: Column,
        /// Where it is.
        position: Column,
    },
    /// Pieces of a program do not ascend, or overlap.
    #[error("the piece at {column} starts in or before the one that precedes it")]
    PiecesOverlap {
        /// Start of the piece.
        column: Column,
    },
    /// A page is programmed for the second time since the erase of its block, or after a later page of the block.
    #[error("{page} cannot be programmed: {next_page} is the first page that can since the block's last erase")]
    OutOfOrder {
        /// The page.
        page: PageAddress,
        /// First page of the block that may be programmed.
        next_page: u16,
    },
    /// An erase of the block was cut or failed, and it is programmed before it is erased again.
    #[error("programming {page}, in a block whose erase was cut short")]
    TornErase {
        /// The page.
        page: PageAddress,
    },
    /// The block is marked bad by the maker; it is neither programmed nor erased.
    #[error("{block} is marked bad by the maker")]
    MarkedBad {
        /// The block.
        block: Block,
    },
    /// The program failed: the block has gone bad.
    #[error("the program of {page} failed")]
    ProgramFailed {
        /// The page.
        page: PageAddress,
    },
    /// The erase failed: the block has gone bad.
    #[error("the erase of {block} failed after {erases} erases")]
    EraseFailed {
        /// The block.
        block: Block,
        /// Erases that it has had, the failed one not included.
        erases: u32,
    },
    /// The image file could not be read or written.
    #[error("the image file could not be read or written: {0}")]
    Image(io::ErrorKind),
}

impl NandSimError {
    /// Whether the contract does not allow what was asked: a mistake of the caller.
    pub(crate) fn is_refusal(&self) -> bool {
        self.kind() == NandErrorKind::Other && !matches!(self, NandSimError::PowerLost | NandSimError::Image(_))
    }
}

impl NandError for NandSimError {
    fn kind(&self) -> NandErrorKind {
        match self {
            NandSimError::ProgramFailed { .. } | NandSimError::EraseFailed { .. } => NandErrorKind::BlockFailed,
            _ => NandErrorKind::Other,
        }
    }
}
