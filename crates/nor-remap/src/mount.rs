//! Formatting and mounting: from any state that a power cut left to a part between two operations.
//!
//! Formatting:
//! 1. mark the spare (any unit, where nothing can be mounted) with a header of the highest generation that says
//!    "formatting": from here on there is nothing to mount;
//! 2. erase every other unit, and program headers of as many as there are virtual units;
//! 3. erase the marked unit: it is the first spare.
//!
//! Mounting:
//! 1. read every header; of two homes of one virtual unit the higher generation is right;
//! 2. read the states after the newest header;
//! 3. erase the spare, unless flash says that it is ready and all of it reads erased.
//!
//! Recovery as a table; of the rows, the first that fits applies (`docs/format/nor-remap.md` has it with the causes):
//!
//! | state on flash | action |
//! |---|---|
//! | there is no header, or the newest one says "formatting" | `NotFormatted` |
//! | a virtual unit has no home | `Corrupted` |
//! | the spare is marked retired | take a cold spare |
//! | no state, or the last one is torn or says "being erased" | erase the spare, "ready" |
//! | "ready", but the spare does not read erased | "being erased", erase the spare, "ready" |
//! | "ready" | none |
//!
//! Invariant: nothing is programmed or erased before step 1 is done for all units.

use norn_flash::{EraseUnit, Guard, Nor, Violation};

use crate::error::{RemapError, RemapMountError, TooManyBadUnits};
use crate::format::{ERASE_COUNT_MAX, FORMAT_VERSION, HEADER_BYTES, Header, Role, State};
use crate::hints::Hints;
use crate::homes::{Homes, RemapRow, RemapRows};
use crate::layout::{CELL_BYTES_MAX, Layout};
use crate::remap::{RemapConfig, RemapIn, Spare};

impl<D: Nor, M: RemapRows> RemapIn<D, M> {
    /// As [`format`](crate::Remap::format), with the table of homes in `rows`.
    ///
    /// # Errors
    /// As `format`; [`TooSmall`](RemapMountError::TooSmall) when the part has more erase units than there are rows.
    pub fn format_in(device: D, rows: M, config: RemapConfig) -> Result<Self, RemapMountError<D::Error>> {
        let layout = Self::layout_for(&device, &rows, config.spare_units)?;
        let mut remap = Self::unmounted(device, rows, layout);
        remap.lay_out(layout)?;
        Ok(remap)
    }

    /// As [`mount`](crate::Remap::mount), with the table of homes in `rows`.
    ///
    /// # Errors
    /// As `mount`; [`TooSmall`](RemapMountError::TooSmall) when the part has more erase units than there are rows.
    pub fn mount_in(device: D, rows: M) -> Result<Self, RemapMountError<D::Error>> {
        // The number of spare units follows from the headers.
        let layout = Self::layout_for(&device, &rows, 1)?;
        let mut remap = Self::unmounted(device, rows, layout);
        remap.recover()?;
        Ok(remap)
    }

    /// Formats in place: the image of before is mounted in the same rows, to mark its spare, and forgotten.
    fn lay_out(&mut self, layout: Layout) -> Result<(), RemapMountError<D::Error>> {
        let marked = match self.recover() {
            Ok(()) => self.mark_spare()?,
            Err(_) => None, // There is nothing that could be taken for whole.
        };
        self.forget();
        self.layout = layout;
        for unit in self.units() {
            if let Some(header) = self.header(unit)?
                && header.generation < u32::MAX
            {
                self.generation = self.generation.max(header.generation);
            }
        }
        let mark = match marked {
            Some(unit) => unit,
            None => self.mark_any()?,
        };
        self.write_homes(mark)?;
        let erase_count = self.erase_count_after(mark)?;
        self.erase_announced(mark, erase_count)?;
        match self.spare {
            Some(_) => Ok(()),
            None => Err(RemapMountError::Refused(TooManyBadUnits { good: self.virtual_units() })),
        }
    }

    fn recover(&mut self) -> Result<(), RemapMountError<D::Error>> {
        let newest = self.find_homes()?;
        self.settle_spare(newest)?;
        for unit in (0..self.virtual_units()).map(EraseUnit) {
            let records = self.count_records(self.homes.home(unit)).map_err(RemapMountError::Device)?;
            self.homes.set_records(unit, records);
        }
        Ok(())
    }

    /// Mounts in place, after the device has failed.
    pub(crate) fn remount(&mut self) -> Result<(), RemapError<D::Error>> {
        self.forget();
        let recovered = self.recover();
        if recovered.is_err() {
            self.guard.halt();
        }
        recovered.map_err(|error| match error {
            RemapMountError::Device(error) => RemapError::Device(error),
            _ => RemapError::Halted,
        })
    }

