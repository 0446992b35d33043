//! Recovery: from whatever a power cut left to a list between two operations.
//!
//! Blocks, of each turnstile; of the rows, the first that fits applies:
//!
//! | state on flash | cause | action |
//! |---|---|---|
//! | a block is void | formatting was cut | `NotFormatted` |
//! | an active block names another one with its present count of erases | the other's erase was cut, or not begun | erase it |
//! | a block names another one and is not active | the move was cut | complete the move |
//! | a block's naming of another one is torn | so was the move, before it began | erase the block |
//! | one block has no identity, and there is no spare one | an erase was cut | erase it |
//! | one block is spare, the others are active | none of these | none |
//! | anything else | damage | `Corrupted` |
//!
//! Then the cells: the table in `replace.rs`. Last the slots:
//!
//! | state on flash | cause | action |
//! |---|---|---|
//! | the last slot written is not whole | the write was cut | clear its bit |
//! | the last slot's key is in another slot, too | an update was cut before it cleared the old one's bit | clear that |
//! | keys beyond the object's range | keys were being shifted here | clear their bits |
//! | an object without keys | it was new, or to be taken out | take it out |
//!
//! Invariant: each step can be cut and done again.

use norn_flash::{EraseUnit, Nor, Violation};

use crate::error::{IndexError, MountError};
use crate::fat_list::cells::Slot;
use crate::fat_list::format::{CellState, Flag, Kind, Stamp};
use crate::fat_list::layout::Cell;
use crate::fat_list::list::{FatList, Outcome, Session};
use crate::fat_list::turnstile::Record;

/// What the cells hold besides settled objects.
#[derive(Default)]
struct Unfinished {
    head: Option<Cell>,
    left: Option<(Cell, Kind)>,
    right: Option<Cell>,
    doomed: Option<Cell>,
}

impl<D: Nor, const K: usize, const V: usize> FatList<D, K, V> {
    /// Completes or undoes what a cut left.
    pub(crate) fn recover(&mut self) -> Result<(), MountError<D::Error>> {
        for unit in self.layout.units() {
            if self.is_void(unit)? {
                return Err(MountError::NotFormatted);
            }
        }
        for turnstile in 0..self.layout.turnstiles {
            self.settle_turnstile(turnstile)?;
        }
        let mut unfinished = Unfinished::default();
        for unit in self.layout.units() {
            if !self.is_spare(unit)? {
                self.settle_cells(unit, &mut unfinished)?;
            }
        }
        let head = match (unfinished.head, unfinished.left) {
            (Some(head), _) => head,
            (None, Some((left, Kind::Head))) => left,
            (None, _) => return Err(MountError::NotFormatted),
        };
        (self.head, self.session) = (head, Session::Open);
        self.finish_structure(&unfinished)?;
        self.settle_slots()?;
        self.settle_ranges()?;
        Ok(())
    }

    // Blocks.

    /// The block that an active one names with its present count of erases, and that count. What else it says may be torn.
    fn outlived(&mut self, turnstile: u8) -> Outcome<Option<(EraseUnit, u32)>, D> {
        for unit in self.layout.units_of(turnstile) {
            let block = self.block_state(unit)?;
            if let Record::Whole(record) = block.filling
                && record.from != unit.0
                && block.is_active
                && block.erase_count().is_some()
            {
                let from = EraseUnit(record.from);
                if !self.layout.units_of(turnstile).any(|other| other == from) {
                    return Err(self.bad_block(unit, "a move from another turnstile"));
                }
                if self.block_state(from)?.erase_count() == Some(record.erase_count) {
                    return Ok(Some((from, record.erase_count)));
                }
            }
        }
        Ok(None)
    }

    fn settle_turnstile(&mut self, turnstile: u8) -> Outcome<(), D> {
        if let Some((unit, erase_count)) = self.outlived(turnstile)? {
            return self.erase_block(unit, erase_count.saturating_add(1));
        }
        let (mut fresh, mut broken, mut torn, mut filling, mut count_max) = (0, None, None, None, 0);
        for unit in self.layout.units_of(turnstile) {
            let block = self.block_state(unit)?;
            fresh += u32::from(block.is_fresh());
            let Some(count) = block.erase_count() else {
                if broken.replace(unit).is_some() {
                    return Err(self.bad_block(unit, "a second block without an identity"));
                }
                continue;
            };
            count_max = count_max.max(count);
            match block.filling {
                Record::Whole(record) if record.from != unit.0 => {
                    let from = EraseUnit(record.from);
                    if !self.layout.units_of(turnstile).any(|other| other == from) {
                        return Err(self.bad_block(unit, "a move from another turnstile"));
                    }
                    let is_pending = self.block_state(from)?.erase_count() == Some(record.erase_count);
                    if !block.is_active {
                        filling = Some((unit, from, record.erase_count, is_pending));
                    }
                    count_max = count_max.max(record.erase_count);
                }
                Record::Whole(_) if block.is_active => {}
                Record::Erased if !block.is_active => {}
                Record::Torn if !block.is_active => torn = Some(unit),
                _ => return Err(self.bad_block(unit, "a block that is active and names no other")),
            }
        }
        match (filling, torn, broken) {
            (Some((unit, from, count, true)), None, None) if fresh == 0 => self.move_block(from, unit, count),
            (None, Some(unit), None) | (None, None, Some(unit)) if fresh == 0 => {
                self.erase_block(unit, count_max.saturating_add(1))
            }
            (None, None, None) if fresh == 1 => Ok(()),
            _ => {
                let unit = self.layout.units_of(turnstile).next().unwrap_or_default();
                Err(self.bad_block(unit, "a turnstile whose blocks contradict each other"))
            }
        }
    }

