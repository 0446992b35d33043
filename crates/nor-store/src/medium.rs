//! The device as the rest of the crate sees it: words and aligned programs, and a halt after the first failure.
//!
//! Invariant: once a device call failed, no further call reaches the device.

use norn_flash::{Address, EraseUnit, Nor, NorPart};

use crate::error::StoreError;

/// Largest program unit of a part, in bytes.
const PROGRAM_UNIT_BYTES_MAX: usize = 32;

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

    pub fn part(&self) -> NorPart {
        self.part
    }

    pub fn device(&self) -> &D {
        &self.device
    }

    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    pub fn is_halted(&self) -> bool {
        self.halted
    }

    pub fn into_device(self) -> D {
        self.device
    }

    fn attempt<T>(&mut self, call: impl FnOnce(&mut D) -> Result<T, D::Error>) -> Result<T, StoreError<D::Error>> {
        if self.halted {
            return Err(StoreError::Halted);
        }
        call(&mut self.device).map_err(|error| {
            self.halted = true;
            StoreError::Device(error)
        })
    }

    pub fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), StoreError<D::Error>> {
        self.attempt(|device| device.read(address, buffer))
    }

    pub fn read_word(&mut self, address: Address) -> Result<u32, StoreError<D::Error>> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    pub fn erase(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        self.attempt(|device| device.erase(unit))
    }

    /// Programs `bytes` at any alignment: whole program units directly, a part of one together with what is there.
    pub fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), StoreError<D::Error>> {
        let unit = u32::from(self.part.program_unit_bytes);
        let head = ((unit - address.0 % unit) % unit).min(bytes.len() as u32) as usize;
        let body = (bytes.len() - head) / unit as usize * unit as usize;
        let (head, rest) = bytes.split_at(head);
        let (body, tail) = rest.split_at(body);
        let body_at = address.offset(head.len() as u32);
        self.program_partial(address, head)?;
        if !body.is_empty() {
            self.attempt(|device| device.program(body_at, body))?;
        }
        self.program_partial(body_at.offset(body.len() as u32), tail)
    }

    pub fn program_word(&mut self, address: Address, word: u32) -> Result<(), StoreError<D::Error>> {
        self.program(address, &word.to_le_bytes())
    }

    fn program_partial(&mut self, address: Address, bytes: &[u8]) -> Result<(), StoreError<D::Error>> {
        if bytes.is_empty() {
            return Ok(());
        }
        let unit = usize::from(self.part.program_unit_bytes);
        let into = address.0 as usize % unit;
        let start = Address(address.0 - into as u32);
        let mut buffer = [0; PROGRAM_UNIT_BYTES_MAX];
        self.read(start, &mut buffer[..unit])?;
        buffer[into..into + bytes.len()].copy_from_slice(bytes);
        self.attempt(|device| device.program(start, &buffer[..unit]))
    }
}
