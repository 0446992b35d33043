//! Recovery: from any state that a power cut left to a list between two operations.
//!
//! First the blocks: the table in `ground/recover.rs`. Then the cells: the table in `replace.rs`. Last the slots:
//!
//! | state on flash | cause | action |
//! |---|---|---|
//! | the last slot written is not whole, and may be torn | the write was cut | clear its bit |
//! | the last slot's key is in another slot, too | an update was cut before it cleared the old one's bit | clear that |
//! | something after the last record, where values vary | the write of a record was cut | close the log |
//! | keys beyond the object's range | keys were being shifted here | clear their bits |
//! | an object without keys | it was new, or to be taken out | take it out |
//!
//! What no cut leaves is `Corrupted`. The keys are counted on the way.
//!
//! Invariant: each step can be cut and done again.

use norn_flash::{EraseUnit, Nor};

use crate::error::Outcome;
use crate::fat_list::format::{CellState, Column, Flag, Kind, Stamp};
use crate::fat_list::ground::cells::slots::Slot;
use crate::fat_list::layout::Cell;
use crate::fat_list::room::Budget;
use crate::fat_list::shape::Shape;
use crate::fat_list::widths::Widths;

/// What the cells hold besides settled objects.
#[derive(Default)]
struct Unfinished {
    head: Option<Cell>,
    left: Option<(Cell, Kind)>,
    right: Option<Cell>,
    has_doomed: bool,
    batch: Option<Cell>,
}

/// What recovery found on a part.
pub(crate) enum Recovered {
    /// No list: formatting was cut.
    NoList,
    /// A list, and where the batch is whose changes have to be made, if one was cut.
    List { batch: Option<Column> },
}

impl<D: Nor, W: Widths> Shape<D, W> {
    /// Completes or undoes what a cut left, except a batch.
    pub(crate) fn recover(&mut self) -> Outcome<Recovered, D> {
        if self.list().turnstiles.is_half_formatted()? {
            return Ok(Recovered::NoList);
        }
        self.list().turnstiles.recover()?;
        let mut unfinished = Unfinished::default();
        for unit in self.layout().units() {
            if !self.list().turnstiles.blocks.is_spare(unit)? {
                self.settle_cells(unit, &mut unfinished)?;
            }
        }
        let head = match (unfinished.head, unfinished.left) {
            (Some(head), _) => head,
            (None, Some((left, Kind::Head))) => left,
            (None, _) => return Ok(Recovered::NoList),
        };
        self.list().set_head(head);
        self.finish_structure(&unfinished)?;
        self.settle_slots()?;
        self.settle_ranges()?;
        Ok(Recovered::List { batch: unfinished.batch.map(|cell| self.layout().column_of(cell)) })
    }

    // Cells.

    fn settle_cells(&mut self, unit: EraseUnit, unfinished: &mut Unfinished) -> Outcome<(), D> {
        for index in 0..self.layout().cells_per_block {
            let cell = Cell { unit, index };
            match self.cells().state(cell)? {
                CellState::Unsealed if self.cells().has_lost_seal(cell)? => {
                    return Err(self.cells().damage(cell, 0, "an object that has lost its seal"));
                }
                CellState::Unsealed => self.cells().set_flag(cell, Flag::Dead)?,
                CellState::Malformed => return Err(self.cells().damage(cell, 0, "a stamp that nothing writes")),
                CellState::Live(stamp) => {
                    if self.note(cell, stamp, unfinished) {
                        return Err(self.cells().damage(cell, 0, "a second cell that is half done, or a second head"));
                    }
                }
                CellState::Batch => {
                    if unfinished.batch.replace(cell).is_some() {
                        return Err(self.cells().damage(cell, 0, "a second batch"));
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
            Stamp { doomed: true, .. } => {
                unfinished.has_doomed = true;
                false
            }
            Stamp { settled: false, kind: Kind::Right, .. } => unfinished.right.replace(cell).is_some(),
            Stamp { settled: false, kind, .. } => unfinished.left.replace((cell, kind)).is_some(),
            Stamp { kind: Kind::Head, .. } => unfinished.head.replace(cell).is_some(),
            _ => false,
        }
    }

    fn finish_structure(&mut self, unfinished: &Unfinished) -> Outcome<(), D> {
        match (unfinished.left, unfinished.right) {
            (Some((left, _)), _) => self.room.replacements.finish(left)?,
            (None, Some(right)) => self.cells().set_flag(right, Flag::Dead)?,
            (None, None) => {}
        }
        if unfinished.has_doomed { self.room.replacements.recover_doomed() } else { Ok(()) }
    }

    // Slots.

    fn settle_slots(&mut self) -> Outcome<(), D> {
        for unit in self.layout().units() {
            if self.list().turnstiles.blocks.is_spare(unit)? {
                continue;
            }
            for index in 0..self.layout().cells_per_block {
                let cell = Cell { unit, index };
                match self.cells().live(cell)? {
                    Some(stamp) if stamp.kind != Kind::Head => self.settle_slots_of(cell)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn settle_slots_of(&mut self, cell: Cell) -> Outcome<(), D> {
        self.cells().links(cell)?;
        let is_closed = W::VARIES && self.cells().close_torn_log(cell)?;
        let mut survey = self.cells().survey(cell)?;
        if let Some(last) = survey.written.checked_sub(1).filter(|last| survey.valid >> last & 1 == 1) {
            if self.cells().slot(cell, last)? == Slot::Torn {
                if is_closed || !self.cells().may_be_torn(cell, last)? {
                    let address = self.cells().slot_address(cell, last)?;
                    return Err(self.cells().damage_at(address, "a slot whose code is wrong, and not from a cut"));
                }
                self.cells().clear_slot(cell, last)?;
                survey.valid &= !(1 << last);
            } else {
                let key = self.cells().key_at(cell, last)?;
                for slot in survey.slots().filter(|&slot| slot != last) {
                    if self.cells().key_at(cell, slot)? == key {
                        self.cells().clear_slot(cell, slot)?;
                        survey.valid &= !(1 << slot);
                    }
                }
            }
        }
        for slot in survey.slots() {
            self.cells().entry(cell, slot)?;
        }
        Ok(())
    }

    /// Clears keys beyond an object's range, counts the others, and takes an object without keys out.
    fn settle_ranges(&mut self) -> Outcome<(), D> {
        let (mut node, mut empty, mut keys) = (self.list().head_node(), None, 0);
        while let Some(current) = self.list().successor(&node, 0)? {
            node = current;
            let end = self.list().successor(&node, 0)?.and_then(|next| next.low);
            let mut survey = self.cells().survey(node.cell)?;
            for slot in survey.slots() {
                let key = Some(self.cells().key_at(node.cell, slot)?);
                if key < node.low {
                    let offset = self.layout().slots_offset();
                    return Err(self.cells().damage(node.cell, offset, "a key below its object's range"));
                }
                if end.is_some() && key >= end {
                    self.cells().clear_slot(node.cell, slot)?;
                    survey.valid &= !(1 << slot);
                }
            }
            keys += survey.keys();
            if survey.valid == 0 {
                empty = node.low;
            }
        }
        self.list().keys = Some(keys);
        match empty {
            Some(low) => self.take_out_empty(&mut Budget::of_call(), &low),
            None => Ok(()),
        }
    }
}
