//! Parts with erase sectors of several sizes, as units of one size.
//!
//! Classic NOR has a boot block of small sectors at one end, and some microcontrollers grow their sectors from 16 to
//! 128 KB. A unit is then of the largest size, and small sectors have to fill whole units together: eight of 8 KB
//! beside ones of 64 KB do. Where they do not, the error names the run of sectors. One at the end is left out of the
//! runs that the heap may use; where it is the first, the others begin after it ([`SectorNor::starting_at`]).
//!
//! Invariants: no sector crosses the border of a unit; every unit is made of whole sectors.

use core::fmt;

use crate::nor::{Address, EraseUnit, Nor, NorPart, PartError};
use crate::partition::{NorRangeError, check_bytes, check_unit};

/// Sectors of one size, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorRun {
    /// How many there are.
    pub count: u16,
    /// Size of each in bytes.
    pub size_bytes: u32,
}

/// What a driver of a part with sectors of several sizes does. The contract is [`Nor`]'s, with sectors in the place of
/// units.
pub trait SectorFlash {
    /// What goes wrong on this device.
    type Error: fmt::Debug;

    /// Reads `buffer.len()` bytes from `address` on, of any alignment.
    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error>;

    /// Clears the bits that are 0 in `bytes`, from `address` on.
    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Sets all bits of the sector of this size that starts at `address`.
    fn erase_sector(&mut self, address: Address, size_bytes: u32) -> Result<(), Self::Error>;

    /// The whole part as memory, if it is mapped.
    fn mapped(&self) -> Option<&[u8]> {
        None
    }
}

/// A part with sectors of several sizes as a NOR part with units of the largest.
///
/// ```
/// use norn_flash::{Address, Nor, NorPart, Reprogramming, SectorFlash, SectorNor, SectorRun};
///
/// struct Driver;
/// impl SectorFlash for Driver {
/// #   type Error = core::convert::Infallible;
/// #   fn read(&mut self, _: Address, _: &mut [u8]) -> Result<(), Self::Error> { Ok(()) }
/// #   fn program(&mut self, _: Address, _: &[u8]) -> Result<(), Self::Error> { Ok(()) }
/// #   fn erase_sector(&mut self, _: Address, _: u32) -> Result<(), Self::Error> { Ok(()) }
///     // as the part does it
/// }
///
/// // A bottom boot block: 8 sectors of 8 KB, 63 of 64 KB.
/// static RUNS: [SectorRun; 2] =
///     [SectorRun { count: 8, size_bytes: 8 << 10 }, SectorRun { count: 63, size_bytes: 64 << 10 }];
/// let limits = NorPart {
///     program_unit_bytes: 2,
///     reprogramming: Reprogramming::Unlimited,
///     mapped: false,
///     endurance_erases: Some(100_000),
///     unit_count: 0,      // both follow from the runs
///     unit_size_bytes: 0,
/// };
/// let nor = SectorNor::new(Driver, &RUNS, limits).unwrap();
/// assert_eq!((nor.part().unit_count, nor.part().unit_size_bytes), (64, 64 << 10));
/// ```
#[derive(Clone, Debug)]
pub struct SectorNor<'a, F> {
    flash: F,
    runs: &'a [SectorRun],
    part: NorPart,
    start: u32,
}

impl<'a, F: SectorFlash> SectorNor<'a, F> {
    /// `flash`, whose sectors are `runs` from address 0 on; of `limits`, the number and size of units are not looked
    /// at.
    ///
    /// # Errors
    /// Names the run whose sectors do not fill whole units, or what is impossible about the part.
    pub fn new(flash: F, runs: &'a [SectorRun], limits: NorPart) -> Result<Self, SectorError> {
        let (unit_count, unit_size_bytes) = uniform_units(runs)?;
        let part = NorPart { unit_count, unit_size_bytes, ..limits };
        part.validate().map_err(SectorError::Part)?;
        Ok(SectorNor { flash, runs, part, start: 0 })
    }

    /// The same with the first run at `address` of the flash.
    pub fn starting_at(self, address: Address) -> Self {
        SectorNor { start: address.0, ..self }
    }

