//! Logical pointers: how sectors are named, in RAM and on flash.

use core::fmt;
use core::num::NonZeroU32;

pub(crate) const POINTER_MASK: u32 = 0x00FF_FFFF;

/// Number of a logical erase unit, from 1; it stays when the unit's contents move to another physical unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogicalUnit(pub u16);

/// A logical pointer: logical unit and sector number. It stays valid when its unit is reclaimed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SectorPtr(NonZeroU32);

impl SectorPtr {
    /// Largest number of a logical unit.
    pub const UNIT_MAX: u16 = 0xFFE;
    /// Largest number of a sector in its unit.
    pub const SECTOR_MAX: u16 = 0xFFF;

    /// The pointer to sector `sector` of logical unit `unit`.
    ///
    /// # Panics
    /// If the unit is 0 or either number exceeds its maximum.
    pub const fn new(unit: LogicalUnit, sector: u16) -> SectorPtr {
        assert!(unit.0 > 0 && unit.0 <= Self::UNIT_MAX && sector <= Self::SECTOR_MAX);
        match NonZeroU32::new((unit.0 as u32) << 12 | sector as u32) {
            Some(bits) => SectorPtr(bits),
            None => unreachable!(),
        }
    }

    /// The logical unit.
    pub const fn unit(self) -> LogicalUnit {
        LogicalUnit((self.0.get() >> 12) as u16)
    }

    /// The number of the sector in its unit.
    pub const fn sector(self) -> u16 {
        (self.0.get() & 0xFFF) as u16
    }

    /// The pointer's 24 bits, never 0.
    pub const fn bits(self) -> u32 {
        self.0.get()
    }

    /// The pointer of 24 bits, or `None` where they name no unit.
    pub const fn from_bits(bits: u32) -> Option<SectorPtr> {
        let unit = bits >> 12;
        if unit == 0 || unit > Self::UNIT_MAX as u32 {
            return None;
        }
        match NonZeroU32::new(bits) {
            Some(bits) => Some(SectorPtr(bits)),
            None => None,
        }
    }
}

impl fmt::Display for SectorPtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.unit().0, self.sector())
    }
}

impl fmt::Debug for SectorPtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The 24 bits of an optional pointer; 0 is none.
pub(crate) fn pointer_bits(pointer: Option<SectorPtr>) -> u32 {
    pointer.map_or(0, SectorPtr::bits)
}
