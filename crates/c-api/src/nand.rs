//! A NAND part behind functions of the caller's.

use core::ffi::{c_int, c_void};

use norn_flash::{
    BadMark, Block, Column, ColumnAccess, Correction, Nand, NandError, NandErrorKind, NandPart, PageAddress, Piece,
};

use crate::error::norn_error::*;
use crate::error::{Failure, OUTSIDE};

/// What `program`, `program_loaded` and `erase` of `struct norn_nand` return when the part says that it could not: the
/// block has gone bad, and the part works on. Any other number but 0 says that the part may be gone.
pub const NORN_NAND_BLOCK_FAILED: c_int = 20034;

/// For `columns` of `struct norn_nand`: `fetch` may go to any column of the register.
pub const NORN_COLUMNS_ANYWHERE: u32 = 0;
/// For `columns` of `struct norn_nand`: `fetch` goes forwards only, and passes over bytes at the cost of fetching them.
pub const NORN_COLUMNS_FORWARDS: u32 = 1;

/// Pieces that a program has at most.
pub const NORN_NAND_PIECES_MAX: usize = 4;

/// Bytes for a place in a page.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_nand_piece {
    /// Where the first of them goes: a byte of the page, or beyond its data one of its out-of-band area.
    pub column: u32,
    /// How many there are.
    pub bytes: u32,
    /// What goes there.
    pub data: *const c_void,
}

/// A NAND flash part of one bit a cell (SLC), or a range of whole blocks of one: what it is, and functions that reach
/// it.
///
/// A page is loaded into the part's register, and bytes are fetched from there; a page is programmed whole, with its
/// out-of-band area. Pages are numbered over the whole part: page 0 of block 2 has the number 2 * `pages_per_block`.
/// Columns count bytes of a page from 0, on through its out-of-band area, which begins at `page_bytes`.
///
/// The functions return 0 or another number, which fails the call with `NORN_ERROR_DEVICE`, save
/// `NORN_NAND_BLOCK_FAILED`. They return once the operation is complete, and may not use the handle that called them.
///
/// What the library promises: addresses lie within the part; pieces ascend and do not overlap; the pages of a block are
/// programmed in ascending order, each once between two erases; a block that is marked bad is neither
/// programmed nor erased. One that has failed may be tried again, once, after a mount.
///
/// What the part has to keep: a load brings what was programmed, and 0xFF where nothing was, but for wrong bits that a
/// block device and a pager correct; what was acknowledged outlives a loss of power. An operation that is cut by a loss
/// of power may have done its work in part, on its own page or block only. The first block is good.
///
/// The structure is copied when a handle is mounted. What `context` points to has to stay.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_nand {
    /// For the caller's functions, which get it as their first argument.
    pub context: *mut c_void,
    /// Loads a page into the register.
    pub load: Option<unsafe extern "C" fn(context: *mut c_void, page: u32) -> c_int>,
    /// Fetches `bytes` bytes from the register, from `column` on; 0 bytes do nothing. With `NORN_COLUMNS_FORWARDS` the
    /// column is that after the last one that was fetched since the load, or a later one.
    pub fetch:
        Option<unsafe extern "C" fn(context: *mut c_void, column: u32, buffer: *mut c_void, bytes: u32) -> c_int>,
    /// Programs a page: the pieces in their places, 0xFF elsewhere. There are up to `NORN_NAND_PIECES_MAX`, or none.
    pub program: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            page: u32,
            pieces: *const norn_nand_piece,
            piece_count: u32,
        ) -> c_int,
    >,
    /// Programs a page with what the register holds, changed by the pieces: the second half of a copy.
    pub program_loaded: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            page: u32,
            pieces: *const norn_nand_piece,
            piece_count: u32,
        ) -> c_int,
    >,
    /// Erases a block.
    pub erase: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> c_int>,
    /// Returns 1 if a block is marked bad, 0 if not, or another number if the part fails. NULL: the library looks at
    /// the mark, a byte that is 0xFF in a good block, and of which most bits are zeros in a bad one.
    pub is_marked_bad: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> c_int>,
    /// Blocks, up to 65,535, bad ones included.
    pub block_count: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Bytes of a page's data, a power of two.
    pub page_bytes: u32,
    /// Bytes of its out-of-band area.
    pub oob_bytes: u32,
    /// `NORN_COLUMNS_ANYWHERE` or `NORN_COLUMNS_FORWARDS`.
    pub columns: u32,
    /// The column of the mark of a bad block, in the out-of-band area.
    pub bad_mark_column: u32,
    /// The mark is in one or several of so many first pages of a block.
    pub bad_mark_pages: u32,
    /// Blocks that are good over the whole life of the part, at least.
    pub good_blocks_min: u32,
    /// Wrong bits that a code has to correct, as the maker says, in each `correction_bytes` bytes; 0 if the part does.
    pub correction_bits: u32,
    /// See `correction_bits`; not 0.
    pub correction_bytes: u32,
}

