//! The NOR contract: geometry as a value, typed addresses, and a device trait that says what power loss may do.
//!
//! Invariants of a valid [`NorPart`]: the program unit is a power of two, it divides the erase unit, and the whole part
//! is addressable by 32 bits.

use core::fmt;

/// A byte address on the part, counted from its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u32);

impl Address {
    /// The address `bytes` further on.
    pub const fn offset(self, bytes: u32) -> Address {
        Address(self.0 + bytes)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#08x}", self.0)
    }
}

/// The number of a physical erase unit, counted from the part's first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EraseUnit(pub u16);

impl fmt::Display for EraseUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unit {}", self.0)
    }
}

/// How often one program unit may be programmed between two erases of its erase unit.
///
/// Parts with error-correcting codes over each program unit allow one program; nRF52 allows two per word; serial and
/// classic NOR allow any number, each clearing further bits. `embedded_storage::nor_flash::MultiwriteNorFlash` does not
/// distinguish the last two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reprogramming {
    /// Once: programming a programmed unit again is illegal, even with the same data.
    Once,
    /// At most this many times (two or more).
    Times(u8),
    /// Any number of times.
    Unlimited,
}

/// What a NOR part is: its geometry and its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NorPart {
    /// Number of erase units, all of one size.
    pub unit_count: u16,
    /// Size of an erase unit in bytes, a multiple of the program unit.
    pub unit_size_bytes: u32,
    /// Smallest amount that can be programmed, in bytes: 1, 2, 4, 8, 16 or 32. Programs are aligned to it.
    pub program_unit_bytes: u8,
    /// How often a program unit may be programmed between erases.
    pub reprogramming: Reprogramming,
    /// Whether the part's bytes can be read in place, through [`Nor::mapped`].
    pub mapped: bool,
    /// Guaranteed erases per unit, where the maker states it.
    pub endurance_erases: Option<u32>,
}

impl NorPart {
    /// The part's size in bytes.
    pub const fn size_bytes(&self) -> u32 {
        self.unit_count as u32 * self.unit_size_bytes
    }

    /// The erase unit that contains `address`.
    pub const fn unit_of(&self, address: Address) -> EraseUnit {
        EraseUnit((address.0 / self.unit_size_bytes) as u16)
    }

    /// The first address of `unit`.
    pub const fn start_of(&self, unit: EraseUnit) -> Address {
        Address(unit.0 as u32 * self.unit_size_bytes)
    }

    /// Whether the value describes a possible part.
    ///
    /// # Errors
    /// Names the first field that is out of its range.
    pub const fn validate(&self) -> Result<(), PartError> {
        if self.unit_count == 0 {
            return Err(PartError::NoUnits);
        }
        let program_unit = self.program_unit_bytes;
        if !program_unit.is_power_of_two() || program_unit > 32 {
            return Err(PartError::ProgramUnit(program_unit));
        }
        if self.unit_size_bytes == 0 || !self.unit_size_bytes.is_multiple_of(program_unit as u32) {
            return Err(PartError::UnitSize(self.unit_size_bytes));
        }
        if matches!(self.reprogramming, Reprogramming::Times(0 | 1)) {
            return Err(PartError::Reprogramming);
        }
        match (self.unit_count as u32).checked_mul(self.unit_size_bytes) {
            Some(_) => Ok(()),
            None => Err(PartError::TooLarge),
        }
    }
}

/// Why a [`NorPart`] describes no possible part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartError {
    /// The part has no erase units.
    NoUnits,
    /// The erase-unit size is not a multiple of the program unit.
    UnitSize(u32),
    /// The program unit is not one of 1, 2, 4, 8, 16 and 32 bytes.
    ProgramUnit(u8),
    /// `Times(0)` or `Times(1)`: the latter is called [`Reprogramming::Once`].
    Reprogramming,
    /// The part is not addressable by 32 bits.
    TooLarge,
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartError::NoUnits => f.write_str("the part has no erase units"),
            PartError::UnitSize(bytes) => write!(f, "erase units of {bytes} bytes: not whole program units"),
            PartError::ProgramUnit(bytes) => {
                write!(f, "program units of {bytes} bytes: not 1, 2, 4, 8, 16 or 32")
            }
            PartError::Reprogramming => f.write_str("Times(n) takes an n of two or more"),
            PartError::TooLarge => f.write_str("the part is not addressable by 32 bits"),
        }
    }
}

impl core::error::Error for PartError {}

/// A NOR flash part.
///
/// # What the caller promises
/// - Ranges lie within the part; a program starts and ends on program-unit borders.
/// - A program never asks for a cleared bit to be set: every bit that is 0 on the part is 0 in the bytes.
/// - A program unit is not programmed more often between erases than [`NorPart::reprogramming`] allows. A program that
///   was cut or failed counts as one, for every program unit of its range.
/// - After a power loss, the caller does not infer that a region is erased because it reads 0xFF; it knows that an
///   erase was complete only from something programmed after the erase returned.
/// - Into a unit whose erase was cut or failed, it programs nothing but zeros until the unit has been erased again.
///   Such an erase gives no program unit a program back: where words are programmed once, zeros go only into those that
///   were not programmed since the last erase that returned `Ok`.
///
/// # What the device promises
/// - [`read`](Nor::read) returns what was programmed; erased bytes read 0xFF.
/// - A call that returned `Ok` has taken full effect and outlives a loss of power.
/// - Calls take effect in the order in which they are made.
/// - Bytes outside the range of a call do not change, whether it succeeds, fails or is cut.
/// - `part` returns the same value for the life of the device.
///
/// # What a loss of power may do
/// - **A program** may leave any subset of the bits that it was to clear cleared, in any of the program units of the
///   call; bits that it was not to clear stay as they are. The result reads the same from then on.
/// - **An erase** may leave any mixture of the old bits and ones, anywhere in the erase unit, and bits that read
///   differently each time, until the unit is erased completely.
/// - Nothing else changes.
///
/// # Errors
/// An `Err` from `program` or `erase` leaves the range as a loss of power would.
pub trait Nor {
    /// What goes wrong on this device.
    type Error: fmt::Debug;

    /// The part's geometry and limits.
    fn part(&self) -> NorPart;

    /// Reads `buffer.len()` bytes from `address` on, of any alignment.
    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error>;

    /// Clears the bits that are 0 in `bytes`, from `address` on.
    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Sets all bits of `unit`.
    fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error>;

    /// Makes the device ready for a client that gave up on it after a failure and starts again. The default does
    /// nothing.
    ///
    /// # Errors
    /// When it cannot.
    fn restart(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The whole part as memory, if it is mapped. The default says that it is not.
    fn mapped(&self) -> Option<&[u8]> {
        None
    }
}

impl<D: Nor> Nor for &mut D {
    type Error = D::Error;

    fn part(&self) -> NorPart {
        (**self).part()
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
        (**self).read(address, buffer)
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
        (**self).program(address, bytes)
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error> {
        (**self).erase(unit)
    }

    fn restart(&mut self) -> Result<(), Self::Error> {
        (**self).restart()
    }

    fn mapped(&self) -> Option<&[u8]> {
        (**self).mapped()
    }
}
