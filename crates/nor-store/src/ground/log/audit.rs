//! The checker of the log.

use norn_flash::{Auditor, EraseUnit, Nor, Violation};

use super::Log;
use crate::entry::{ENTRY_BYTES, EntryState};
use crate::error::StoreError;
use crate::features::Features;
use crate::format::HEADER_BYTES;
use crate::ground::table::UnitRows;

impl<D: Nor, M: UnitRows, F: Features> Log<D, M, F> {
    pub(in crate::ground) fn is_newest(&self, unit: EraseUnit) -> bool {
        unit == self.extent.unit
    }

    /// No transaction is open, recovery leaves no place torn but the last, and after that the newest unit is erased.
    pub(in crate::ground) fn audit(&mut self, auditor: &mut impl Auditor) -> Result<(), StoreError<D::Error>> {
        if self.extent.open {
            auditor.violation(Violation { address: self.next_address(), what: "an open transaction" });
        }
        let (unit, next) = (self.extent.unit, self.extent.next);
        for index in 0..next {
            if self.units.medium.detects() && self.read(unit, index)? == EntryState::Torn {
                let address = self.units.medium.geometry().entry_address(unit, index);
                auditor.violation(Violation { address, what: "a damaged log entry" });
            }
        }
        let from = HEADER_BYTES + u32::from(next + u16::from(self.extent.torn)) * ENTRY_BYTES;
        let size_bytes = self.units.medium.geometry().part.unit_size_bytes;
        if let Some(address) = self.units.medium.first_programmed(unit, from, size_bytes)? {
            auditor.violation(Violation { address, what: "unused space that is not erased" });
        }
        Ok(())
    }
}
