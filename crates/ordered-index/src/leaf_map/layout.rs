//! The lengths and places that follow from the part and the widths.
//!
//! Invariant: what is programmed by itself starts and ends on a border of program units.

use norn_flash::{Address, EraseUnit, NorPart};

use super::format::{CODE_BYTES, ENTRY_BYTES_MAX, Facts, KEY_BYTES_MAX, SEAL_BYTES, header_bytes};

/// Fewest units of a part: one for the next leaf, and two leaves, of which a ring can drop one.
const UNITS_MIN: u16 = 3;
/// Fewest records of a leaf.
const PLACES_MIN: u16 = 8;

/// Where things are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub facts: Facts,
    header_offset: u16,
    records_offset: u16,
    record_bytes: u16,
    /// Records that a leaf has room for.
    pub places: u16,
}

impl Layout {
    pub fn of(part: &NorPart, key_bytes: usize, value_bytes: usize) -> Result<Self, &'static str> {
        if key_bytes == 0 || key_bytes > KEY_BYTES_MAX {
            return Err("a leaf map has keys of 1 to 64 bytes");
        }
        if key_bytes + value_bytes > ENTRY_BYTES_MAX {
            return Err("a key and its value have 126 bytes together at most");
        }
        let unit = usize::from(part.program_unit_bytes);
        let aligned = |bytes: usize| bytes.next_multiple_of(unit);
        let header_offset = aligned(SEAL_BYTES);
        let records_offset = header_offset + aligned(header_bytes(key_bytes));
        let record_bytes = aligned(key_bytes + value_bytes + CODE_BYTES);
        let places = (part.unit_size_bytes as usize).saturating_sub(records_offset) / record_bytes;
        let places = places.min(usize::from(u16::MAX)) as u16;
        if part.unit_count < UNITS_MIN {
            return Err("a leaf map takes three erase units");
        }
        if places < PLACES_MIN {
            return Err("an erase unit has no room for eight records");
        }
        let facts = Facts {
            key_bytes: key_bytes as u8,
            value_bytes: value_bytes as u8,
            program_unit_bytes: part.program_unit_bytes,
            unit_count: part.unit_count,
            unit_size_bytes: part.unit_size_bytes,
        };
        Ok(Layout {
            facts,
            header_offset: header_offset as u16,
            records_offset: records_offset as u16,
            record_bytes: record_bytes as u16,
            places,
        })
    }

    pub fn units(&self) -> impl Iterator<Item = EraseUnit> + use<> {
        (0..self.facts.unit_count).map(EraseUnit)
    }

    /// The unit `distance` further on, after the last one the first.
    pub fn unit_after(&self, unit: EraseUnit, distance: u16) -> EraseUnit {
        let number = (u32::from(unit.0) + u32::from(distance)) % u32::from(self.facts.unit_count);
        EraseUnit(number as u16)
    }

    /// Bytes of a seal, in whole program units.
    pub fn seal_bytes(&self) -> usize {
        usize::from(self.header_offset)
    }

    /// Bytes of a record, in whole program units.
    pub fn record_bytes(&self) -> usize {
        usize::from(self.record_bytes)
    }

    /// Bytes of a header, in whole program units.
    pub fn header_bytes(&self) -> usize {
        usize::from(self.records_offset - self.header_offset)
    }

    pub fn seal(&self, unit: EraseUnit) -> Address {
        Address(u32::from(unit.0) * self.facts.unit_size_bytes)
    }

    pub fn header(&self, unit: EraseUnit) -> Address {
        self.seal(unit).offset(u32::from(self.header_offset))
    }

    pub fn record(&self, unit: EraseUnit, place: u16) -> Address {
        let offset = u32::from(self.records_offset) + u32::from(place) * u32::from(self.record_bytes);
        self.seal(unit).offset(offset)
    }
}
