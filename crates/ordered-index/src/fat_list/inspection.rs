//! What tools on a host show of a list: blocks decoded from their bytes without the list, for images that cannot be
//! mounted or are not to be changed; and the levels of a mounted list, as its pointers link them.
//!
//! Blocks are not trusted: one of any contents is read to an end. The terms are those of
//! `docs/format/ordered-index.md`.

use core::ops::{ControlFlow, Deref};

use norn_flash::{Address, EraseUnit, Nor, NorPart, UnitBytes};

use crate::codes::zeros;
use crate::fat_list::bytes::Outcome;
use crate::fat_list::format::{
    ACTIVE_OFFSET, CELLS_OFFSET, CellState, Column, FILLING_BYTES, FILLING_OFFSET, Filling, IDENTITY_BYTES, Identity,
    Kind, LEVELS_MAX, Stamp, VOID_OFFSET, decode_key_count, decode_record_length, record_code, record_length,
    slot_code,
};
use crate::fat_list::layout::{Cell, Layout, Settings, alignment};
use crate::fat_list::list::FatListOf;
use crate::fat_list::search::Limit;
use crate::fat_list::slices::RunTimeWidths;

/// An erase unit of a part, with its bytes. A cell that is not whole in them is left out.
#[derive(Clone, Copy, Debug)]
pub struct RawBlock<'c>(UnitBytes<&'c [u8]>);

impl<'c> Deref for RawBlock<'c> {
    type Target = UnitBytes<&'c [u8]>;

    fn deref(&self) -> &UnitBytes<&'c [u8]> {
        &self.0
    }
}

/// What a block's head says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It was never formatted, or its erase was cut.
    NoIdentity,
    /// It has an identity of another version of the format.
    OtherVersion(u8),
    /// A format of the part has begun and has not reached it.
    Void,
    /// The spare block of its turnstile.
    Spare,
    /// A move to it had begun and its record is torn.
    MoveBegun,
    /// What is moved to it is not complete.
    Filling(Filling),
    /// It is in use; what it says was moved here.
    InUse(Filling),
}

impl<'c> RawBlock<'c> {
    /// A unit of a part, with its bytes from the first one on.
    pub fn new(part: &NorPart, unit: EraseUnit, cells: &'c [u8]) -> Self {
        RawBlock(UnitBytes::new(part, unit, cells))
    }

    /// What is constant on the part, if the identity is whole and of this version of the format.
    pub fn identity(&self) -> Option<Identity> {
        Identity::decode(&self.array::<IDENTITY_BYTES>(0))?.ok()
    }

    /// What the head says.
    pub fn role(&self) -> Role {
        match Identity::decode(&self.array::<IDENTITY_BYTES>(0)) {
            None => return Role::NoIdentity,
            Some(Err(version)) => return Role::OtherVersion(version),
            Some(Ok(_)) => {}
        }
        if self.array::<4>(VOID_OFFSET) != [0xFF; 4] {
            return Role::Void;
        }
        let filling = self.array::<FILLING_BYTES>(FILLING_OFFSET);
        match (Filling::decode(&filling), self.array::<4>(ACTIVE_OFFSET)) {
            (Some(filling), [0, 0, 0, 0]) => Role::InUse(filling),
            (Some(filling), _) => Role::Filling(filling),
            (None, _) if filling == [0xFF; FILLING_BYTES] => Role::Spare,
            (None, _) => Role::MoveBegun,
        }
    }

    /// Whether this block is in use and holds the cells that `other` had, so that `other` has to be erased.
    pub fn holds_cells_of(&self, other: &RawBlock<'_>) -> bool {
        match (self.role(), other.identity()) {
            (Role::InUse(filling), Some(identity)) => {
                let is_named = filling.from == other.unit().0 && filling.erase_count == identity.erase_count;
                self.unit() != other.unit() && is_named
            }
            _ => false,
        }
    }

    /// The turnstile that it belongs to and the units of that, if it has an identity that fits the part and is no
    /// single block that is left over.
    pub fn turnstile(&self) -> Option<(u8, impl Iterator<Item = EraseUnit> + use<>)> {
        let (_, layout) = self.layout().filter(|(_, layout)| self.unit().0 < layout.unit_count)?;
        let turnstile = layout.turnstile_of(self.unit());
        Some((turnstile, layout.units_of(turnstile)))
    }

