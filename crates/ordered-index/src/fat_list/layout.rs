//! What a list is made like, and the lengths and places that follow from it and from the part.
//!
//! Invariants: a field that is programmed by itself starts and ends on a border of program units, or where these are
//! larger, of 4 bytes; every cell is within its block; a pool has room for two pointers of every level.

use norn_flash::{Address, EraseUnit, NorPart, Reprogramming};

use crate::fat_list::format::{CELLS_OFFSET, Column, LEVELS_MAX, VARIED_VALUE_BYTES_MAX};

/// Largest program unit that a list works on, in bytes.
pub(crate) const PROGRAM_UNIT_BYTES_MAX: usize = 32;
/// Largest program unit that has no more than one field: a larger one is programmed again with the next field.
pub(crate) const ALIGNMENT_MAX: usize = 4;
/// Most slots of an object.
pub const SLOTS_MAX: u8 = 64;
/// Most bytes of a key and a value together, where values have one length.
pub const ENTRY_BYTES_MAX: usize = 126;
/// Most bytes of a key where values vary.
pub const VARYING_KEY_BYTES_MAX: usize = 64;
/// Longest records that a log has room for at least.
pub(crate) const LONGEST_IN_LOG: usize = 4;
/// Bytes of which a field that is programmed by itself is a multiple.
pub(crate) fn alignment(part: &NorPart) -> usize {
    usize::from(part.program_unit_bytes).clamp(2, ALIGNMENT_MAX)
}

/// Bytes of a value that the log of an object is chosen for, unless a format names its bytes.
const MEAN_VALUE_BYTES: usize = 16;

/// Objects in a unit, and slots of an object, that [`Settings::fitted_to`] does not go below where it can.
const CELLS_WISHED: u32 = 4;
const SLOTS_WISHED: u8 = 4;

/// What a list is made like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Blocks of a turnstile, one of which is spare: 2 to 255.
    pub turnstile_blocks: u8,
    /// Levels, 1 to 8. An object is linked on level *i* with probability 4⁻ⁱ.
    pub levels: u8,
    /// Slots of an object, *m*: 2 to 64.
    pub slots: u8,
    /// Keys beyond which an object is split when its slots are full, *n*: less than the slots.
    pub keys: u8,
    /// Pointers that an object has room for: at least twice the levels.
    pub pool: u8,
}

impl Settings {
    /// The defaults of the paper's evaluation, except for a pool of 10 pointers instead of 7.
    pub const fn paper_2011() -> Self {
        Settings { turnstile_blocks: 8, levels: 5, slots: 40, keys: 20, pool: 10 }
    }

    /// For a log, whose keys ascend: large objects, so that a key's share of what an object has besides is small, and
    /// room for two pointers more, so that the head finds room in the last objects when it is rewritten.
    pub const fn log() -> Self {
        Settings { turnstile_blocks: 16, levels: 5, slots: 64, keys: 32, pool: 12 }
    }

    /// The same, with objects of the size that wastes least of an erase unit of `part`, for keys and values of these
    /// widths: the more slots a unit has, the fewer erases there are. Four objects share a unit where they can.
    ///
    /// ```
    /// # use norn_flash_sim::catalogue;
    /// # use norn_ordered_index::Settings;
    /// let part = catalogue::w25q().part;
    /// assert_eq!(part.unit_size_bytes, 4096);
    /// let settings = Settings::paper_2011().fitted_to(&part, 4, 2);
    /// assert_eq!((settings.slots, settings.keys), (64, 25)); // 7 objects, 448 slots; 40 slots would be 10 and 400
    /// ```
    pub fn fitted_to(self, part: &NorPart, key_bytes: usize, value_bytes: usize) -> Self {
        let with_slots = |slots: u8| Settings { slots, keys: slots * 2 / 5, ..self };
        let fit = |slots: u8| {
            let layout = Layout::of(part, with_slots(slots), key_bytes, value_bytes, None).ok()?;
            let cells = u32::from(layout.cells_per_block);
            Some((cells.min(CELLS_WISHED), cells * u32::from(slots), slots))
        };
        let best = (SLOTS_WISHED..=SLOTS_MAX).filter_map(fit).max();
        best.map_or(self, |(_, _, slots)| with_slots(slots))
    }

    /// A multilevel soft list: an object has one key, and room for one further value of it.
    pub const fn soft_list() -> Self {
        Settings { turnstile_blocks: 8, levels: 6, slots: 2, keys: 1, pool: 12 }
    }

    /// Whether an object has room for one key, and its next value, so that a key is its object's bound.
    pub(crate) const fn is_soft(&self) -> bool {
        self.slots == 2
    }

    pub(crate) const fn to_bytes(self) -> [u8; 5] {
        [self.turnstile_blocks, self.levels, self.slots, self.keys, self.pool]
    }

