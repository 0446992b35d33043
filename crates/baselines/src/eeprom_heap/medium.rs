//! The device as the EEPROM heap sees it: words; a guard refuses every call after the first failure.

use norn_flash::{Address, Eeprom, Guard, Violation};
use norn_heap::StoreError;

/// Bytes that are read at a time.
pub(crate) const CHUNK_BYTES: usize = 32;

/// A device with its guard, and what was last found impossible on it.
#[derive(Clone, Debug)]
pub(crate) struct Medium<D> {
    pub guard: Guard<D>,
    pub corruption: Option<Violation>,
}

impl<D: Eeprom> Medium<D> {
    pub fn new(device: D) -> Self {
        Medium { guard: Guard::new(device), corruption: None }
    }

    pub fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), StoreError<D::Error>> {
        Ok(self.guard.read(address, buffer)?)
    }

    pub fn read_byte(&mut self, address: Address) -> Result<u8, StoreError<D::Error>> {
        let mut byte = [0];
        self.read(address, &mut byte)?;
        Ok(byte[0])
    }

    pub fn read_word(&mut self, address: Address) -> Result<u32, StoreError<D::Error>> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    pub fn write(&mut self, address: Address, bytes: &[u8]) -> Result<(), StoreError<D::Error>> {
        Ok(self.guard.write(address, bytes)?)
    }

    pub fn write_word(&mut self, address: Address, word: u32) -> Result<(), StoreError<D::Error>> {
        self.write(address, &word.to_le_bytes())
    }

    /// Writes a word unless it has the value already: a read costs almost nothing compared with a write.
    pub fn update_word(&mut self, address: Address, word: u32) -> Result<(), StoreError<D::Error>> {
        if self.read_word(address)? == word {
            return Ok(());
        }
        self.write_word(address, word)
    }

    /// Makes bytes zeros, and writes only the words that hold something else. `address` is a multiple of 4.
    pub fn clear(&mut self, address: Address, bytes: u32) -> Result<(), StoreError<D::Error>> {
        let whole = bytes / 4 * 4;
        for offset in (0..whole).step_by(4) {
            self.update_word(address.offset(offset), 0)?;
        }
        for offset in whole..bytes {
            self.write(address.offset(offset), &[0])?;
        }
        Ok(())
    }

    pub fn corrupted<T>(&mut self, address: Address, what: &'static str) -> Result<T, StoreError<D::Error>> {
        self.corruption = Some(Violation { address, what });
        Err(StoreError::Corrupted)
    }
}
