//! Erase units: the header that each of them has on flash, and the table of what they serve for.
//!
//! A header is an identity, which says that the unit's last erase is complete, and an assignment, which says what the
//! unit serves for. Invariant: a unit without a whole identity is not used for anything.

use norn_flash::{Address, EraseUnit, Nor};

use super::medium::Medium;
use super::table::{Role, UnitTable};
use crate::entry::{ENTRY_BYTES, Entry, EntryState};
use crate::error::StoreError;
use crate::features::Features;
use crate::format::{ASSIGNMENT_OFFSET, ERASE_COUNT_OFFSET, FORMAT_VERSION, HEADER_BYTES, IDENTITY_BYTES, Identity};
use crate::ground::table::UnitRows;

/// The units of a part.
#[derive(Clone, Debug)]
pub(crate) struct Units<D: Nor, M: UnitRows, F> {
    pub medium: Medium<D, F>,
    pub table: UnitTable<M>,
}

impl<D: Nor, M: UnitRows, F: Features> Units<D, M, F> {
    pub(super) fn unused(device: D, rows: M) -> Self {
        Units { medium: Medium::unused(device), table: UnitTable::new(rows) }
    }

    fn header_address(&self, unit: EraseUnit, offset: u32) -> Address {
        self.medium.geometry().part.start_of(unit).offset(offset)
    }

    pub(super) fn identity(&mut self, unit: EraseUnit) -> Result<Option<Identity>, StoreError<D::Error>> {
        let mut bytes = [0; IDENTITY_BYTES];
        self.medium.read(self.header_address(unit, 0), &mut bytes)?;
        Ok(Identity::decode(&bytes))
    }

    /// The erase count in a unit's identity, which is known to be whole. Cost: 1 word read.
    pub(super) fn erase_count(&mut self, unit: EraseUnit) -> Result<u32, StoreError<D::Error>> {
        self.medium.read_word(self.header_address(unit, ERASE_COUNT_OFFSET))
    }

    pub(super) fn assignment(&mut self, unit: EraseUnit) -> Result<EntryState, StoreError<D::Error>> {
        self.entry_at(self.header_address(unit, ASSIGNMENT_OFFSET))
    }

    pub(super) fn assignment_bytes(
        &mut self,
        unit: EraseUnit,
    ) -> Result<[u8; ENTRY_BYTES as usize], StoreError<D::Error>> {
        let mut bytes = [0; ENTRY_BYTES as usize];
        self.medium.read(self.header_address(unit, ASSIGNMENT_OFFSET), &mut bytes)?;
        Ok(bytes)
    }

    #[inline(never)]
    pub(super) fn assign(&mut self, unit: EraseUnit, entry: Entry) -> Result<(), StoreError<D::Error>> {
        self.medium.program(self.header_address(unit, ASSIGNMENT_OFFSET), &entry.encode())
    }

    /// Makes an assignment all zeros: it says nothing any more.
    pub(super) fn void_assignment(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        self.medium.program(self.header_address(unit, ASSIGNMENT_OFFSET), &[0; ENTRY_BYTES as usize])
    }

    /// What is at the place of an entry.
    pub(super) fn entry_at(&mut self, address: Address) -> Result<EntryState, StoreError<D::Error>> {
        let mut bytes = [0; ENTRY_BYTES as usize];
        self.medium.read(address, &mut bytes)?;
        Ok(EntryState::of(bytes))
    }

    /// Whether what is at `address` can be programmed to `entry`.
    pub(super) fn can_become(&mut self, address: Address, entry: Entry) -> Result<bool, StoreError<D::Error>> {
        let mut bytes = [0; ENTRY_BYTES as usize];
        self.medium.read(address, &mut bytes)?;
        Ok(entry.encode().iter().zip(bytes).all(|(wanted, found)| wanted & !found == 0))
    }

    /// Erases a unit and makes it free by an identity. A log entry has said so before.
    pub(super) fn erase(&mut self, unit: EraseUnit, erase_count: u32) -> Result<(), StoreError<D::Error>> {
        self.table.set_role(unit, Role::Busy);
        self.medium.erase(unit)?;
        let part = self.medium.geometry().part;
        let identity = Identity {
            version: FORMAT_VERSION,
            unit_size_bytes: u64::from(part.unit_size_bytes),
            unit_count: part.unit_count,
            erase_count,
        };
        self.medium.program(part.start_of(unit), &identity.encode())?;
        self.table.set_role(unit, Role::Free);
        Ok(())
    }

    /// The least worn free unit, if any is free.
    pub(super) fn least_worn_free(&mut self) -> Result<Option<EraseUnit>, StoreError<D::Error>> {
        let mut best: Option<(u32, EraseUnit)> = None;
        for unit in self.table.all() {
            if self.table.role(unit) != Role::Free {
                continue;
            }
            let erase_count = self.erase_count(unit)?;
            if best.is_none_or(|(least, _)| erase_count < least) {
                best = Some((erase_count, unit));
            }
        }
        Ok(best.map(|(_, unit)| unit))
    }

    /// Refuses a unit whose assignment is not whole, but whose body was in use.
    pub(super) fn expect_torn_assignment(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let size_bytes = self.medium.geometry().part.unit_size_bytes;
        if self.medium.detects() && self.medium.first_programmed(unit, HEADER_BYTES, size_bytes)?.is_some() {
            let address = self.header_address(unit, ASSIGNMENT_OFFSET);
            return self.medium.corrupted(address, "a damaged assignment of a unit in use");
        }
        Ok(())
    }
}
