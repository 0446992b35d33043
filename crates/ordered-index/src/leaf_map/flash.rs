//! The device as a leaf map sees it: whole program units; a guard refuses every call after the first failure.
//!
//! This is the one file that calls the device.

use norn_flash::{Address, EraseUnit, Guard, Nor, NorPart, Violation};

use crate::error::{IndexError, MountError, Outcome};

/// A device with its guard.
#[derive(Clone, Debug)]
pub(super) struct Flash<D> {
    guard: Guard<D>,
    part: NorPart,
    changes: u32,
    corruption: Option<Violation>,
}

impl<D: Nor> Flash<D> {
    pub fn new(device: D) -> Result<Self, MountError<D::Error>> {
        let part = device.part();
        part.validate().map_err(MountError::Part)?;
        Ok(Flash { guard: Guard::new(device), part, changes: 0, corruption: None })
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
    pub fn expect_running(&self) -> Outcome<(), D> {
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
    pub fn damage(&mut self, address: Address, what: &'static str) -> IndexError<D::Error> {
        self.corruption = Some(Violation { address, what });
        IndexError::Corrupted
    }

    #[inline(never)]
    pub fn read(&mut self, address: Address, buffer: &mut [u8]) -> Outcome<(), D> {
        Ok(self.guard.read(address, buffer)?)
    }

    /// Programs whole program units that have not been programmed since their erase.
    pub fn program(&mut self, address: Address, bytes: &[u8]) -> Outcome<(), D> {
        self.changes = self.changes.wrapping_add(1);
        Ok(self.guard.program(address, bytes)?)
    }

    pub fn erase(&mut self, unit: EraseUnit) -> Outcome<(), D> {
        self.changes = self.changes.wrapping_add(1);
        Ok(self.guard.erase(unit)?)
    }
}
