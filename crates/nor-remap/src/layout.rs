//! Lengths that follow from the part: where base and table of a unit lie, and the virtual part that results.
//!
//! Invariants: a cell is a program unit, or four bytes where that is smaller; a group divides a cell; base and records
//! start on cell borders; the number of places is a prime, so that every step visits all of them.

use norn_flash::{Address, EraseUnit, NorPart, Reprogramming};

use crate::format::{GROUPS_MAX, HEADER_BYTES, Representation, STATE_BYTES, STATE_PLACES};

/// Bytes of the largest cell.
pub(crate) const CELL_BYTES_MAX: usize = 32;

/// Of the eighths of a unit, those that the delta table gets.
const TABLE_EIGHTHS: u32 = 4;
/// Virtual units are a multiple of this many bytes, the largest program unit.
pub(crate) const VIRTUAL_MULTIPLE: u32 = 32;
/// Fewest places of a table that are worth having.
const PLACES_MIN: u32 = 11;

/// Where things are in a physical unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The physical part.
    pub part: NorPart,
    pub representation: Representation,
    /// Physical units that are no homes.
    pub spare_units: u16,
    /// What is programmed at once: a program unit, four bytes at least.
    pub cell_bytes: u32,
    /// From the unit's start to the virtual unit.
    pub base_offset: u32,
    /// Bytes of the virtual unit.
    pub base_bytes: u32,
    /// What one delta record replaces.
    pub group_bytes: u32,
    /// Bytes of a delta record.
    pub record_bytes: u32,
    /// Places for delta records.
    pub places: u32,
}

impl Layout {
    /// The layout of `part`, or why there is none.
    pub fn of(part: NorPart, spare_units: u16) -> Result<Layout, &'static str> {
        let representation = match part.reprogramming {
            Reprogramming::Unlimited => Representation::InPlace,
            Reprogramming::Once | Reprogramming::Times(_) => Representation::Deltas,
        };
        if spare_units == 0 || u32::from(spare_units) >= u32::from(part.unit_count) {
            return Err("spare units: at least one, and at most all of the part's but one");
        }
        let cell_bytes = u32::from(part.program_unit_bytes).max(4);
        if !part.unit_size_bytes.is_multiple_of(VIRTUAL_MULTIPLE) || part.unit_size_bytes / 32 >= 1 << 24 {
            return Err("erase units that are not a multiple of 32 bytes, or of 512 MB and more");
        }
        let base_offset = HEADER_BYTES + (1 + STATE_PLACES) * cell_bytes.max(STATE_BYTES as u32);
        let body = part.unit_size_bytes.saturating_sub(base_offset);
        let (group_bytes, record_bytes) = match cell_bytes {
            4 | 8 => (4, 8),
            cell => (cell / 2, cell),
        };
        let (base_bytes, places) = match representation {
            Representation::InPlace => (body, 0),
            Representation::Deltas => {
                let base = body / 8 * (8 - TABLE_EIGHTHS) / VIRTUAL_MULTIPLE * VIRTUAL_MULTIPLE;
                (base, prime_up_to((body - base) / record_bytes))
            }
        };
        let base_bytes = base_bytes / VIRTUAL_MULTIPLE * VIRTUAL_MULTIPLE;
        if base_bytes == 0 || representation == Representation::Deltas && places < PLACES_MIN {
            return Err("erase units too small for a header and a table of changes");
        }
        if base_bytes / group_bytes > GROUPS_MAX {
            return Err("erase units with more than 65,535 groups of words");
        }
        Ok(Layout {
            part,
            representation,
            spare_units,
            cell_bytes,
            base_offset,
            base_bytes,
            group_bytes,
            record_bytes,
            places,
        })
    }

    /// The part as the caller sees it.
    pub fn virtual_part(&self) -> NorPart {
        NorPart {
            unit_count: self.part.unit_count - self.spare_units,
            unit_size_bytes: self.base_bytes,
            program_unit_bytes: match self.representation {
                Representation::InPlace => self.part.program_unit_bytes,
                Representation::Deltas => self.cell_bytes as u8,
            },
            reprogramming: Reprogramming::Unlimited,
            mapped: false,
            endurance_erases: self.part.endurance_erases,
        }
    }

    /// Where byte `offset` of the virtual unit is that `unit` is the home of.
    pub fn base(&self, unit: EraseUnit, offset: u32) -> Address {
        self.part.start_of(unit).offset(self.base_offset + offset)
    }

    /// Where the mark of a retired unit is.
    pub fn retired_mark(&self, unit: EraseUnit) -> Address {
        self.part.start_of(unit).offset(HEADER_BYTES)
    }

    /// Where a state of the spare is.
    pub fn state(&self, unit: EraseUnit, place: u32) -> Address {
        self.part.start_of(unit).offset(HEADER_BYTES + (1 + place) * self.cell_bytes.max(STATE_BYTES as u32))
    }

    /// Where a delta record is.
    pub fn record(&self, unit: EraseUnit, place: u32) -> Address {
        self.base(unit, self.base_bytes + place * self.record_bytes)
    }

    /// Most places that are in use before the unit is switched: three quarters.
    pub fn places_max(&self) -> u32 {
        self.places / 4 * 3
    }
}

