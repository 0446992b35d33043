//! A device under test, with what all rules need: filling, comparing, and saying where something is wrong.

use norn_flash::{Address, EraseUnit, Nor, NorPart};

use crate::outcome::Outcome;

/// Why a rule is not kept. The error is the outcome to report.
pub(super) type Tried<D, T = ()> = Result<T, Outcome<Address, <D as Nor>::Error>>;

/// Bytes programmed and read at once where it does not matter: they cross no border of a chip's pages.
const PIECE_BYTES_MAX: usize = 256;

/// The byte that is programmed at an address: a pattern in which neighbours differ, as do the same places of two units.
pub(super) fn pattern(address: u32) -> u8 {
    (address ^ address >> 8 ^ address >> 16).wrapping_mul(167) as u8
}

pub(super) struct Bench<'a, D> {
    pub device: &'a mut D,
    pub part: NorPart,
    pub buffer: &'a mut [u8],
    piece_bytes: usize,
}

impl<'a, D: Nor> Bench<'a, D> {
    pub fn new(device: &'a mut D, buffer: &'a mut [u8]) -> Self {
        let piece_bytes = (1 << buffer.len().ilog2()).min(PIECE_BYTES_MAX);
        Bench { part: device.part(), device, buffer, piece_bytes }
    }

    pub fn program_unit(&self) -> u32 {
        u32::from(self.part.program_unit_bytes)
    }

    /// The first and the last address of a unit, and one.
    pub fn ends(&self, unit: EraseUnit) -> (u32, u32) {
        let start = self.part.start_of(unit).0;
        (start, start + self.part.unit_size_bytes)
    }

    /// A program unit's border in the middle of a unit.
    pub fn middle(&self, unit: EraseUnit) -> u32 {
        let half = self.part.unit_size_bytes / 2;
        self.part.start_of(unit).0 + half / self.program_unit() * self.program_unit()
    }

    pub fn last(&self) -> u16 {
        self.part.unit_count - 1
    }

    /// The unit in the middle of the part, which most rules use.
    pub fn middle_unit(&self) -> EraseUnit {
        EraseUnit(self.last() / 2)
    }

    /// The units beside one.
    pub fn neighbours(&self, unit: EraseUnit) -> impl Iterator<Item = EraseUnit> + use<D> {
        let after = Some(unit.0 + 1).filter(|&unit| unit <= self.last());
        [unit.0.checked_sub(1), after].into_iter().flatten().map(EraseUnit)
    }

    pub fn erase(&mut self, unit: EraseUnit) -> Tried<D> {
        let place = self.part.start_of(unit);
        self.device.erase(unit).map_err(|error| Outcome::Failed { place, error })
    }

    /// One program, of bytes that are not in the buffer.
    pub fn program_bytes(&mut self, address: u32, bytes: &[u8]) -> Tried<D> {
        let place = Address(address);
        self.device.program(place, bytes).map_err(|error| Outcome::Failed { place, error })
    }

    /// One program of `len` bytes, from the buffer.
    pub fn program_once(&mut self, address: u32, len: usize, byte: impl Fn(u32) -> u8) -> Tried<D> {
        let place = Address(address);
        let bytes = &mut self.buffer[..len];
        bytes.iter_mut().zip(address..).for_each(|(into, address)| *into = byte(address));
        self.device.program(place, bytes).map_err(|error| Outcome::Failed { place, error })
    }

    /// Programs the bytes from `start` to `end`, in pieces.
    pub fn program(&mut self, start: u32, end: u32, byte: impl Fn(u32) -> u8) -> Tried<D> {
        let mut at = start;
        while at < end {
            let len = self.piece_bytes.min((end - at) as usize);
            self.program_once(at, len, &byte)?;
            at += len as u32;
        }
        Ok(())
    }

    /// Erases a unit, and fills it with the pattern.
    pub fn fill(&mut self, unit: EraseUnit) -> Tried<D> {
        let (start, end) = self.ends(unit);
        self.erase(unit)?;
        self.program(start, end, pattern)
    }

    pub fn read_once(&mut self, address: u32, len: usize) -> Tried<D, &[u8]> {
        let (place, into) = (Address(address), &mut self.buffer[..len]);
        match self.device.read(place, into) {
            Ok(()) => Ok(into),
            Err(error) => Err(Outcome::Failed { place, error }),
        }
    }

    /// That the bytes from `start` to `end` are as expected.
    pub fn expect(&mut self, start: u32, end: u32, byte: impl Fn(u32) -> u8) -> Tried<D> {
        let mut at = start;
        while at < end {
            let len = self.piece_bytes.min((end - at) as usize);
            compare(at, self.read_once(at, len)?, &byte)?;
            at += len as u32;
        }
        Ok(())
    }

    /// A sum of the bytes from `start` to `end`, which differs where they do.
    pub fn sum(&mut self, start: u32, end: u32) -> Tried<D, u32> {
        let (mut at, mut sum) = (start, 0u32);
        while at < end {
            let len = self.piece_bytes.min((end - at) as usize);
            let bytes = self.read_once(at, len)?;
            sum = bytes.iter().fold(sum, |sum, &byte| sum.wrapping_mul(16_777_619).wrapping_add(u32::from(byte)));
            at += len as u32;
        }
        Ok(sum)
    }

    pub fn expect_erased(&mut self, start: u32, end: u32) -> Tried<D> {
        self.expect(start, end, |_| 0xFF)
    }

    /// That a unit is filled with the pattern.
    pub fn expect_filled(&mut self, unit: EraseUnit) -> Tried<D> {
        let (start, end) = self.ends(unit);
        self.expect(start, end, pattern)
    }
}

/// That bytes which were read at an address are as expected.
pub(super) fn compare<E>(address: u32, bytes: &[u8], byte: impl Fn(u32) -> u8) -> Result<(), Outcome<Address, E>> {
    match (address..).zip(bytes).find(|&(address, &found)| found != byte(address)) {
        Some((address, &found)) => Err(broken(address, u32::from(byte(address)), u32::from(found))),
        None => Ok(()),
    }
}

pub(super) const fn broken<E>(address: u32, expected: u32, found: u32) -> Outcome<Address, E> {
    Outcome::Broken { place: Address(address), expected, found }
}
