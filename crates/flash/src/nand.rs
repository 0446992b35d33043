//! The NAND contract: geometry as a value, typed addresses, and a device trait that says what bit errors, bad blocks
//! and power loss may do.
//!
//! A NAND part is read in two steps: a page is loaded into the part's register, which takes long, and bytes are fetched
//! from the register, which has a position that moves forwards. Pages are programmed whole, blocks of pages erased.
//!
//! ```text
//! column 0              page_bytes        page_bytes + oob_bytes
//!        │ data          │ out of band     │
//!        └───────────────┴─────────────────┘
//!              ▲ position: seek and fetch move it
//! ```
//!
//! Invariants of a valid [`NandPart`]: a page is a power of two of bytes, its register is addressable by 16 bits and
//! its pages by 32, and the mark of a bad block is out of band.

use core::fmt;

/// The number of a block, counted from the part's first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(pub u16);

impl Block {
    /// Its page of number `page`, counted from the block's first.
    pub const fn page(self, page: u16) -> PageAddress {
        PageAddress { block: self, page }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block {}", self.0)
    }
}

/// A page: its block, and its number in that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageAddress {
    /// The block.
    pub block: Block,
    /// Counted from the block's first page.
    pub page: u16,
}

impl fmt::Display for PageAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} page {}", self.block, self.page)
    }
}

/// The number of a page, counted over all blocks from the part's first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageNumber(pub u32);

/// A place in a page and in the register: bytes from the start of its data, on through the out-of-band area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column(pub u16);

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}", self.0)
    }
}

/// Where the register's position may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnAccess {
    /// Forwards only. Bytes that are passed over take as long as bytes that are fetched, and a byte after the position
    /// takes another load.
    Forwards,
    /// Anywhere, by a command ("random data output").
    Anywhere,
}

/// How much error correction the maker asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Correction {
    /// Bits that a code has to correct; 0 where the part or its driver corrects by itself.
    pub bits: u8,
    /// In each code word of this number of bytes; the out-of-band area is divided among the code words.
    pub bytes: u16,
}

/// Where the maker marks a block as bad, before it leaves the factory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadMark {
    /// The marked byte. It is 0xFF in a good block.
    pub column: Column,
    /// The mark is in one or several of this number of first pages of the block.
    pub pages: u16,
}

/// What a NAND part is: its geometry and its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NandPart {
    /// Number of blocks, bad ones included.
    pub block_count: u16,
    /// Pages of a block.
    pub pages_per_block: u16,
    /// Bytes of data of a page: a power of two.
    pub page_bytes: u16,
    /// Bytes of its out-of-band area.
    pub oob_bytes: u16,
    /// Where the register's position may go.
    pub columns: ColumnAccess,
    /// How much error correction the maker asks for.
    pub correction: Correction,
    /// Where bad blocks are marked.
    pub bad_mark: BadMark,
    /// Blocks that are good over the whole life of the part, at least.
    pub good_blocks_min: u16,
    /// Guaranteed erases of each block, where the maker states it.
    pub endurance_erases: Option<u32>,
}

impl NandPart {
    /// Pages of the part, those of bad blocks included.
    pub const fn page_count(&self) -> u32 {
        self.block_count as u32 * self.pages_per_block as u32
    }

    /// Bytes of data of a block.
    pub const fn block_bytes(&self) -> u32 {
        self.pages_per_block as u32 * self.page_bytes as u32
    }

    /// Bytes of data of the part.
    pub const fn size_bytes(&self) -> u64 {
        self.page_count() as u64 * self.page_bytes as u64
    }

    /// Bytes of the register: a page's data and its out-of-band area.
    pub const fn register_bytes(&self) -> u16 {
        self.page_bytes + self.oob_bytes
    }

    /// The first byte of the out-of-band area.
    pub const fn oob_column(&self) -> Column {
        Column(self.page_bytes)
    }

