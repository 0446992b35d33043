//! The contract's calls on the virtual part.
//!
//! Invariant: a base cell that reads erased has no delta record.

use norn_flash::{Address, EraseUnit, Nor, NorPart};

use crate::error::RemapError;
use crate::format::Representation;
use crate::homes::RemapRows;
use crate::layout::CELL_BYTES_MAX;
use crate::remap::RemapIn;
use crate::switch::Contents;

impl<D: Nor, M: RemapRows> RemapIn<D, M> {
    /// The virtual unit of an address, and the offset in it.
    fn split(&self, address: u32) -> (EraseUnit, u32) {
        let unit = EraseUnit((address / self.layout.base_bytes) as u16);
        (unit, address % self.layout.base_bytes)
    }

    /// Refuses what the contract does not allow: a range of bytes that leaves the part or is not made of `multiple`.
    fn check_range(&self, address: Address, len: usize, multiple: u32) -> Result<(), RemapError<D::Error>> {
        let end = u64::from(self.virtual_units()) * u64::from(self.layout.base_bytes);
        let fits = u64::from(address.0) + len as u64 <= end;
        let aligned = address.0.is_multiple_of(multiple) && len.is_multiple_of(multiple as usize);
        if fits && aligned { Ok(()) } else { Err(RemapError::Misused) }
    }

    /// Reads part of one virtual unit.
    pub(crate) fn read_in(&mut self, unit: EraseUnit, offset: u32, buffer: &mut [u8]) -> Result<(), D::Error> {
        let home = self.homes.home(unit);
        if self.homes.records(unit) == 0 {
            return self.guard.device_mut().read(self.layout.base(home, offset), buffer);
        }
        let cell_bytes = self.layout.cell_bytes;
        let (mut at, end) = (offset, offset + buffer.len() as u32);
        while at < end {
            let start = at / cell_bytes * cell_bytes;
            let until = end.min(start + cell_bytes);
            let (mut bytes, into) = ([0; CELL_BYTES_MAX], (at - start) as usize..(until - start) as usize);
            self.read_cell(home, start, into.clone(), &mut bytes)?;
            buffer[(at - offset) as usize..(until - offset) as usize].copy_from_slice(&bytes[into]);
            at = until;
        }
        Ok(())
    }

    /// Programs part of one virtual unit.
    fn program_in(&mut self, unit: EraseUnit, offset: u32, bytes: &[u8]) -> Result<(), RemapError<D::Error>> {
        self.guard.expect_running()?;
        let home = self.homes.home(unit);
        let programmed = match self.layout.representation {
            Representation::InPlace => {
                self.guard.device_mut().program(self.layout.base(home, offset), bytes).map(|()| true)
            }
            Representation::Deltas => self.program_cells(unit, offset, bytes),
        };
        match programmed {
            Ok(true) => Ok(()),
            // The table is full: the unit is switched, with the change in it.
            Ok(false) => self.switch(unit, Contents::Changed { offset, bytes }),
            // A cell that a cut program used up, or that is bad, is not there any more in the new home.
            Err(error) => {
                self.check_answer(error)?;
                self.switch(unit, Contents::Changed { offset, bytes })
            }
        }
    }
}

impl<D: Nor, M: RemapRows> Nor for RemapIn<D, M> {
    type Error = RemapError<D::Error>;

    fn part(&self) -> NorPart {
        self.layout.virtual_part()
    }

    /// Mounts the part again, if a failure of the device has halted it. Cost: as mounting.
    fn restart(&mut self) -> Result<(), Self::Error> {
        if !self.guard.is_halted() {
            return Ok(());
        }
        self.guard.device_mut().restart().map_err(RemapError::Device)?;
        self.remount()
    }

    /// Cost: the words touched; in a unit with delta records one more for each group, and some where a group has
    /// several.
    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
        self.check_range(address, buffer.len(), 1)?;
        let (mut at, mut rest) = (address.0, buffer);
        while !rest.is_empty() {
            let (unit, offset) = self.split(at);
            let len = rest.len().min((self.layout.base_bytes - offset) as usize);
            let (piece, behind) = rest.split_at_mut(len);
            self.read_in(unit, offset, piece).map_err(RemapError::Device)?;
            at += len as u32;
            rest = behind;
        }
        Ok(())
    }

    /// Cost: a word for each erased word, a delta record for each other group that changes, and what finding its place
    /// reads. When the table is full, the unit moves: all of it is read and programmed, and a unit is erased.
    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
        self.check_range(address, bytes.len(), u32::from(self.part().program_unit_bytes))?;
        let (mut at, mut rest) = (address.0, bytes);
        while !rest.is_empty() {
            let (unit, offset) = self.split(at);
            let len = rest.len().min((self.layout.base_bytes - offset) as usize);
            let (piece, behind) = rest.split_at(len);
            self.program_in(unit, offset, piece)?;
            at += len as u32;
            rest = behind;
        }
        Ok(())
    }

    /// Atomic, also if the power fails. Cost: 40 bytes programmed, and an erase.
    fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error> {
        self.guard.expect_running()?;
        if unit.0 >= self.virtual_units() {
            return Err(RemapError::Misused);
        }
        self.switch(unit, Contents::Erased)
    }
}
