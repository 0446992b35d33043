//! The device: words and aligned programs; a guard refuses every call after the first failure.
//!
//! This is the one file that calls the device. It also has what all other files need to know of the medium as a whole:
//! the geometry, whether there are codes that show flipped bits, and what was found to be impossible.

use core::marker::PhantomData;

use norn_flash::{Address, EraseUnit, Guard, Nor, Violation};

use crate::detection::ErrorDetection;
use crate::error::{MountError, StoreError};
use crate::features::Features;
use crate::format::ERASED_WORD;
use crate::geometry::Geometry;

/// Largest program unit of a part, in bytes.
const PROGRAM_UNIT_BYTES_MAX: usize = 32;

/// Whether the place to be programmed again is erased, or may hold a part of the data already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Erased,
    Started,
}

/// A device with its guard.
#[derive(Clone, Debug)]
pub(crate) struct Medium<D, F> {
    guard: Guard<D>,
    geometry: Geometry,
    corruption: Option<Violation>,
    error_detection: ErrorDetection,
    features: PhantomData<F>,
}

impl<D: Nor, F: Features> Medium<D, F> {
    /// A device that is not to be used yet.
    pub(super) fn unused(device: D) -> Self {
        let geometry = Geometry::unknown(device.part());
        let error_detection = ErrorDetection::Off;
        Medium { guard: Guard::unstarted(device), geometry, corruption: None, error_detection, features: PhantomData }
    }

    /// Lets calls reach the device, if the part can be used with a unit table of this length.
    pub(super) fn restart(&mut self, table: usize) -> Result<(), MountError<D::Error>> {
        self.guard.halt();
        self.geometry = Geometry::of(self.geometry.part, table)?;
        self.guard.device_mut().restart().map_err(MountError::Device)?;
        self.guard.resume();
        self.corruption = None;
        Ok(())
    }

    pub(super) fn set_error_detection(&mut self, error_detection: ErrorDetection) {
        self.error_detection = error_detection;
    }

    pub fn halt(&mut self) {
        self.guard.halt();
    }

    pub fn is_halted(&self) -> bool {
        self.guard.is_halted()
    }

    /// Refuses calls that could answer from RAM alone, when the device has failed or was never mounted.
    pub fn expect_answering(&self) -> Result<(), StoreError<D::Error>> {
        if self.guard.is_halted() { Err(StoreError::Halted) } else { Ok(()) }
    }

    pub fn device(&self) -> &D {
        self.guard.device()
    }

    pub fn mapped(&self) -> Option<&[u8]> {
        self.guard.mapped()
    }

    pub fn device_mut(&mut self) -> &mut D {
        self.guard.device_mut()
    }

    pub fn into_device(self) -> D {
        self.guard.into_device()
    }

    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Whether codes are kept: never where the program has no code for them.
    pub fn detection(&self) -> ErrorDetection {
        if F::ERROR_DETECTION { self.error_detection } else { ErrorDetection::Off }
    }

    /// Whether error detection is on.
    pub fn detects(&self) -> bool {
        self.detection().is_on()
    }

    /// What the last call that returned `Corrupted` found.
    pub fn corruption(&self) -> Option<Violation> {
        self.corruption
    }

    /// Returns `Corrupted`, and remembers what is wrong at `address`.
    pub fn corrupted<T>(&mut self, address: Address, what: &'static str) -> Result<T, StoreError<D::Error>> {
        self.note_corruption(address, what);
        Err(StoreError::Corrupted)
    }

    /// A function of its own, which is not repeated for each type of result.
    #[inline(never)]
    fn note_corruption(&mut self, address: Address, what: &'static str) {
        self.corruption = Some(Violation { address, what });
    }

    #[inline(never)]
    pub(super) fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), StoreError<D::Error>> {
        Ok(self.guard.read(address, buffer)?)
    }

    pub(super) fn read_word(&mut self, address: Address) -> Result<u32, StoreError<D::Error>> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// The first word of a unit between two offsets that is not erased.
    #[inline(never)]
    pub(super) fn first_programmed(
        &mut self,
        unit: EraseUnit,
        from: u32,
        to: u32,
    ) -> Result<Option<Address>, StoreError<D::Error>> {
        let start = self.geometry.part.start_of(unit);
        for offset in (from..to).step_by(4) {
            if self.read_word(start.offset(offset))? != ERASED_WORD {
                return Ok(Some(start.offset(offset)));
            }
        }
        Ok(None)
    }

    pub(super) fn erase(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        Ok(self.guard.erase(unit)?)
    }

    /// Programs `bytes` at any alignment: whole program units directly, a part of one together with what is there.
    pub(super) fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), StoreError<D::Error>> {
        let unit = u32::from(self.geometry.part.program_unit_bytes);
        // Program units are powers of two: masks take less code than divisions.
        let head = (address.0.wrapping_neg() & (unit - 1)).min(bytes.len() as u32) as usize;
        let body = (bytes.len() - head) & !(unit as usize - 1);
        let (head, rest) = bytes.split_at(head);
        let (body, tail) = rest.split_at(body);
        let body_at = address.offset(head.len() as u32);
        self.program_partial(address, head)?;
        if !body.is_empty() {
            self.guard.program(body_at, body)?;
        }
        self.program_partial(body_at.offset(body.len() as u32), tail)
    }

    /// Programs what is not erased in `bytes`, in pieces of a word of four bytes or of a program unit, whichever is
    /// larger; pieces that lie together by one call. Where a copy was started, pieces that are there already are left
    /// alone.
    pub(super) fn program_new(
        &mut self,
        address: Address,
        bytes: &[u8],
        target: Target,
    ) -> Result<(), StoreError<D::Error>> {
        let piece_bytes = usize::from(self.geometry.part.program_unit_bytes).max(4);
        let (mut at, mut run) = (0, 0..0);
        while at < bytes.len() {
            let border = piece_bytes - ((address.0 as usize + at) & (piece_bytes - 1));
            let end = bytes.len().min(at + border);
            let piece = &bytes[at..end];
            let is_there = target == Target::Started && self.holds(address.offset(at as u32), piece)?;
            if !is_there && piece.iter().any(|&byte| byte != 0xFF) {
                run = if run.end == at { run.start..end } else { at..end };
            }
            if !run.is_empty() && (run.end < end || end == bytes.len()) {
                self.program(address.offset(run.start as u32), &bytes[run.clone()])?;
                run = end..end;
            }
            at = end;
        }
        Ok(())
    }

    /// Whether `piece`, of a program unit at most, is at `address`.
    fn holds(&mut self, address: Address, piece: &[u8]) -> Result<bool, StoreError<D::Error>> {
        let mut there = [0; PROGRAM_UNIT_BYTES_MAX];
        self.read(address, &mut there[..piece.len()])?;
        Ok(there[..piece.len()] == *piece)
    }

    pub(super) fn program_word(&mut self, address: Address, word: u32) -> Result<(), StoreError<D::Error>> {
        self.program(address, &word.to_le_bytes())
    }

    fn program_partial(&mut self, address: Address, bytes: &[u8]) -> Result<(), StoreError<D::Error>> {
        if bytes.is_empty() {
            return Ok(());
        }
        let unit = usize::from(self.geometry.part.program_unit_bytes);
        let into = address.0 as usize & (unit - 1);
        let start = Address(address.0 - into as u32);
        let mut buffer = [0; PROGRAM_UNIT_BYTES_MAX];
        self.read(start, &mut buffer[..unit])?;
        buffer[into..into + bytes.len()].copy_from_slice(bytes);
        Ok(self.guard.program(start, &buffer[..unit])?)
    }
}