    /// Its cells, if it has an identity that fits the part.
    pub fn cells(&self) -> impl Iterator<Item = RawCell<'c>> + use<'c> {
        let (block, found) = (*self, self.layout());
        let count = found.as_ref().map_or(0, |(_, layout)| layout.cells_per_block);
        (0..count).map_while(move |number| {
            let (identity, layout) = found?;
            let offset = CELLS_OFFSET + u32::from(number) * u32::from(layout.cell_bytes);
            let bytes = block.bytes().get(offset as usize..(offset + u32::from(layout.cell_bytes)) as usize)?;
            let align = alignment(block.part()) as u16;
            Some(RawCell { number, address: block.start().offset(offset), identity, layout, align, bytes })
        })
    }

    fn layout(&self) -> Option<(Identity, Layout)> {
        let identity = self.identity()?;
        let (settings, log_bytes) = (Settings::from_bytes(identity.settings), identity.log_bytes);
        let log_bytes = (log_bytes > 0).then_some(log_bytes);
        let (key, value) = (usize::from(identity.key_bytes), usize::from(identity.value_bytes));
        Layout::of(self.part(), settings, key, value, log_bytes).ok().map(|layout| (identity, layout))
    }
}

/// A cell with its bytes.
#[derive(Clone, Copy, Debug)]
pub struct RawCell<'c> {
    /// Its number in the block.
    pub number: u16,
    /// Where it is.
    pub address: Address,
    identity: Identity,
    layout: Layout,
    align: u16,
    bytes: &'c [u8],
}

/// A field of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// What it is.
    Stamp,
    /// The least key that its object may have.
    LowKey,
    /// The code of the header.
    HeaderCode,
    /// The cell that it replaces.
    Replaces,
    /// Its partner.
    Partner,
    /// Which slots count.
    Bitmap,
    /// Pointers; in the head up to its end.
    Pool,
    /// Slots, or a log of records.
    Slots,
}

/// What an entry of a pool says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolEntry {
    /// Nothing yet.
    Erased,
    /// Nothing whole.
    Torn,
    /// On this level, its object is before one in these cells.
    Pointer(u8, Column),
    /// How many keys there are, if that is known.
    KeyCount(Option<u32>),
}

/// Whether a slot that is written counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// It does.
    Counts,
    /// It does not any more.
    Obsolete,
    /// It is torn or damaged.
    Torn,
}

/// A slot that is written, or a record.
#[derive(Clone, Copy, Debug)]
pub struct RawSlot<'c> {
    /// Its number.
    pub number: u8,
    /// Where it begins.
    pub at: Address,
    /// Bytes of it; of a record whose length is torn, up to the log's end.
    pub bytes: u32,
    /// Bytes before its key: the length of a record.
    pub length_bytes: u32,
    /// Whether it counts.
    pub state: SlotState,
    /// Its key.
    pub key: &'c [u8],
    /// Its value.
    pub value: &'c [u8],
}

impl<'c> RawCell<'c> {
    /// Bytes of it.
    pub fn size_bytes(&self) -> u32 {
        u32::from(self.layout.cell_bytes)
    }

    /// What its stamp says.
    pub fn state(&self) -> CellState {
        CellState::decode(u16::from_le_bytes([self.bytes[0], self.bytes[1]]))
    }

    /// Whether it is, or was, the list's head, which has pointers in place of slots.
    pub fn is_head(&self) -> bool {
        // Whether it is dead or not sealed does not matter to what is in it.
        let word = u16::from_le_bytes([self.bytes[0], self.bytes[1]]);
        let whole = word & 0x0FFF | 0xE000;
        word != u16::MAX && matches!(CellState::decode(whole), CellState::Live(Stamp { kind: Kind::Head, .. }))
    }

    /// Where a field is, and its bytes without what is left over.
    pub fn extent(&self, field: Field) -> (Address, u32) {
        let (at, bytes) = self.place(field);
        (self.address.offset(at.into()), bytes.into())
    }

