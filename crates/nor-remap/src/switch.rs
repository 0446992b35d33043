//! The switch of a virtual unit to another home: every erase is one, and every move of a unit that is full or fails.
//!
//! A switch from the home X to the spare S:
//! 1. copy what the unit holds to S, with the change that led to the move; nothing where the unit is to be erased;
//! 2. program the header of S: the moment of truth. It has the highest generation, and names X as the spare to be;
//! 3. erase X;
//! 4. program the state "X is ready" after the header of S.
//!
//! A program that S refuses leads to S being erased once more, for a cut copy may have used up a cell without a trace;
//! a program that a freshly erased unit refuses leads to its being retired.
//!
//! Invariants: one erase is in flight at most, and flash says which; X is erased only after the header of S is whole.

use norn_flash::{EraseUnit, Nor};

use crate::error::RemapError;
use crate::format::{ERASE_COUNT_MAX, FORMAT_VERSION, HEADER_BYTES, Header, Role};
use crate::homes::RemapRows;
use crate::layout::CELL_BYTES_MAX;
use crate::remap::{RemapIn, Spare};
use crate::table::is_erased;

/// Bytes that a copy handles at once: whole cells of any part.
const CHUNK_BYTES: usize = 128;

/// Wear levelling: every n-th switch moves another unit, too.
const WEAR_PERIOD: u32 = 64;

const _: () = assert!(CHUNK_BYTES.is_multiple_of(CELL_BYTES_MAX));

/// What a virtual unit holds in its new home.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Contents<'a> {
    /// Nothing.
    Erased,
    /// What it held, and these bytes programmed.
    Changed { offset: u32, bytes: &'a [u8] },
}

/// Whether the spare was erased in the course of this switch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Freshness {
    Earlier,
    Now,
}

impl<D: Nor, M: RemapRows> RemapIn<D, M> {
    /// Moves a virtual unit to the spare; every so often another one, too, so that what never changes does not keep a
    /// unit from wearing.
    pub(crate) fn switch(&mut self, unit: EraseUnit, contents: Contents<'_>) -> Result<(), RemapError<D::Error>> {
        self.switch_one(unit, contents)?;
        if self.generation.is_multiple_of(WEAR_PERIOD) && self.spare.is_some() {
            let number = self.generation.wrapping_mul(0x9E37_79B1) >> 16;
            let other = EraseUnit((number % u32::from(self.virtual_units())) as u16);
            self.switch_one(other, Contents::Changed { offset: 0, bytes: &[] })?;
        }
        Ok(())
    }

    fn switch_one(&mut self, unit: EraseUnit, contents: Contents<'_>) -> Result<(), RemapError<D::Error>> {
        let old = self.homes.home(unit);
        let generation = self.generation.wrapping_add(1);
        let erased = match self.read_header(old) {
            Ok(header) => header.map_or(0, |header| header.erase_count),
            Err(error) => return self.no_answer(error),
        };
        let mut header = Header {
            role: Role::Home(unit.0),
            generation,
            spare: old,
            spare_erase_count: (erased + 1).min(ERASE_COUNT_MAX),
            ..self.header_form()
        };
        let mut freshness = Freshness::Earlier;
        let new = loop {
            let Spare { unit: new, erase_count } = self.spare.ok_or(RemapError::NoSpare)?;
            header.erase_count = erase_count;
            let Err(error) = self.fill(new, unit, &header, contents) else {
                break new;
            };
            let error = self.check_answer(error)?;
            if matches!(self.read_header(new), Ok(Some(found)) if found.generation == generation) {
                break new; // The program failed, but all of it is there.
            }
            self.spare = None;
            match freshness {
                Freshness::Earlier => self.erase_again(new, erase_count + 1)?,
                Freshness::Now => {
                    self.retire(new);
                    self.take_cold_spare()?;
                }
            }
            freshness = Freshness::Now;
            if self.spare.is_none() {
                return Err(RemapError::Device(error));
            }
        };
        self.homes.set(unit, new);
        (self.newest, self.generation, self.next_state, self.says_ready) = (new, generation, 0, false);
        self.spare = None;
        self.hints.forget(old);
        self.erase_announced(old, header.spare_erase_count)
    }

    /// What every header of the image says.
    pub(crate) fn header_form(&self) -> Header {
        Header {
            version: FORMAT_VERSION,
            representation: self.layout.representation,
            unit_count: self.layout.part.unit_count,
            spare_units: self.layout.spare_units,
            role: Role::Formatting,
            generation: 0,
            erase_count: 0,
            program_unit_bytes: self.layout.part.program_unit_bytes,
            spare: EraseUnit(0),
            spare_erase_count: 0,
            unit_size_bytes: self.layout.part.unit_size_bytes,
        }
    }

    pub(crate) fn read_header(&mut self, unit: EraseUnit) -> Result<Option<Header>, D::Error> {
        let mut bytes = [0; HEADER_BYTES as usize];
        self.guard.device_mut().read(self.layout.part.start_of(unit), &mut bytes)?;
        Ok(Header::decode(&bytes))
    }

    /// Steps 1 and 2.
    fn fill(
        &mut self,
        to: EraseUnit,
        unit: EraseUnit,
        header: &Header,
        contents: Contents<'_>,
    ) -> Result<(), D::Error> {
        if let Contents::Changed { offset, bytes } = contents {
            let mut chunk = [0; CHUNK_BYTES];
            for start in (0..self.layout.base_bytes).step_by(CHUNK_BYTES) {
                let len = CHUNK_BYTES.min((self.layout.base_bytes - start) as usize);
                self.read_in(unit, start, &mut chunk[..len])?;
                for (byte, at) in chunk[..len].iter_mut().zip(start..) {
                    if let Some(new) = at.checked_sub(offset).and_then(|at| bytes.get(at as usize)) {
                        *byte &= new;
                    }
                }
                self.program_runs(to, start, &chunk[..len])?;
            }
        }
        self.guard.device_mut().program(self.layout.part.start_of(to), &header.encode())
    }

    /// Programs what is not erased in `bytes` into the erased base of `to`, a call for each run of cells.
    fn program_runs(&mut self, to: EraseUnit, offset: u32, bytes: &[u8]) -> Result<(), D::Error> {
        let cell = self.layout.cell_bytes as usize;
        let mut at = 0;
        while at < bytes.len() {
            let is_run = |at: usize| at < bytes.len() && !is_erased(&bytes[at..at + cell]);
            let start = at;
            while is_run(at) {
                at += cell;
            }
            if at > start {
                self.guard.device_mut().program(self.layout.base(to, offset + start as u32), &bytes[start..at])?;
            }
            at += cell;
        }
        Ok(())
    }

    /// After a call that failed: gives the error back if the device still answers, for another try elsewhere; else
    /// halts.
    pub(crate) fn check_answer(&mut self, error: D::Error) -> Result<D::Error, RemapError<D::Error>> {
        match self.read_header(self.newest) {
            Ok(_) => Ok(error),
            Err(_) => self.no_answer(error),
        }
    }

    pub(crate) fn no_answer<T>(&mut self, error: D::Error) -> Result<T, RemapError<D::Error>> {
        self.guard.halt();
        Err(RemapError::Device(error))
    }
}
