//! Blocks: which are spare, where a cell is free, and moving a block's objects to the spare one of its turnstile.
//!
//! Moving block v to the spare block s of its turnstile (section 0.4.2):
//! 1. say in s that v is moved here, and how often v had been erased;
//! 2. copy every live object to the cell of the same number, without slots and pointers that count no more;
//! 3. say in s that it is active: from here on v counts no more;
//! 4. erase v, and write its identity with a higher count of erases: now it is the spare one.
//!
//! Soft pointers survive this, because a cell's number and turnstile stay. Copies depend on v alone, so that a move which was cut is
//! completed by writing the same bytes again.
//!
//! Invariants: between moves each turnstile has one block that is not active, and it is erased but for its identity; nothing else
//! changes during a move.

use norn_flash::{EraseUnit, Nor, Violation};

use crate::error::IndexError;
use crate::fat_list::cells::Links;
use crate::fat_list::format::{
    ACTIVE_OFFSET, CellState, FILLING_BYTES, FILLING_OFFSET, Filling, IDENTITY_BYTES, Identity, Kind, Stamp,
    VOID_OFFSET,
};
use crate::fat_list::layout::Cell;
use crate::fat_list::list::{FatList, Outcome};

/// Erases between the most and the least worn block from which on the latter is moved at times.
const WEAR_GAP: u32 = 16;
/// Of so many reclamations one looks at wear.
const WEAR_PERIOD: u8 = 8;

/// How many cells of a block are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Census {
    pub live: u16,
    pub dead: u16,
    pub free: u16,
}

/// What a block's head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockState {
    pub identity: Option<Result<Identity, u8>>,
    pub is_void: bool,
    pub filling: Record,
    pub is_active: bool,
}

/// A record that may be torn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Erased,
    Torn,
    Whole(Filling),
}

impl BlockState {
    /// Erases that the block has sustained, if it has an identity.
    pub fn erase_count(&self) -> Option<u32> {
        self.identity.and_then(Result::ok).map(|identity| identity.erase_count)
    }

    /// Whether it says that it is spare.
    pub fn is_fresh(&self) -> bool {
        self.erase_count().is_some() && self.filling == Record::Erased && !self.is_active
    }
}

impl<D: Nor, const K: usize, const V: usize> FatList<D, K, V> {
    pub(crate) fn block_state(&mut self, unit: EraseUnit) -> Outcome<BlockState, D> {
        let start = self.layout.block(unit);
        let mut identity = [0; IDENTITY_BYTES];
        self.medium.read(start, &mut identity)?;
        Ok(BlockState {
            identity: Identity::decode(&identity),
            is_void: self.is_void(unit)?,
            filling: self.filling(unit)?,
            is_active: self.medium.read_u32(start.offset(ACTIVE_OFFSET))? == 0,
        })
    }

    /// Whether a format has begun and not come to `unit`. Only all zeros say so: an erase that was cut makes ones read as zeros at
    /// times, but not all of them.
    pub(crate) fn is_void(&mut self, unit: EraseUnit) -> Outcome<bool, D> {
        let address = self.layout.block(unit).offset(VOID_OFFSET);
        Ok(self.medium.read_u32(address)? == 0)
    }

    /// Which block is or was moved to `unit`.
    pub(crate) fn filling(&mut self, unit: EraseUnit) -> Outcome<Record, D> {
        let mut bytes = [0; FILLING_BYTES];
        self.medium.read(self.layout.block(unit).offset(FILLING_OFFSET), &mut bytes)?;
        Ok(match Filling::decode(&bytes) {
            Some(filling) => Record::Whole(filling),
            None if bytes == [0xFF; FILLING_BYTES] => Record::Erased,
            None => Record::Torn,
        })
    }

    pub(crate) fn is_spare(&mut self, unit: EraseUnit) -> Outcome<bool, D> {
        let address = self.layout.block(unit).offset(ACTIVE_OFFSET);
        Ok(self.medium.read_u32(address)? != 0)
    }

    pub(crate) fn erase_count(&mut self, unit: EraseUnit) -> Outcome<u32, D> {
        let address = self.layout.block(unit).offset(20);
        self.medium.read_u32(address)
    }

    fn identity(&self, erase_count: u32) -> Identity {
        let part = self.medium.part();
        Identity {
            key_bytes: K as u8,
            value_bytes: V as u8,
            settings: self.layout.settings.to_bytes(),
            program_unit_bytes: part.program_unit_bytes,
            unit_count: part.unit_count,
            unit_size_bytes: part.unit_size_bytes,
            erase_count,
        }
    }

    /// Erases a block and makes it a spare one with so many erases.
    pub(crate) fn erase_block(&mut self, unit: EraseUnit, erase_count: u32) -> Outcome<(), D> {
        self.medium.erase(unit)?;
        let identity = self.identity(erase_count).encode();
        self.medium.program(self.layout.block(unit), &identity)
    }

    /// Step 1.
    pub(crate) fn begin_filling(&mut self, unit: EraseUnit, filling: Filling) -> Outcome<(), D> {
        self.medium.program(self.layout.block(unit).offset(FILLING_OFFSET), &filling.encode())
    }

    /// Step 3.
    pub(crate) fn activate(&mut self, unit: EraseUnit) -> Outcome<(), D> {
        self.medium.program(self.layout.block(unit).offset(ACTIVE_OFFSET), &[0; 4])
    }

    // Cells.

    pub(crate) fn census(&mut self, unit: EraseUnit) -> Outcome<Census, D> {
        let mut census = Census::default();
        for index in 0..self.layout.cells_per_block {
            match self.state(Cell { unit, index })? {
                CellState::Free => census.free += 1,
                CellState::Dead | CellState::Unsealed => census.dead += 1,
                CellState::Live(_) => census.live += 1,
                CellState::Malformed => {
                    return Err(self.damage(Cell { unit, index }, 0, "a stamp that nothing writes"));
                }
            }
        }
        Ok(census)
    }

