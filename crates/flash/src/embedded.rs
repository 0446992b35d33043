//! Any HAL's flash driver as a [`Nor`]: an adapter from the traits of `embedded-storage`.
//!
//! `embedded-storage` says of a driver whether words may be programmed again ([`MultiwriteNorFlash`]), but not how
//! often; the caller states that, from the part's data sheet. nRF52's drivers implement the trait with a budget of two.
//!
//! Invariants: the region is made of whole units, a unit of whole erase sectors of the driver; every call to the driver
//! keeps its alignment rules, and stays within the region.

use core::fmt;
use core::ops::Range;

use embedded_storage::nor_flash::{MultiwriteNorFlash, NorFlash};

use crate::nor::{Address, EraseUnit, Nor, NorPart, PartError, Reprogramming};
use crate::partition::{NorRangeError, check_bytes, check_unit};

/// Largest read size of a driver that the adapter supports, in bytes.
const READ_BYTES_MAX: usize = 32;

/// A flash driver, or a region of it, as a NOR part.
///
/// RAM: the driver and 24 bytes. Calls cost what the driver's cost; reads that a driver cannot do in one piece become
/// at most three.
#[derive(Clone, Debug)]
pub struct EmbeddedNor<F> {
    flash: F,
    start: u32,
    part: NorPart,
}

impl<F: NorFlash> EmbeddedNor<F> {
    /// The whole of `flash`, in units of its erase size, each program unit programmed once between erases.
    ///
    /// # Errors
    /// If the driver's sizes describe no part that the contract allows.
    pub fn new(flash: F) -> Result<Self, AdapterError> {
        if !F::READ_SIZE.is_power_of_two() || F::READ_SIZE > READ_BYTES_MAX {
            return Err(AdapterError::ReadSize(F::READ_SIZE));
        }
        let program_unit_bytes = u8::try_from(F::WRITE_SIZE).map_err(|_| AdapterError::WriteSize(F::WRITE_SIZE))?;
        let size_bytes = u32::try_from(flash.capacity()).map_err(|_| AdapterError::Part(PartError::TooLarge))?;
        let unit_size_bytes = u32::try_from(F::ERASE_SIZE).map_err(|_| AdapterError::Part(PartError::TooLarge))?;
        let part = NorPart {
            unit_count: 0,
            unit_size_bytes,
            program_unit_bytes,
            reprogramming: Reprogramming::Once,
            mapped: false,
            endurance_erases: None,
        };
        EmbeddedNor { flash, start: 0, part }.with_layout(0..size_bytes, unit_size_bytes)
    }

    /// Uses only the bytes of `region`, where the rest of the flash holds the program, say.
    ///
    /// # Errors
    /// If the region leaves the flash or is not made of whole units.
    pub fn in_region(self, region: Range<u32>) -> Result<Self, AdapterError> {
        let unit_size_bytes = self.part.unit_size_bytes;
        self.with_layout(region, unit_size_bytes)
    }

    /// Takes several of the driver's erase sectors as one unit: fewer units cost less RAM in a store's table.
    ///
    /// # Errors
    /// If the size is not a multiple of the driver's erase size, or does not divide the region.
    pub fn with_unit_size(self, unit_size_bytes: u32) -> Result<Self, AdapterError> {
        let region = self.start..self.start + self.part.size_bytes();
        self.with_layout(region, unit_size_bytes)
    }

    fn with_layout(self, region: Range<u32>, unit_size_bytes: u32) -> Result<Self, AdapterError> {
        if unit_size_bytes == 0 || !(unit_size_bytes as usize).is_multiple_of(F::ERASE_SIZE) {
            return Err(AdapterError::UnitSize { unit_size_bytes, erase_size_bytes: F::ERASE_SIZE });
        }
        let within = region.start <= region.end && region.end as usize <= self.flash.capacity();
        let size_bytes = region.end.saturating_sub(region.start);
        let whole = (region.start as usize).is_multiple_of(F::ERASE_SIZE) && size_bytes.is_multiple_of(unit_size_bytes);
        if !within || !whole {
            return Err(AdapterError::Region { start: region.start, end: region.end });
        }
        let unit_count = u16::try_from(size_bytes / unit_size_bytes).map_err(|_| AdapterError::TooManyUnits)?;
        let part = NorPart { unit_count, unit_size_bytes, ..self.part };
        part.validate().map_err(AdapterError::Part)?;
        Ok(EmbeddedNor { start: region.start, part, ..self })
    }

    /// States the guaranteed erases per unit, from the part's data sheet.
    pub fn with_endurance(mut self, erases: u32) -> Self {
        self.part.endurance_erases = Some(erases);
        self
    }

    /// Gives the driver back.
    pub fn into_inner(self) -> F {
        self.flash
    }

    /// Reads where alignment is not the driver's: one aligned piece around the range, which it fits in.
    fn read_around(&mut self, at: u32, buffer: &mut [u8]) -> Result<(), F::Error> {
        let into = at as usize % F::READ_SIZE;
        let mut aligned = [0; READ_BYTES_MAX];
        self.flash.read(at - into as u32, &mut aligned[..F::READ_SIZE])?;
        buffer.copy_from_slice(&aligned[into..into + buffer.len()]);
        Ok(())
    }
}