    /// All blocks, bad ones included.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = Block> + ExactSizeIterator + use<> {
        (0..self.block_count).map(Block)
    }

    /// Whether there is such a page.
    pub const fn contains(&self, page: PageAddress) -> bool {
        page.block.0 < self.block_count && page.page < self.pages_per_block
    }

    /// The number of a page that the part contains.
    pub const fn number_of(&self, page: PageAddress) -> PageNumber {
        PageNumber(page.block.0 as u32 * self.pages_per_block as u32 + page.page as u32)
    }

    /// The page of a number under [`page_count`](Self::page_count).
    pub const fn page_at(&self, number: PageNumber) -> PageAddress {
        let pages = self.pages_per_block as u32;
        PageAddress { block: Block((number.0 / pages) as u16), page: (number.0 % pages) as u16 }
    }

    /// Whether the value describes a possible part.
    ///
    /// # Errors
    /// Names the first field that is out of its range.
    pub const fn validate(&self) -> Result<(), NandPartError> {
        if self.block_count == 0 || self.pages_per_block == 0 {
            return Err(NandPartError::NoPages);
        }
        if !self.page_bytes.is_power_of_two() {
            return Err(NandPartError::PageSize(self.page_bytes));
        }
        if self.page_bytes.checked_add(self.oob_bytes).is_none() {
            return Err(NandPartError::Register);
        }
        let mark = self.bad_mark;
        let outside = mark.column.0 < self.page_bytes || mark.column.0 - self.page_bytes >= self.oob_bytes;
        if outside || mark.pages == 0 || mark.pages > self.pages_per_block {
            return Err(NandPartError::BadMark(mark));
        }
        if self.correction.bytes == 0 {
            return Err(NandPartError::Correction);
        }
        if self.good_blocks_min > self.block_count {
            return Err(NandPartError::GoodBlocks(self.good_blocks_min));
        }
        Ok(())
    }
}

/// Why a [`NandPart`] describes no possible part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NandPartError {
    /// The part has no blocks, or its blocks have no pages.
    NoPages,
    /// The page size is not a power of two.
    PageSize(u16),
    /// A page and its out-of-band area are not addressable by 16 bits.
    Register,
    /// The mark of bad blocks is not out of band, or in no page of the block.
    BadMark(BadMark),
    /// The correction is for code words of no bytes.
    Correction,
    /// More good blocks than blocks.
    GoodBlocks(u16),
}

impl fmt::Display for NandPartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NandPartError::NoPages => f.write_str("the part has no pages"),
            NandPartError::PageSize(bytes) => write!(f, "pages of {bytes} bytes: not a power of two"),
            NandPartError::Register => f.write_str("a page and its out-of-band area exceed 65,535 bytes"),
            NandPartError::BadMark(mark) => {
                write!(
                    f,
                    "bad blocks marked at {} of {} pages: not out of band, or no such pages",
                    mark.column, mark.pages
                )
            }
            NandPartError::Correction => f.write_str("correction for code words of no bytes"),
            NandPartError::GoodBlocks(blocks) => write!(f, "{blocks} blocks are good, but there are fewer"),
        }
    }
}

impl core::error::Error for NandPartError {}

/// How long a part's operations take at most. Not part of the device trait: callers that plan with it get it as an
/// argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NandTimings {
    /// Loading a page into the register.
    pub load_ns: u32,
    /// Fetching a byte from the register, passing over one, or bringing one there.
    pub byte_ns: u32,
    /// Programming a page from the register.
    pub program_ns: u32,
    /// Erasing a block.
    pub erase_ns: u32,
}

impl NandTimings {
    /// Loading a page and fetching its first `bytes`.
    pub const fn read_ns(&self, bytes: u16) -> u64 {
        self.load_ns as u64 + self.byte_ns as u64 * bytes as u64
    }

    /// Bringing `bytes` to the register and programming a page.
    pub const fn write_ns(&self, bytes: u16) -> u64 {
        self.program_ns as u64 + self.byte_ns as u64 * bytes as u64
    }
}

/// Bytes for a place in the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Where the first of them goes.
    pub column: Column,
    /// What goes there.
    pub bytes: &'a [u8],
}

