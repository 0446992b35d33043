//! Whether a driver for a NAND part keeps its side of the contract, as far as that shows while the power is on.
//!
//! In the first and the last block that are good:
//! 1. the part it describes is possible, and the same each time;
//! 2. an erase makes its block ones and changes no other, pages that were never programmed included;
//! 3. a program puts its pieces where they belong, data and out-of-band area, and ones elsewhere, and changes no other
//!    page;
//! 4. a loaded page can be fetched in pieces, with seeks between them; on parts that allow it, backwards;
//! 5. a page that is loaded and programmed elsewhere, or copied, takes its pieces and keeps the rest.
//!
//! Bit errors are no breach, as long as each code word has no more than the part asks to correct.

use core::fmt;
use core::ops::Range;

use norn_flash::{Block, Column, ColumnAccess, Nand, NandPart, NandPartError, PageAddress, Piece};

/// A promise of [`Nand`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NandPromise {
    /// The part's description is a possible one.
    Possible(NandPartError),
    /// The part's description does not change.
    SamePart,
    /// The part has enough good blocks: two of them, to try.
    GoodBlocks,
    /// An erased page reads 0xFF.
    EraseSetsAll,
    /// An erase changes no other block.
    EraseChangesNoOther,
    /// A program puts its pieces in their places, and ones elsewhere.
    ProgramPieces,
    /// A program changes no other page.
    ProgramChangesNoOther,
    /// The register keeps a page through seeks and fetches.
    RegisterKeeps,
    /// A copied page has the bytes of the first, except the pieces.
    Copies,
}

/// A promise that a driver broke, or a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NandBreach<E> {
    /// A call that the contract allows failed.
    Device(E),
    /// A promise was broken.
    Broken {
        /// Which.
        promise: NandPromise,
        /// Where it shows.
        page: PageAddress,
    },
    /// The buffer is smaller than a page with its out-of-band area.
    Buffer,
}

impl<E: fmt::Debug> fmt::Display for NandBreach<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NandBreach::Device(error) => write!(f, "a call that the contract allows failed: {error:?}"),
            NandBreach::Broken { promise, page } => write!(f, "a promise is broken at {page}: {promise:?}"),
            NandBreach::Buffer => f.write_str("the buffer is smaller than a page with its out-of-band area"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for NandBreach<E> {}

type Checked<D, T = ()> = Result<T, NandBreach<<D as Nand>::Error>>;

/// Tries a driver, with a buffer of a page and its out-of-band area. What two good blocks held is lost. Cost: six
/// erases, a program and some loads for each page of two blocks; a look at the marks of blocks until two are good.
///
/// # Errors
/// The first promise that is broken, or the first call that fails.
pub fn check_nand<D: Nand>(device: &mut D, buffer: &mut [u8]) -> Checked<D> {
    let part = device.part();
    let nowhere = PageAddress::default();
    part.validate().map_err(|error| broken(NandPromise::Possible(error), nowhere))?;
    let Some(buffer) = buffer.get_mut(..usize::from(part.register_bytes())) else {
        return Err(NandBreach::Buffer);
    };
    let mut port = Port { device, part, buffer };
    let first = port.good_block(part.blocks())?;
    let last = port.good_block(part.blocks().rev())?;
    if first == last {
        return Err(broken(NandPromise::GoodBlocks, first.page(0)));
    }
    port.check_blocks(first, last)?;
    port.check_blocks(last, first)?;
    match port.device.part() == part {
        true => Ok(()),
        false => Err(broken(NandPromise::SamePart, nowhere)),
    }
}

const fn broken<E>(promise: NandPromise, page: PageAddress) -> NandBreach<E> {
    NandBreach::Broken { promise, page }
}

/// The byte that is programmed at a column of a page.
fn pattern(page: PageAddress, column: u16) -> u8 {
    let place = u32::from(page.block.0) << 20 ^ u32::from(page.page) << 12 ^ u32::from(column);
    (place ^ place >> 9).wrapping_mul(167) as u8
}

/// The columns that are programmed: most of the data, and all of the out-of-band area.
fn programmed_columns(part: &NandPart) -> [Range<u16>; 2] {
    [1..part.page_bytes - part.page_bytes / 8, part.page_bytes..part.register_bytes()]
}

/// The byte that a page is programmed with: ones where a bad block would be marked, and outside the pieces.
fn byte(part: &NandPart, page: PageAddress, column: u16) -> u8 {
    let is_programmed = programmed_columns(part).iter().any(|columns| columns.contains(&column));
    if is_programmed && column != part.bad_mark.column.0 { pattern(page, column) } else { 0xFF }
}

struct Port<'a, D> {
    device: &'a mut D,
    part: NandPart,
    buffer: &'a mut [u8],
}

