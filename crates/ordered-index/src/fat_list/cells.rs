//! Reading and writing the fields of one cell. A cell holds an index object: in a fat list a fat object, with slots for
//! many keys, a bitmap of those that count, and a pool of pointers. The pool's erased entries are spare pointers.
//!
//! Writing a cell: its stamp first and alone, so that a cell whose first word is erased holds nothing; then the other fields;
//! last the flag `Sealed`, which makes it count. Copies write the same bytes again when they are begun again.
//!
//! Invariants: slots and pool entries are written in order, so that what is erased begins at one border, found by bisection;
//! a cell that is dead or unsealed is only ever read by recovery.

use norn_flash::{Address, Nor, Violation};

use crate::codes::crc16;
use crate::error::IndexError;
use crate::fat_list::format::{CellState, Column, Flag, Kind, Stamp, slot_code};
use crate::fat_list::layout::{Cell, ENTRY_BYTES_MAX};
use crate::fat_list::list::{FatList, Outcome};
use crate::index::Entry;

/// Room for the longest record that is programmed at once.
const RECORD_BYTES_MAX: usize = ENTRY_BYTES_MAX + 6;

/// Which slots of an object are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Slots that have been written, from the first on.
    pub written: u8,
    /// Those that count, a bit for each.
    pub valid: u64,
}

impl Survey {
    /// The numbers of the slots that count.
    pub fn slots(&self) -> impl DoubleEndedIterator<Item = u8> + use<> {
        let valid = self.valid;
        (0..64).filter(move |slot| valid >> slot & 1 == 1)
    }
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot<const K: usize, const V: usize> {
    Erased,
    Whole([u8; K], [u8; V]),
    Torn,
}

/// The cells that an object takes the place of, and the one that belongs to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    pub replaces: Option<Cell>,
    pub partner: Option<Cell>,
}

/// A cell that is being written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draft {
    pub cell: Cell,
    pub level: u8,
    pub kind: Kind,
    pointers: u16,
    slots: u8,
}

/// Marks of stops and openings in the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StopMarks {
    /// How many have been set; an odd number says stopped.
    pub cleared: u32,
    /// How many are left.
    pub left: u32,
}

impl<D: Nor, const K: usize, const V: usize> FatList<D, K, V> {
    /// The error that names damage in a field of a cell.
    pub(crate) fn damage(&self, cell: Cell, offset: u16, what: &'static str) -> IndexError<D::Error> {
        IndexError::Corrupted(Violation { address: self.layout.field(cell, offset), what })
    }

    pub(crate) fn state(&mut self, cell: Cell) -> Outcome<CellState, D> {
        let address = self.layout.cell(cell);
        Ok(CellState::decode(self.medium.read_u16(address)?))
    }

    /// The stamp of a cell, if it counts.
    pub(crate) fn live(&mut self, cell: Cell) -> Outcome<Option<Stamp>, D> {
        match self.state(cell)? {
            CellState::Live(stamp) => Ok(Some(stamp)),
            CellState::Malformed => Err(self.damage(cell, 0, "a stamp that nothing writes")),
            CellState::Free | CellState::Unsealed | CellState::Dead => Ok(None),
        }
    }

    /// The stamp of a cell that has been sealed, whether or not it is dead.
    pub(crate) fn stamp_regardless(&mut self, cell: Cell) -> Outcome<Stamp, D> {
        if !self.layout.has_cell(cell) {
            return Err(self.damage(self.head, 0, "a link to a cell that does not exist"));
        }
        let address = self.layout.cell(cell);
        match CellState::decode(self.medium.read_u16(address)? | 1 << Flag::Dead as u16) {
            CellState::Live(stamp) => Ok(stamp),
            _ => Err(self.damage(cell, 0, "an object that is not whole")),
        }
    }

    pub(crate) fn set_flag(&mut self, cell: Cell, flag: Flag) -> Outcome<(), D> {
        let (byte, bit) = (flag as u32 / 8, flag as u8 % 8);
        self.medium.clear_bit(self.layout.cell(cell).offset(byte), bit)
    }