impl<'a> Piece<'a> {
    /// Bytes for the place that starts at `column`.
    pub const fn new(column: Column, bytes: &'a [u8]) -> Self {
        Piece { column, bytes }
    }
}

/// What a caller has to know of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NandErrorKind {
    /// The part said that it could not program the page, or erase the block: the block has gone bad. The device works
    /// on.
    BlockFailed,
    /// Anything else: the device may be gone.
    Other,
}

/// Errors of a NAND device.
pub trait NandError: fmt::Debug {
    /// What the caller has to know.
    fn kind(&self) -> NandErrorKind;
}

impl NandError for core::convert::Infallible {
    fn kind(&self) -> NandErrorKind {
        match *self {}
    }
}

/// A NAND flash part, of one bit a cell (SLC).
///
/// # What the caller promises
/// - Addresses lie within the part. Positions and ranges of columns lie within the register; pieces ascend and do not
///   overlap.
/// - A page is programmed at most once between two erases of its block, data and out-of-band area together, and after
///   every page of the block that was programmed since the erase. Pages may be left out; they cannot be programmed
///   later. (Parts differ in what they allow beyond: most small-page SLC parts take two or three programs of parts of a
///   page, most large-page ones four, some none. The contract asks for none, so that formats on it work on all of
///   them.)
/// - It neither programs nor erases a block that is marked bad. An erase may remove the mark, and nothing brings it
///   back.
/// - What it programs has 0xFF where a bad block is marked, or it knows the bad blocks by other means than
///   [`is_marked_bad`](Nand::is_marked_bad).
/// - After a power loss, it does not infer that a page or a block is erased because it reads 0xFF. Into a block whose
///   last erase may have been cut it programs nothing before it has erased it. It takes a page whose program may have
///   been cut for programmed, whatever it reads.
/// - It corrects bit errors: [`NandPart::correction`] of them are no fault of the part. It notices more than that by
///   a check of its own; the part says nothing.
/// - A block of which it knows that a program or an erase failed is neither programmed nor erased again.
///
/// # What the device promises
/// - [`load`](Nand::load) brings a page to the register and the position to column 0. There it stays through any number
///   of [`seek`](Nand::seek)s and [`fetch`](Nand::fetch)es, until the next load, program, erase, restart or loss of
///   power.
/// - The register belongs to the client that loaded it. A client never fetches what another client of the same part
///   loaded: where several [share a part](crate::NandTenant), one that finds another's page in the register has its own
///   loaded again.
/// - The register holds what was programmed, and 0xFF where nothing was, except bit errors. Two loads of a page may
///   differ in them; two fetches after one load do not. An erased page has them, too.
/// - A `program` or `erase` that returned `Ok` has taken full effect and outlives a loss of power.
/// - Calls take effect in the order in which they are made.
/// - A call changes no other page or block than its own, whether it succeeds, fails or is cut, except bit errors in
///   others, which may become more.
/// - Up to `block_count - good_blocks_min` blocks are marked bad or fail in the life of the part. The first block is
///   delivered good; good blocks are delivered erased.
/// - `part` returns the same value for the life of the device.
///
/// # On a shared part
/// The promises above hold for each tenant as if it were alone, with two exceptions. A seek, a fetch or a
/// [`program_loaded`](Nand::program_loaded) after another tenant's call costs a load and the way back to the position;
/// and other bits may err after that load, so that two fetches may differ in them, and a copy may program errors that
/// no client checked. A client that fetches a code word in pieces, or checks what it copies, makes no room for
/// another's call in between: tenants in one thread do so by making their calls one after the other; with tenants in
/// interrupts, it encloses its own calls in one critical section.
///
/// # What a loss of power may do
/// - **A program** may leave any subset of the bits that it was to clear cleared, and any of them may read differently
///   each time, until the block is erased. Bits that it was not to clear stay ones. The page may so read as erased or
///   as complete. But where it was to clear sixteen bits or more, the page does not read as erased, with at most three
///   zeros, in one load, and as complete in another.
/// - **An erase** may leave any mixture of the old bits and ones, anywhere in the block, and bits that were zeros may
///   read differently each time, until the block is erased completely. Bits that were ones stay ones.
/// - Nothing else changes; the register is empty. (Parts with several bits a cell may lose the page that shares the
///   cells, programmed long before: they are outside this contract.)
///
/// # Errors
/// An `Err` from `program`, `program_loaded` or `erase` leaves the page or block as a loss of power would. If its kind
/// is [`NandErrorKind::BlockFailed`], the block has gone bad: its other pages can still be loaded, nothing more.
pub trait Nand {
    /// What goes wrong on this device.
    type Error: NandError;

