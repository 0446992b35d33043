//! Dumps of a whole part, and a part's copy with some of its erase units.

use std::ops::Range;
use std::sync::Arc;

use norn_flash::Address;

use super::NorSim;
use crate::spec::PartSpec;

impl NorSim {
    /// A part in memory whose cells hold `bytes`, a dump of a whole part. A program unit that is not erased counts as
    /// programmed once: the dump does not say more.
    ///
    /// # Panics
    /// If `spec` describes no possible part, or `bytes` is not as long as the part.
    pub fn from_cells(spec: PartSpec, bytes: &[u8]) -> Self {
        let mut sim = Self::new(spec);
        assert_eq!(bytes.len(), sim.spec.part.size_bytes() as usize, "a dump of the whole part");
        sim.poke(Address(0), bytes);
        let program_unit = usize::from(sim.spec.part.program_unit_bytes);
        for cells in &mut sim.units {
            let cells = Arc::make_mut(cells);
            for (programs, bytes) in cells.programs.iter_mut().zip(cells.bytes.chunks(program_unit)) {
                *programs = u8::from(bytes.iter().any(|&byte| byte != 0xFF));
            }
        }
        sim
    }

    /// The bytes in all cells, as a dump of the part. Uncounted, and with the power off, too.
    pub fn cells(&self) -> Vec<u8> {
        self.units.iter().flat_map(|cells| cells.bytes.iter().copied()).collect()
    }

    /// A part in memory with the given erase units of this one: their cells, wear and counts. What the whole part has
    /// done is kept, too.
    ///
    /// # Panics
    /// If the part does not have these units, or the range is empty.
    pub fn with_units(&self, units: Range<u16>) -> Self {
        let mut sim = self.clone();
        sim.spec = self.spec.with_unit_count(units.len() as u16);
        sim.units = self.units[usize::from(units.start)..usize::from(units.end)].to_vec();
        assert!(!sim.units.is_empty(), "a part has erase units");
        sim.failing.clear();
        sim.unsettled.clear();
        sim
    }
}

#[cfg(test)]
mod tests {
    use norn_flash::{EraseUnit, Nor};

    use super::*;
    use crate::{SimError, catalogue};

    #[test]
    fn a_dump_counts_what_it_shows_as_programmed() {
        let mut part = NorSim::new(catalogue::stm32l4());
        part.program(Address(4096), &[1; 8]).unwrap();
        let dump = part.cells();
        let mut again = NorSim::from_cells(catalogue::stm32l4(), &dump);
        assert_eq!(again.cells(), dump);
        let refused = SimError::OverBudget { address: Address(4096), times: 1 };
        assert_eq!(again.program(Address(4096), &[0; 8]), Err(refused));
        again.program(Address(4104), &[0; 8]).unwrap();
    }

    #[test]
    fn some_units_are_a_part_of_their_own() {
        let mut part = NorSim::new(catalogue::test_part(8, 1024));
        part.erase(EraseUnit(5)).unwrap();
        part.program(Address(5 * 1024), b"five").unwrap();
        let some = part.with_units(4..7);
        assert_eq!(some.spec(), &catalogue::test_part(3, 1024));
        assert_eq!(some.peek(Address(1024), 4), b"five");
        assert_eq!(some.erase_counts().collect::<Vec<_>>(), [0, 1, 0]);
        let l4 = NorSim::new(catalogue::stm32l4()).with_units(10..20);
        assert_eq!(catalogue::by_name("stm32l4:10").as_ref(), Some(l4.spec()));
    }
}
