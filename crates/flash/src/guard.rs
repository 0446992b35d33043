//! A device that is not asked again after its first failure.
//!
//! A failed program or erase leaves flash as a loss of power would, and what the client has in RAM does not fit it any
//! more. A client that went on would build on what it does not know. So the guard refuses every further call until the
//! client starts again: it [restarts](Nor::restart) the device and reads again what flash holds.
//!
//! A guard around a [`Nor`], [`Nand`] or [`Eeprom`] is one itself.
//!
//! Invariant: between a failure and the next restart no call reaches the device, except through
//! [`device_mut`](Guard::device_mut).

use core::fmt;

use crate::eeprom::{Eeprom, EepromPart};
use crate::nand::{Block, Column, Nand, NandError, NandErrorKind, NandPart, PageAddress, Piece};
use crate::nor::{Address, EraseUnit, Nor, NorPart};

/// Why a guarded call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardError<E> {
    /// The device failed, in this call.
    Device(E),
    /// The device failed in an earlier call, or was not started yet. It was not asked.
    Halted,
}

impl<E: fmt::Debug> fmt::Display for GuardError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GuardError::Device(error) => write!(f, "the device failed: {error:?}"),
            GuardError::Halted => f.write_str("halted: the device failed in an earlier call"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for GuardError<E> {}

impl<E: NandError> NandError for GuardError<E> {
    fn kind(&self) -> NandErrorKind {
        match self {
            GuardError::Device(error) => error.kind(),
            GuardError::Halted => NandErrorKind::Other,
        }
    }
}

/// A device, and whether it has failed.
///
/// RAM: the device and a flag. Cost of a call: a test of the flag.
///
/// ```
/// use norn_flash::{Address, EraseUnit, Guard, GuardError, Nor, NorPart, Reprogramming};
///
/// struct Failing(u32);
/// impl Nor for Failing {
///     type Error = &'static str;
/// #   fn part(&self) -> NorPart {
/// #       NorPart {
/// #           unit_count: 1,
/// #           unit_size_bytes: 4096,
/// #           program_unit_bytes: 1,
/// #           reprogramming: Reprogramming::Unlimited,
/// #           mapped: false,
/// #           endurance_erases: None,
/// #       }
/// #   }
/// #   fn read(&mut self, _: Address, _: &mut [u8]) -> Result<(), Self::Error> { self.0 += 1; Ok(()) }
/// #   fn erase(&mut self, _: EraseUnit) -> Result<(), Self::Error> { self.0 += 1; Ok(()) }
///     fn program(&mut self, _: Address, _: &[u8]) -> Result<(), Self::Error> { Err("brown-out") }
///     // … `read` counts its calls
/// }
///
/// let mut guard = Guard::new(Failing(0));
/// assert_eq!(guard.program(Address(0), &[0]), Err(GuardError::Device("brown-out")));
/// assert_eq!(guard.read(Address(0), &mut [0]), Err(GuardError::Halted));
/// assert_eq!(guard.device().0, 0);
/// guard.restart().unwrap();
/// guard.read(Address(0), &mut [0]).unwrap();
/// assert_eq!(guard.device().0, 1);
/// ```
#[derive(Clone, Debug)]
pub struct Guard<D> {
    device: D,
    halted: bool,
}

impl<D> Guard<D> {
    /// A device that answers.
    pub const fn new(device: D) -> Self {
        Guard { device, halted: false }
    }

    /// A device that is not asked anything before it is [restarted](Nor::restart).
    pub const fn unstarted(device: D) -> Self {
        Guard { device, halted: true }
    }

    /// The device below.
    pub const fn device(&self) -> &D {
        &self.device
    }

    /// The device below, unguarded: for its settings, and for calls whose failure is no reason to halt.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// Gives the device back.
    pub fn into_device(self) -> D {
        self.device
    }

    /// Whether calls are refused.
    pub const fn is_halted(&self) -> bool {
        self.halted
    }

    /// Refuses every further call, as after a failure.
    pub fn halt(&mut self) {
        self.halted = true;
    }

    /// Lets calls reach the device again, which the caller has restarted.
    pub fn resume(&mut self) {
        self.halted = false;
    }

    /// Refuses calls that could be answered from RAM alone, once the device has failed.
    ///
    /// # Errors
    /// [`GuardError::Halted`].
    #[inline]
    pub fn expect_running<E>(&self) -> Result<(), GuardError<E>> {
        if self.halted { Err(GuardError::Halted) } else { Ok(()) }
    }

    /// Asks the device, and halts if it fails.
    #[inline]
    fn attempt<T, E>(&mut self, call: impl FnOnce(&mut D) -> Result<T, E>) -> Result<T, GuardError<E>> {
        self.attempt_unless(call, |_| false)
    }

    /// Asks the device, and halts if it fails, except with an error that it `survives`.
    #[inline]
    fn attempt_unless<T, E>(
        &mut self,
        call: impl FnOnce(&mut D) -> Result<T, E>,
        survives: impl FnOnce(&E) -> bool,
    ) -> Result<T, GuardError<E>> {
        self.expect_running()?;
        call(&mut self.device).map_err(|error| {
            self.halted = !survives(&error);
            GuardError::Device(error)
        })
    }
}

impl<D: Nor> Nor for Guard<D> {
    type Error = GuardError<D::Error>;

    fn part(&self) -> NorPart {
        self.device.part()
    }

    #[inline]
    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
        self.attempt(|device| device.read(address, buffer))
    }

    #[inline]
    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
        self.attempt(|device| device.program(address, bytes))
    }

    #[inline]
    fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error> {
        self.attempt(|device| device.erase(unit))
    }

    /// Restarts the device, and lets calls reach it from then on.
    fn restart(&mut self) -> Result<(), Self::Error> {
        self.device.restart().map_err(GuardError::Device)?;
        self.resume();
        Ok(())
    }

    fn mapped(&self) -> Option<&[u8]> {
        self.device.mapped()
    }
}

