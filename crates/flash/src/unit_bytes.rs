//! An erase unit with its bytes, of an image that is decoded without a mount: what the decoders of each format are
//! built on.

use crate::nor::{Address, EraseUnit, NorPart};

/// An erase unit of a part, with bytes of it from the first one on. Those that are left out at its end are taken for
/// erased ones.
#[derive(Clone, Copy, Debug)]
pub struct UnitBytes<B> {
    part: NorPart,
    unit: EraseUnit,
    bytes: B,
}

impl<B> UnitBytes<B> {
    /// A unit of a part, with its bytes.
    pub fn new(part: &NorPart, unit: EraseUnit, bytes: B) -> UnitBytes<B> {
        UnitBytes { part: *part, unit, bytes }
    }

    /// The part.
    pub fn part(&self) -> &NorPart {
        &self.part
    }

    /// Its number.
    pub fn unit(&self) -> EraseUnit {
        self.unit
    }

    /// Where it begins.
    pub fn start(&self) -> Address {
        self.part.start_of(self.unit)
    }

    /// How many bytes it has on the part.
    pub fn size_bytes(&self) -> u32 {
        self.part.unit_size_bytes
    }

    /// Those that are there.
    pub fn bytes(&self) -> &B {
        &self.bytes
    }
}

impl<B: AsRef<[u8]>> UnitBytes<B> {
    /// `N` bytes at an offset; after the end of those that are there, erased ones.
    pub fn array<const N: usize>(&self, offset: u32) -> [u8; N] {
        let mut array = [0xFF; N];
        let there = self.bytes.as_ref().get(offset as usize..).unwrap_or_default();
        let length = there.len().min(N);
        array[..length].copy_from_slice(&there[..length]);
        array
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nor::Reprogramming;

    #[test]
    fn bytes_that_are_left_out_are_erased() {
        let part = NorPart {
            unit_count: 4,
            unit_size_bytes: 4096,
            program_unit_bytes: 4,
            reprogramming: Reprogramming::Unlimited,
            mapped: false,
            endurance_erases: None,
        };
        let unit = UnitBytes::new(&part, EraseUnit(3), &[1, 2, 3, 4, 5][..]);
        assert_eq!((unit.start(), unit.size_bytes()), (Address(3 * 4096), 4096));
        assert_eq!(unit.array::<4>(3), [4, 5, 0xFF, 0xFF]);
        assert_eq!(unit.array::<2>(4096), [0xFF, 0xFF]);
    }
}
