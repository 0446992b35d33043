//! Whether a driver for a NOR part keeps its side of the contract, as far as that shows while the power is on.
//!
//! 1. the part it describes is possible, and the same each time;
//! 2. an erase makes its unit ones, the last unit's too, and changes no other;
//! 3. a program clears what it is to clear, changes nothing beside, and nothing more when it is done again, where that
//!    is allowed;
//! 4. reads of any alignment and length give the same bytes, across the borders of units as well;
//! 5. mapped memory shows what reads do.
//!
//! What a loss of power leaves is for the part's maker to say; a driver can only fail to pass it on.

use core::fmt;

use norn_flash::{Address, EraseUnit, Nor, NorPart, PartError, Reprogramming};

/// A promise of [`Nor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NorPromise {
    /// The part's description is a possible one.
    Possible(PartError),
    /// The part's description does not change.
    SamePart,
    /// An erased unit reads 0xFF.
    EraseSetsAll,
    /// An erase changes no other unit.
    EraseChangesNoOther,
    /// A program clears the bits that are zeros in the bytes, and no others.
    ProgramClears,
    /// Bytes outside a program do not change.
    ProgramChangesNoOther,
    /// A unit may be programmed again, as often as the part says, and keeps what was cleared.
    Reprogramming,
    /// Reads of any alignment return what is there.
    ReadsOfAnyAlignment,
    /// A mapped part shows its bytes in memory.
    Mapped,
}

/// A promise that a driver broke, or a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NorBreach<E> {
    /// A call that the contract allows failed.
    Device(E),
    /// A promise was broken.
    Broken {
        /// Which.
        promise: NorPromise,
        /// Where it shows.
        address: Address,
    },
    /// The buffer is smaller than 16 bytes, or than two program units.
    Buffer,
}

impl<E: fmt::Debug> fmt::Display for NorBreach<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NorBreach::Device(error) => write!(f, "a call that the contract allows failed: {error:?}"),
            NorBreach::Broken { promise, address } => write!(f, "a promise is broken at {address}: {promise:?}"),
            NorBreach::Buffer => f.write_str("the buffer has fewer than 16 bytes, or less than two program units"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for NorBreach<E> {}

type Checked<D, T = ()> = Result<T, NorBreach<<D as Nor>::Error>>;

/// Tries a driver, with a buffer of at least 16 bytes and two program units. What the part held is lost. Cost: four
/// erases of three units; all of the part is read twice, and three units some ten times, in pieces of the buffer.
///
/// # Errors
/// The first promise that is broken, or the first call that fails.
pub fn check_nor<D: Nor>(device: &mut D, buffer: &mut [u8]) -> Checked<D> {
    let part = device.part();
    part.validate().map_err(|error| broken(NorPromise::Possible(error), 0))?;
    if buffer.len() < 16.max(2 * usize::from(part.program_unit_bytes)) {
        return Err(NorBreach::Buffer);
    }
    let len = buffer.len() / usize::from(part.program_unit_bytes) * usize::from(part.program_unit_bytes);
    let mut port = Port { device, part, buffer: &mut buffer[..len] };
    let last = part.unit_count - 1;
    for unit in [0, last / 2, last] {
        port.check_unit(EraseUnit(unit))?;
    }
    port.check_neighbours(EraseUnit(last / 2))?;
    port.check_alignments()?;
    match port.device.part() == part {
        true => Ok(()),
        false => Err(broken(NorPromise::SamePart, 0)),
    }
}

const fn broken<E>(promise: NorPromise, address: u32) -> NorBreach<E> {
    NorBreach::Broken { promise, address: Address(address) }
}

/// The byte that is programmed at an address: any pattern in which neighbours differ.
fn pattern(address: u32) -> u8 {
    (address ^ address >> 8 ^ address >> 16).wrapping_mul(167) as u8
}

struct Port<'a, D> {
    device: &'a mut D,
    part: NorPart,
    buffer: &'a mut [u8],
}