    /// The part's geometry and limits.
    fn part(&self) -> NandPart;

    /// Loads `page` into the register, position at column 0. Cost: one load.
    fn load(&mut self, page: PageAddress) -> Result<(), Self::Error>;

    /// Moves the register's position to `column`; forwards only on parts with [`ColumnAccess::Forwards`]. Cost there:
    /// each byte that is passed over takes as long as one that is fetched.
    fn seek(&mut self, column: Column) -> Result<(), Self::Error>;

    /// Fetches `buffer.len()` bytes from the register, from its position on, which moves after them.
    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), Self::Error>;

    /// Programs `page` with `pieces`, and ones elsewhere. The register is empty afterwards.
    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error>;

    /// Programs `page` with what the register holds, out-of-band area included, changed by `pieces`: the second half of
    /// a copy. Bit errors in the register are programmed, too, so that a client that copies repeatedly checks between
    /// [`load`](Nand::load) and this. The register is empty afterwards. A part that cannot do so by itself has a driver
    /// that can.
    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error>;

    /// Sets all bits of `block`. The register is empty afterwards.
    fn erase(&mut self, block: Block) -> Result<(), Self::Error>;

    /// Copies a page with its out-of-band area, changed by `pieces`. Cost: one load and one program. See
    /// [`program_loaded`](Nand::program_loaded) for bit errors.
    fn copy(&mut self, from: PageAddress, to: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error> {
        self.load(from)?;
        self.program_loaded(to, pieces)
    }

    /// Whether `block` is marked bad: whether most bits of the marked byte are zeros in one of the pages that may bear
    /// the mark. Cost: a load for each of these pages.
    fn is_marked_bad(&mut self, block: Block) -> Result<bool, Self::Error> {
        let mark = self.part().bad_mark;
        for page in 0..mark.pages {
            let mut byte = [0];
            self.load(block.page(page))?;
            self.seek(mark.column)?;
            self.fetch(&mut byte)?;
            if byte[0].count_ones() <= 4 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A write barrier: no program or erase that follows outlives a loss of power that one before it does not. A part
    /// programs pages in order and needs no barrier, so the default does nothing; a device that may reorder writes
    /// needs one.
    ///
    /// # Errors
    /// When it cannot.
    fn barrier(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Makes the device ready for a client that gave up on it after a failure and starts again; the register is empty
    /// afterwards. The default does nothing.
    ///
    /// # Errors
    /// When it cannot.
    fn restart(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl<D: Nand> Nand for &mut D {
    type Error = D::Error;

    fn part(&self) -> NandPart {
        (**self).part()
    }

    fn load(&mut self, page: PageAddress) -> Result<(), Self::Error> {
        (**self).load(page)
    }

    fn seek(&mut self, column: Column) -> Result<(), Self::Error> {
        (**self).seek(column)
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), Self::Error> {
        (**self).fetch(buffer)
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error> {
        (**self).program(page, pieces)
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error> {
        (**self).program_loaded(page, pieces)
    }

    fn erase(&mut self, block: Block) -> Result<(), Self::Error> {
        (**self).erase(block)
    }

    fn copy(&mut self, from: PageAddress, to: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error> {
        (**self).copy(from, to, pieces)
    }

    fn is_marked_bad(&mut self, block: Block) -> Result<bool, Self::Error> {
        (**self).is_marked_bad(block)
    }

    fn barrier(&mut self) -> Result<(), Self::Error> {
        (**self).barrier()
    }

    fn restart(&mut self) -> Result<(), Self::Error> {
        (**self).restart()
    }
}