    /// Gives the driver back.
    pub fn into_inner(self) -> F {
        self.flash
    }
}

/// Every sector: its run, start and size.
fn sectors(runs: &[SectorRun]) -> impl Iterator<Item = (usize, u64, u32)> + '_ {
    let mut start = 0;
    runs.iter().enumerate().flat_map(|(number, run)| (0..run.count).map(move |_| (number, run.size_bytes))).map(
        move |(run, size_bytes)| {
            let sector = (run, start, size_bytes);
            start += u64::from(size_bytes);
            sector
        },
    )
}

/// Number and size of the units that `runs` make up.
fn uniform_units(runs: &[SectorRun]) -> Result<(u16, u32), SectorError> {
    let unit_size_bytes = runs.iter().filter(|run| run.count > 0).map(|run| run.size_bytes).max().unwrap_or(0);
    let unit = u64::from(unit_size_bytes);
    let mut end = 0;
    let mut last = 0;
    for (run, start, size_bytes) in sectors(runs) {
        if size_bytes == 0 || start % unit + u64::from(size_bytes) > unit {
            // It is the run before that leaves a unit open, unless the sectors of this one do not fill units by
            // themselves.
            let run = if size_bytes == 0 || unit % u64::from(size_bytes) != 0 { run } else { last };
            return Err(SectorError::Straddles { run, unit_size_bytes });
        }
        (last, end) = (run, start + u64::from(size_bytes));
    }
    if unit == 0 {
        return Err(SectorError::Part(PartError::NoUnits));
    }
    if end % unit != 0 {
        return Err(SectorError::Straddles { run: last, unit_size_bytes });
    }
    match u16::try_from(end / unit) {
        Ok(unit_count) => Ok((unit_count, unit_size_bytes)),
        Err(_) => Err(SectorError::Part(PartError::TooLarge)),
    }
}

impl<F: SectorFlash> Nor for SectorNor<'_, F> {
    type Error = NorRangeError<F::Error>;

    fn part(&self) -> NorPart {
        self.part
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
        check_bytes(&self.part, address, buffer.len())?;
        self.flash.read(address.offset(self.start), buffer).map_err(NorRangeError::Device)
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
        check_bytes(&self.part, address, bytes.len())?;
        self.flash.program(address.offset(self.start), bytes).map_err(NorRangeError::Device)
    }

    /// Cost: an erase for each of the unit's sectors. A loss of power between them leaves a torn erase, as the contract
    /// allows.
    fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error> {
        check_unit(&self.part, unit)?;
        for (_, start, size_bytes) in sectors(self.runs) {
            if start / u64::from(self.part.unit_size_bytes) == u64::from(unit.0) {
                let address = Address(self.start + start as u32);
                self.flash.erase_sector(address, size_bytes).map_err(NorRangeError::Device)?;
            }
        }
        Ok(())
    }

    fn mapped(&self) -> Option<&[u8]> {
        let start = self.start as usize;
        self.flash.mapped()?.get(start..start + self.part.size_bytes() as usize)
    }
}

/// Why runs of sectors make up no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectorError {
    /// The sectors of a run do not fill whole units.
    Straddles {
        /// Index of the run.
        run: usize,
        /// The size of units: that of the largest sectors.
        unit_size_bytes: u32,
    },
    /// What results is no possible part.
    Part(PartError),
}

