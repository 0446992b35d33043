//! The device as a list sees it: aligned programs and single bits; a guard refuses every call after the first failure.
//!
//! This is the one file that calls the device.
//!
//! Invariant: no program asks for a cleared bit to be set.

use norn_flash::{Address, EraseUnit, Guard, Nor, NorPart, Violation};

use crate::error::{IndexError, MountError};
use crate::fat_list::layout::{ALIGNMENT_MAX, PROGRAM_UNIT_BYTES_MAX};

/// A device with its guard.
#[derive(Clone, Debug)]
pub(crate) struct Medium<D> {
    guard: Guard<D>,
    part: NorPart,
    changes: u32,
    corruption: Option<Violation>,
}

impl<D: Nor> Medium<D> {
    pub fn new(device: D) -> Result<Self, MountError<D::Error>> {
        let part = device.part();
        part.validate().map_err(MountError::Part)?;
        Ok(Medium { guard: Guard::new(device), part, changes: 0, corruption: None })
    }

    pub fn part(&self) -> &NorPart {
        &self.part
    }

    pub fn device(&self) -> &D {
        self.guard.device()
    }

    pub fn device_mut(&mut self) -> &mut D {
        self.guard.device_mut()
    }

    pub fn into_device(self) -> D {
        self.guard.into_device()
    }

    /// Refuses what RAM alone could answer, once the device has failed.
    pub fn expect_running(&self) -> Result<(), IndexError<D::Error>> {
        Ok(self.guard.expect_running()?)
    }

    /// Programs and erases so far; it starts again from 0 at 2³².
    pub fn changes(&self) -> u32 {
        self.changes
    }

    /// What the last call that failed with `Corrupted` found, and where.
    pub fn corruption(&self) -> Option<Violation> {
        self.corruption
    }

    /// The error that says that what is at `address` is damaged.
    #[cold]
    pub(super) fn damage(&mut self, address: Address, what: &'static str) -> IndexError<D::Error> {
        self.corruption = Some(Violation { address, what });
        IndexError::Corrupted
    }

    #[inline(never)]
    pub(super) fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), IndexError<D::Error>> {
        Ok(self.guard.read(address, buffer)?)
    }

    pub(super) fn read_u16(&mut self, address: Address) -> Result<u16, IndexError<D::Error>> {
        let mut bytes = [0; 2];
        self.read(address, &mut bytes)?;
        Ok(u16::from_le_bytes(bytes))
    }

    pub(super) fn read_u32(&mut self, address: Address) -> Result<u32, IndexError<D::Error>> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Programs a field: whole program units, those of ones at both ends left out. Where units are so large that they
    /// have several fields, each unit of it again, with what it has.
    pub(super) fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), IndexError<D::Error>> {
        let unit = usize::from(self.part.program_unit_bytes);
        if unit > ALIGNMENT_MAX {
            return self.program_in_units(address, bytes);
        }
        let is_blank = |piece: &[u8]| piece.iter().all(|&byte| byte == 0xFF);
        let Some(first) = bytes.chunks(unit).position(|piece| !is_blank(piece)) else {
            return Ok(());
        };
        let behind = bytes.chunks(unit).rposition(|piece| !is_blank(piece)).map_or(0, |last| (last + 1) * unit);
        self.changes = self.changes.wrapping_add(1);
        let from = address.offset((first * unit) as u32);
        Ok(self.guard.program(from, &bytes[first * unit..behind])?)
    }

    /// Clears one bit of the byte at `address`. After a cut it is cleared or not.
    pub(super) fn clear_bit(&mut self, address: Address, bit: u8) -> Result<(), IndexError<D::Error>> {
        self.program_in_units(address, &[!(1 << bit)])
    }

    /// Clears the bits that `bytes` lack, one program unit after the other. A cut leaves what a cut of one program of
    /// all of them may leave, too.
    #[inline(never)]
    fn program_in_units(&mut self, address: Address, bytes: &[u8]) -> Result<(), IndexError<D::Error>> {
        let unit = usize::from(self.part.program_unit_bytes);
        let (mut into, mut rest) = (address.0 as usize % unit, bytes);
        let mut start = Address(address.0 - into as u32);
        while !rest.is_empty() {
            let mut buffer = [0; PROGRAM_UNIT_BYTES_MAX];
            let buffer = &mut buffer[..unit];
            let (piece, after) = rest.split_at(rest.len().min(unit - into));
            if piece.iter().any(|&byte| byte != 0xFF) {
                self.read(start, buffer)?;
                buffer[into..].iter_mut().zip(piece).for_each(|(to, from)| *to &= from);
                self.changes = self.changes.wrapping_add(1);
                self.guard.program(start, buffer)?;
            }
            (start, into, rest) = (start.offset(unit as u32), 0, after);
        }
        Ok(())
    }

    pub(super) fn erase(&mut self, unit: EraseUnit) -> Result<(), IndexError<D::Error>> {
        self.changes = self.changes.wrapping_add(1);
        Ok(self.guard.erase(unit)?)
    }
}
