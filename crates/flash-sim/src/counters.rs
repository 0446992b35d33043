//! What a simulated part has done, by size of the words.

use std::fmt;
use std::ops::{AddAssign, Sub};

/// Sizes of words in bytes, in the order of the counters' arrays.
pub const SIZE_CLASSES: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Operations that a part has carried out: one for each aligned word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Words read, by [size class](SIZE_CLASSES).
    pub reads_by_size: [u64; 6],
    /// Words programmed, by [size class](SIZE_CLASSES).
    pub programs_by_size: [u64; 6],
    /// Erase units erased; on EEPROM words, one with each program.
    pub erases: u64,
}

impl Counters {
    /// Words read.
    pub fn reads(&self) -> u64 {
        self.reads_by_size.iter().sum()
    }

    /// Words programmed.
    pub fn programs(&self) -> u64 {
        self.programs_by_size.iter().sum()
    }

    /// Bytes read.
    pub fn read_bytes(&self) -> u64 {
        bytes(&self.reads_by_size)
    }

    /// Bytes programmed.
    pub fn programmed_bytes(&self) -> u64 {
        bytes(&self.programs_by_size)
    }
}

fn bytes(by_size: &[u64; 6]) -> u64 {
    by_size.iter().zip(SIZE_CLASSES).map(|(count, size)| count * u64::from(size)).sum()
}

/// Index of the class of words of `bytes` bytes.
pub(crate) fn size_class(bytes: usize) -> usize {
    bytes.trailing_zeros() as usize
}

impl Sub for Counters {
    type Output = Counters;

    /// What happened between `earlier` and `self`.
    fn sub(self, earlier: Counters) -> Counters {
        let difference = |a: [u64; 6], b: [u64; 6]| std::array::from_fn(|class| a[class] - b[class]);
        Counters {
            reads_by_size: difference(self.reads_by_size, earlier.reads_by_size),
            programs_by_size: difference(self.programs_by_size, earlier.programs_by_size),
            erases: self.erases - earlier.erases,
        }
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        for class in 0..SIZE_CLASSES.len() {
            self.reads_by_size[class] += other.reads_by_size[class];
            self.programs_by_size[class] += other.programs_by_size[class];
        }
        self.erases += other.erases;
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} words read", self.reads())?;
        write_classes(f, &self.reads_by_size)?;
        write!(f, ", {} programmed", self.programs())?;
        write_classes(f, &self.programs_by_size)?;
        write!(f, ", {} units erased", self.erases)
    }
}

/// Writes the classes that occurred, as ` (3 of 1 byte, 4 of 4 bytes)`.
fn write_classes(f: &mut fmt::Formatter<'_>, by_size: &[u64; 6]) -> fmt::Result {
    let mut opening = " (";
    for (count, size) in by_size.iter().zip(SIZE_CLASSES).filter(|(count, _)| **count > 0) {
        write!(f, "{opening}{count} of {size} B")?;
        opening = ", ";
    }
    if opening == ", " { f.write_str(")") } else { Ok(()) }
}