impl fmt::Display for SectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SectorError::Straddles { run, unit_size_bytes } => write!(
                f,
                "run {run} of sectors does not fill whole units of {unit_size_bytes} bytes, the largest sectors' size"
            ),
            SectorError::Part(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SectorError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nor::Reprogramming;

    const KIB: u32 = 1024;
    const LIMITS: NorPart = NorPart {
        unit_count: 0,
        unit_size_bytes: 0,
        program_unit_bytes: 1,
        reprogramming: Reprogramming::Unlimited,
        mapped: false,
        endurance_erases: None,
    };

    fn run(count: u16, size_kib: u32) -> SectorRun {
        SectorRun { count, size_bytes: size_kib * KIB }
    }

    /// A driver that remembers the sectors that it erased.
    #[derive(Debug, Default)]
    struct Erased([Option<(u32, u32)>; 8]);

    impl SectorFlash for Erased {
        type Error = ();

        fn read(&mut self, _: Address, buffer: &mut [u8]) -> Result<(), ()> {
            buffer.fill(7);
            Ok(())
        }

        fn program(&mut self, _: Address, _: &[u8]) -> Result<(), ()> {
            Ok(())
        }

        fn erase_sector(&mut self, address: Address, size_bytes: u32) -> Result<(), ()> {
            *self.0.iter_mut().find(|place| place.is_none()).ok_or(())? = Some((address.0, size_bytes));
            Ok(())
        }
    }

    #[test]
    fn small_sectors_make_up_units_of_the_largest_size() {
        let stm32f4 = [run(4, 16), run(1, 64), run(7, 128)];
        assert_eq!(uniform_units(&stm32f4), Ok((8, 128 * KIB)));
        let bottom = [run(8, 8), run(63, 64)];
        assert_eq!(uniform_units(&bottom), Ok((64, 64 * KIB)));
        let top = [run(63, 64), run(1, 32), run(2, 8), run(1, 16)];
        assert_eq!(uniform_units(&top), Ok((64, 64 * KIB)));

        let mut nor = SectorNor::new(Erased::default(), &stm32f4, LIMITS).unwrap();
        nor.erase(EraseUnit(0)).unwrap();
        nor.erase(EraseUnit(2)).unwrap();
        let mut byte = [0];
        nor.read(Address(0), &mut byte).unwrap();
        assert_eq!(byte, [7]);
        let erased: [(u32, u32); 6] = core::array::from_fn(|at| nor.flash.0[at].unwrap());
        let small = |number: u32| (number * 16 * KIB, 16 * KIB);
        assert_eq!(erased[..4], core::array::from_fn::<_, 4, _>(|number| small(number as u32)));
        assert_eq!(erased[4..], [(64 * KIB, 64 * KIB), (256 * KIB, 128 * KIB)]);
        assert_eq!(nor.flash.0[6], None);

        let mut behind =
            SectorNor::new(Erased::default(), &stm32f4[2..], LIMITS).unwrap().starting_at(Address(128 * KIB));
        behind.erase(EraseUnit(1)).unwrap();
        assert_eq!(behind.flash.0[0], Some((256 * KIB, 128 * KIB)));
    }

    #[test]
    fn what_lies_outside_the_runs_is_out_of_reach() {
        let runs = [run(2, 64)];
        let mut nor = SectorNor::new(Erased::default(), &runs, LIMITS).unwrap().starting_at(Address(64 * KIB));
        for address in [128 * KIB - 1, 128 * KIB, u32::MAX - 64 * KIB, u32::MAX] {
            let outside = Err(NorRangeError::Outside { address: Address(address) });
            assert_eq!(nor.read(Address(address), &mut [0; 2]), outside);
            assert_eq!(nor.program(Address(address), &[0; 2]), outside);
        }
        assert_eq!(nor.erase(EraseUnit(2)), Err(NorRangeError::Outside { address: Address(128 * KIB) }));
        assert_eq!(nor.flash.0[0], None);
    }

    #[test]
    fn runs_that_fill_no_units_are_named() {
        let refused = |runs: &[SectorRun]| SectorNor::new(Erased::default(), runs, LIMITS).map(|_| ()).unwrap_err();
        let straddles = |run, size_kib: u32| SectorError::Straddles { run, unit_size_bytes: size_kib * KIB };
        assert_eq!(refused(&[run(4, 16), run(7, 128)]), straddles(0, 128));
        assert_eq!(refused(&[run(7, 64), run(3, 16)]), straddles(1, 64));
        assert_eq!(refused(&[run(2, 24), run(7, 64)]), straddles(0, 64));
        assert_eq!(refused(&[run(1, 64), run(7, 24)]), straddles(1, 64));
        assert_eq!(refused(&[]), SectorError::Part(PartError::NoUnits));
        assert_eq!(refused(&[run(0, 64)]), SectorError::Part(PartError::NoUnits));
        assert_eq!(refused(&[run(3, 64), run(3, 0)]), straddles(1, 64));
    }
}
