//! A register of a peripheral.

use core::ptr;

/// A register, by its address.
pub struct Register(u32);

impl Register {
    /// The register at `address`.
    ///
    /// # Safety
    /// There is a register, and what reading and writing it does is its driver's business.
    pub const unsafe fn at(address: u32) -> Self {
        Register(address)
    }

    /// Reads it.
    pub fn read(&self) -> u32 {
        // SAFETY: whoever made this knows that there is a register.
        unsafe { ptr::read_volatile(self.0 as *const u32) }
    }

    /// Writes it.
    pub fn write(&self, value: u32) {
        // SAFETY: as above.
        unsafe { ptr::write_volatile(self.0 as *mut u32, value) }
    }
}