    /// A free cell for an object of `level` other than `taken`, in a block by chance (section 0.4.2).
    ///
    /// Cost: a word for each cell looked at, of all cells if none is free.
    pub(crate) fn free_cell(&mut self, level: u8, taken: Option<Cell>) -> Outcome<Option<Cell>, D> {
        if let Some(unit) = self.roomy {
            match self.free_cell_in(unit, level, taken)? {
                None if taken.is_none() => self.roomy = None,
                None => {}
                found => return Ok(found),
            }
        }
        let count = u32::from(self.layout.unit_count);
        let start = self.draw() % count;
        for step in 0..count {
            let unit = EraseUnit(((start + step) % count) as u16);
            if self.is_spare(unit)? {
                continue;
            }
            let found = self.free_cell_in(unit, level, taken)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// A free cell in `unit`, the first from the level's share of the block on (object-level allocation).
    fn free_cell_in(&mut self, unit: EraseUnit, level: u8, taken: Option<Cell>) -> Outcome<Option<Cell>, D> {
        let cells = self.layout.cells_per_block;
        let start = (cells - (u32::from(cells) >> (2 * level)) as u16).min(cells - 1);
        for step in 0..cells {
            let cell = Cell { unit, index: (start + step) % cells };
            if Some(cell) != taken && self.state(cell)? == CellState::Free {
                return Ok(Some(cell));
            }
        }
        Ok(None)
    }

    // Reclamation.

    /// Moves the block whose erase frees most cells; of those that free as many, the least worn one.
    ///
    /// # Errors
    /// `Full` when no cell is dead.
    pub(crate) fn reclaim(&mut self) -> Outcome<(), D> {
        let mut best: Option<(u16, u32, EraseUnit)> = None;
        let (mut least, mut most) = ((u32::MAX, EraseUnit(0)), 0);
        for unit in self.layout.units() {
            let erases = self.erase_count(unit)?;
            most = most.max(erases);
            if self.is_spare(unit)? {
                continue;
            }
            least = least.min((erases, unit));
            let dead = self.census(unit)?.dead;
            if dead > 0
                && best.is_none_or(|(most_dead, fewest, _)| dead > most_dead || dead == most_dead && erases < fewest)
            {
                best = Some((dead, erases, unit));
            }
        }
        let Some((_, _, victim)) = best else {
            return Err(IndexError::Full);
        };
        self.reclaims = (self.reclaims + 1) % WEAR_PERIOD;
        let is_uneven = self.reclaims == 0 && most - least.0 >= WEAR_GAP;
        let victim = if is_uneven { least.1 } else { victim };
        self.shift_poor_objects(victim)?;
        self.rotate(victim)
    }

    /// A block of which half or more can be freed.
    pub(crate) fn worthwhile_victim(&mut self) -> Outcome<Option<EraseUnit>, D> {
        let mut best: Option<(u16, EraseUnit)> = None;
        for unit in self.layout.units() {
            if self.is_spare(unit)? {
                continue;
            }
            let dead = self.census(unit)?.dead;
            if 2 * dead >= self.layout.cells_per_block && best.is_none_or(|(most, _)| dead > most) {
                best = Some((dead, unit));
            }
        }
        Ok(best.map(|(_, unit)| unit))
    }

    /// Moves a block to the spare one of its turnstile.
    pub(crate) fn rotate(&mut self, victim: EraseUnit) -> Outcome<(), D> {
        let mut spare = None;
        for unit in self.layout.units_of(self.layout.turnstile_of(victim)) {
            if self.is_spare(unit)? {
                spare = Some(unit);
            }
        }
        let Some(spare) = spare.filter(|&spare| spare != victim) else {
            let address = self.layout.block(victim);
            return Err(IndexError::Corrupted(Violation { address, what: "a turnstile without a spare block" }));
        };
        let erase_count = self.erase_count(victim)?;
        self.begin_filling(spare, Filling { from: victim.0, erase_count })?;
        self.move_block(victim, spare, erase_count)
    }

    /// Steps 2 to 4.
    pub(crate) fn move_block(&mut self, victim: EraseUnit, spare: EraseUnit, erase_count: u32) -> Outcome<(), D> {
        for index in 0..self.layout.cells_per_block {
            let (from, to) = (Cell { unit: victim, index }, Cell { unit: spare, index });
            if let Some(stamp) = self.live(from)?
                && !matches!(self.state(to)?, CellState::Live(_))
            {
                self.copy(from, to, stamp)?;
            }
        }
        self.activate(spare)?;
        if self.head.unit == victim {
            self.head.unit = spare;
        }
        self.roomy = Some(spare);
        self.erase_block(victim, erase_count.saturating_add(1))
    }

    fn copy(&mut self, from: Cell, to: Cell, stamp: Stamp) -> Outcome<(), D> {
        let is_head = stamp.kind == Kind::Head;
        let low = if is_head { None } else { Some(self.low(from)?) };
        let kind = if is_head { Kind::Head } else { Kind::Object };
        let settled = Stamp { kind, settled: true, ..stamp };
        let mut draft = self.draft(to, settled, low.as_ref(), Links::default())?;
        for level in 0..=stamp.level {
            let column = self.pointer(from, stamp.kind, level)?;
            self.draft_pointer(&mut draft, level, column)?;
        }
        if !is_head {
            self.draft_slots(&mut draft, from, |_| true)?;
        }
        self.seal(draft)
    }
}
