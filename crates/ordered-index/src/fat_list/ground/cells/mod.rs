//! Cells: the stamp, the flags and the header of each. A cell holds an index object: in a fat list a fat object, with
//! slots for many keys, a bitmap of those that count, and a pool of pointers.
//!
//! Writing a cell: its stamp first and alone, so that a cell whose first word is erased holds nothing; then the other
//! fields; last the flag `Sealed`, which makes it count. Copies write the same bytes again when they are begun again.
//!
//! Invariants: slots and pool entries are written in order, so that what is erased begins at one border, found by
//! bisection; a cell that is dead or unsealed is only ever read by recovery.

mod batch;
pub(crate) mod draft;
mod fill;
mod log;
pub(crate) mod marks;
mod pool;
mod records;
pub(crate) mod slots;

use norn_flash::{Address, EraseUnit, Nor, Violation};

use self::log::Place;
use super::medium::Medium;
use crate::codes::crc16;
use crate::error::{IndexError, Outcome};
use crate::fat_list::format::{CellState, Flag, Kind, Stamp};
use crate::fat_list::layout::{Cell, ENTRY_BYTES_MAX, Layout, alignment};
use crate::fat_list::widths::Widths;

/// Room for the longest record that is programmed at once.
const RECORD_BYTES_MAX: usize = ENTRY_BYTES_MAX + 6;
/// Bytes of a cell that are read at once.
const READ_BYTES: usize = 32;

/// The cells that an object takes the place of, and the one that belongs to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    pub replaces: Option<Cell>,
    pub partner: Option<Cell>,
}

/// The cells of a list on its device.
#[derive(Clone, Debug)]
pub(crate) struct Cells<D, W: Widths> {
    pub(super) medium: Medium<D>,
    layout: Layout,
    widths: W,
    /// Where records are, where values vary.
    place: W::IfVaried<Place>,
}

