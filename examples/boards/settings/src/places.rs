//! Where each example board keeps its data, and what its flash allows there.
//!
//! A function takes the HAL's driver and returns a part of sixteen or thirty-two erase units at the end of the flash.
//! The board's `memory.x` leaves them out, so that no program lies there; a test compares the two. The drivers say
//! how much they read, program and erase at once; how often a word may be programmed, and how often a unit may be
//! erased, only the data sheet says.

use core::ops::Range;

use embedded_storage::nor_flash::{MultiwriteNorFlash, NorFlash};
use norn_embedded::flash::{AdapterError, EmbeddedNor, Reprogramming};

/// The most erase units that one of the boards has for data.
pub const UNITS_MAX: usize = 32;

/// The last 64 KB of an nRF52840: 16 pages of 4 KB.
pub const NRF52840: Range<u32> = 0xF_0000..0x10_0000;
/// The last 64 KB of an STM32L476 of 1 MB: 32 pages of 2 KB, all in the second bank.
pub const STM32L476: Range<u32> = 0xF_0000..0x10_0000;
/// The last 64 KB of the Pico's 2 MB: 16 sectors of 4 KB.
pub const PICO: Range<u32> = 0x1F_0000..0x20_0000;

/// A word of 4 bytes may be programmed twice between two erases of its page, and a page erased 10,000 times.
///
/// # Errors
/// When the driver is another one than that of the chip.
pub fn nrf52840<F: MultiwriteNorFlash>(driver: F) -> Result<EmbeddedNor<F>, AdapterError> {
    let part = EmbeddedNor::new(driver)?.in_region(NRF52840)?;
    Ok(part.with_reprogramming(Reprogramming::Times(2))?.with_endurance(10_000))
}

/// A double word of 8 bytes has a code for error correction, and is programmed once; a page is erased 10,000 times.
///
/// # Errors
/// When the driver is another one than that of the chip.
pub fn stm32l476<F: NorFlash>(driver: F) -> Result<EmbeddedNor<F>, AdapterError> {
    Ok(EmbeddedNor::new(driver)?.in_region(STM32L476)?.with_endurance(10_000))
}

/// The Pico's serial NOR, a W25Q16JV: bytes are programmed any number of times, and a sector erased 100,000 times.
///
/// # Errors
/// When the driver is another one than that of the board.
pub fn pico<F: MultiwriteNorFlash>(driver: F) -> Result<EmbeddedNor<F>, AdapterError> {
    let part = EmbeddedNor::new(driver)?.in_region(PICO)?;
    Ok(part.with_reprogramming(Reprogramming::Unlimited)?.with_endurance(100_000))
}
