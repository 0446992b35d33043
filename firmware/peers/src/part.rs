//! The part with the interfaces of other stores.

use core::convert::Infallible;

use embedded_storage_async::nor_flash::{ErrorType, MultiwriteNorFlash, NorFlash, ReadNorFlash};
use norn_embedded::flash::{Address, EraseUnit, Nor};
use norn_mps2_an385::ram_nor::RamNor;

use crate::{UNIT_BYTES, UNITS};

/// The part.
#[derive(Debug)]
pub struct Part(pub RamNor);

impl Part {
    /// Reads.
    pub fn read_at(&mut self, address: usize, bytes: &mut [u8]) {
        let Ok(()) = self.0.read(Address(address as u32), bytes);
    }

    /// Programs.
    pub fn program_at(&mut self, address: usize, bytes: &[u8]) {
        let Ok(()) = self.0.program(Address(address as u32), bytes);
    }

    /// Erases.
    pub fn erase_unit(&mut self, unit: usize) {
        let Ok(()) = self.0.erase(EraseUnit(unit as u16));
    }
}

impl ErrorType for Part {
    type Error = Infallible;
}

impl ReadNorFlash for Part {
    const READ_SIZE: usize = 4;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.read_at(offset as usize, bytes);
        Ok(())
    }

    fn capacity(&self) -> usize {
        UNITS * UNIT_BYTES
    }
}

impl NorFlash for Part {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = UNIT_BYTES;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Infallible> {
        (from as usize..to as usize).step_by(UNIT_BYTES).for_each(|at| self.erase_unit(at / UNIT_BYTES));
        Ok(())
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Infallible> {
        self.program_at(offset as usize, bytes);
        Ok(())
    }
}

impl MultiwriteNorFlash for Part {}

impl ekv::flash::Flash for Part {
    type Error = Infallible;

    fn page_count(&self) -> usize {
        UNITS
    }

    async fn erase(&mut self, page: ekv::flash::PageID) -> Result<(), Infallible> {
        self.erase_unit(page.index());
        Ok(())
    }

    async fn read(&mut self, page: ekv::flash::PageID, offset: usize, data: &mut [u8]) -> Result<(), Infallible> {
        self.read_at(page.index() * UNIT_BYTES + offset, data);
        Ok(())
    }

    async fn write(&mut self, page: ekv::flash::PageID, offset: usize, data: &[u8]) -> Result<(), Infallible> {
        self.program_at(page.index() * UNIT_BYTES + offset, data);
        Ok(())
    }
}
