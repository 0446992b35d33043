//! The virtual part: its state in RAM, and the contract's calls on it.
//!
//! Invariants: every virtual unit has one home; a base cell that reads erased has no delta record; nothing in RAM is
//! the only copy of anything.

use norn_flash::{Address, EraseUnit, Guard, Nor, NorPart};

use crate::error::RemapError;
use crate::format::Representation;
use crate::layout::Layout;
use crate::switch::Contents;
use crate::table::Hints;

/// Bytes of the largest cell.
pub(crate) const CELL_BYTES_MAX: usize = 32;

/// How to lay out a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemapConfig {
    /// Units beyond the virtual ones: at least 1, which every erase and every move goes to; each further one replaces a
    /// unit that fails.
    pub spare_units: u16,
}

/// The unit that the next move or erase goes to: erased wholly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spare {
    pub unit: EraseUnit,
    pub erase_count: u32,
}

/// A part without limits, on a NOR part of at most `UNITS` erase units.
///
/// RAM: five bytes for each of `UNITS`, and about 160 bytes.
///
/// After a call that failed because the device did not answer, programs and erases say [`RemapError::Halted`] until the
/// device is mounted again, or in place by [`restart`](Nor::restart), as a heap's `remount` does.
#[derive(Clone, Debug)]
pub struct Remap<D: Nor, const UNITS: usize> {
    /// Halts when the device does not answer; one unit's failure is no reason, so that calls are made unguarded.
    pub(crate) guard: Guard<D>,
    pub(crate) layout: Layout,
    /// Where each virtual unit is.
    pub(crate) home: [u16; UNITS],
    /// Places of each home's table that are in use.
    pub(crate) used: [u16; UNITS],
    /// Physical units that failed.
    pub(crate) retired: [bool; UNITS],
    /// The home with the highest generation, which tells of the spare.
    pub(crate) newest: EraseUnit,
    pub(crate) generation: u32,
    /// The next place for a state in the newest home.
    pub(crate) next_state: u32,
    /// Whether the last state there says that a spare is ready.
    pub(crate) says_ready: bool,
    pub(crate) spare: Option<Spare>,
    pub(crate) hints: Hints,
}

impl<D: Nor, const UNITS: usize> Remap<D, UNITS> {
    /// The device below.
    pub fn device(&self) -> &D {
        self.guard.device()
    }

    /// The device below, for what does not change the part's contents.
    pub fn device_mut(&mut self) -> &mut D {
        self.guard.device_mut()
    }

    /// Gives the device back.
    pub fn into_device(self) -> D {
        self.guard.into_device()
    }

    /// The physical unit where a virtual one is. Cost: RAM only.
    pub fn home(&self, unit: EraseUnit) -> Option<EraseUnit> {
        (unit.0 < self.virtual_units()).then(|| EraseUnit(self.home[usize::from(unit.0)]))
    }

    /// Delta records that a virtual unit has, and how many it may have before it is written anew. Cost: RAM only.
    pub fn deltas(&self, unit: EraseUnit) -> (u32, u32) {
        let used = if unit.0 < self.virtual_units() { self.used[usize::from(unit.0)] } else { 0 };
        (u32::from(used), self.layout.places_max())
    }

    /// The unit that the next erase or move goes to; `None` when every spare has been retired. Cost: RAM only.
    pub fn spare(&self) -> Option<EraseUnit> {
        self.spare.map(|spare| spare.unit)
    }

    /// Units that are retired, as far as that is known since mounting. Cost: RAM only.
    pub fn retired_units(&self) -> impl Iterator<Item = EraseUnit> + '_ {
        (0..self.layout.part.unit_count).map(EraseUnit).filter(|&unit| self.is_retired(unit))
    }

    /// How virtual units lie in physical ones.
    pub fn representation(&self) -> Representation {
        self.layout.representation
    }

    pub(crate) fn is_retired(&self, unit: EraseUnit) -> bool {
        self.retired[usize::from(unit.0)]
    }

    pub(crate) fn virtual_units(&self) -> u16 {
        self.layout.part.unit_count - self.layout.spare_units
    }

    pub(crate) fn is_home(&self, unit: EraseUnit) -> bool {
        self.home[..usize::from(self.virtual_units())].contains(&unit.0)
    }

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
        let home = EraseUnit(self.home[usize::from(unit.0)]);
        if self.used[usize::from(unit.0)] == 0 {
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
        let home = EraseUnit(self.home[usize::from(unit.0)]);
        let programmed = match self.layout.representation {
            Representation::InPlace => {
                self.guard.device_mut().program(self.layout.base(home, offset), bytes).map(|()| true)
            }
            Representation::Deltas => self.program_cells(unit, offset, bytes),
        };
        match programmed {
            Ok(true) => Ok(()),
            // The table is full: the unit is written anew, with the change in it.
            Ok(false) => self.switch(unit, Contents::Changed { offset, bytes }),
            // A cell that a cut program used up, or that is bad, is not there any more in the new home.
            Err(error) => {
                self.check_answer(error)?;
                self.switch(unit, Contents::Changed { offset, bytes })
            }
        }
    }
}

impl<D: Nor, const UNITS: usize> Nor for Remap<D, UNITS> {
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

    /// Whole or not at all, whatever becomes of the power. Cost: 40 bytes programmed, and an erase.
    fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error> {
        self.guard.expect_running()?;
        if unit.0 >= self.virtual_units() {
            return Err(RemapError::Misused);
        }
        self.switch(unit, Contents::Erased)
    }
}
