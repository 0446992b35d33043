//! Marks on physical units: which of them a reclamation has moved since the client last looked, and those that it
//! marked itself.
//!
//! They are bits of the unit table in RAM, so that clients that keep physical addresses learn of moves at no cost.
//! Invariant: a unit is marked before its first sector is copied, and only the client takes a mark away.

use norn_flash::{EraseUnit, Nor};

use crate::features::Features;
use crate::ground::table::UnitRows;
use crate::store::StoreIn;

impl<D: Nor, M: UnitRows, F: Features> StoreIn<D, M, F> {
    /// The first marked unit from number `from` on. Cost: RAM only.
    pub fn next_marked_unit(&self, from: u16) -> Option<EraseUnit> {
        self.table().all().skip(usize::from(from)).find(|&unit| self.table().is_marked(unit))
    }

    /// Marks a unit as if it had been moved. Cost: RAM only.
    pub fn mark_unit(&mut self, unit: EraseUnit) {
        self.table_mut().mark(unit);
    }

    /// Takes a unit's mark away. Cost: RAM only.
    pub fn clear_unit_mark(&mut self, unit: EraseUnit) {
        self.table_mut().clear_mark(unit);
    }

    /// Takes all marks away. Cost: RAM only.
    pub fn clear_unit_marks(&mut self) {
        self.table().all().for_each(|unit| self.table_mut().clear_mark(unit));
    }
}