/// The largest prime that is not over `limit`; 0 if there is none.
fn prime_up_to(limit: u32) -> u32 {
    let is_prime = |number: u32| {
        (2..).take_while(|divisor| divisor * divisor <= number).all(|divisor| !number.is_multiple_of(divisor))
    };
    (2..=limit).rev().find(|&number| is_prime(number)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::homes::RECORDS_MAX;

    #[test]
    fn places_are_the_largest_prime_that_fits() {
        let found = [0, 1, 2, 4, 29, 30, 1024, 2047].map(prime_up_to);
        assert_eq!(found, [0, 0, 2, 3, 29, 29, 1021, 2039]);
    }

    fn part(unit_size_bytes: u32, program_unit_bytes: u8, reprogramming: Reprogramming) -> NorPart {
        NorPart {
            unit_count: 16,
            unit_size_bytes,
            program_unit_bytes,
            reprogramming,
            mapped: false,
            endurance_erases: None,
        }
    }

    #[test]
    fn no_unit_has_more_places_than_a_row_can_count() {
        for program_unit_bytes in [1, 4, 8, 16, 32] {
            let sizes = (1..1 << 17).rev().map(|multiple| multiple * VIRTUAL_MULTIPLE);
            let largest =
                sizes.flat_map(|bytes| Layout::of(part(bytes, program_unit_bytes, Reprogramming::Once), 1)).next();
            let places = largest.expect("some units are suitable").places;
            assert!((20_000..=u32::from(RECORDS_MAX)).contains(&places), "{places} by {program_unit_bytes} bytes");
        }
    }

    #[test]
    fn every_layout_fits_its_unit() {
        for program_unit_bytes in [1, 2, 4, 8, 16, 32] {
            for unit_size_bytes in [512, 1024, 2048, 4096, 8192, 65_536, 131_072] {
                for reprogramming in [Reprogramming::Once, Reprogramming::Times(2), Reprogramming::Unlimited] {
                    let Ok(layout) = Layout::of(part(unit_size_bytes, program_unit_bytes, reprogramming), 1) else {
                        assert!(unit_size_bytes < 2048 && program_unit_bytes >= 16 || unit_size_bytes == 131_072);
                        continue;
                    };
                    let end = layout.record(EraseUnit(0), layout.places).0;
                    assert!(end <= unit_size_bytes, "{layout:?}");
                    assert!((layout.base_offset | layout.base_bytes).is_multiple_of(layout.cell_bytes));
                    assert!(layout.cell_bytes.is_multiple_of(layout.group_bytes));
                    assert!(layout.state(EraseUnit(0), STATE_PLACES).0 <= layout.base_offset);
                    assert_eq!(layout.virtual_part().validate(), Ok(()));
                }
            }
        }
    }
}
