//! Turnstiles: where a cell is free, and moving a block's objects to the spare block of its turnstile.
//!
//! Moving block v to the spare block s of its turnstile (section 0.4.2):
//! 1. say in s that v is moved here, and how often v had been erased;
//! 2. copy every live object to the cell of the same number, without slots and pointers that count no more;
//! 3. say in s that it is active: from here on v counts no more;
//! 4. erase v, and write its identity with a higher count of erases: now it is the spare one.
//!
//! Soft pointers survive this, because a cell's number and turnstile stay. Copies depend on v alone, so that a move
//! which was cut is completed by writing the same bytes again.
//!
//! Invariants: between moves each turnstile has one block that is not active, and it is erased except for its identity;
//! nothing else changes during a move.

use norn_flash::{EraseUnit, Nor};

use super::block::Blocks;
use super::cells::{Cells, Links};
use super::chance::Chance;
use super::medium::Medium;
use crate::error::{IndexError, Outcome};
use crate::fat_list::format::{CellState, Filling, Flag, Kind, Stamp};
use crate::fat_list::layout::{Cell, Layout};
use crate::fat_list::widths::Widths;

/// Erases between the most and the least worn block from which on the latter is moved at times.
const WEAR_GAP: u32 = 16;
/// One in this number of reclamations looks at wear.
const WEAR_PERIOD: u8 = 8;

/// How many cells of a block are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellCounts {
    pub live: u16,
    pub dead: u16,
    pub free: u16,
}

/// What can be written before a block has to be reclaimed, and what that would take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outlook {
    /// Free cells.
    pub free: u32,
    /// Cells that count no more.
    pub dead: u32,
    /// Live cells of the block with the fewest, of those without a free cell.
    pub copies: Option<u16>,
}

/// The blocks of a part, by turnstiles, and the cells in them.
#[derive(Clone, Debug)]
pub(crate) struct Turnstiles<D, W: Widths> {
    pub blocks: Blocks<D, W>,
    /// The block that was filled last, and has free cells if any has.
    roomy: Option<EraseUnit>,
    pub chance: Chance,
    reclaims: u8,
}

impl<D: Nor, W: Widths> Turnstiles<D, W> {
    pub fn new(medium: Medium<D>, layout: Layout, widths: W) -> Self {
        Turnstiles { blocks: Blocks::new(medium, layout, widths), roomy: None, chance: Chance::default(), reclaims: 0 }
    }

    pub fn layout(&self) -> &Layout {
        self.blocks.cells.layout()
    }

    pub fn cells(&mut self) -> &mut Cells<D, W> {
        &mut self.blocks.cells
    }

    pub fn cell_counts(&mut self, unit: EraseUnit) -> Outcome<CellCounts, D> {
        let mut counts = CellCounts::default();
        for index in 0..self.layout().cells_per_block {
            match self.cells().state(Cell { unit, index })? {
                CellState::Free => counts.free += 1,
                CellState::Dead | CellState::Unsealed => counts.dead += 1,
                CellState::Live(_) | CellState::Batch => counts.live += 1,
                CellState::Malformed => {
                    return Err(self.cells().damage(Cell { unit, index }, 0, "a stamp that nothing writes"));
                }
            }
        }
        Ok(counts)
    }

