//! The checker: walks a list and reports every invariant that does not hold.
//!
//! Between two operations:
//! - each turnstile has one spare block, erased but for its identity; the others are active;
//! - a cell is erased, dead, or a settled object; nothing is half done;
//! - there is one head; each level's pointers lead through every object that hooks on it, in ascending order, and back to the head;
//! - an object has keys, each of them once and in its range, and slots that are whole and written in order.

use norn_flash::{Address, EraseUnit, Nor};

use crate::fat_list::cells::Slot;
use crate::fat_list::format::{CELLS_OFFSET, CellState, Kind, LEVELS_MAX};
use crate::fat_list::layout::Cell;
use crate::fat_list::list::{FatList, Outcome};
use crate::fat_list::search::Node;

/// An invariant that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where.
    pub address: Address,
    /// What should be.
    pub what: &'static str,
}

impl<D: Nor, const K: usize, const V: usize> FatList<D, K, V> {
    /// Reports every invariant that does not hold. Cost: reads all that is in use, and each level's list.
    ///
    /// # Errors
    /// `Corrupted` where the walk cannot go on, and the device's.
    pub fn audit(&mut self, mut report: impl FnMut(Violation)) -> Outcome<(), D> {
        let mut hooked = [0; LEVELS_MAX];
        for turnstile in 0..self.layout.turnstiles {
            let mut spares = 0;
            for unit in self.layout.units_of(turnstile) {
                if self.is_spare(unit)? {
                    spares += 1;
                    self.audit_spare(unit, &mut report)?;
                } else {
                    self.audit_cells(unit, &mut hooked, &mut report)?;
                }
            }
            let address = self.layout.units_of(turnstile).next().map_or(Address(0), |unit| self.layout.block(unit));
            check((spares == 1, "a turnstile has one spare block"), address, &mut report);
        }
        for level in 0..self.layout.settings.levels {
            self.audit_level(level, hooked[usize::from(level)], &mut report)?;
        }
        Ok(())
    }

    fn audit_spare(&mut self, unit: EraseUnit, report: &mut impl FnMut(Violation)) -> Outcome<(), D> {
        let address = self.layout.block(unit);
        let block = self.block_state(unit)?;
        check((block.is_fresh() && !block.is_void, "a spare block has an identity and no more"), address, report);
        let end = self.medium.part().unit_size_bytes;
        for at in (CELLS_OFFSET..end).step_by(4) {
            let word = self.medium.read_u32(address.offset(at))?;
            check((word == u32::MAX, "a spare block is erased"), address.offset(at), report);
        }
        Ok(())
    }

    fn audit_cells(
        &mut self,
        unit: EraseUnit,
        hooked: &mut [u32; LEVELS_MAX],
        report: &mut impl FnMut(Violation),
    ) -> Outcome<(), D> {
        let block = self.block_state(unit)?;
        let is_whole = block.erase_count().is_some() && !block.is_void;
        check((is_whole, "an active block has an identity"), self.layout.block(unit), report);
        for index in 0..self.layout.cells_per_block {
            let cell = Cell { unit, index };
            let address = self.layout.cell(cell);
            match self.state(cell)? {
                CellState::Free => self.audit_free(cell, report)?,
                CellState::Dead => {}
                CellState::Live(stamp) => {
                    check((stamp.settled && !stamp.doomed, "an object is settled"), address, report);
                    let is_head = stamp.kind == Kind::Head;
                    check((is_head == (cell == self.head), "there is one head"), address, report);
                    self.links(cell)?;
                    if !is_head {
                        hooked[..=usize::from(stamp.level)].iter_mut().for_each(|count| *count += 1);
                        self.audit_slots(cell, report)?;
                    }
                }
                CellState::Unsealed | CellState::Malformed => {
                    check((false, "a cell is erased, dead or sealed"), address, report);
                }
            }
        }
        Ok(())
    }

    fn audit_free(&mut self, cell: Cell, report: &mut impl FnMut(Violation)) -> Outcome<(), D> {
        for at in (0..self.layout.cell_bytes).step_by(2) {
            let address = self.layout.field(cell, at);
            let word = self.medium.read_u16(address)?;
            check((word == u16::MAX, "a free cell is erased"), address, report);
        }
        Ok(())
    }

    fn audit_slots(&mut self, cell: Cell, report: &mut impl FnMut(Violation)) -> Outcome<(), D> {
        let survey = self.survey(cell)?;
        check((survey.valid != 0, "an object has keys"), self.layout.cell(cell), report);
        for slot in 0..self.layout.settings.slots {
            let address = self.layout.slot(cell, slot);
            let found = self.slot(cell, slot)?;
            let is_valid = survey.valid >> slot & 1 == 1;
            let is_written = slot < survey.written;
            check((is_written == (found != Slot::Erased), "slots are written in order"), address, report);
            check((!is_valid || matches!(found, Slot::Whole(..)), "a slot that counts is whole"), address, report);
            if is_valid {
                let key = self.key_at(cell, slot)?;
                for other in survey.slots().filter(|&other| other > slot) {
                    let is_other = self.key_at(cell, other)? != key;
                    check((is_other, "a key is there once"), address, report);
                }
            }
        }
        Ok(())
    }

    /// Walks one level's list, on which `hooked` objects should be.
    fn audit_level(&mut self, level: u8, hooked: u32, report: &mut impl FnMut(Violation)) -> Outcome<(), D> {
        let (mut node, mut count) = (self.head_node(), 0);
        while let Some(next) = self.successor(&node, level)? {
            count += 1;
            if level == 0 {
                self.audit_range(&node, next.low, report)?;
            }
            node = next;
        }
        if level == 0 {
            self.audit_range(&node, None, report)?;
        }
        let address = self.layout.cell(node.cell);
        check((count == hooked, "a level's list has every object that hooks on the level"), address, report);
        let column = self.pointer(node.cell, node.kind(), level)?;
        let leads_back = column == self.layout.column_of(self.head);
        check((leads_back, "the last object of a level leads to the head"), address, report);
        Ok(())
    }

    fn audit_range(
        &mut self,
        node: &Node<K>,
        end: Option<[u8; K]>,
        report: &mut impl FnMut(Violation),
    ) -> Outcome<(), D> {
        if node.low.is_none() {
            return Ok(());
        }
        for slot in self.survey(node.cell)?.slots() {
            let key = Some(self.key_at(node.cell, slot)?);
            let is_within = key >= node.low && (end.is_none() || key < end);
            check((is_within, "a key is in its object's range"), self.layout.slot(node.cell, slot), report);
        }
        Ok(())
    }
}

/// Whether an invariant holds, and what it says.
type Finding = (bool, &'static str);

/// Reports what a finding says if it does not hold.
fn check((holds, what): Finding, address: Address, report: &mut impl FnMut(Violation)) {
    if !holds {
        report(Violation { address, what });
    }
}
