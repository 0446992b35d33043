//! The cells of one erase unit: their bits, how often each program unit was programmed, and what a cut erase left.
//!
//! Invariants: a bit in `unstable` is set only in a unit whose erase, or one of whose programs, was cut; `programs` is
//! empty where the part sets no limit.

use norn_flash::{NorPart, Reprogramming};

/// One erase unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cells {
    /// What reads return, except unstable bits.
    pub bytes: Vec<u8>,
    /// Programs of each program unit since the last erase, where they are limited.
    pub programs: Vec<u8>,
    /// Bits that read differently each time; empty if there are none.
    pub unstable: Vec<u8>,
    /// Erases so far, cut ones included.
    pub erases: u32,
    /// Whether the last erase was cut.
    pub torn: bool,
}

impl Cells {
    /// Erased cells that have never been erased: as delivered. `budgets` is the number of program units to count.
    pub fn new(bytes: usize, budgets: usize) -> Self {
        Cells { bytes: vec![0xFF; bytes], programs: vec![0; budgets], unstable: Vec::new(), erases: 0, torn: false }
    }

    /// Clears the bits that are set in `clearing`, from `at` on.
    pub fn clear(&mut self, at: usize, clearing: &[u8]) {
        for (byte, bits) in self.bytes[at..].iter_mut().zip(clearing) {
            *byte &= !bits;
        }
        if !self.unstable.is_empty() {
            for (byte, bits) in self.unstable[at..].iter_mut().zip(clearing) {
                *byte &= !bits;
            }
        }
    }

    /// Programs `bytes` from `at` on, in full: clears the bits that are clear in them.
    pub fn program(&mut self, at: usize, bytes: &[u8]) {
        for (cell, byte) in self.bytes[at..].iter_mut().zip(bytes) {
            *cell &= byte;
        }
        if !self.unstable.is_empty() {
            for (bits, byte) in self.unstable[at..].iter_mut().zip(bytes) {
                *bits &= byte;
            }
        }
    }

    /// Lets bits read differently each time, from `at` on.
    pub fn make_unstable(&mut self, at: usize, bits: &[u8]) {
        self.unstable.resize(self.bytes.len(), 0);
        self.unstable[at..].iter_mut().zip(bits).for_each(|(place, bits)| *place |= bits);
    }

    /// Sets all bits.
    pub fn erase(&mut self) {
        self.bytes.fill(0xFF);
        self.programs.fill(0);
        self.unstable.clear();
        self.torn = false;
    }

    /// Copies bytes out, with unstable bits drawn from `random`.
    pub fn read(&self, at: usize, buffer: &mut [u8], random: &mut fastrand::Rng) {
        buffer.copy_from_slice(&self.bytes[at..at + buffer.len()]);
        if !self.unstable.is_empty() {
            for (byte, bits) in buffer.iter_mut().zip(&self.unstable[at..]) {
                *byte ^= bits & random.u8(..);
            }
        }
    }
}

/// Program units of an erase unit, where the part limits how often they are programmed.
pub(crate) fn budgets(part: &NorPart) -> usize {
    match part.reprogramming {
        Reprogramming::Unlimited => 0,
        _ => part.unit_size_bytes as usize / usize::from(part.program_unit_bytes),
    }
}
