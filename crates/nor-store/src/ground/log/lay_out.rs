//! Formatting: an empty log on a part whose other units are free.
//!
//! An old log goes first, its oldest unit before the others, so that a cut leaves no store that looks whole and is not.
//! Its units are erased last of all: as long as others are there, they show that formatting was cut.

use norn_flash::{EraseUnit, Nor};

use super::{Log, Sequence};
use crate::entry::{ENTRY_BYTES, Entry, EntryState};
use crate::error::StoreError;
use crate::features::Features;
use crate::format::ERASE_COUNT_MAX;
use crate::ground::table::Role;
use crate::ground::table::UnitRows;

impl<D: Nor, M: UnitRows, F: Features> Log<D, M, F> {
    /// Erases the part, and writes the first log unit.
    pub(crate) fn lay_out(&mut self) -> Result<(), StoreError<D::Error>> {
        for _ in self.units.table.all() {
            let Some(unit) = self.oldest_unit()? else {
                break;
            };
            self.units.void_assignment(unit)?;
        }
        for log_units in [false, true] {
            for unit in self.units.table.all() {
                let is_log = self.units.assignment_bytes(unit)? == [0; ENTRY_BYTES as usize];
                if self.units.table.role(unit) == Role::Busy && is_log == log_units {
                    let erase_count = self.units.identity(unit)?.map_or(0, |identity| identity.erase_count);
                    self.units.erase(unit, (erase_count + 1).min(ERASE_COUNT_MAX))?;
                }
            }
        }
        let unit = self.take_free_unit()?;
        self.start_unit(unit, Sequence::new(1))
    }

    /// The log unit with the lowest sequence number.
    fn oldest_unit(&mut self) -> Result<Option<EraseUnit>, StoreError<D::Error>> {
        let mut oldest: Option<(Sequence, EraseUnit)> = None;
        for unit in self.units.table.all() {
            if let EntryState::Whole(Entry::LogUnit { sequence }) = self.units.assignment(unit)? {
                let sequence = Sequence::new(sequence);
                if oldest.is_none_or(|(lowest, _)| lowest.is_after(sequence)) {
                    oldest = Some((sequence, unit));
                }
            }
        }
        Ok(oldest.map(|(_, unit)| unit))
    }
}