type Load = unsafe extern "C" fn(*mut c_void, u32) -> c_int;
type Fetch = unsafe extern "C" fn(*mut c_void, u32, *mut c_void, u32) -> c_int;
type Program = unsafe extern "C" fn(*mut c_void, u32, *const norn_nand_piece, u32) -> c_int;

/// A [`norn_nand`] that was found to have all functions and a possible part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NandDevice {
    context: *mut c_void,
    load: Load,
    fetch: Fetch,
    program: Program,
    program_loaded: Program,
    erase: Load,
    is_marked_bad: Option<Load>,
    part: NandPart,
    /// The register's position.
    column: u16,
}

/// What a function of the caller's returned, or `OUTSIDE`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NandFailure(pub c_int);

impl NandError for NandFailure {
    fn kind(&self) -> NandErrorKind {
        if self.0 == NORN_NAND_BLOCK_FAILED { NandErrorKind::BlockFailed } else { NandErrorKind::Other }
    }
}

impl From<NandFailure> for Failure {
    fn from(NandFailure(number): NandFailure) -> Failure {
        match number {
            OUTSIDE => NORN_ERROR_CORRUPTED.into(),
            number => Failure::limited(NORN_ERROR_DEVICE, number as u32),
        }
    }
}

/// The part that a structure describes, if there can be such a part.
pub(crate) fn nand_part_of(nand: &norn_nand) -> Option<NandPart> {
    let columns = match nand.columns {
        NORN_COLUMNS_ANYWHERE => ColumnAccess::Anywhere,
        NORN_COLUMNS_FORWARDS => ColumnAccess::Forwards,
        _ => return None,
    };
    let part = NandPart {
        block_count: nand.block_count.try_into().ok()?,
        pages_per_block: nand.pages_per_block.try_into().ok()?,
        page_bytes: nand.page_bytes.try_into().ok()?,
        oob_bytes: nand.oob_bytes.try_into().ok()?,
        columns,
        correction: Correction {
            bits: nand.correction_bits.try_into().ok()?,
            bytes: nand.correction_bytes.try_into().ok()?,
        },
        bad_mark: BadMark {
            column: Column(nand.bad_mark_column.try_into().ok()?),
            pages: nand.bad_mark_pages.try_into().ok()?,
        },
        good_blocks_min: nand.good_blocks_min.try_into().ok()?,
        endurance_erases: None,
    };
    part.validate().is_ok().then_some(part)
}

impl NandDevice {
    /// # Safety
    /// As the header says of `struct norn_nand`: until the device is dropped, the functions may be called with
    /// `context`.
    pub(crate) unsafe fn new(nand: &norn_nand) -> Result<NandDevice, Failure> {
        let (Some(load), Some(fetch), Some(program), Some(program_loaded), Some(erase)) =
            (nand.load, nand.fetch, nand.program, nand.program_loaded, nand.erase)
        else {
            return Err(NORN_ERROR_NULL.into());
        };
        let part = nand_part_of(nand).ok_or(NORN_ERROR_PART)?;
        let (context, is_marked_bad) = (nand.context, nand.is_marked_bad);
        Ok(NandDevice { context, load, fetch, program, program_loaded, erase, is_marked_bad, part, column: 0 })
    }