    pub(crate) const fn from_bytes(bytes: [u8; 5]) -> Self {
        let [turnstile_blocks, levels, slots, keys, pool] = bytes;
        Settings { turnstile_blocks, levels, slots, keys, pool }
    }

    fn validate(&self) -> Result<(), &'static str> {
        match self {
            Settings { turnstile_blocks: 0..=1, .. } => Err("a turnstile takes two blocks or more"),
            Settings { levels, .. } if !(1..=LEVELS_MAX as u8).contains(levels) => {
                Err("a list has one to eight levels")
            }
            Settings { slots, .. } if !(2..=SLOTS_MAX).contains(slots) => Err("an object has 2 to 64 slots"),
            Settings { keys, slots, .. } if *keys == 0 || keys >= slots => {
                Err("an object has fewer keys than slots, and at least one")
            }
            Settings { pool, levels, .. } if *pool < 2 * levels => {
                Err("a pool has two pointers for each level at least")
            }
            _ => Ok(()),
        }
    }
}

/// A cell: a place for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cell {
    pub unit: EraseUnit,
    pub index: u16,
}

impl Cell {
    /// As a number that is not all ones.
    pub const fn to_u32(self) -> u32 {
        self.unit.0 as u32 | (self.index as u32) << 16
    }

    pub const fn from_u32(word: u32) -> Self {
        Cell { unit: EraseUnit(word as u16), index: (word >> 16) as u16 }
    }
}

/// Most bytes of a log.
const LOG_BYTES_MAX: u16 = 0x7FF0;

/// Whether values may vary in a list of these settings, with longest records and a log of these bytes.
fn check_log(
    settings: &Settings,
    key_bytes: usize,
    value_bytes: usize,
    (record, log, align): (u16, u16, u16),
) -> Result<(), &'static str> {
    if settings.is_soft() {
        return Err("values vary in objects of 3 slots or more");
    }
    if key_bytes > VARYING_KEY_BYTES_MAX || value_bytes > VARIED_VALUE_BYTES_MAX {
        return Err("where values vary, a key takes 64 bytes at most, and a value 511");
    }
    if usize::from(log) < LONGEST_IN_LOG * usize::from(record) || !log.is_multiple_of(align) || log > LOG_BYTES_MAX {
        return Err("a log has room for four of the longest records, and no more than 32,752 bytes");
    }
    Ok(())
}

/// Lengths and places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub settings: Settings,
    pub turnstiles: u8,
    pub cells_per_block: u16,
    pub header_offset: u16,
    pub bitmap_offset: u16,
    pub pool_offset: u16,
    /// Bytes of a slot; where values vary, of the longest record.
    pub slot_bytes: u16,
    pub cell_bytes: u16,
    /// Units that belong to a turnstile.
    pub unit_count: u16,
    unit_size_bytes: u32,
}