    pub(crate) fn low(&mut self, cell: Cell) -> Outcome<[u8; K], D> {
        let mut low = [0; K];
        self.medium.read(self.low_address(cell), &mut low)?;
        Ok(low)
    }

    fn low_address(&self, cell: Cell) -> Address {
        let align = u32::from(self.medium.part().program_unit_bytes).max(2);
        self.layout.cell(cell).offset(align)
    }

    fn header_code(low: &[u8; K], level: u8, kind: Kind, links: &[u8; 8]) -> u16 {
        crc16(&[low, &[level, kind as u8], links])
    }

    /// The links in a cell's header, whose code is verified.
    pub(crate) fn links(&mut self, cell: Cell) -> Outcome<Links, D> {
        let stamp = self.stamp_regardless(cell)?;
        let low = self.low(cell)?;
        let mut header = [0; 10];
        self.medium.read(self.layout.field(cell, self.layout.header_offset), &mut header)?;
        let (code, links) = header.split_first_chunk::<2>().expect("ten bytes");
        let links: &[u8; 8] = links.try_into().expect("eight bytes");
        if u16::from_le_bytes(*code) != Self::header_code(&low, stamp.level, stamp.kind, links) {
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

    // Slots.

    pub(crate) fn slot(&mut self, cell: Cell, slot: u8) -> Outcome<Slot<K, V>, D> {
        let mut bytes = [0; ENTRY_BYTES_MAX + 2];
        let bytes = &mut bytes[..K + V + 2];
        self.medium.read(self.layout.slot(cell, slot), bytes)?;
        if bytes.iter().all(|&byte| byte == 0xFF) {
            return Ok(Slot::Erased);
        }
        let (data, code) = bytes.split_at(K + V);
        if code != slot_code(data).to_le_bytes() {
            return Ok(Slot::Torn);
        }
        let (mut key, mut value) = ([0; K], [0; V]);
        key.copy_from_slice(&data[..K]);
        value.copy_from_slice(&data[K..]);
        Ok(Slot::Whole(key, value))
    }

    pub(crate) fn key_at(&mut self, cell: Cell, slot: u8) -> Outcome<[u8; K], D> {
        let mut key = [0; K];
        self.medium.read(self.layout.slot(cell, slot), &mut key)?;
        Ok(key)
    }

    /// The entry of a slot that counts.
    pub(crate) fn entry(&mut self, cell: Cell, slot: u8) -> Outcome<Entry<K, V>, D> {
        match self.slot(cell, slot)? {
            Slot::Whole(key, value) => Ok((key, value)),
            Slot::Erased | Slot::Torn => {
                let at = self.layout.slots_offset + u16::from(slot) * self.layout.slot_bytes;
                Err(self.damage(cell, at, "a slot whose code is wrong"))
            }
        }
    }

    fn bitmap(&mut self, cell: Cell) -> Outcome<u64, D> {
        let mut bytes = [0; 8];
        let used = usize::from(self.layout.settings.slots).div_ceil(8);
        self.medium.read(self.layout.field(cell, self.layout.bitmap_offset), &mut bytes[..used])?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Which slots are in use. Cost: the bitmap, and at most seven slots for the border.
    pub(crate) fn survey(&mut self, cell: Cell) -> Outcome<Survey, D> {
        let bitmap = self.bitmap(cell)?;
        let (mut written, mut erased) = (0, self.layout.settings.slots);
        while written < erased {
            let middle = written + (erased - written) / 2;
            match self.slot(cell, middle)? {
                Slot::Erased => erased = middle,
                Slot::Whole(..) | Slot::Torn => written = middle + 1,
            }
        }
        let mask = if written == 64 { u64::MAX } else { (1 << written) - 1 };
        Ok(Survey { written, valid: bitmap & mask })
    }

    /// The slot that holds `key`.
    pub(crate) fn find(&mut self, cell: Cell, survey: &Survey, key: &[u8; K]) -> Outcome<Option<u8>, D> {
        for slot in survey.slots().rev() {
            if self.key_at(cell, slot)? == *key {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    /// The value of `key`, without looking for the border of the slots first.
    pub(crate) fn look_up(&mut self, cell: Cell, key: &[u8; K]) -> Outcome<Option<[u8; V]>, D> {
        let survey = Survey { written: self.layout.settings.slots, valid: self.bitmap(cell)? };
        for slot in survey.slots().take_while(|&slot| slot < survey.written) {
            let found = self.key_at(cell, slot)?;
            if found != *key && found != [0xFF; K] {
                continue;
            }
            match self.slot(cell, slot)? {
                Slot::Erased => return Ok(None),
                _ if found != *key => {}
                _ => return Ok(Some(self.entry(cell, slot)?.1)),
            }
        }
        Ok(None)
    }

    pub(crate) fn write_slot(&mut self, cell: Cell, slot: u8, key: &[u8; K], value: &[u8; V]) -> Outcome<(), D> {
        let mut record = [0xFF; RECORD_BYTES_MAX];
        record[..K].copy_from_slice(key);
        record[K..K + V].copy_from_slice(value);
        let code = slot_code(&record[..K + V]);
        record[K + V..K + V + 2].copy_from_slice(&code.to_le_bytes());
        self.medium.program(self.layout.slot(cell, slot), &record[..usize::from(self.layout.slot_bytes)])
    }

    /// Makes a slot count no more.
    pub(crate) fn clear_slot(&mut self, cell: Cell, slot: u8) -> Outcome<(), D> {
        let address = self.layout.field(cell, self.layout.bitmap_offset + u16::from(slot / 8));
        self.medium.clear_bit(address, slot % 8)
    }

    // The pointer pool.

    /// Where the entries for `level` begin, and how many there are.
    fn pool(&self, cell: Cell, kind: Kind, level: u8) -> (Address, u16) {
        let pool = self.layout.field(cell, self.layout.pool_offset);
        match kind {
            Kind::Head => {
                let entries = self.layout.head_section();
                (pool.offset(u32::from(level) * u32::from(entries) * 4), entries)
            }
            _ => (pool, u16::from(self.layout.settings.pool)),
        }
    }

    /// The entries of a pool that have been written.
    fn pool_used(&mut self, (start, entries): (Address, u16)) -> Outcome<u16, D> {
        let (mut used, mut erased) = (0, entries);
        while used < erased {
            let middle = used + (erased - used) / 2;
            match self.medium.read_u32(start.offset(4 * u32::from(middle)))? {
                u32::MAX => erased = middle,
                _ => used = middle + 1,
            }
        }
        Ok(used)
    }

    /// Where the pointer of `level` leads: the last entry of the level that is whole.
    pub(crate) fn pointer(&mut self, cell: Cell, kind: Kind, level: u8) -> Outcome<Column, D> {
        let pool = self.pool(cell, kind, level);
        for entry in (0..self.pool_used(pool)?).rev() {
            match Column::decode(self.medium.read_u32(pool.0.offset(4 * u32::from(entry)))?) {
                Some((found, column)) if found == level && self.layout.has_column(column) => return Ok(column),
                Some((found, _)) if found == level => {
                    return Err(self.damage(cell, self.layout.pool_offset, "a pointer out of the part"));
                }
                _ => {}
            }
        }
        Err(self.damage(cell, self.layout.pool_offset, "no pointer of a level that the object hooks on"))
    }

    /// Further pointers that the pool takes at `level`.
    pub(crate) fn pool_room(&mut self, cell: Cell, kind: Kind, level: u8) -> Outcome<u16, D> {
        let pool = self.pool(cell, kind, level);
        Ok(pool.1 - self.pool_used(pool)?)
    }

    /// Makes the pointer of `level` lead to `column`. A torn entry that was to say the same is completed.
    pub(crate) fn swing(&mut self, cell: Cell, kind: Kind, level: u8, column: Column) -> Outcome<(), D> {
        let pool = self.pool(cell, kind, level);
        let (used, entry) = (self.pool_used(pool)?, column.encode(level));
        let mut place = used;
        if let Some(last) = used.checked_sub(1) {
            let word = self.medium.read_u32(pool.0.offset(4 * u32::from(last)))?;
            if Column::decode(word).is_none() && word & entry == entry {
                place = last;
            }
        }
        if place == pool.1 {
            return Err(self.damage(cell, self.layout.pool_offset, "a pointer pool without room"));
        }
        self.medium.program(pool.0.offset(4 * u32::from(place)), &entry.to_le_bytes())
    }

    // Writing a cell.

    /// Begins to write a cell. A `settled` one is not looked at by recovery once it is sealed.
    pub(crate) fn draft(&mut self, cell: Cell, stamp: Stamp, low: Option<&[u8; K]>, links: Links) -> Outcome<Draft, D> {
        let Stamp { level, kind, .. } = stamp;
        let mut record = [0xFF; RECORD_BYTES_MAX];
        let word = stamp.encode();
        record[..2].copy_from_slice(&word.to_le_bytes());
        let align = usize::from(self.medium.part().program_unit_bytes).max(2);
        self.medium.program(self.layout.cell(cell), &record[..align])?;

        let low = low.copied().unwrap_or([0xFF; K]);
        let header_at = usize::from(self.layout.header_offset) - align;
        let end = usize::from(self.layout.bitmap_offset) - align;
        let mut record = [0xFF; RECORD_BYTES_MAX + 12];
        record[..K].copy_from_slice(&low);
        for (at, link) in [(2, links.replaces), (6, links.partner)] {
            let word = link.map_or(u32::MAX, Cell::to_u32);
            record[header_at + at..header_at + at + 4].copy_from_slice(&word.to_le_bytes());
        }
        let links_bytes = record[header_at + 2..header_at + 10].try_into().expect("eight bytes");
        let code = Self::header_code(&low, level, kind, &links_bytes);
        record[header_at..header_at + 2].copy_from_slice(&code.to_le_bytes());
        self.medium.program(self.low_address(cell), &record[..end])?;
        Ok(Draft { cell, level, kind, pointers: 0, slots: 0 })
    }

    /// Writes the pointer of `level` into a draft.
    pub(crate) fn draft_pointer(&mut self, draft: &mut Draft, level: u8, column: Column) -> Outcome<(), D> {
        let pool = self.pool(draft.cell, draft.kind, level);
        let place = if draft.kind == Kind::Head { 0 } else { draft.pointers };
        draft.pointers += 1;
        self.medium.program(pool.0.offset(4 * u32::from(place)), &column.encode(level).to_le_bytes())
    }

    /// Copies those slots of `from` that count and whose key `wanted` takes.
    pub(crate) fn draft_slots(
        &mut self,
        draft: &mut Draft,
        from: Cell,
        wanted: impl Fn(&[u8; K]) -> bool,
    ) -> Outcome<(), D> {
        let survey = self.survey(from)?;
        for slot in survey.slots() {
            let (key, value) = self.entry(from, slot)?;
            if wanted(&key) {
                if draft.slots == self.layout.settings.slots {
                    return Err(self.damage(from, self.layout.slots_offset, "more keys than slots"));
                }
                self.write_slot(draft.cell, draft.slots, &key, &value)?;
                draft.slots += 1;
            }
        }
        Ok(())
    }

    pub(crate) fn seal(&mut self, draft: Draft) -> Outcome<(), D> {
        self.set_flag(draft.cell, Flag::Sealed)
    }

    // Marks of stops, in the head's bitmap.

    pub(crate) fn stop_marks(&mut self, head: Cell) -> Outcome<StopMarks, D> {
        let bytes = self.layout.bitmap_bytes();
        let mut bitmap = [0xFF; 8];
        self.medium.read(self.layout.field(head, self.layout.bitmap_offset), &mut bitmap[..bytes])?;
        let cleared = u64::from_le_bytes(bitmap).trailing_zeros().min(8 * bytes as u32);
        Ok(StopMarks { cleared, left: 8 * bytes as u32 - cleared })
    }

    pub(crate) fn clear_stop_mark(&mut self, head: Cell, mark: u32) -> Outcome<(), D> {
        self.clear_slot(head, mark as u8)
    }
}