impl<D: Nor, W: Widths> Cells<D, W> {
    pub fn new(medium: Medium<D>, layout: Layout, widths: W) -> Self {
        Cells { medium, layout, widths, place: W::IfVaried::default() }
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn widths(&self) -> &W {
        &self.widths
    }

    pub fn device(&self) -> &D {
        self.medium.device()
    }

    /// Refuses what RAM alone could answer, once the device has failed.
    pub fn expect_running(&self) -> Outcome<(), D> {
        self.medium.expect_running()
    }

    pub fn device_mut(&mut self) -> &mut D {
        self.medium.device_mut()
    }

    /// Changes of flash since the list was made or mounted, as a number that is another after each of them.
    pub fn changes(&self) -> u32 {
        self.medium.changes()
    }

    pub fn into_device(self) -> D {
        self.medium.into_device()
    }

    /// The error that names damage in a field of a cell.
    #[cold]
    #[inline(never)]
    pub fn damage(&mut self, cell: Cell, offset: u16, what: &'static str) -> IndexError<D::Error> {
        self.medium.damage(self.layout.field(cell, offset), what)
    }

    /// The error that names damage at an address.
    pub fn damage_at(&mut self, address: Address, what: &'static str) -> IndexError<D::Error> {
        self.medium.damage(address, what)
    }

    /// The error that names damage of a block.
    pub fn damaged_block(&mut self, unit: EraseUnit, what: &'static str) -> IndexError<D::Error> {
        self.medium.damage(self.layout.block(unit), what)
    }

    /// What the last call that failed with `Corrupted` found, and where.
    pub fn corruption(&self) -> Option<Violation> {
        self.medium.corruption()
    }

    pub fn state(&mut self, cell: Cell) -> Outcome<CellState, D> {
        let address = self.layout.cell(cell);
        Ok(CellState::decode(self.medium.read_u16(address)?))
    }

    /// Whether a cell that is not sealed is an object that was.
    pub fn has_lost_seal(&mut self, cell: Cell) -> Outcome<bool, D> {
        let address = self.layout.cell(cell);
        Ok(CellState::has_lost_seal(self.medium.read_u16(address)?))
    }

    /// Where `cell` is not erased, in bytes from its start.
    pub fn first_not_erased(&mut self, cell: Cell) -> Outcome<Option<u16>, D> {
        for at in (0..self.layout.cell_bytes).step_by(READ_BYTES) {
            let mut bytes = [0xFF; READ_BYTES];
            let length = READ_BYTES.min(usize::from(self.layout.cell_bytes - at));
            self.medium.read(self.layout.field(cell, at), &mut bytes[..length])?;
            if let Some(place) = bytes.iter().position(|&byte| byte != 0xFF) {
                return Ok(Some(at + place as u16));
            }
        }
        Ok(None)
    }

    /// The stamp of a cell, if it counts.
    pub fn live(&mut self, cell: Cell) -> Outcome<Option<Stamp>, D> {
        match self.state(cell)? {
            CellState::Live(stamp) => Ok(Some(stamp)),
            CellState::Malformed => Err(self.damage(cell, 0, "a stamp that nothing writes")),
            CellState::Free | CellState::Unsealed | CellState::Batch | CellState::Dead => Ok(None),
        }
    }

    /// The stamp of a cell that has been sealed, whether or not it is dead.
    pub fn stamp_regardless(&mut self, cell: Cell) -> Outcome<Stamp, D> {
        let address = self.layout.cell(cell);
        match CellState::decode(self.medium.read_u16(address)? | 1 << Flag::Dead as u16) {
            CellState::Live(stamp) => Ok(stamp),
            _ => Err(self.damage(cell, 0, "an object that is not whole")),
        }
    }

    #[inline(never)]
    pub fn set_flag(&mut self, cell: Cell, flag: Flag) -> Outcome<(), D> {
        let (byte, bit) = (flag as u32 / 8, flag as u8 % 8);
        self.medium.clear_bit(self.layout.cell(cell).offset(byte), bit)
    }

    pub fn low(&mut self, cell: Cell) -> Outcome<W::Key, D> {
        let mut low = self.widths.zero_key();
        self.medium.read(self.low_address(cell), low.as_mut())?;
        Ok(low)
    }

    fn low_address(&self, cell: Cell) -> Address {
        let align = alignment(self.medium.part()) as u32;
        self.layout.cell(cell).offset(align)
    }

    fn header_code(low: &[u8], level: u8, kind: Kind, links: &[u8; 8]) -> u16 {
        crc16(&[low, &[level, kind as u8], links])
    }

    /// The links in a cell's header, whose code is verified.
    pub fn links(&mut self, cell: Cell) -> Outcome<Links, D> {
        let stamp = self.stamp_regardless(cell)?;
        self.links_of(cell, stamp.level, stamp.kind)
    }

    /// The same for a cell of this level and kind.
    fn links_of(&mut self, cell: Cell, level: u8, kind: Kind) -> Outcome<Links, D> {
        let low = self.low(cell)?;
        let mut header = [0; 10];
        self.medium.read(self.layout.field(cell, self.layout.header_offset), &mut header)?;
        let (code, links) = header.split_first_chunk::<2>().expect("ten bytes");
        let links: &[u8; 8] = links.try_into().expect("eight bytes");
        if u16::from_le_bytes(*code) != Self::header_code(low.as_ref(), level, kind, links) {
            return Err(self.damage(cell, self.layout.header_offset, "a header whose code is wrong"));
        }
        let link = |at: usize| {
            let word = u32::from_le_bytes([links[at], links[at + 1], links[at + 2], links[at + 3]]);
            (word != u32::MAX).then_some(Cell::from_u32(word))
        };
        let links = Links { replaces: link(0), partner: link(4) };
        match [links.replaces, links.partner].into_iter().flatten().all(|cell| self.layout.has_cell(cell)) {
            true => Ok(links),
            false => Err(self.damage(cell, self.layout.header_offset, "a link to a cell that does not exist")),
        }
    }
}
