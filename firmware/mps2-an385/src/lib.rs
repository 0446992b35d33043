//! What the programs for Arm's MPS2 with the image AN385 share: the serial line, flash parts in RAM, and counts.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

pub mod counts;
pub mod ram_nand;
pub mod ram_nor;
pub mod uart;

/// Memory that a reset leaves as it is, and whose first start shows.
pub mod lasting {
    use core::{ptr, slice};

    const START: usize = 0x2100_0000;
    const BYTES: usize = 16 << 20;
    const MAGIC: u32 = u32::from_le_bytes(*b"Norn");

    /// The memory, all ones at the first start after the power has come.
    ///
    /// # Safety
    /// It is called once.
    pub unsafe fn memory() -> &'static mut [u8] {
        let magic = START as *mut u32;
        // SAFETY: there is memory, the linker puts nothing there, and nobody else has it.
        let bytes = unsafe { slice::from_raw_parts_mut((START + 4) as *mut u8, BYTES - 4) };
        // SAFETY: as above.
        if unsafe { ptr::read_volatile(magic) } != MAGIC {
            bytes.fill(0xFF);
            // SAFETY: as above.
            unsafe { ptr::write_volatile(magic, MAGIC) };
        }
        bytes
    }
}
