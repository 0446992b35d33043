//! The device as the tree sees it: aligned programs; a guard refuses every call after the first failure.
//!
//! Invariant: no program asks for a cleared bit to be set.

use norn_flash::{Address, EraseUnit, Guard, Nor, NorPart, Violation};
use norn_ordered_index::IndexError;

/// Largest program unit that the tree works on, in bytes.
pub(crate) const PROGRAM_UNIT_BYTES_MAX: usize = 4;

/// A device with its guard.
#[derive(Clone, Debug)]
pub(crate) struct Medium<D> {
    guard: Guard<D>,
    part: NorPart,
    corruption: Option<Violation>,
}

impl<D: Nor> Medium<D> {
    pub fn new(device: D) -> Self {
        let part = device.part();
        Medium { guard: Guard::new(device), part, corruption: None }
    }

    pub fn part(&self) -> &NorPart {
        &self.part
    }

    pub fn device(&self) -> &D {
        self.guard.device()
    }

    pub fn into_device(self) -> D {
        self.guard.into_device()
    }

    /// What the last call that failed with `Corrupted` found, and where.
    pub fn corruption(&self) -> Option<Violation> {
        self.corruption
    }

    /// The error that says that what is at `address` is damaged.
    pub fn damage(&mut self, address: Address, what: &'static str) -> IndexError<D::Error> {
        self.corruption = Some(Violation { address, what });
        IndexError::Corrupted
    }

    pub fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), IndexError<D::Error>> {
        Ok(self.guard.read(address, buffer)?)
    }

    pub fn read_u32(&mut self, address: Address) -> Result<u32, IndexError<D::Error>> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Programs whole program units, those of ones at both ends left out.
    pub fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), IndexError<D::Error>> {
        let unit = usize::from(self.part.program_unit_bytes);
        let is_blank = |piece: &[u8]| piece.iter().all(|&byte| byte == 0xFF);
        let Some(first) = bytes.chunks(unit).position(|piece| !is_blank(piece)) else {
            return Ok(());
        };
        let behind = bytes.chunks(unit).rposition(|piece| !is_blank(piece)).map_or(0, |last| (last + 1) * unit);
        let from = address.offset((first * unit) as u32);
        Ok(self.guard.program(from, &bytes[first * unit..behind])?)
    }

    pub fn erase(&mut self, unit: EraseUnit) -> Result<(), IndexError<D::Error>> {
        Ok(self.guard.erase(unit)?)
    }
}