/// A block that goes bad is no failure of the device: calls continue.
impl<D: Nand> Nand for Guard<D> {
    type Error = GuardError<D::Error>;

    fn part(&self) -> NandPart {
        self.device.part()
    }

    #[inline]
    fn load(&mut self, page: PageAddress) -> Result<(), Self::Error> {
        self.attempt(|device| device.load(page))
    }

    #[inline]
    fn seek(&mut self, column: Column) -> Result<(), Self::Error> {
        self.attempt(|device| device.seek(column))
    }

    #[inline]
    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), Self::Error> {
        self.attempt(|device| device.fetch(buffer))
    }

    #[inline]
    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error> {
        self.attempt_unless(|device| device.program(page, pieces), is_block_failure)
    }

    #[inline]
    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error> {
        self.attempt_unless(|device| device.program_loaded(page, pieces), is_block_failure)
    }

    #[inline]
    fn erase(&mut self, block: Block) -> Result<(), Self::Error> {
        self.attempt_unless(|device| device.erase(block), is_block_failure)
    }

    #[inline]
    fn copy(&mut self, from: PageAddress, to: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error> {
        self.attempt_unless(|device| device.copy(from, to, pieces), is_block_failure)
    }

    #[inline]
    fn is_marked_bad(&mut self, block: Block) -> Result<bool, Self::Error> {
        self.attempt(|device| device.is_marked_bad(block))
    }

    #[inline]
    fn barrier(&mut self) -> Result<(), Self::Error> {
        self.attempt(|device| device.barrier())
    }

    /// Restarts the device, and lets calls reach it from then on.
    fn restart(&mut self) -> Result<(), Self::Error> {
        self.device.restart().map_err(GuardError::Device)?;
        self.resume();
        Ok(())
    }
}

fn is_block_failure(error: &impl NandError) -> bool {
    error.kind() == NandErrorKind::BlockFailed
}

impl<D: Eeprom> Eeprom for Guard<D> {
    type Error = GuardError<D::Error>;

    fn part(&self) -> EepromPart {
        self.device.part()
    }