    /// Forgets everything in RAM.
    fn forget(&mut self) {
        self.homes.forget();
        (self.newest, self.generation, self.next_state) = (EraseUnit(0), 0, 0);
        (self.says_ready, self.spare, self.hints) = (false, None, Hints::NONE);
        self.guard.resume();
    }

    /// How the device is laid out. Refuses parts that cannot be, and rows that are too few.
    fn layout_for(device: &D, rows: &M, spare_units: u16) -> Result<Layout, RemapMountError<D::Error>> {
        let part = device.part();
        part.validate().map_err(RemapMountError::Part)?;
        let (needed, given) = (RemapRow::count_for(&part), rows.as_ref().len());
        if given < needed {
            let what = "rows of the table of homes";
            return Err(RemapMountError::TooSmall { what, needed: needed as u32, given: given as u32 });
        }
        Layout::of(part, spare_units).map_err(RemapMountError::Unsuitable)
    }

    fn unmounted(device: D, rows: M, layout: Layout) -> Self {
        RemapIn {
            guard: Guard::new(device),
            layout,
            homes: Homes::new(rows),
            newest: EraseUnit(0),
            generation: 0,
            next_state: 0,
            says_ready: false,
            spare: None,
            hints: Hints::NONE,
        }
    }

    pub(crate) fn units(&self) -> impl Iterator<Item = EraseUnit> + use<D, M> {
        (0..self.layout.part.unit_count).map(EraseUnit)
    }

    fn header(&mut self, unit: EraseUnit) -> Result<Option<Header>, RemapMountError<D::Error>> {
        self.read_header(unit).map_err(RemapMountError::Device)
    }

    fn erase_count_after(&mut self, unit: EraseUnit) -> Result<u32, RemapMountError<D::Error>> {
        Ok((self.header(unit)?.map_or(0, |header| header.erase_count) + 1).min(ERASE_COUNT_MAX))
    }

    /// Step 1 of formatting over an image that can be mounted: marks its spare.
    fn mark_spare(&mut self) -> Result<Option<EraseUnit>, RemapError<D::Error>> {
        for attempt in 0..2 {
            let Some(Spare { unit, erase_count }) = self.spare else {
                break;
            };
            let header = Header { generation: u32::MAX, erase_count, ..self.header_form() };
            match self.guard.device_mut().program(self.layout.part.start_of(unit), &header.encode()) {
                Ok(()) => return Ok(Some(unit)),
                Err(error) => _ = self.check_answer(error)?,
            }
            if attempt == 0 {
                self.erase_again(unit, erase_count + 1)?;
            }
        }
        Ok(None)
    }

    /// Step 1 of formatting where nothing can be mounted: marks any unit that takes it.
    fn mark_any(&mut self) -> Result<EraseUnit, RemapMountError<D::Error>> {
        for unit in self.units() {
            let erase_count = self.erase_count_after(unit)?;
            let header = Header { generation: u32::MAX, erase_count, ..self.header_form() };
            let start = self.layout.part.start_of(unit);
            match self
                .guard
                .device_mut()
                .erase(unit)
                .and_then(|()| self.guard.device_mut().program(start, &header.encode()))
            {
                Ok(()) => return Ok(unit),
                Err(error) => {
                    self.newest = unit;
                    self.check_answer(error)?;
                    self.retire(unit);
                }
            }
        }
        Err(RemapMountError::Refused(TooManyBadUnits { good: 0 }))
    }

    /// Step 2 of formatting.
    fn write_homes(&mut self, mark: EraseUnit) -> Result<(), RemapMountError<D::Error>> {
        let mut number = 0;
        for unit in self.units() {
            if unit == mark || self.is_retired(unit) {
                continue;
            }
            let erase_count = self.erase_count_after(unit)?;
            let generation = self.generation + 1;
            let header = Header {
                role: Role::Home(number),
                generation,
                erase_count,
                spare: mark,
                spare_erase_count: self.erase_count_after(mark)?,
                ..self.header_form()
            };
            let start = self.layout.part.start_of(unit);
            let written = self.guard.device_mut().erase(unit).and_then(|()| match number < self.virtual_units() {
                true => self.guard.device_mut().program(start, &header.encode()),
                false => Ok(()),
            });
            match written {
                Ok(()) if number < self.virtual_units() => {
                    self.homes.set(EraseUnit(number), unit);
                    (self.newest, self.generation) = (unit, generation);
                    number += 1;
                }
                Ok(()) => {}
                Err(error) => {
                    self.newest = unit;
                    self.check_answer(error)?;
                    self.retire(unit);
                }
            }
        }
        match number == self.virtual_units() {
            true => Ok(()),
            false => Err(RemapMountError::Refused(TooManyBadUnits { good: number + 1 })),
        }
    }