    /// The number of a page, which lies within the part, as the caller's functions may rely on.
    fn number(&self, page: PageAddress) -> Result<u32, NandFailure> {
        if self.part.contains(page) { Ok(self.part.number_of(page).0) } else { Err(NandFailure(OUTSIDE)) }
    }

    /// That a range lies within the register.
    fn expect_inside(&self, column: u16, bytes: usize) -> Result<(), NandFailure> {
        let end = usize::from(column) + bytes;
        if end <= usize::from(self.part.register_bytes()) { Ok(()) } else { Err(NandFailure(OUTSIDE)) }
    }

    fn call_program(&mut self, call: Program, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandFailure> {
        let page = self.number(page)?;
        let nothing = norn_nand_piece { column: 0, bytes: 0, data: core::ptr::null() };
        let mut given = [nothing; NORN_NAND_PIECES_MAX];
        for (index, piece) in pieces.iter().enumerate() {
            self.expect_inside(piece.column.0, piece.bytes.len())?;
            let place = given.get_mut(index).ok_or(NandFailure(OUTSIDE))?;
            *place = norn_nand_piece {
                column: piece.column.0.into(),
                bytes: piece.bytes.len() as u32,
                data: piece.bytes.as_ptr().cast(),
            };
        }
        // SAFETY: whoever made the device has promised that the function may be called; so many pieces were filled in.
        result(unsafe { call(self.context, page, given.as_ptr(), pieces.len() as u32) })
    }

    /// The mark in one of the pages that may bear it, as the trait's own method finds it.
    fn bears_mark(&mut self, page: PageAddress) -> Result<bool, NandFailure> {
        let mut byte = [0];
        self.load(page)?;
        self.seek(self.part.bad_mark.column)?;
        self.fetch(&mut byte)?;
        Ok(byte[0].count_ones() <= 4)
    }
}

/// What a function of the caller's returned. It cannot return `OUTSIDE`.
fn result(number: c_int) -> Result<(), NandFailure> {
    if number == 0 { Ok(()) } else { Err(NandFailure(number.max(OUTSIDE + 1))) }
}

impl Nand for NandDevice {
    type Error = NandFailure;

    fn part(&self) -> NandPart {
        self.part
    }

    fn load(&mut self, page: PageAddress) -> Result<(), NandFailure> {
        let page = self.number(page)?;
        self.column = 0;
        // SAFETY: whoever made the device has promised that the function may be called.
        result(unsafe { (self.load)(self.context, page) })
    }

    fn seek(&mut self, column: Column) -> Result<(), NandFailure> {
        self.column = column.0;
        Ok(())
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), NandFailure> {
        self.expect_inside(self.column, buffer.len())?;
        let (column, bytes) = (self.column, buffer.len() as u32);
        self.column += buffer.len() as u16;
        // SAFETY: as of `load`; the buffer has these bytes.
        result(unsafe { (self.fetch)(self.context, column.into(), buffer.as_mut_ptr().cast(), bytes) })
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandFailure> {
        self.call_program(self.program, page, pieces)
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandFailure> {
        self.call_program(self.program_loaded, page, pieces)
    }

    fn erase(&mut self, block: Block) -> Result<(), NandFailure> {
        self.number(block.page(0))?;
        // SAFETY: as of `load`.
        result(unsafe { (self.erase)(self.context, block.0.into()) })
    }

    fn is_marked_bad(&mut self, block: Block) -> Result<bool, NandFailure> {
        if let Some(is_marked_bad) = self.is_marked_bad {
            self.number(block.page(0))?;
            // SAFETY: as of `load`.
            return match unsafe { is_marked_bad(self.context, block.0.into()) } {
                0 => Ok(false),
                1 => Ok(true),
                number => result(number).map(|()| false),
            };
        }
        for page in 0..self.part.bad_mark.pages {
            if self.bears_mark(block.page(page))? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
