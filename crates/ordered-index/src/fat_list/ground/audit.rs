//! The checker of blocks and cells: reports every invariant that does not hold in them.
//!
//! Between two operations:
//! - each turnstile has one spare block, erased except for its identity; the others are active;
//! - a cell is erased, dead, or a settled object; nothing is half done;
//! - there is one head;
//! - an object has keys, each of them once, and slots that are whole and written in order;
//! - where values vary, what lies after an object's records is erased, or its log is closed, and the reserve is there.

use norn_flash::{Address, Auditor, EraseUnit, Nor, Violation};

use super::cells::slots::Slot;
use super::turnstile::Turnstiles;
use crate::error::Outcome;
use crate::fat_list::format::{CELLS_OFFSET, CellState, Kind, LEVELS_MAX};
use crate::fat_list::layout::Cell;
use crate::fat_list::widths::Widths;

/// Whether an invariant holds, and what is wrong if it does not.
pub(crate) type Finding = (bool, &'static str);

/// Reports what is wrong where an invariant does not hold.
pub(crate) fn check((holds, what): Finding, address: Address, auditor: &mut impl Auditor) {
    if !holds {
        auditor.violation(Violation { address, what });
    }
}

impl<D: Nor, W: Widths> Turnstiles<D, W> {
    /// Checks every block and cell of a list whose head is `head`; returns how many objects are linked on each level.
    pub fn audit(&mut self, head: Cell, auditor: &mut impl Auditor) -> Outcome<[u32; LEVELS_MAX], D> {
        let mut hooked = [0; LEVELS_MAX];
        for turnstile in 0..self.layout().turnstiles {
            let mut spares = 0;
            for unit in self.layout().units_of(turnstile) {
                if self.blocks.is_spare(unit)? {
                    spares += 1;
                    self.audit_spare(unit, auditor)?;
                } else {
                    self.audit_cells(unit, head, &mut hooked, auditor)?;
                }
            }
            let first = self.layout().units_of(turnstile).next();
            let address = first.map_or(Address(0), |unit| self.layout().block(unit));
            check((spares == 1, "a turnstile without a spare block, or with several"), address, auditor);
        }
        Ok(hooked)
    }

    fn audit_spare(&mut self, unit: EraseUnit, auditor: &mut impl Auditor) -> Outcome<(), D> {
        let address = self.layout().block(unit);
        let block = self.blocks.block_state(unit)?;
        check(
            (block.is_fresh() && !block.is_void, "a spare block without an identity, or with more"),
            address,
            auditor,
        );
        let end = self.cells().medium.part().unit_size_bytes;
        for at in (CELLS_OFFSET..end).step_by(4) {
            let word = self.cells().medium.read_u32(address.offset(at))?;
            check((word == u32::MAX, "a spare block that is not erased"), address.offset(at), auditor);
        }
        Ok(())
    }

    fn audit_cells(
        &mut self,
        unit: EraseUnit,
        head: Cell,
        hooked: &mut [u32; LEVELS_MAX],
        auditor: &mut impl Auditor,
    ) -> Outcome<(), D> {
        let block = self.blocks.block_state(unit)?;
        let is_whole = block.erase_count().is_some() && !block.is_void;
        check((is_whole, "an active block without an identity"), self.layout().block(unit), auditor);
        for index in 0..self.layout().cells_per_block {
            let cell = Cell { unit, index };
            let address = self.layout().cell(cell);
            match self.cells().state(cell)? {
                CellState::Free => self.audit_free(cell, auditor)?,
                CellState::Dead => {}
                CellState::Live(stamp) => {
                    check((stamp.settled && !stamp.doomed, "an object that is not settled"), address, auditor);
                    let is_head = stamp.kind == Kind::Head;
                    check(
                        (is_head == (cell == head), "a head that is not the list's, or a list's head that is none"),
                        address,
                        auditor,
                    );
                    self.cells().links(cell)?;
                    if !is_head {
                        hooked[..=usize::from(stamp.level)].iter_mut().for_each(|count| *count += 1);
                        self.audit_slots(cell, auditor)?;
                    }
                }
                CellState::Batch => check((false, "a batch that is not complete"), address, auditor),
                CellState::Unsealed | CellState::Malformed => {
                    check((false, "a cell that is neither erased, dead nor sealed"), address, auditor);
                }
            }
        }
        Ok(())
    }

    fn audit_free(&mut self, cell: Cell, auditor: &mut impl Auditor) -> Outcome<(), D> {
        let found = self.cells().first_not_erased(cell)?;
        let address = self.layout().field(cell, found.unwrap_or(0));
        check((found.is_none(), "a free cell that is not erased"), address, auditor);
        Ok(())
    }

    fn audit_slots(&mut self, cell: Cell, auditor: &mut impl Auditor) -> Outcome<(), D> {
        let survey = self.cells().survey(cell)?;
        check((survey.valid != 0, "an object without keys"), self.layout().cell(cell), auditor);
        if W::VARIES
            && let Some((at, what)) = self.cells().log_damage(cell)?
        {
            check((false, what), self.layout().field(cell, at), auditor);
        }
        let slots = if W::VARIES { survey.written } else { self.layout().settings.slots };
        for slot in 0..slots {
            let address = self.cells().slot_address(cell, slot)?;
            let found = self.cells().slot(cell, slot)?;
            let is_valid = survey.valid >> slot & 1 == 1;
            let is_written = slot < survey.written;
            // An erased slot whose bit is cleared is never written: what a cut left of it may have gone.
            let is_in_order = is_written == (found != Slot::Erased) || is_written && !is_valid;
            check((is_in_order, "slots that are not written in order"), address, auditor);
            check(
                (!is_valid || matches!(found, Slot::Whole(..)), "a slot that counts and is not whole"),
                address,
                auditor,
            );
            if is_valid {
                let key = self.cells().key_at(cell, slot)?;
                for other in survey.slots().filter(|&other| other > slot) {
                    let is_other = self.cells().key_at(cell, other)? != key;
                    check((is_other, "a key that is there twice"), address, auditor);
                }
            }
        }
        Ok(())
    }
}