    /// Step 1 of mounting: the home of every virtual unit, and the newest header.
    fn find_homes(&mut self) -> Result<Header, RemapMountError<D::Error>> {
        let part = self.layout.part;
        let mut newest: Option<Header> = None;
        for unit in self.units() {
            if self.read_retired_mark(unit).map_err(RemapMountError::Device)? {
                self.homes.retire(unit);
            }
            let Some(header) = self.header(unit)? else {
                continue;
            };
            if header.version > FORMAT_VERSION {
                return Err(RemapMountError::OtherVersion {
                    found: u32::from(header.version),
                    known: u32::from(FORMAT_VERSION),
                });
            }
            let facts = [
                ("erase units", u32::from(header.unit_count), u32::from(part.unit_count)),
                ("bytes in an erase unit", header.unit_size_bytes, part.unit_size_bytes),
                ("bytes in a program unit", header.program_unit_bytes.into(), part.program_unit_bytes.into()),
            ];
            if let Some((what, image, expected)) = facts.into_iter().find(|(_, image, expected)| image != expected) {
                return Err(RemapMountError::WrongGeometry { what, image, expected });
            }
            self.take_home(unit, &header)?;
            if newest.is_none_or(|newest| header.generation > newest.generation) {
                newest = Some(header);
                self.newest = unit;
            }
        }
        let newest = newest.filter(|newest| newest.role != Role::Formatting).ok_or(RemapMountError::NotFormatted)?;
        self.layout = Layout::of(part, newest.spare_units).map_err(|what| self.damage(self.newest, what))?;
        if newest.representation != self.layout.representation {
            return Err(self.damage(self.newest, "a representation that the part does not have"));
        }
        if (0..self.virtual_units()).any(|number| self.homes.found(EraseUnit(number)).is_none()) {
            // Formatting leaves its mark until all homes are there: so one of them is damaged.
            let damaged = self.headless_unit()?.unwrap_or(self.newest);
            return Err(self.damage(damaged, "no whole header, and a virtual unit without a home"));
        }
        if !self.is_home(self.newest) {
            return Err(self.damage(self.newest, "a home of no virtual unit"));
        }
        self.generation = newest.generation;
        Ok(newest)
    }

    /// A unit that begins with something that is no header.
    fn headless_unit(&mut self) -> Result<Option<EraseUnit>, RemapMountError<D::Error>> {
        for unit in self.units() {
            let mut bytes = [0; HEADER_BYTES as usize];
            let start = self.layout.part.start_of(unit);
            self.guard.device_mut().read(start, &mut bytes).map_err(RemapMountError::Device)?;
            if bytes != [0xFF; HEADER_BYTES as usize] && self.header(unit)?.is_none() {
                return Ok(Some(unit));
            }
        }
        Ok(None)
    }

    /// Makes `unit` a home if its header has a higher generation than the one that is known.
    fn take_home(&mut self, unit: EraseUnit, header: &Header) -> Result<(), RemapMountError<D::Error>> {
        let Role::Home(number) = header.role else {
            return Ok(());
        };
        if number >= header.unit_count {
            return Err(self.damage(unit, "a home of a virtual unit beyond the last"));
        }
        if let Some(other) = self.homes.found(EraseUnit(number)) {
            let rival = self.header(other)?.map_or(0, |rival| rival.generation);
            if rival == header.generation {
                return Err(self.damage(unit, "two homes of one generation"));
            }
            if rival > header.generation {
                return Ok(());
            }
        }
        self.homes.set(EraseUnit(number), unit);
        Ok(())
    }

    /// Steps 2 and 3 of mounting.
    fn settle_spare(&mut self, newest: Header) -> Result<(), RemapMountError<D::Error>> {
        let (state, next_state) = self.read_last_state(&newest).map_err(RemapMountError::Device)?;
        self.next_state = next_state;
        let (State::Ready(unit, erase_count) | State::Erasing(unit, erase_count)) = state;
        if unit.0 >= self.layout.part.unit_count || self.is_home(unit) {
            return Err(self.damage(self.newest, "a spare that is a home, or beyond the part"));
        }
        self.says_ready = matches!(state, State::Ready(..));
        let settled = if self.is_retired(unit) {
            self.take_cold_spare()
        } else if !self.says_ready {
            self.erase_announced(unit, erase_count)
        } else if self.reads_erased(unit).map_err(RemapMountError::Device)? {
            self.spare = Some(Spare { unit, erase_count });
            Ok(())
        } else {
            self.erase_again(unit, erase_count + 1)
        };
        Ok(settled?) // There may be no spare; reading goes on.
    }

    fn damage(&self, unit: EraseUnit, what: &'static str) -> RemapMountError<D::Error> {
        RemapMountError::Corrupted(Violation { address: self.layout.part.start_of(unit), what })
    }
}

const _: () = assert!(HEADER_BYTES as usize == CELL_BYTES_MAX, "a header is read as a cell is");