    fn bad_block(&self, unit: EraseUnit, what: &'static str) -> IndexError<D::Error> {
        IndexError::Corrupted(Violation { address: self.layout.block(unit), what })
    }

    // Cells.

    fn settle_cells(&mut self, unit: EraseUnit, unfinished: &mut Unfinished) -> Outcome<(), D> {
        for index in 0..self.layout.cells_per_block {
            let cell = Cell { unit, index };
            match self.state(cell)? {
                CellState::Unsealed => self.set_flag(cell, Flag::Dead)?,
                CellState::Malformed => return Err(self.damage(cell, 0, "a stamp that nothing writes")),
                CellState::Live(stamp) => {
                    if self.note(cell, stamp, unfinished) {
                        return Err(self.damage(cell, 0, "a second cell that is half done, or a second head"));
                    }
                }
                CellState::Free | CellState::Dead => {}
            }
        }
        Ok(())
    }

    /// Remembers a live cell that is not a settled object; whether there was such a one before.
    fn note(&self, cell: Cell, stamp: Stamp, unfinished: &mut Unfinished) -> bool {
        match stamp {
            Stamp { doomed: true, .. } => unfinished.doomed.replace(cell).is_some(),
            Stamp { settled: false, kind: Kind::Right, .. } => unfinished.right.replace(cell).is_some(),
            Stamp { settled: false, kind, .. } => unfinished.left.replace((cell, kind)).is_some(),
            Stamp { kind: Kind::Head, .. } => unfinished.head.replace(cell).is_some(),
            _ => false,
        }
    }

    fn finish_structure(&mut self, unfinished: &Unfinished) -> Outcome<(), D> {
        match (unfinished.left, unfinished.right) {
            (Some((left, _)), _) => self.finish(left)?,
            (None, Some(right)) => self.set_flag(right, Flag::Dead)?,
            (None, None) => {}
        }
        match unfinished.doomed {
            Some(doomed) => self.finish_taking_out(doomed),
            None => Ok(()),
        }
    }

    // Slots.

    fn settle_slots(&mut self) -> Outcome<(), D> {
        for unit in self.layout.units() {
            if self.is_spare(unit)? {
                continue;
            }
            for index in 0..self.layout.cells_per_block {
                let cell = Cell { unit, index };
                match self.live(cell)? {
                    Some(stamp) if stamp.kind != Kind::Head => self.settle_slots_of(cell)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn settle_slots_of(&mut self, cell: Cell) -> Outcome<(), D> {
        self.links(cell)?;
        let mut survey = self.survey(cell)?;
        if let Some(last) = survey.written.checked_sub(1).filter(|last| survey.valid >> last & 1 == 1) {
            if self.slot(cell, last)? == Slot::Torn {
                self.clear_slot(cell, last)?;
                survey.valid &= !(1 << last);
            } else {
                let key = self.key_at(cell, last)?;
                for slot in survey.slots().filter(|&slot| slot != last) {
                    if self.key_at(cell, slot)? == key {
                        self.clear_slot(cell, slot)?;
                        survey.valid &= !(1 << slot);
                    }
                }
            }
        }
        for slot in survey.slots() {
            self.entry(cell, slot)?;
        }
        Ok(())
    }

    /// Clears keys beyond an object's range, and takes an object without keys out.
    fn settle_ranges(&mut self) -> Outcome<(), D> {
        let (mut node, mut empty) = (self.head_node(), None);
        while let Some(current) = self.successor(&node, 0)? {
            node = current;
            let end = self.successor(&node, 0)?.and_then(|next| next.low);
            let mut survey = self.survey(node.cell)?;
            for slot in survey.slots() {
                let key = Some(self.key_at(node.cell, slot)?);
                if key < node.low {
                    return Err(self.damage(node.cell, self.layout.slots_offset, "a key below its object's range"));
                }
                if end.is_some() && key >= end {
                    self.clear_slot(node.cell, slot)?;
                    survey.valid &= !(1 << slot);
                }
            }
            if survey.valid == 0 {
                empty = node.low;
            }
        }
        match empty {
            Some(low) => self.take_out_empty(&low),
            None => Ok(()),
        }
    }
}