    /// A free cell for an object of `level` other than `taken`, in the block that is being filled. So objects that are
    /// written one after the other share a block, and it dies as a whole when their keys do.
    ///
    /// Cost: a word for each cell of the block looked at; once in a block a word for each cell of the part, and the
    /// bytes of the cell that is found.
    pub fn free_cell(&mut self, level: u8, taken: Option<Cell>) -> Outcome<Option<Cell>, D> {
        if let Some(unit) = self.roomy {
            let found = self.free_cell_in(unit, level, taken)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        while let Some(unit) = self.next_to_fill(taken)? {
            let found = self.free_cell_in(unit, level, taken)?;
            if found.is_some() {
                self.roomy = Some(unit);
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Counts all cells. Cost: a word for each, and one for each block.
    pub fn outlook(&mut self) -> Outcome<Outlook, D> {
        let mut outlook = Outlook { free: 0, dead: 0, copies: None };
        for unit in self.layout().units() {
            if self.blocks.is_spare(unit)? {
                continue;
            }
            let counts = self.cell_counts(unit)?;
            outlook.free += u32::from(counts.free);
            outlook.dead += u32::from(counts.dead);
            if counts.free == 0 {
                outlook.copies = Some(outlook.copies.map_or(counts.live, |least| least.min(counts.live)));
            }
        }
        Ok(outlook)
    }

    /// The block with the fewest free cells: after a mount, that which was being filled before it. Of those that have
    /// as many, the least worn one.
    fn next_to_fill(&mut self, taken: Option<Cell>) -> Outcome<Option<EraseUnit>, D> {
        let mut best: Option<(u16, u32, EraseUnit)> = None;
        for unit in self.layout().units() {
            if self.blocks.is_spare(unit)? {
                continue;
            }
            let mut free = 0;
            for cell in (0..self.layout().cells_per_block).map(|index| Cell { unit, index }) {
                free += u16::from(Some(cell) != taken && self.cells().state(cell)? == CellState::Free);
            }
            if free > 0 {
                let candidate = (free, self.blocks.erase_count(unit)?, unit);
                best = Some(best.map_or(candidate, |best| best.min(candidate)));
            }
        }
        Ok(best.map(|(_, _, unit)| unit))
    }

    /// A free cell in `unit`, the first from the level's share of the block on (object-level allocation). One that
    /// damage has programmed is marked dead.
    fn free_cell_in(&mut self, unit: EraseUnit, level: u8, taken: Option<Cell>) -> Outcome<Option<Cell>, D> {
        let cells = self.layout().cells_per_block;
        let start = (cells - (u32::from(cells) >> (2 * level)) as u16).min(cells - 1);
        for step in 0..cells {
            let cell = Cell { unit, index: (start + step) % cells };
            if Some(cell) == taken || self.cells().state(cell)? != CellState::Free {
                continue;
            }
            if self.cells().first_not_erased(cell)?.is_none() {
                return Ok(Some(cell));
            }
            self.cells().set_flag(cell, Flag::Dead)?;
        }
        Ok(None)
    }

    /// The block whose erase frees most cells, less its wear: [`WEAR_GAP`] erases count as much as a quarter of the
    /// cells. At times the least worn block of all.
    ///
    /// # Errors
    /// `Full` when no cell is dead.
    pub fn victim(&mut self) -> Outcome<EraseUnit, D> {
        let cells = i64::from(self.layout().cells_per_block);
        let mut best: Option<(i64, EraseUnit)> = None;
        let (mut least, mut most) = ((u32::MAX, EraseUnit(0)), 0);
        for unit in self.layout().units() {
            let erases = self.blocks.erase_count(unit)?;
            most = most.max(erases);
            if self.blocks.is_spare(unit)? {
                continue;
            }
            least = least.min((erases, unit));
            let dead = self.cell_counts(unit)?.dead;
            let worth = 4 * i64::from(WEAR_GAP) * i64::from(dead) - cells * i64::from(erases);
            if dead > 0 && best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, unit));
            }
        }
        let Some((_, victim)) = best else {
            return Err(IndexError::Full);
        };
        self.reclaims = (self.reclaims + 1) % WEAR_PERIOD;
        let is_uneven = self.reclaims == 0 && most - least.0 >= WEAR_GAP;
        Ok(if is_uneven { least.1 } else { victim })
    }

    /// A block of which half or more can be freed.
    pub fn worthwhile_victim(&mut self) -> Outcome<Option<EraseUnit>, D> {
        let mut best: Option<(u16, EraseUnit)> = None;
        for unit in self.layout().units() {
            if self.blocks.is_spare(unit)? {
                continue;
            }
            let dead = self.cell_counts(unit)?.dead;
            if 2 * dead >= self.layout().cells_per_block && best.is_none_or(|(most, _)| dead > most) {
                best = Some((dead, unit));
            }
        }
        Ok(best.map(|(_, unit)| unit))
    }

    /// Moves a block to the spare one of its turnstile, which this returns.
    pub fn rotate(&mut self, victim: EraseUnit) -> Outcome<EraseUnit, D> {
        let mut spare = None;
        for unit in self.layout().units_of(self.layout().turnstile_of(victim)) {
            if self.blocks.is_spare(unit)? {
                spare = Some(unit);
            }
        }
        let Some(spare) = spare.filter(|&spare| spare != victim) else {
            return Err(self.cells().damaged_block(victim, "a turnstile without a spare block"));
        };
        let erase_count = self.blocks.erase_count(victim)?;
        self.blocks.begin_filling(spare, Filling { from: victim.0, erase_count })?;
        self.move_block(victim, spare, erase_count)?;
        Ok(spare)
    }

    /// Steps 2 to 4.
    pub fn move_block(&mut self, victim: EraseUnit, spare: EraseUnit, erase_count: u32) -> Outcome<(), D> {
        for index in 0..self.layout().cells_per_block {
            let (from, to) = (Cell { unit: victim, index }, Cell { unit: spare, index });
            if let Some(stamp) = self.cells().live(from)?
                && !matches!(self.cells().state(to)?, CellState::Live(_))
            {
                self.copy(from, to, stamp)?;
            }
            if self.cells().state(from)? == CellState::Batch && self.cells().state(to)? != CellState::Batch {
                self.cells().copy_batch(from, to)?;
            }
        }
        self.blocks.activate(spare)?;
        self.roomy = Some(spare);
        self.blocks.erase_block(victim, erase_count.saturating_add(1))
    }

    fn copy(&mut self, from: Cell, to: Cell, stamp: Stamp) -> Outcome<(), D> {
        let is_head = stamp.kind == Kind::Head;
        let low = if is_head { None } else { Some(self.cells().low(from)?) };
        let kind = if is_head { Kind::Head } else { Kind::Object };
        let settled = Stamp { kind, settled: true, ..stamp };
        let mut draft = self.cells().draft(to, settled, low.as_ref(), Links::default())?;
        for level in 0..=stamp.level {
            let column = self.cells().pointer(from, stamp.kind, level)?;
            self.cells().draft_pointer(&mut draft, level, column)?;
        }
        if !is_head {
            self.cells().draft_slots(&mut draft, from, |_| true)?;
        }
        self.cells().seal(draft)
    }
}