    fn place(&self, field: Field) -> (u16, u16) {
        let (layout, header) = (&self.layout, self.layout.header_offset);
        let slots = if self.is_head() { layout.cell_bytes } else { layout.slots_offset() };
        match field {
            Field::Stamp => (0, 2),
            Field::LowKey => (self.align, self.identity.key_bytes.into()),
            Field::HeaderCode => (header, 2),
            Field::Replaces => (header + 2, 4),
            Field::Partner => (header + 6, 4),
            Field::Bitmap => (layout.bitmap_offset, u16::from(layout.settings.slots).div_ceil(8)),
            Field::Pool => (layout.pool_offset, slots - layout.pool_offset),
            Field::Slots => (slots, layout.cell_bytes - slots),
        }
    }

    fn bytes_of(&self, field: Field) -> &'c [u8] {
        let (at, bytes) = self.place(field);
        &self.bytes[at.into()..usize::from(at + bytes)]
    }

    /// The least key that its object may have.
    pub fn low_key(&self) -> &'c [u8] {
        self.bytes_of(Field::LowKey)
    }

    /// The cell that it replaces, as a unit and a number.
    pub fn replaces(&self) -> Option<(u16, u16)> {
        name_of(self.bytes_of(Field::Replaces))
    }

    /// Its partner.
    pub fn partner(&self) -> Option<(u16, u16)> {
        name_of(self.bytes_of(Field::Partner))
    }

    /// The first byte of a cell of this part.
    pub fn address_of(&self, unit: u16, number: u16) -> Option<Address> {
        let cell = Cell { unit: EraseUnit(unit), index: number };
        self.layout.has_cell(cell).then(|| self.layout.cell(cell))
    }

    /// The entries of its pool, each with its address.
    pub fn pool(&self) -> impl Iterator<Item = (Address, PoolEntry)> + use<'c> {
        let (start, _) = self.extent(Field::Pool);
        let entries = self.bytes_of(Field::Pool).as_chunks::<4>().0.iter();
        (0..).zip(entries).map(move |(number, entry)| {
            let word = u32::from_le_bytes(*entry);
            let says = match (Column::decode(word), decode_key_count(word)) {
                (Some((level, column)), _) => PoolEntry::Pointer(level, column),
                (None, Some(keys)) => PoolEntry::KeyCount(keys),
                (None, None) if word == u32::MAX => PoolEntry::Erased,
                (None, None) => PoolEntry::Torn,
            };
            (start.offset(4 * number), says)
        })
    }

    /// For each level the last pointer.
    pub fn pointers(&self) -> [Option<Column>; LEVELS_MAX] {
        let mut pointers = [None; LEVELS_MAX];
        for (_, entry) in self.pool() {
            if let PoolEntry::Pointer(level, column) = entry {
                pointers[usize::from(level)] = Some(column);
            }
        }
        pointers
    }

    /// Its slots that are written, in order; a log up to the first length that is not whole, if that is not erased.
    pub fn slots(&self) -> impl Iterator<Item = RawSlot<'c>> + use<'c> {
        let (cell, mut at) = (*self, 0);
        let slots = if self.is_head() { 0 } else { self.layout.settings.slots };
        (0..slots)
            .map_while(move |number| {
                let slot = match cell.identity.log_bytes {
                    0 => cell.fixed_slot(number),
                    _ => cell.record(number, &mut at)?,
                };
                Some(slot)
            })
            .flatten()
    }

    /// A slot, unless it is erased.
    fn fixed_slot(&self, number: u8) -> Option<RawSlot<'c>> {
        let bytes = self.layout.slot_bytes;
        let at = self.layout.slots_offset() + u16::from(number) * bytes;
        let slot = &self.bytes[at.into()..usize::from(at + bytes)];
        if slot.iter().all(|&byte| byte == 0xFF) {
            return None;
        }
        let (data, code) = slot.split_at(usize::from(self.identity.key_bytes) + usize::from(self.identity.value_bytes));
        let is_whole = code.starts_with(&slot_code(data).to_le_bytes());
        Some(self.slot((number, at, bytes), data, (0, is_whole)))
    }

    /// The record at `at`, from the log's start on, which goes on to the next; the outer `None` where the log ends.
    fn record(&self, number: u8, at: &mut u16) -> Option<Option<RawSlot<'c>>> {
        let (offset, key) = (self.layout.slots_offset() + *at, usize::from(self.identity.key_bytes));
        let rest = &self.bytes[offset.into()..];
        if rest.len() < key + 4 {
            return None;
        }
        let word = u16::from_le_bytes([rest[0], rest[1]]);
        let length = decode_record_length(word);
        let Some((value, upper_zeros)) = length.filter(|&(value, _)| key + value + 4 <= rest.len()) else {
            // What is after a length that is not whole is not known.
            *at = self.layout.cell_bytes - self.layout.slots_offset();
            let extent = (number, offset, rest.len() as u16);
            return (word != u16::MAX).then(|| Some(self.slot(extent, &rest[2..2 + key], (2, false))));
        };
        let (data, code) = rest[2..].split_at(key + value);
        let is_whole = code.starts_with(&record_code(value, data).to_le_bytes())
            && record_length(value, zeros(data)) >> 13 == upper_zeros;
        let bytes = (key + value + 4).next_multiple_of(self.align.into()) as u16;
        *at += bytes;
        Some(Some(self.slot((number, offset, bytes), data, (2, is_whole))))
    }

    fn slot(
        &self,
        (number, at, bytes): (u8, u16, u16),
        data: &'c [u8],
        (length_bytes, is_whole): (u32, bool),
    ) -> RawSlot<'c> {
        let counts = self.bytes_of(Field::Bitmap)[usize::from(number / 8)] >> (number % 8) & 1 == 1;
        let (key, value) = data.split_at(self.identity.key_bytes.into());
        let state = match (counts, is_whole) {
            (true, true) => SlotState::Counts,
            (false, _) => SlotState::Obsolete,
            (true, false) => SlotState::Torn,
        };
        let at = self.address.offset(at.into());
        RawSlot { number, at, bytes: bytes.into(), length_bytes, state, key, value }
    }
}