impl<D: Nand> Port<'_, D> {
    fn good_block(&mut self, blocks: impl Iterator<Item = Block>) -> Checked<D, Block> {
        for block in blocks {
            if !self.device.is_marked_bad(block).map_err(NandBreach::Device)? {
                return Ok(block);
            }
        }
        Err(broken(NandPromise::GoodBlocks, PageAddress::default()))
    }

    /// Wrong bits that a page may have.
    fn errors_max(&self) -> u32 {
        let words = self.part.page_bytes.div_ceil(self.part.correction.bytes);
        u32::from(words.max(1)) * u32::from(self.part.correction.bits)
    }

    fn program(&mut self, page: PageAddress) -> Checked<D> {
        for column in 0..self.part.register_bytes() {
            self.buffer[usize::from(column)] = byte(&self.part, page, column);
        }
        let pieces = programmed_columns(&self.part).map(|columns| {
            Piece::new(Column(columns.start), &self.buffer[usize::from(columns.start)..usize::from(columns.end)])
        });
        self.device.program(page, &pieces).map_err(NandBreach::Device)
    }

    /// Whether a page holds what is expected, except the bit errors that it may have.
    fn expect(&mut self, page: PageAddress, promise: NandPromise, expected: impl Fn(u16) -> u8) -> Checked<D> {
        self.device.load(page).map_err(NandBreach::Device)?;
        self.device.fetch(self.buffer).map_err(NandBreach::Device)?;
        let wrong = |(column, byte): (u16, &u8)| (expected(column) ^ byte).count_ones();
        let wrong: u32 = (0..).zip(self.buffer.iter()).map(wrong).sum();
        // What a copy took along adds to what the load errs in.
        let loads = if promise == NandPromise::Copies { 2 } else { 1 };
        if wrong > loads * self.errors_max() { Err(broken(promise, page)) } else { Ok(()) }
    }

    /// Whether `page` holds what `like` was programmed with.
    fn expect_programmed(&mut self, page: PageAddress, like: PageAddress, promise: NandPromise) -> Checked<D> {
        let part = self.part;
        self.expect(page, promise, |column| byte(&part, like, column))
    }

    fn erase(&mut self, block: Block) -> Checked<D> {
        self.device.erase(block).map_err(NandBreach::Device)
    }

    fn check_blocks(&mut self, block: Block, other: Block) -> Checked<D> {
        let pages = self.part.pages_per_block;
        self.erase(block)?;
        self.erase(other)?;
        for page in 0..pages {
            self.expect(block.page(page), NandPromise::EraseSetsAll, |_| 0xFF)?;
        }
        for page in 0..pages {
            self.program(block.page(page))?;
            if page + 1 < pages {
                self.expect(block.page(page + 1), NandPromise::ProgramChangesNoOther, |_| 0xFF)?;
            }
            self.expect_programmed(block.page(page), block.page(page), NandPromise::ProgramPieces)?;
        }
        self.check_register(block.page(pages - 1))?;
        self.check_copies(block.page(0), other)?;
        self.erase(other)?;
        for page in 0..pages {
            self.expect_programmed(block.page(page), block.page(page), NandPromise::EraseChangesNoOther)?;
        }
        Ok(())
    }

    /// Fetches a page in pieces, with a seek between them; backwards where the part allows it.
    fn check_register(&mut self, page: PageAddress) -> Checked<D> {
        let size = self.buffer.len();
        self.device.load(page).map_err(NandBreach::Device)?;
        self.device.fetch(self.buffer).map_err(NandBreach::Device)?;
        let mut first = [0; 4];
        first[..2].copy_from_slice(&self.buffer[2..4]);
        first[2..].copy_from_slice(&self.buffer[size - 2..]);
        match self.part.columns {
            ColumnAccess::Forwards => self.device.load(page).map_err(NandBreach::Device)?,
            ColumnAccess::Anywhere => self.device.seek(Column(0)).map_err(NandBreach::Device)?,
        }
        let mut again = [0; 4];
        self.device.fetch(&mut [0; 2]).map_err(NandBreach::Device)?;
        self.device.fetch(&mut again[..2]).map_err(NandBreach::Device)?;
        self.device.seek(Column(size as u16 - 2)).map_err(NandBreach::Device)?;
        self.device.fetch(&mut again[2..]).map_err(NandBreach::Device)?;
        let wrong: u32 = first.iter().zip(again).map(|(first, again)| (first ^ again).count_ones()).sum();
        let errors_max = if self.part.columns == ColumnAccess::Forwards { 2 * self.errors_max() } else { 0 };
        if wrong <= errors_max { Ok(()) } else { Err(broken(NandPromise::RegisterKeeps, page)) }
    }

    /// Copies a page to the first two of an erased block: in two steps, and in one; each with a piece that changes a
    /// byte.
    fn check_copies(&mut self, from: PageAddress, to: Block) -> Checked<D> {
        let changed = Column(self.part.page_bytes / 2);
        let pieces = [Piece::new(changed, &[0x5A])];
        self.device.load(from).map_err(NandBreach::Device)?;
        self.device.program_loaded(to.page(0), &pieces).map_err(NandBreach::Device)?;
        self.device.copy(from, to.page(1), &pieces).map_err(NandBreach::Device)?;
        let part = self.part;
        for page in [to.page(0), to.page(1)] {
            let expected = |column| if column == changed.0 { 0x5A } else { byte(&part, from, column) };
            self.expect(page, NandPromise::Copies, expected)?;
        }
        self.expect_programmed(from, from, NandPromise::ProgramChangesNoOther)
    }
}