    #[inline]
    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
        self.attempt(|device| device.read(address, buffer))
    }

    #[inline]
    fn write(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
        self.attempt(|device| device.write(address, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::{BadMark, ColumnAccess, Correction};

    /// A NAND part that fails on request, and counts the calls that reach it.
    struct Failing {
        error: Option<NandErrorKind>,
        calls: u32,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Failure(NandErrorKind);

    impl NandError for Failure {
        fn kind(&self) -> NandErrorKind {
            self.0
        }
    }

    impl Failing {
        fn answer(&mut self) -> Result<(), Failure> {
            self.calls += 1;
            self.error.map_or(Ok(()), |kind| Err(Failure(kind)))
        }
    }

    impl Nand for Failing {
        type Error = Failure;

        fn part(&self) -> NandPart {
            NandPart {
                block_count: 2,
                pages_per_block: 2,
                page_bytes: 512,
                oob_bytes: 16,
                columns: ColumnAccess::Forwards,
                correction: Correction { bits: 1, bytes: 512 },
                bad_mark: BadMark { column: Column(512), pages: 1 },
                good_blocks_min: 2,
                endurance_erases: None,
            }
        }

        fn load(&mut self, _: PageAddress) -> Result<(), Failure> {
            self.answer()
        }

        fn seek(&mut self, _: Column) -> Result<(), Failure> {
            self.answer()
        }

        fn fetch(&mut self, _: &mut [u8]) -> Result<(), Failure> {
            self.answer()
        }

        fn program(&mut self, _: PageAddress, _: &[Piece<'_>]) -> Result<(), Failure> {
            self.answer()
        }

        fn program_loaded(&mut self, _: PageAddress, _: &[Piece<'_>]) -> Result<(), Failure> {
            self.answer()
        }

        fn erase(&mut self, _: Block) -> Result<(), Failure> {
            self.answer()
        }

        fn restart(&mut self) -> Result<(), Failure> {
            self.answer()
        }
    }

    const PAGE: PageAddress = PageAddress { block: Block(1), page: 0 };

    /// Every call of a guarded NAND part but restarting it.
    fn call(guard: &mut Guard<Failing>, number: usize) -> Result<(), GuardError<Failure>> {
        match number {
            0 => guard.load(PAGE),
            1 => guard.seek(Column(0)),
            2 => guard.fetch(&mut [0]),
            3 => guard.is_marked_bad(Block(0)).map(|_| ()),
            4 => guard.program(PAGE, &[]),
            5 => guard.program_loaded(PAGE, &[]),
            6 => guard.copy(PAGE, PAGE, &[]),
            _ => guard.erase(Block(1)),
        }
    }

    #[test]
    fn a_failed_device_is_not_asked_again_before_it_is_restarted() {
        for first in 0..8 {
            let mut guard = Guard::new(Failing { error: Some(NandErrorKind::Other), calls: 0 });
            assert_eq!(call(&mut guard, first), Err(GuardError::Device(Failure(NandErrorKind::Other))));
            for next in 0..8 {
                assert_eq!(call(&mut guard, next), Err(GuardError::Halted));
            }
            assert_eq!(guard.restart(), Err(GuardError::Device(Failure(NandErrorKind::Other))));
            assert!(guard.is_halted(), "a restart that fails ends no halt");
            assert_eq!(guard.device().calls, 2);
            guard.device_mut().error = None;
            assert_eq!(guard.restart(), Ok(()));
            assert_eq!(guard.load(PAGE), Ok(()));
            assert_eq!(guard.device().calls, 4);
        }
    }

    #[test]
    fn a_block_that_goes_bad_does_not_halt_the_device() {
        let mut guard = Guard::new(Failing { error: Some(NandErrorKind::BlockFailed), calls: 0 });
        for number in 4..8 {
            let error = call(&mut guard, number).unwrap_err();
            assert_eq!(error.kind(), NandErrorKind::BlockFailed);
        }
        assert_eq!(guard.device().calls, 4);
    }

    #[test]
    fn a_device_that_was_not_started_is_not_asked() {
        let mut guard = Guard::unstarted(Failing { error: None, calls: 0 });
        assert_eq!(guard.load(PAGE), Err(GuardError::Halted));
        assert_eq!(guard.expect_running::<Failure>(), Err(GuardError::Halted));
        assert_eq!(guard.device().calls, 0);
    }
}
