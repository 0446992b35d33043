//! The flash of an nRF51 by its controller, the NVMC: pages of 1 KB that are erased, words of 4 bytes that are programmed.
//!
//! The processor waits while its flash is busy: 46 µs a word, 22 ms a page.
//!
//! Invariant: the controller allows programs and erases only within a call that needs them.

use core::sync::atomic::{Ordering, compiler_fence};
use core::{ptr, slice};

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use norn_board::Register;

const PAGE_BYTES: usize = 1024;
const WORD_BYTES: usize = 4;

// SAFETY: the registers of the chip's controller.
const READY: Register = unsafe { Register::at(0x4001_E400) };
// SAFETY: as above.
const CONFIG: Register = unsafe { Register::at(0x4001_E504) };
// SAFETY: as above.
const ERASE_PAGE: Register = unsafe { Register::at(0x4001_E508) };

/// What the controller allows, in its register CONFIG.
const READING: u32 = 0;
const PROGRAMMING: u32 = 1;
const ERASING: u32 = 2;

unsafe extern "C" {
    static _store_start: u8;
    static _store_end: u8;
}

/// The pages of the flash that `memory.x` sets apart for the store.
pub struct Nvmc {
    start: u32,
    bytes: usize,
}

impl Nvmc {
    /// The store's pages.
    ///
    /// # Safety
    /// There is one only, and nothing else uses the controller.
    pub unsafe fn new() -> Self {
        let (start, end) = (&raw const _store_start as u32, &raw const _store_end as u32);
        Nvmc { start, bytes: (end - start) as usize }
    }

    /// Does what the controller forbids otherwise, and returns when the flash is ready again.
    fn while_allowed(allowed: u32, change: impl FnOnce()) {
        CONFIG.write(allowed);
        wait();
        change();
        wait();
        CONFIG.write(READING);
        wait();
        // What was read from the flash before is not what is there now.
        compiler_fence(Ordering::SeqCst);
    }
}

fn wait() {
    while READY.read() & 1 == 0 {}
}

impl ErrorType for Nvmc {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Nvmc {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        // SAFETY: these bytes of the flash are mapped, and change only in calls of this driver.
        bytes.copy_from_slice(unsafe { slice::from_raw_parts((self.start + offset) as *const u8, bytes.len()) });
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes
    }
}

impl NorFlash for Nvmc {
    const WRITE_SIZE: usize = WORD_BYTES;
    const ERASE_SIZE: usize = PAGE_BYTES;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        for page in (self.start + from..self.start + to).step_by(PAGE_BYTES) {
            Self::while_allowed(ERASING, || ERASE_PAGE.write(page));
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        for (address, word) in (self.start + offset..).step_by(WORD_BYTES).zip(bytes.as_chunks::<WORD_BYTES>().0) {
            let word = u32::from_le_bytes(*word);
            // SAFETY: the word is of the store's pages, in which there is nothing of the program.
            Self::while_allowed(PROGRAMMING, || unsafe { ptr::write_volatile(address as *mut u32, word) });
        }
        Ok(())
    }
}
