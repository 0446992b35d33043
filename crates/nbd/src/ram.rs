//! A store in memory: the model that tests and the fuzz target compare with.

use crate::store::{BlockStore, Holes, StoreError};

/// Bytes in memory, zeros at first. What is trimmed stays as it is.
#[derive(Clone, Debug)]
pub struct RamStore {
    bytes: Vec<u8>,
    flushes: u64,
}

impl RamStore {
    /// A store of the given number of zeros.
    pub fn new(size_bytes: usize) -> Self {
        RamStore { bytes: vec![0; size_bytes], flushes: 0 }
    }

    /// What it holds.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How often it was made durable.
    pub fn flushes(&self) -> u64 {
        self.flushes
    }

    fn range(&mut self, at: u64, len: usize) -> &mut [u8] {
        let at = usize::try_from(at).expect("within the store");
        &mut self.bytes[at..at + len]
    }
}

impl BlockStore for RamStore {
    fn size_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn preferred_bytes(&self) -> u32 {
        512
    }

    fn read(&mut self, at: u64, data: &mut [u8]) -> Result<(), StoreError> {
        data.copy_from_slice(self.range(at, data.len()));
        Ok(())
    }

    fn write(&mut self, at: u64, data: &[u8]) -> Result<(), StoreError> {
        self.range(at, data.len()).copy_from_slice(data);
        Ok(())
    }

    fn write_zeroes(&mut self, at: u64, len: u32, _: Holes) -> Result<(), StoreError> {
        self.range(at, len as usize).fill(0);
        Ok(())
    }

    fn trim(&mut self, at: u64, len: u32) -> Result<(), StoreError> {
        self.range(at, len as usize);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.flushes += 1;
        Ok(())
    }
}