impl<F: MultiwriteNorFlash> EmbeddedNor<F> {
    /// States how often a program unit may be programmed between erases, from the part's data sheet.
    pub fn with_reprogramming(mut self, reprogramming: Reprogramming) -> Result<Self, AdapterError> {
        self.part.reprogramming = reprogramming;
        self.part.validate().map_err(AdapterError::Part)?;
        Ok(self)
    }
}

impl<F: NorFlash> Nor for EmbeddedNor<F> {
    type Error = NorRangeError<F::Error>;

    fn part(&self) -> NorPart {
        self.part
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
        check_bytes(&self.part, address, buffer.len())?;
        let at = self.start + address.0;
        let into = at as usize % F::READ_SIZE;
        let head = if into == 0 { 0 } else { (F::READ_SIZE - into).min(buffer.len()) };
        let (head, rest) = buffer.split_at_mut(head);
        let (body, tail) = rest.split_at_mut(rest.len() / F::READ_SIZE * F::READ_SIZE);
        let (body_at, tail_at) = (at + head.len() as u32, at + (head.len() + body.len()) as u32);
        if !head.is_empty() {
            self.read_around(at, head).map_err(NorRangeError::Device)?;
        }
        if !body.is_empty() {
            self.flash.read(body_at, body).map_err(NorRangeError::Device)?;
        }
        if tail.is_empty() { Ok(()) } else { self.read_around(tail_at, tail).map_err(NorRangeError::Device) }
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
        check_bytes(&self.part, address, bytes.len())?;
        self.flash.write(self.start + address.0, bytes).map_err(NorRangeError::Device)
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error> {
        check_unit(&self.part, unit)?;
        let start = self.start + self.part.start_of(unit).0;
        self.flash.erase(start, start + self.part.unit_size_bytes).map_err(NorRangeError::Device)
    }
}

/// Why a driver, or the requested region, is not a part that the contract allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdapterError {
    /// The driver reads in pieces of an unsupported size.
    ReadSize(usize),
    /// The driver programs in pieces of an unsupported size.
    WriteSize(usize),
    /// The unit size is not a multiple of the driver's erase size.
    UnitSize {
        /// The requested unit size.
        unit_size_bytes: u32,
        /// The driver's erase size.
        erase_size_bytes: usize,
    },
    /// The region leaves the flash, or is not made of whole units.
    Region {
        /// Its first byte.
        start: u32,
        /// The byte after its last.
        end: u32,
    },
    /// More than 65,535 units.
    TooManyUnits,
    /// What results is no possible part.
    Part(PartError),
}

