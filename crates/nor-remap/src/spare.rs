//! The spare: erased wholly, and flash says so. What fails is retired, and a *cold* spare takes its place: one of the
//! further spare units, whose contents are unknown.
//!
//! States are after the newest home's header, one after the other; the last whole one counts, and a torn one after
//! "ready" takes it back. Before them, the header itself says that the unit it names is being erased. The last two
//! places are never used for "ready": when the others are used up, flash says "being erased", and every mount erases
//! the spare again, until the next switch begins with fresh places.
//!
//! Invariants: no unit of which flash says "ready" is being erased (unless both last places were used up by cuts that
//! left no trace in them); a retired unit is neither home nor spare.

use norn_flash::{EraseUnit, Nor};

use crate::error::RemapError;
use crate::format::{ERASE_COUNT_MAX, Header, STATE_BYTES, STATE_PLACES, State};
use crate::homes::RemapRows;
use crate::layout::CELL_BYTES_MAX;
use crate::remap::{RemapIn, Spare};
use crate::table::is_erased;

impl<D: Nor, M: RemapRows> RemapIn<D, M> {
    /// Erases a unit that flash may call ready, after flash says that it is being erased.
    pub(crate) fn erase_again(&mut self, unit: EraseUnit, erase_count: u32) -> Result<(), RemapError<D::Error>> {
        let erase_count = erase_count.min(ERASE_COUNT_MAX);
        self.announce(unit, erase_count)?;
        self.erase_announced(unit, erase_count)
    }

    /// Erases the spare to be; where that fails, retires it and takes a cold spare. There may be none afterwards.
    pub(crate) fn erase_announced(&mut self, unit: EraseUnit, erase_count: u32) -> Result<(), RemapError<D::Error>> {
        match self.guard.device_mut().erase(unit) {
            Ok(()) => self.erase_succeeded(unit, erase_count),
            Err(error) => {
                self.check_answer(error)?;
                self.retire(unit);
                self.take_cold_spare()
            }
        }
    }

    /// Looks for a cold spare that can be erased. There may be none.
    pub(crate) fn take_cold_spare(&mut self) -> Result<(), RemapError<D::Error>> {
        while let Some(unit) = self.cold_spare() {
            let erase_count = match self.read_header(unit) {
                Ok(header) => header.map_or(0, |header| header.erase_count) + 1,
                Err(error) => return self.no_answer(error),
            };
            let erase_count = erase_count.min(ERASE_COUNT_MAX);
            self.announce(unit, erase_count)?;
            match self.guard.device_mut().erase(unit) {
                Ok(()) => return self.erase_succeeded(unit, erase_count),
                Err(error) => {
                    self.check_answer(error)?;
                    self.retire(unit);
                }
            }
        }
        Ok(())
    }

    fn erase_succeeded(&mut self, unit: EraseUnit, erase_count: u32) -> Result<(), RemapError<D::Error>> {
        self.spare = Some(Spare { unit, erase_count });
        self.append_state(State::Ready(unit, erase_count))
    }

    /// A unit that is neither home, nor retired.
    fn cold_spare(&self) -> Option<EraseUnit> {
        (0..self.layout.part.unit_count).map(EraseUnit).find(|&unit| !self.is_home(unit) && !self.is_retired(unit))
    }

    /// Makes flash say that `unit` is being erased, if it says that a unit is ready.
    fn announce(&mut self, unit: EraseUnit, erase_count: u32) -> Result<(), RemapError<D::Error>> {
        match self.says_ready {
            true => self.append_state(State::Erasing(unit, erase_count)),
            false => Ok(()),
        }
    }

    /// Programs a state at the next place that takes it, if there is one; "ready" not at the last two.
    fn append_state(&mut self, state: State) -> Result<(), RemapError<D::Error>> {
        let mut bytes = [0xFF; CELL_BYTES_MAX];
        bytes[..STATE_BYTES].copy_from_slice(&state.encode());
        let len = self.layout.cell_bytes.max(STATE_BYTES as u32) as usize;
        let (is_ready, places) = match state {
            State::Ready(..) => (true, STATE_PLACES - 2),
            State::Erasing(..) => (false, STATE_PLACES),
        };
        while self.next_state < places {
            let address = self.layout.state(self.newest, self.next_state);
            self.next_state += 1;
            match self.guard.device_mut().program(address, &bytes[..len]) {
                Ok(()) => {
                    self.says_ready = is_ready;
                    return Ok(());
                }
                Err(error) => _ = self.check_answer(error)?,
            }
        }
        self.says_ready = false; // The next mount erases the spare once more.
        Ok(())
    }

    /// What flash says of the spare, and the first place after the last that is in use; `newest` is the newest home's
    /// header.
    pub(crate) fn read_last_state(&mut self, newest: &Header) -> Result<(State, u32), D::Error> {
        let (mut state, mut next) = (State::Erasing(newest.spare, newest.spare_erase_count), 0);
        let len = self.layout.cell_bytes.max(STATE_BYTES as u32) as usize;
        for place in 0..STATE_PLACES {
            let mut bytes = [0; CELL_BYTES_MAX];
            self.guard.device_mut().read(self.layout.state(self.newest, place), &mut bytes[..len])?;
            if is_erased(&bytes[..len]) {
                continue;
            }
            next = place + 1;
            let mut found = [0; STATE_BYTES];
            found.copy_from_slice(&bytes[..STATE_BYTES]);
            state = match (State::decode(&found), state) {
                (Some(found), _) => found,
                (None, State::Ready(unit, count) | State::Erasing(unit, count)) => State::Erasing(unit, count),
            };
        }
        Ok((state, next))
    }

    /// Marks a unit as failing, in RAM and, if it still takes zeros, on flash.
    pub(crate) fn retire(&mut self, unit: EraseUnit) {
        self.homes.retire(unit);
        let zeros = [0; CELL_BYTES_MAX];
        // Without the mark the next mount finds out again.
        let _ =
            self.guard.device_mut().program(self.layout.retired_mark(unit), &zeros[..self.layout.cell_bytes as usize]);
    }

    /// Whether the mark of a retired unit is there.
    pub(crate) fn read_retired_mark(&mut self, unit: EraseUnit) -> Result<bool, D::Error> {
        let mut bytes = [0; CELL_BYTES_MAX];
        let mark = &mut bytes[..self.layout.cell_bytes as usize];
        self.guard.device_mut().read(self.layout.retired_mark(unit), mark)?;
        Ok(mark.iter().all(|&byte| byte == 0))
    }

    /// Whether every byte of a unit reads erased. Cost: reads the unit up to the first that does not.
    pub(crate) fn reads_erased(&mut self, unit: EraseUnit) -> Result<bool, D::Error> {
        let start = self.layout.part.start_of(unit);
        for offset in (0..self.layout.part.unit_size_bytes).step_by(CELL_BYTES_MAX) {
            let mut bytes = [0; CELL_BYTES_MAX];
            self.guard.device_mut().read(start.offset(offset), &mut bytes)?;
            if !is_erased(&bytes) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