impl<D: Nor> Port<'_, D> {
    /// Whether the bytes from `start` to `end` are as expected.
    fn expect(&mut self, start: u32, end: u32, promise: NorPromise, expected: impl Fn(u32) -> u8) -> Checked<D> {
        let mut at = start;
        while at < end {
            let len = self.buffer.len().min((end - at) as usize);
            let piece = &mut self.buffer[..len];
            self.device.read(Address(at), piece).map_err(NorBreach::Device)?;
            for (address, &byte) in (at..).zip(piece.iter()) {
                if byte != expected(address) {
                    return Err(broken(promise, address));
                }
            }
            at += self.buffer.len() as u32;
        }
        self.expect_mapped(start, end, expected)
    }

    fn expect_mapped(&mut self, start: u32, end: u32, expected: impl Fn(u32) -> u8) -> Checked<D> {
        let Some(memory) = self.device.mapped() else {
            return if self.part.mapped { Err(broken(NorPromise::Mapped, start)) } else { Ok(()) };
        };
        if memory.len() != self.part.size_bytes() as usize {
            return Err(broken(NorPromise::Mapped, memory.len() as u32));
        }
        match (start..end).find(|&address| memory[address as usize] != expected(address)) {
            Some(address) => Err(broken(NorPromise::Mapped, address)),
            None => Ok(()),
        }
    }

    fn erase(&mut self, unit: EraseUnit) -> Checked<D> {
        self.device.erase(unit).map_err(NorBreach::Device)
    }

    /// Programs the bytes from `start` to `end`, in pieces of the buffer.
    fn program(&mut self, start: u32, end: u32, byte: impl Fn(u32) -> u8) -> Checked<D> {
        let mut at = start;
        while at < end {
            let len = self.buffer.len().min((end - at) as usize);
            let piece = &mut self.buffer[..len];
            piece.iter_mut().zip(at..).for_each(|(place, address)| *place = byte(address));
            self.device.program(Address(at), piece).map_err(NorBreach::Device)?;
            at += self.buffer.len() as u32;
        }
        Ok(())
    }

    /// Erases and programs a unit, its first and last half apart.
    fn check_unit(&mut self, unit: EraseUnit) -> Checked<D> {
        let (start, program_unit) = (self.part.start_of(unit).0, u32::from(self.part.program_unit_bytes));
        let end = start + self.part.unit_size_bytes;
        let middle = start + self.part.unit_size_bytes / 2 / program_unit * program_unit;
        self.erase(unit)?;
        self.expect(start, end, NorPromise::EraseSetsAll, |_| 0xFF)?;
        self.program(middle, end, pattern)?;
        self.expect(start, middle, NorPromise::ProgramChangesNoOther, |_| 0xFF)?;
        self.expect(middle, end, NorPromise::ProgramClears, pattern)?;
        self.program(start, middle, pattern)?;
        self.expect(middle, end, NorPromise::ProgramChangesNoOther, pattern)?;
        self.expect(start, middle, NorPromise::ProgramClears, pattern)?;
        self.check_reprogramming(start, end)
    }

    /// Clears a few bits more, as often as the part allows.
    fn check_reprogramming(&mut self, start: u32, end: u32) -> Checked<D> {
        let times = match self.part.reprogramming {
            Reprogramming::Once => return Ok(()),
            Reprogramming::Times(times) => u32::from(times).min(4),
            Reprogramming::Unlimited => 4,
        };
        for time in 1..times {
            let less = |address| pattern(address) & (0xFF << time);
            self.program(start, end, less)?;
            self.expect(start, end, NorPromise::Reprogramming, less)?;
        }
        Ok(())
    }

    /// Erases a unit between two that are programmed.
    fn check_neighbours(&mut self, unit: EraseUnit) -> Checked<D> {
        let part = self.part;
        let neighbours = [unit.0.checked_sub(1), Some(unit.0 + 1).filter(|&unit| unit < part.unit_count)];
        let ends = |unit: u16| {
            let start = part.start_of(EraseUnit(unit)).0;
            (start, start + part.unit_size_bytes)
        };
        for (start, end) in neighbours.into_iter().flatten().map(ends) {
            self.erase(part.unit_of(Address(start)))?;
            self.program(start, end, pattern)?;
        }
        self.erase(unit)?;
        for (start, end) in neighbours.into_iter().flatten().map(ends) {
            self.expect(start, end, NorPromise::EraseChangesNoOther, pattern)?;
        }
        let (start, end) = ends(unit.0);
        self.expect(start, end, NorPromise::EraseSetsAll, |_| 0xFF)
    }

    /// Reads in pieces of every length and alignment up to 16 bytes, over the border of the first two units.
    fn check_alignments(&mut self) -> Checked<D> {
        let size = self.part.size_bytes();
        let from = self.part.unit_size_bytes.saturating_sub(16).min(size.saturating_sub(32));
        let mut whole = [0; 32];
        let whole = &mut whole[..size.min(32) as usize];
        for (place, address) in whole.iter_mut().zip(from..) {
            self.device.read(Address(address), core::slice::from_mut(place)).map_err(NorBreach::Device)?;
        }
        for start in 0..whole.len() {
            for len in 0..=(whole.len() - start).min(16) {
                let (address, piece) = (from + start as u32, &mut self.buffer[..len]);
                self.device.read(Address(address), piece).map_err(NorBreach::Device)?;
                if *piece != whole[start..start + len] {
                    return Err(broken(NorPromise::ReadsOfAnyAlignment, address));
                }
            }
        }
        Ok(())
    }
}
