//! The device as the indexes see it: aligned programs, single bits, and a halt after the first failure.
//!
//! Invariants: once a device call failed, no further call reaches the device; no program asks for a cleared bit to be set.

use norn_flash::{Address, EraseUnit, Nor, NorPart};

use crate::error::IndexError;

/// Largest program unit that an index works on, in bytes.
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

    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
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

    pub fn read_u16(&mut self, address: Address) -> Result<u16, IndexError<D::Error>> {
        let mut bytes = [0; 2];
        self.read(address, &mut bytes)?;
        Ok(u16::from_le_bytes(bytes))
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
        self.attempt(|device| device.program(from, &bytes[first * unit..behind]))
    }

    /// Clears one bit of the byte at `address`. Whatever a cut leaves, it is cleared or not.
    pub fn clear_bit(&mut self, address: Address, bit: u8) -> Result<(), IndexError<D::Error>> {
        let unit = u32::from(self.part.program_unit_bytes);
        let into = address.0 % unit;
        let start = Address(address.0 - into);
        let mut buffer = [0; PROGRAM_UNIT_BYTES_MAX];
        self.read(start, &mut buffer[..unit as usize])?;
        buffer[into as usize] &= !(1 << bit);
        self.attempt(|device| device.program(start, &buffer[..unit as usize]))
    }

    pub fn erase(&mut self, unit: EraseUnit) -> Result<(), IndexError<D::Error>> {
        self.attempt(|device| device.erase(unit))
    }
}
