//! The simulated part with the interfaces of other stores: ekv's, and `embedded-storage-async`'s for
//! sequential-storage.

use embedded_storage_async::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
use norn_flash::Nor;
use norn_flash_sim::SimError;

use crate::device::{Device, DeviceError};

impl ekv::flash::Flash for Device {
    type Error = DeviceError;

    fn page_count(&self) -> usize {
        usize::from(self.part().unit_count)
    }

    async fn erase(&mut self, page: ekv::flash::PageID) -> Result<(), DeviceError> {
        self.erase_unit(page.index() as u16)
    }

    async fn read(&mut self, page: ekv::flash::PageID, offset: usize, data: &mut [u8]) -> Result<(), DeviceError> {
        self.read_at(address(page, offset), data)
    }

    async fn write(&mut self, page: ekv::flash::PageID, offset: usize, data: &[u8]) -> Result<(), DeviceError> {
        self.program_at(address(page, offset), data)
    }
}

fn address(page: ekv::flash::PageID, offset: usize) -> u32 {
    (page.index() * ekv::config::PAGE_SIZE + offset) as u32
}

/// The part with words of `WORD` bytes and erase units of `PAGE`.
pub struct Flash<const WORD: usize, const PAGE: usize>(pub Device);

impl NorFlashError for DeviceError {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            DeviceError::Part(SimError::OutOfRange { .. }) => NorFlashErrorKind::OutOfBounds,
            DeviceError::Part(SimError::Misaligned { .. }) => NorFlashErrorKind::NotAligned,
            _ => NorFlashErrorKind::Other,
        }
    }
}

impl<const WORD: usize, const PAGE: usize> ErrorType for Flash<WORD, PAGE> {
    type Error = DeviceError;
}

impl<const WORD: usize, const PAGE: usize> ReadNorFlash for Flash<WORD, PAGE> {
    const READ_SIZE: usize = WORD;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.0.read_at(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.0.part().size_bytes() as usize
    }
}

impl<const WORD: usize, const PAGE: usize> NorFlash for Flash<WORD, PAGE> {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = PAGE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), DeviceError> {
        (from..to).step_by(PAGE).try_for_each(|at| self.0.erase_unit((at as usize / PAGE) as u16))
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        self.0.program_at(offset, bytes)
    }
}

impl<const WORD: usize, const PAGE: usize> MultiwriteNorFlash for Flash<WORD, PAGE> {}
