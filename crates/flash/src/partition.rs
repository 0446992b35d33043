//! Partitions: ranges of whole erase units or blocks that are themselves a part.
//!
//! A partition's addresses begin at 0. It refuses every address outside itself before the device below is asked, so
//! that the owner of a partition can neither read, program nor erase anything outside it.
//!
//! ```text
//! device   │ 0 │ 1 │ 2 │ 3 │ 4 │ 5 │ 6 │ 7 │      units or blocks
//!                  └─────┬─────┘
//! partition        │ 0 │ 1 │ 2 │                  of 2..5
//! ```
//!
//! A [`NandPartition`] keeps track of the part's register, too: it lets its client fetch only what the client loaded by
//! itself. Several partitions of one device are made by [`Tenancy`](crate::Tenancy), which checks them for overlap.
//!
//! Invariant: every unit, block and page that reaches the device is in the range.

use core::fmt;
use core::ops::Range;

use crate::nand::{Block, Column, Nand, NandError, NandErrorKind, NandPart, PageAddress, Piece};
use crate::nor::{Address, EraseUnit, Nor, NorPart};

/// Why there is no such partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionError {
    /// The range is empty, or leaves the part.
    Range {
        /// Its first unit or block.
        start: u16,
        /// The one after its last.
        end: u16,
        /// Units or blocks of the part.
        count: u16,
    },
    /// Another tenant has some of the range.
    Overlap {
        /// The other's first unit or block.
        start: u16,
        /// The one after its last.
        end: u16,
    },
    /// There are as many tenants as the device was shared for.
    TooManyTenants {
        /// How many that is.
        max: usize,
    },
}

impl fmt::Display for PartitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartitionError::Range { start, end, count } => {
                write!(f, "{start}..{end} is not a range of the part's {count} units or blocks")
            }
            PartitionError::Overlap { start, end } => write!(f, "another tenant has {start}..{end}"),
            PartitionError::TooManyTenants { max } => write!(f, "the device is shared by {max} tenants already"),
        }
    }
}

impl core::error::Error for PartitionError {}

/// Why a call on a range of a NOR part failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NorRangeError<E> {
    /// The device failed.
    Device(E),
    /// The call reaches outside the range; the device was not asked.
    Outside {
        /// Where it starts.
        address: Address,
    },
}

