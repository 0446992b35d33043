//! The EEPROM contract: bytes that are overwritten in place, and what power loss may do to the word in flight.
//!
//! Unlike NOR flash ([`crate::Nor`]) there are no erase units: a write of an aligned word of 1, 2 or 4 bytes erases and
//! writes that word alone, and may change its bits both ways.
//!
//! Invariants of a valid [`EepromPart`]: it has bytes, the word is of 1, 2 or 4 of them, and divides the part.

use core::fmt;

use crate::nor::Address;

/// What an EEPROM part is: its geometry and its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EepromPart {
    /// The part's size in bytes, a multiple of the word.
    pub size_bytes: u32,
    /// Largest word that is read or written at once, in bytes: 1, 2 or 4. Smaller ones take as long.
    pub word_bytes: u8,
    /// Guaranteed writes of each byte, where the maker states it.
    pub endurance_writes: Option<u32>,
}

impl EepromPart {
    /// Whether the value describes a possible part.
    ///
    /// # Errors
    /// Names the first field that is out of its range.
    pub const fn validate(&self) -> Result<(), EepromPartError> {
        if !matches!(self.word_bytes, 1 | 2 | 4) {
            return Err(EepromPartError::Word(self.word_bytes));
        }
        if self.size_bytes == 0 || !self.size_bytes.is_multiple_of(self.word_bytes as u32) {
            return Err(EepromPartError::Size(self.size_bytes));
        }
        Ok(())
    }
}

/// Why an [`EepromPart`] describes no possible part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EepromPartError {
    /// The word is not one of 1, 2 and 4 bytes.
    Word(u8),
    /// The size is nothing, or not a multiple of the word.
    Size(u32),
}

impl fmt::Display for EepromPartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EepromPartError::Word(bytes) => write!(f, "words of {bytes} bytes: not 1, 2 or 4"),
            EepromPartError::Size(bytes) => write!(f, "a part of {bytes} bytes: none, or not whole words"),
        }
    }
}

impl core::error::Error for EepromPartError {}

/// An EEPROM part.
///
/// A write of a range is made of aligned words, as large as they can be, in ascending order.
///
/// # What the caller promises
/// - Ranges lie within the part.
/// - No byte is written more often than [`EepromPart::endurance_writes`].
///
/// # What the device promises
/// - [`read`](Eeprom::read) returns what was written last.
/// - A call that returned `Ok` has taken full effect and outlives a loss of power.
/// - Calls take effect in the order in which they are made.
/// - Bytes outside the range of a call do not change, whether it succeeds, fails or is cut.
/// - `part` returns the same value for the life of the device.
///
/// # What a loss of power may do
/// - **A write** is cut in one of its words. Those before it are written, those after it are as they were. Each bit of
///   the word in flight is as it was, as it was to be, or erased, that is 1; which of these, differs from bit to bit.
///   So a bit that was 0 and was to stay 0 may read 1, and a word may read what it never held. The result reads the
///   same from then on.
/// - Nothing else changes.
///
/// # Errors
/// An `Err` from `write` leaves the range as a loss of power would.
pub trait Eeprom {
    /// What goes wrong on this device.
    type Error: fmt::Debug;

    /// The part's geometry and limits.
    fn part(&self) -> EepromPart;

    /// Reads `buffer.len()` bytes from `address` on, of any alignment.
    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error>;

    /// Makes the bytes from `address` on, of any alignment, those of `bytes`.
    fn write(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error>;
}

impl<D: Eeprom> Eeprom for &mut D {
    type Error = D::Error;

    fn part(&self) -> EepromPart {
        (**self).part()
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
        (**self).read(address, buffer)
    }

    fn write(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
        (**self).write(address, bytes)
    }
}
