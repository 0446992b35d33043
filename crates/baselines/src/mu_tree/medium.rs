//! The device as the tree sees it: aligned programs, and a halt after the first failure.
//!
//! Invariant: once a device call failed, no further call reaches the device.

use norn_flash::{Address, EraseUnit, Nor, NorPart};
use norn_ordered_index::IndexError;

/// Largest program unit that the tree works on, in bytes.
pub(crate) const PROGRAM_UNIT_BYTES_MAX: usize = 4;

/// A device and whether it has failed.
#[derive(Clone, Debug)]
pub(crate) struct Medium<D> {
    device: D,
    part: NorPart,
    halted: bool,
}

impl<D: Nor> Medium<D> {
    pub fn new(device: D) -> Self {
        let part = device.part();
        Medium { device, part, halted: false }
    }

    pub fn part(&self) -> &NorPart {
        &self.part
    }

    pub fn device(&self) -> &D {
        &self.device
    }

    pub fn into_device(self) -> D {
        self.device
    }

    fn attempt<T>(&mut self, call: impl FnOnce(&mut D) -> Result<T, D::Error>) -> Result<T, IndexError<D::Error>> {
        if self.halted {
            return Err(IndexError::Halted);
        }
        call(&mut self.device).map_err(|error| {
            self.halted = true;
            IndexError::Device(error)
        })
    }

    pub fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), IndexError<D::Error>> {
        self.attempt(|device| device.read(address, buffer))
    }

    pub fn read_u32(&mut self, address: Address) -> Result<u32, IndexError<D::Error>> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Programs whole program units, except those of ones at both ends.
    pub fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), IndexError<D::Error>> {
        let unit = usize::from(self.part.program_unit_bytes);
        let is_blank = |piece: &[u8]| piece.iter().all(|&byte| byte == 0xFF);
        let Some(first) = bytes.chunks(unit).position(|piece| !is_blank(piece)) else {
            return Ok(());
        };
        let end = bytes.chunks(unit).rposition(|piece| !is_blank(piece)).map_or(0, |last| (last + 1) * unit);
        let from = address.offset((first * unit) as u32);
        self.attempt(|device| device.program(from, &bytes[first * unit..end]))
    }

    pub fn erase(&mut self, unit: EraseUnit) -> Result<(), IndexError<D::Error>> {
        self.attempt(|device| device.erase(unit))
    }
}