impl Layout {
    /// The layout, or which bound is violated. Where values vary, a log has `log_bytes`.
    pub fn of(
        part: &NorPart,
        settings: Settings,
        key_bytes: usize,
        value_bytes: usize,
        log_bytes: Option<u16>,
    ) -> Result<Layout, &'static str> {
        settings.validate()?;
        if usize::from(part.program_unit_bytes) > PROGRAM_UNIT_BYTES_MAX {
            return Err("an index takes program units of up to 32 bytes");
        }
        if part.reprogramming != Reprogramming::Unlimited {
            return Err(
                "an index takes words that can be programmed again and again, as on an overlay for limited parts",
            );
        }
        let is_wide = key_bytes + value_bytes > ENTRY_BYTES_MAX && log_bytes.is_none();
        if key_bytes == 0 || is_wide {
            return Err("a key takes a byte or more, and no more than 126 together with its value");
        }
        let align = |bytes: usize| bytes.next_multiple_of(alignment(part)) as u16;
        let header_offset = align(2) + align(key_bytes);
        let bitmap_offset = header_offset + align(10);
        let pool_offset = bitmap_offset + align(usize::from(settings.slots).div_ceil(8));
        let slots_offset = pool_offset + 4 * u16::from(settings.pool);
        let (slot_bytes, slots_bytes) = match log_bytes {
            None => {
                let slot_bytes = align(key_bytes + value_bytes + 2);
                (slot_bytes, slot_bytes * u16::from(settings.slots))
            }
            Some(bytes) => (align(key_bytes + value_bytes + 4), bytes),
        };
        if let Some(bytes) = log_bytes {
            check_log(&settings, key_bytes, value_bytes, (slot_bytes, bytes, align(1)))?;
        }
        let cell_bytes = slots_offset + slots_bytes;
        let cells = part.unit_size_bytes.saturating_sub(CELLS_OFFSET) / u32::from(cell_bytes);
        if cells == 0 || !part.unit_size_bytes.is_multiple_of(4) {
            return Err("an object does not fit into an erase unit");
        }
        if cells > 1 << 12 {
            return Err("more than 4,096 objects in an erase unit");
        }
        if (pool_offset..cell_bytes).len() / 4 / usize::from(settings.levels) < 2 {
            return Err("the head has no room for two pointers of each level");
        }
        let (blocks, units) = (u16::from(settings.turnstile_blocks), part.unit_count);
        // A single block over has no spare, and is left alone.
        let unit_count = if units % blocks == 1 { units - 1 } else { units };
        match unit_count.div_ceil(blocks) {
            0 => Err("a turnstile takes two blocks or more"),
            257.. => Err("more than 256 turnstiles"),
            256 => Err("more than 255 turnstiles"),
            turnstiles => Ok(Layout {
                settings,
                turnstiles: turnstiles as u8,
                cells_per_block: cells as u16,
                header_offset,
                bitmap_offset,
                pool_offset,
                slot_bytes,
                cell_bytes,
                unit_count,
                unit_size_bytes: part.unit_size_bytes,
            }),
        }
    }

    /// Bytes of a log that put as many objects into a unit as records with values of some 16 bytes would, and leave
    /// nothing of it over.
    pub fn log_bytes(part: &NorPart, settings: Settings, key_bytes: usize, value_bytes: usize) -> u16 {
        let align = |bytes: usize| bytes.next_multiple_of(alignment(part));
        let usual = usize::from(settings.slots) * align(key_bytes + value_bytes.min(MEAN_VALUE_BYTES) + 4);
        let least = LONGEST_IN_LOG * align(key_bytes + value_bytes + 4);
        let bytes = usual.max(least).min(LOG_BYTES_MAX.into()) as u16;
        let Ok(layout) = Layout::of(part, settings, key_bytes, value_bytes, Some(bytes)) else { return bytes };
        let cells = part.unit_size_bytes - CELLS_OFFSET;
        let share = cells / u32::from(layout.cells_per_block) - u32::from(layout.slots_offset());
        let unit = align(1) as u32;
        (share.min(LOG_BYTES_MAX.into()) / unit * unit) as u16
    }

    /// The units of a turnstile.
    pub fn units_of(&self, turnstile: u8) -> impl Iterator<Item = EraseUnit> + use<> {
        let blocks = u16::from(self.settings.turnstile_blocks);
        let start = u16::from(turnstile) * blocks;
        (start..(start + blocks).min(self.unit_count)).map(EraseUnit)
    }

    pub fn turnstile_of(&self, unit: EraseUnit) -> u8 {
        (unit.0 / u16::from(self.settings.turnstile_blocks)) as u8
    }

    pub fn units(&self) -> impl Iterator<Item = EraseUnit> + Clone + use<> {
        (0..self.unit_count).map(EraseUnit)
    }

    /// The soft pointer's view of a cell.
    pub fn column_of(&self, cell: Cell) -> Column {
        Column { turnstile: self.turnstile_of(cell.unit), index: cell.index }
    }

    pub fn has_column(&self, column: Column) -> bool {
        column.turnstile < self.turnstiles && column.index < self.cells_per_block
    }

    pub fn has_cell(&self, cell: Cell) -> bool {
        cell.unit.0 < self.unit_count && cell.index < self.cells_per_block
    }

    pub fn block(&self, unit: EraseUnit) -> Address {
        Address(u32::from(unit.0) * self.unit_size_bytes)
    }

    pub fn cell(&self, cell: Cell) -> Address {
        self.block(cell.unit).offset(CELLS_OFFSET + u32::from(cell.index) * u32::from(self.cell_bytes))
    }

    /// The place of a field of a cell.
    pub fn field(&self, cell: Cell, offset: u16) -> Address {
        self.cell(cell).offset(u32::from(offset))
    }

    /// Where the slots of a cell begin.
    pub fn slots_offset(&self) -> u16 {
        self.pool_offset + 4 * u16::from(self.settings.pool)
    }

    /// Where the slots of a cell end.
    pub fn slots_end(&self) -> u16 {
        self.cell_bytes
    }

    /// The place of a slot, where values have one length.
    pub fn slot(&self, cell: Cell, slot: u8) -> Address {
        self.field(cell, self.slots_offset() + u16::from(slot) * self.slot_bytes)
    }

    /// Bytes of a cell's bitmap, of which the head has marks of stops.
    pub fn bitmap_bytes(&self) -> usize {
        usize::from(self.pool_offset - self.bitmap_offset)
    }

    /// Pointers that the head has room for on each level: it has no keys, and uses its slots for them.
    pub fn head_section(&self) -> u16 {
        (self.cell_bytes - self.pool_offset) / 4 / u16::from(self.settings.levels)
    }
}