impl fmt::Display for AdapterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdapterError::ReadSize(bytes) => write!(f, "the driver reads {bytes} bytes at once: not 1 to 32"),
            AdapterError::WriteSize(bytes) => write!(f, "the driver programs {bytes} bytes at once: not 1 to 32"),
            AdapterError::UnitSize { unit_size_bytes, erase_size_bytes } => {
                write!(f, "units of {unit_size_bytes} bytes are not a multiple of the driver's {erase_size_bytes}")
            }
            AdapterError::Region { start, end } => {
                write!(f, "bytes {start:#x} to {end:#x} leave the flash or are not whole units")
            }
            AdapterError::TooManyUnits => f.write_str("more than 65,535 units: take larger ones"),
            AdapterError::Part(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for AdapterError {}

#[cfg(test)]
mod tests {
    use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};

    use super::*;

    /// A driver that checks its alignment rules.
    #[derive(Debug)]
    struct Driver<const READ: usize, const WRITE: usize>([u8; 4096]);

    #[derive(Debug, PartialEq, Eq)]
    struct Refused(NorFlashErrorKind);

    impl NorFlashError for Refused {
        fn kind(&self) -> NorFlashErrorKind {
            self.0
        }
    }

    fn check(offset: usize, len: usize, size: usize) -> Result<(), Refused> {
        match (offset | len).is_multiple_of(size) {
            true if offset + len <= 4096 => Ok(()),
            true => Err(Refused(NorFlashErrorKind::OutOfBounds)),
            false => Err(Refused(NorFlashErrorKind::NotAligned)),
        }
    }

    impl<const READ: usize, const WRITE: usize> ErrorType for Driver<READ, WRITE> {
        type Error = Refused;
    }

    impl<const READ: usize, const WRITE: usize> ReadNorFlash for Driver<READ, WRITE> {
        const READ_SIZE: usize = READ;

        fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Refused> {
            check(offset as usize, bytes.len(), READ)?;
            bytes.copy_from_slice(&self.0[offset as usize..offset as usize + bytes.len()]);
            Ok(())
        }

        fn capacity(&self) -> usize {
            4096
        }
    }

    impl<const READ: usize, const WRITE: usize> NorFlash for Driver<READ, WRITE> {
        const WRITE_SIZE: usize = WRITE;
        const ERASE_SIZE: usize = 512;

        fn erase(&mut self, from: u32, to: u32) -> Result<(), Refused> {
            check(from as usize, (to - from) as usize, 512)?;
            self.0[from as usize..to as usize].fill(0xFF);
            Ok(())
        }

        fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Refused> {
            check(offset as usize, bytes.len(), WRITE)?;
            for (cell, byte) in self.0[offset as usize..].iter_mut().zip(bytes) {
                *cell &= byte;
            }
            Ok(())
        }
    }

    impl<const READ: usize> MultiwriteNorFlash for Driver<READ, 4> {}

    fn driver<const READ: usize, const WRITE: usize>() -> Driver<READ, WRITE> {
        Driver(core::array::from_fn(|at| (at / 7) as u8))
    }

    #[test]
    fn reads_of_any_alignment_reach_an_aligned_driver() {
        let mut nor = EmbeddedNor::new(driver::<8, 8>()).unwrap();
        let mut other = EmbeddedNor::new(driver::<1, 1>()).unwrap();
        for start in 0..24 {
            for len in 0..40 {
                let (mut a, mut b) = ([0xAA; 40], [0xAA; 40]);
                nor.read(Address(start), &mut a[..len]).unwrap();
                other.read(Address(start), &mut b[..len]).unwrap();
                assert_eq!(a, b, "{len} bytes at {start}");
            }
        }
        nor.read(Address(4095), &mut [0]).unwrap();
    }

    #[test]
    fn a_region_of_larger_units_is_addressed_from_its_start() {
        let nor = EmbeddedNor::new(driver::<1, 4>()).unwrap().in_region(1024..4096).unwrap();
        let mut nor = nor.with_unit_size(1024).unwrap().with_reprogramming(Reprogramming::Times(2)).unwrap();
        let part = nor.part();
        assert_eq!((part.unit_count, part.unit_size_bytes, part.program_unit_bytes), (3, 1024, 4));
        assert_eq!(part.reprogramming, Reprogramming::Times(2));
        nor.erase(EraseUnit(1)).unwrap();
        nor.program(Address(1024), &[1, 2, 3, 4]).unwrap();
        let misaligned = NorRangeError::Device(Refused(NorFlashErrorKind::NotAligned));
        assert_eq!(nor.program(Address(1026), &[0; 4]), Err(misaligned));
        let cells = nor.into_inner().0;
        assert_eq!(cells[2048..2056], [1, 2, 3, 4, 0xFF, 0xFF, 0xFF, 0xFF]);
        assert_eq!((cells[2047], cells[3071], cells[3072]), (36, 0xFF, 182));
    }

    #[test]
    fn what_lies_outside_the_region_is_out_of_reach() {
        // The flash has 512 bytes before the region and 1,024 after it.
        let mut nor = EmbeddedNor::new(driver::<8, 8>()).unwrap().in_region(512..3072).unwrap();
        for (address, len) in [(2560, 1), (2559, 2), (2553, 8), (0, 2561), (u32::MAX, 1), (u32::MAX - 511, 8)] {
            let address = Address(address);
            let outside = Err(NorRangeError::Outside { address });
            assert_eq!(nor.read(address, &mut [0; 4096][..len]), outside);
            assert_eq!(nor.program(address, &[0; 4096][..len]), outside);
        }
        for unit in [5, 6, 7, u16::MAX] {
            let address = Address(u32::from(unit) * 512);
            assert_eq!(nor.erase(EraseUnit(unit)), Err(NorRangeError::Outside { address }));
        }
        nor.read(Address(2559), &mut [0]).unwrap();
        assert_eq!(nor.into_inner().0, driver::<8, 8>().0, "nothing was changed");
    }

    #[test]
    fn impossible_drivers_and_regions_are_refused() {
        let refused = |range: Range<u32>| EmbeddedNor::new(driver::<1, 1>()).unwrap().in_region(range).unwrap_err();
        assert_eq!(refused(512..8192), AdapterError::Region { start: 512, end: 8192 });
        assert_eq!(refused(100..1024), AdapterError::Region { start: 100, end: 1024 });
        assert_eq!(refused(512..512), AdapterError::Part(PartError::NoUnits));
        assert_eq!(EmbeddedNor::new(driver::<64, 1>()).unwrap_err(), AdapterError::ReadSize(64));
        assert_eq!(EmbeddedNor::new(driver::<1, 512>()).unwrap_err(), AdapterError::WriteSize(512));
        assert_eq!(EmbeddedNor::new(driver::<1, 64>()).unwrap_err(), AdapterError::Part(PartError::ProgramUnit(64)));
        let unit = EmbeddedNor::new(driver::<1, 1>()).unwrap().with_unit_size(768).unwrap_err();
        assert_eq!(unit, AdapterError::UnitSize { unit_size_bytes: 768, erase_size_bytes: 512 });
        assert_eq!(EmbeddedNor::new(driver::<1, 4>()).unwrap().part().reprogramming, Reprogramming::Once);
        let none = EmbeddedNor::new(driver::<1, 4>()).unwrap().with_reprogramming(Reprogramming::Times(0));
        assert_eq!(none.unwrap_err(), AdapterError::Part(PartError::Reprogramming));
    }
}