impl<E: fmt::Debug> fmt::Display for NorRangeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NorRangeError::Device(error) => write!(f, "the device failed: {error:?}"),
            NorRangeError::Outside { address } => write!(f, "the call at {address} leaves the range"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for NorRangeError<E> {}

/// Refuses bytes that lie outside the part, or at addresses that 32 bits do not hold.
pub(crate) fn check_bytes<E>(part: &NorPart, address: Address, len: usize) -> Result<(), NorRangeError<E>> {
    let end = u64::from(address.0) + len as u64;
    if end <= u64::from(part.size_bytes()) { Ok(()) } else { Err(NorRangeError::Outside { address }) }
}

/// Refuses units that the part does not have.
pub(crate) fn check_unit<E>(part: &NorPart, unit: EraseUnit) -> Result<(), NorRangeError<E>> {
    let address = Address(u32::from(unit.0).saturating_mul(part.unit_size_bytes));
    if unit.0 < part.unit_count { Ok(()) } else { Err(NorRangeError::Outside { address }) }
}

fn check_range(range: &Range<u16>, count: u16) -> Result<(), PartitionError> {
    let Range { start, end } = *range;
    if start < end && end <= count { Ok(()) } else { Err(PartitionError::Range { start, end, count }) }
}

/// Which units of a NOR part a client may use.
#[derive(Clone, Debug)]
pub(crate) struct NorWindow {
    first: EraseUnit,
    pub part: NorPart,
}

impl NorWindow {
    pub fn new(whole: &NorPart, units: Range<u16>) -> Result<Self, PartitionError> {
        check_range(&units, whole.unit_count)?;
        Ok(NorWindow { first: EraseUnit(units.start), part: NorPart { unit_count: units.end - units.start, ..*whole } })
    }

    pub fn units(&self) -> Range<u16> {
        self.first.0..self.first.0 + self.part.unit_count
    }

    /// The address on the device of `len` bytes of the range.
    fn locate<E>(&self, address: Address, len: usize) -> Result<Address, NorRangeError<E>> {
        check_bytes(&self.part, address, len)?;
        Ok(self.part.start_of(self.first).offset(address.0))
    }

    pub fn read<D: Nor>(
        &self,
        device: &mut D,
        address: Address,
        buffer: &mut [u8],
    ) -> Result<(), NorRangeError<D::Error>> {
        let address = self.locate(address, buffer.len())?;
        device.read(address, buffer).map_err(NorRangeError::Device)
    }

    pub fn program<D: Nor>(
        &self,
        device: &mut D,
        address: Address,
        bytes: &[u8],
    ) -> Result<(), NorRangeError<D::Error>> {
        let address = self.locate(address, bytes.len())?;
        device.program(address, bytes).map_err(NorRangeError::Device)
    }

    pub fn erase<D: Nor>(&self, device: &mut D, unit: EraseUnit) -> Result<(), NorRangeError<D::Error>> {
        check_unit(&self.part, unit)?;
        device.erase(EraseUnit(self.first.0 + unit.0)).map_err(NorRangeError::Device)
    }
}

/// A range of whole erase units of a NOR part, as a part of its own.
///
/// RAM: the device and 24 bytes. Calls cost what the device's cost.
///
/// ```
/// use norn_flash::{Address, Nor, NorPartition, NorRangeError};
/// use norn_flash_sim::{NorSim, catalogue};
///
/// let mut flash = NorSim::new(catalogue::w25q()); // 256 units of 4 KB
/// let mut settings = NorPartition::new(&mut flash, 8..10).unwrap();
/// assert_eq!(settings.part().unit_count, 2);
/// settings.program(Address(0), b"on").unwrap();
/// assert!(matches!(settings.read(Address(8190), &mut [0; 4]), Err(NorRangeError::Outside { .. })));
/// assert_eq!(flash.peek(Address(8 * 4096), 2), b"on");
/// ```
#[derive(Clone, Debug)]
pub struct NorPartition<D> {
    device: D,
    window: NorWindow,
}

impl<D: Nor> NorPartition<D> {
    /// The units `units` of `device`.
    ///
    /// # Errors
    /// [`PartitionError::Range`].
    pub fn new(device: D, units: Range<u16>) -> Result<Self, PartitionError> {
        let window = NorWindow::new(&device.part(), units)?;
        Ok(NorPartition { device, window })
    }

    /// The device's units that it has.
    pub fn units(&self) -> Range<u16> {
        self.window.units()
    }

    /// The whole device below, for its settings.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// Gives the whole device back.
    pub fn into_device(self) -> D {
        self.device
    }
}

impl<D: Nor> Nor for NorPartition<D> {
    type Error = NorRangeError<D::Error>;

    fn part(&self) -> NorPart {
        self.window.part
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
        self.window.read(&mut self.device, address, buffer)
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
        self.window.program(&mut self.device, address, bytes)
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error> {
        self.window.erase(&mut self.device, unit)
    }

    fn restart(&mut self) -> Result<(), Self::Error> {
        self.device.restart().map_err(NorRangeError::Device)
    }

    fn mapped(&self) -> Option<&[u8]> {
        let start = self.window.part.start_of(self.window.first).0 as usize;
        self.device.mapped()?.get(start..start + self.window.part.size_bytes() as usize)
    }
}

/// Why a call on a range of a NAND part failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NandRangeError<E> {
    /// The device failed.
    Device(E),
    /// The call names a block or page outside the range; the device was not asked.
    Outside {
        /// The block, counted from the range's first.
        block: Block,
    },
    /// The call asks for the register's bytes, and this client has no page there: it never loaded one, or programmed or
    /// erased since.
    NotLoaded,
}

impl<E: NandError> NandError for NandRangeError<E> {
    fn kind(&self) -> NandErrorKind {
        match self {
            NandRangeError::Device(error) => error.kind(),
            NandRangeError::Outside { .. } | NandRangeError::NotLoaded => NandErrorKind::Other,
        }
    }
}

impl<E: fmt::Debug> fmt::Display for NandRangeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NandRangeError::Device(error) => write!(f, "the device failed: {error:?}"),
            NandRangeError::Outside { block } => write!(f, "{block} is outside the range"),
            NandRangeError::NotLoaded => f.write_str("the register holds no page that was loaded here"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for NandRangeError<E> {}

/// Whose page the register holds, as a client sees it. A call that is refused changes nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Register {
    /// The page that this client loaded last.
    Own,
    /// Perhaps another's.
    Foreign,
    /// No owner.
    Empty,
}

/// Which blocks of a NAND part a client may use, and which page it loaded last.
#[derive(Clone, Debug)]
pub(crate) struct NandWindow {
    first: Block,
    pub part: NandPart,
    /// The page on the device, and the register's position.
    loaded: Option<(PageAddress, Column)>,
}

impl NandWindow {
    pub fn new(whole: &NandPart, blocks: Range<u16>) -> Result<Self, PartitionError> {
        check_range(&blocks, whole.block_count)?;
        let block_count = blocks.end - blocks.start;
        let bad_blocks_max = whole.block_count - whole.good_blocks_min;
        // In the worst case all bad blocks of the part are here.
        let good_blocks_min = block_count.saturating_sub(bad_blocks_max);
        let part = NandPart { block_count, good_blocks_min, ..*whole };
        Ok(NandWindow { first: Block(blocks.start), part, loaded: None })
    }

    pub fn blocks(&self) -> Range<u16> {
        self.first.0..self.first.0 + self.part.block_count
    }

    fn locate<E>(&self, page: PageAddress) -> Result<PageAddress, NandRangeError<E>> {
        if !self.part.contains(page) {
            return Err(NandRangeError::Outside { block: page.block });
        }
        Ok(Block(self.first.0 + page.block.0).page(page.page))
    }

    /// Makes a call that empties the register.
    fn emptying<D: Nand, T>(
        &mut self,
        device: &mut D,
        register: &mut Register,
        call: impl FnOnce(&mut D) -> Result<T, D::Error>,
    ) -> Result<T, NandRangeError<D::Error>> {
        (self.loaded, *register) = (None, Register::Empty);
        call(device).map_err(NandRangeError::Device)
    }

    pub fn load<D: Nand>(
        &mut self,
        device: &mut D,
        register: &mut Register,
        page: PageAddress,
    ) -> Result<(), NandRangeError<D::Error>> {
        let page = self.locate(page)?;
        self.emptying(device, register, |device| device.load(page))?;
        (self.loaded, *register) = (Some((page, Column(0))), Register::Own);
        Ok(())
    }

    /// Loads again the page that the client loaded last, where the register does not hold it, and goes to the same
    /// position.
    fn regain<D: Nand>(
        &mut self,
        device: &mut D,
        register: &mut Register,
    ) -> Result<(PageAddress, Column), NandRangeError<D::Error>> {
        let (page, position) = self.loaded.ok_or(NandRangeError::NotLoaded)?;
        if *register != Register::Own {
            *register = Register::Empty;
            device.load(page).map_err(NandRangeError::Device)?;
            if position.0 > 0 {
                device.seek(position).map_err(NandRangeError::Device)?;
            }
            *register = Register::Own;
        }
        Ok((page, position))
    }

    pub fn seek<D: Nand>(
        &mut self,
        device: &mut D,
        register: &mut Register,
        column: Column,
    ) -> Result<(), NandRangeError<D::Error>> {
        let (page, _) = self.regain(device, register)?;
        device.seek(column).map_err(NandRangeError::Device)?;
        self.loaded = Some((page, column));
        Ok(())
    }

    pub fn fetch<D: Nand>(
        &mut self,
        device: &mut D,
        register: &mut Register,
        buffer: &mut [u8],
    ) -> Result<(), NandRangeError<D::Error>> {
        let (page, position) = self.regain(device, register)?;
        device.fetch(buffer).map_err(NandRangeError::Device)?;
        self.loaded = Some((page, Column(position.0.saturating_add(buffer.len() as u16))));
        Ok(())
    }

    pub fn program<D: Nand>(
        &mut self,
        device: &mut D,
        register: &mut Register,
        page: PageAddress,
        pieces: &[Piece<'_>],
    ) -> Result<(), NandRangeError<D::Error>> {
        let page = self.locate(page)?;
        self.emptying(device, register, |device| device.program(page, pieces))
    }

    pub fn program_loaded<D: Nand>(
        &mut self,
        device: &mut D,
        register: &mut Register,
        page: PageAddress,
        pieces: &[Piece<'_>],
    ) -> Result<(), NandRangeError<D::Error>> {
        let page = self.locate(page)?;
        self.regain(device, register)?;
        self.emptying(device, register, |device| device.program_loaded(page, pieces))
    }

    pub fn erase<D: Nand>(
        &mut self,
        device: &mut D,
        register: &mut Register,
        block: Block,
    ) -> Result<(), NandRangeError<D::Error>> {
        let block = self.locate(block.page(0))?.block;
        self.emptying(device, register, |device| device.erase(block))
    }

    pub fn copy<D: Nand>(
        &mut self,
        device: &mut D,
        register: &mut Register,
        (from, to): (PageAddress, PageAddress),
        pieces: &[Piece<'_>],
    ) -> Result<(), NandRangeError<D::Error>> {
        let (from, to) = (self.locate(from)?, self.locate(to)?);
        self.emptying(device, register, |device| device.copy(from, to, pieces))
    }

    pub fn is_marked_bad<D: Nand>(
        &mut self,
        device: &mut D,
        register: &mut Register,
        block: Block,
    ) -> Result<bool, NandRangeError<D::Error>> {
        let block = self.locate(block.page(0))?.block;
        self.emptying(device, register, |device| device.is_marked_bad(block))
    }

    pub fn restart<D: Nand>(
        &mut self,
        device: &mut D,
        register: &mut Register,
    ) -> Result<(), NandRangeError<D::Error>> {
        self.emptying(device, register, |device| device.restart())
    }
}

/// A range of whole blocks of a NAND part, as a part of its own.
///
/// Its first block may be bad, other than a whole part's; and all of the part's bad blocks may be in it. RAM: the
/// device and 32 bytes.
#[derive(Clone, Debug)]
pub struct NandPartition<D> {
    device: D,
    window: NandWindow,
}

impl<D: Nand> NandPartition<D> {
    /// The blocks `blocks` of `device`.
    ///
    /// # Errors
    /// [`PartitionError::Range`].
    pub fn new(device: D, blocks: Range<u16>) -> Result<Self, PartitionError> {
        let window = NandWindow::new(&device.part(), blocks)?;
        Ok(NandPartition { device, window })
    }

    /// The device's blocks that it has.
    pub fn blocks(&self) -> Range<u16> {
        self.window.blocks()
    }

    /// The whole device below, for its settings. A client that loads pages there takes the register from the partition
    /// without its knowledge.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// Gives the whole device back.
    pub fn into_device(self) -> D {
        self.device
    }
}

impl<D: Nand> Nand for NandPartition<D> {
    type Error = NandRangeError<D::Error>;

    fn part(&self) -> NandPart {
        self.window.part
    }

    fn load(&mut self, page: PageAddress) -> Result<(), Self::Error> {
        self.window.load(&mut self.device, &mut Register::Own, page)
    }

    fn seek(&mut self, column: Column) -> Result<(), Self::Error> {
        self.window.seek(&mut self.device, &mut Register::Own, column)
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), Self::Error> {
        self.window.fetch(&mut self.device, &mut Register::Own, buffer)
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error> {
        self.window.program(&mut self.device, &mut Register::Own, page, pieces)
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error> {
        self.window.program_loaded(&mut self.device, &mut Register::Own, page, pieces)
    }

    fn erase(&mut self, block: Block) -> Result<(), Self::Error> {
        self.window.erase(&mut self.device, &mut Register::Own, block)
    }

    fn copy(&mut self, from: PageAddress, to: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error> {
        self.window.copy(&mut self.device, &mut Register::Own, (from, to), pieces)
    }

    fn is_marked_bad(&mut self, block: Block) -> Result<bool, Self::Error> {
        self.window.is_marked_bad(&mut self.device, &mut Register::Own, block)
    }

    fn barrier(&mut self) -> Result<(), Self::Error> {
        self.device.barrier().map_err(NandRangeError::Device)
    }

    fn restart(&mut self) -> Result<(), Self::Error> {
        self.window.restart(&mut self.device, &mut Register::Own)
    }
}