/// The cell that four bytes name.
fn name_of(bytes: &[u8]) -> Option<(u16, u16)> {
    let at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    ((at(0), at(2)) != (u16::MAX, u16::MAX)).then(|| (at(0), at(2)))
}

/// An object on a level of a mounted list, or the head.
#[derive(Clone, Copy, Debug)]
pub struct Linked<K> {
    /// The block of its cell.
    pub unit: EraseUnit,
    /// The cell's number.
    pub number: u16,
    /// Where the cell is.
    pub address: Address,
    /// The highest level that it is on.
    pub level: u8,
    /// The least key that it may have; the head has none.
    pub low: Option<K>,
    /// Where its pointer of the level leads.
    pub pointer: Column,
}

impl<D: Nor, W: RunTimeWidths> FatListOf<D, W> {
    /// Shows the last object on a level whose range begins at `key` or before, or the head, which is also where `None`
    /// begins, and then those after it in the order of keys, up to the last one, or until `visit` breaks off.
    ///
    /// Cost: a search, and for each object what its pointer takes to follow.
    ///
    /// # Errors
    /// `Width`, `Corrupted` and the device's.
    ///
    /// # Panics
    /// When the list does not have the level.
    pub fn visit_level(
        &mut self,
        level: u8,
        key: Option<&[u8]>,
        mut visit: impl FnMut(Linked<W::Key>) -> ControlFlow<()>,
    ) -> Outcome<(), D> {
        assert!(level < self.layout().settings.levels, "the list has no level {level}");
        let key = key.map(|key| self.key_of(key)).transpose()?;
        let list = self.skip_list();
        let mut node = list.head_node();
        if let Some(key) = key {
            let mut path = [list.head(); LEVELS_MAX];
            list.trace(Limit::AtMost(&key), &mut path)?;
            node = list.node(path[usize::from(level)])?.unwrap_or(node);
        }
        loop {
            let pointer = list.cells().pointer(node.cell, node.kind(), level)?;
            let address = list.layout().cell(node.cell);
            let (unit, number) = (node.cell.unit, node.cell.index);
            let linked = Linked { unit, number, address, level: node.level, low: node.low, pointer };
            if visit(linked).is_break() {
                return Ok(());
            }
            match list.successor(&node, level)? {
                Some(next) => node = next,
                None => return Ok(()),
            }
        }
    }
}
