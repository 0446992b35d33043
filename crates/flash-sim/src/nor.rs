//! A simulated NOR part.
//!
//! Programming a range:
//! 1. refuse it if the contract does not allow it, before anything changes;
//! 2. split it into aligned words, each of which is one operation;
//! 3. if the planned cut is among them, carry out those before it, tear that one, and turn the power off;
//! 4. else carry out all of them.
//!
//! Invariants: a refused call changes nothing; counters and time advance only in calls that are carried out; only the
//! cut operation is torn; a clone shares no state with its original.

mod cells;
mod dump;
mod image;

use std::path::Path;
use std::sync::Arc;

use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};

use crate::counters::{Counters, size_class};
use crate::error::{ImageError, SimError};
use crate::image_bytes::ImageBytes;
use crate::image_file::Access;
use crate::instrument::{Instrument, State};
use crate::spec::{OperationTime, PartSpec};
use crate::tear::Tear;
use crate::words::{is_word, words_of};
use cells::{Cells, budgets};
use image::{Image, Opened};

/// Bits of a unit that have not settled: those that a cut changed, and that are as they were when the power has come on
/// so often.
#[derive(Clone, Debug)]
struct Unsettled {
    unit: usize,
    bits: Vec<u8>,
    boots: u8,
}

/// A simulated NOR part. It costs a pointer for each erase unit to clone; the clone of a part in an image file lives in
/// memory.
#[derive(Debug)]
pub struct NorSim {
    spec: PartSpec,
    units: Vec<Arc<Cells>>,
    instrument: Instrument<Counters, Address>,
    endurance_erases: Option<u32>,
    failing: Vec<EraseUnit>,
    unsettled: Vec<Unsettled>,
    random: fastrand::Rng,
    image: Option<Image>,
}

impl Clone for NorSim {
    fn clone(&self) -> Self {
        let (spec, units, failing) = (self.spec.clone(), self.units.clone(), self.failing.clone());
        let unsettled = self.unsettled.clone();
        NorSim { spec, units, failing, unsettled, random: self.random.clone(), image: None, ..*self }
    }
}

impl NorSim {
    /// A part in memory, erased.
    ///
    /// # Panics
    /// If `spec` describes no possible part, or words smaller than its program unit.
    pub fn new(spec: PartSpec) -> Self {
        assert_eq!(spec.part.validate(), Ok(()), "part {}", spec.name);
        assert!(spec.word_bytes.is_power_of_two() && spec.word_bytes >= spec.part.program_unit_bytes);
        let unit_bytes = spec.part.unit_size_bytes as usize;
        let cells = Arc::new(Cells::new(unit_bytes, budgets(&spec.part)));
        NorSim {
            units: vec![cells; usize::from(spec.part.unit_count)],
            instrument: Instrument::new(State::default()),
            endurance_erases: spec.part.endurance_erases,
            failing: Vec::new(),
            unsettled: Vec::new(),
            random: fastrand::Rng::with_seed(0),
            image: None,
            spec,
        }
    }

    /// An erased part in a new image file, which follows every operation.
    ///
    /// # Errors
    /// If the file exists or cannot be made.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn create_image(path: &Path, spec: PartSpec) -> Result<Self, ImageError> {
        Self::create_image_with(path, spec, |_| Ok(()))
    }

    /// The same with what `fill` puts on the part. The file appears at `path` when that is there and on the host's
    /// disk: a process that is killed before, or a `fill` that fails, leaves nothing at `path`.
    ///
    /// # Errors
    /// As there, and those of `fill`.
    ///
    /// # Panics
    /// As there.
    pub fn create_image_with<E: From<ImageError>>(
        path: &Path,
        spec: PartSpec,
        fill: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut sim = Self::new(spec);
        sim.image = Some(Image::begin(path, &sim.spec, &sim.instrument.state(), &sim.units)?);
        fill(&mut sim)?;
        sim.image.as_mut().map_or(Ok(()), Image::publish)?;
        Ok(sim)
    }

    /// The part in an image file, with its counters, wear and time; its power is on.
    ///
    /// # Errors
    /// Names what is wrong with the file.
    pub fn open_image(path: &Path) -> Result<Self, ImageError> {
        Self::opened(path, Access::ReadWrite)
    }

    /// The same in memory: whatever the part does then, the file stays as it is. It need not be writable.
    ///
    /// # Errors
    /// As there.
    pub fn read_image(path: &Path) -> Result<Self, ImageError> {
        Self::opened(path, Access::Read)
    }

    /// The part of which an image file has these bytes, in memory.
    ///
    /// # Errors
    /// Names what is wrong with the bytes.
    pub fn from_image_bytes(bytes: ImageBytes) -> Result<Self, ImageError> {
        Ok(Self::of(Image::of_bytes(bytes)?).0)
    }

    fn opened(path: &Path, access: Access) -> Result<Self, ImageError> {
        let (mut sim, image) = Self::of(Image::open(path, access)?);
        sim.image = (access == Access::ReadWrite).then_some(image);
        Ok(sim)
    }

    fn of(opened: Opened) -> (Self, Image) {
        let mut sim = Self::new(opened.spec);
        sim.units = opened.units;
        sim.instrument = Instrument::new(opened.state);
        sim.random = fastrand::Rng::with_seed(opened.state.operations);
        (sim, opened.image)
    }

    /// Writes the part as it is to a new image file, which appears when it is complete. The file does not follow it.
    ///
    /// # Errors
    /// If the file exists or cannot be made.
    pub fn save_image(&self, path: &Path) -> Result<(), ImageError> {
        Image::begin(path, &self.spec, &self.instrument.state(), &self.units)?.publish()
    }

    /// The bytes of the image file that [`save_image`](Self::save_image) would write.
    ///
    /// # Panics
    /// Never: memory takes every byte.
    pub fn image_bytes(&self) -> ImageBytes {
        Image::bytes_of(&self.spec, &self.instrument.state(), &self.units).expect("memory takes every byte")
    }

    /// What the part is.
    pub fn spec(&self) -> &PartSpec {
        &self.spec
    }

    /// What the part has done since it was made.
    pub fn counters(&self) -> Counters {
        self.instrument.state().counters
    }

    /// Simulated time that the part has been at work.
    pub fn elapsed_ns(&self) -> u64 {
        self.instrument.state().elapsed_ns
    }

    /// Operations so far that a cut can hit: words programmed and units erased. Not frozen.
    pub fn operations(&self) -> u64 {
        self.instrument.state().operations
    }

    /// Stops counters and time, for a checker that looks without being seen.
    pub fn freeze_counters(&mut self) {
        self.instrument.freeze();
    }

    /// Resumes counters and time.
    pub fn thaw_counters(&mut self) {
        self.instrument.thaw();
    }

    /// Erases of each unit, cut ones included.
    pub fn erase_counts(&self) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
        self.units.iter().map(|cells| cells.erases)
    }

    /// Makes units fail after this many erases instead of the part's endurance; `None` for never.
    pub fn set_endurance(&mut self, erases: Option<u32>) {
        self.endurance_erases = erases;
    }

    /// Makes every further program in `unit` fail: it tears and says so. Erases still work.
    pub fn fail_programs_in(&mut self, unit: EraseUnit) {
        self.failing.push(unit);
    }

    /// Calls so far that the contract does not allow, and that changed nothing.
    pub fn refusals(&self) -> u64 {
        self.instrument.refusals()
    }

    /// Plans a loss of power: `operations` more words and erases go through, the next one is torn.
    pub fn cut_power_after(&mut self, operations: u64, tear: Tear) {
        self.instrument.cut_power_after(operations, tear);
    }

    /// Whether the power is on: no planned cut has been met since it came.
    pub fn is_powered(&self) -> bool {
        !self.instrument.is_off()
    }

    /// Turns the power on again, and drops a planned cut.
    pub fn power_on(&mut self) {
        self.instrument.power_on();
        self.settle();
    }

    /// Counts that the power came on; changes the bits that are due.
    fn settle(&mut self) {
        for unsettled in &mut self.unsettled {
            unsettled.boots -= 1;
            if unsettled.boots == 0 {
                let cells = Arc::make_mut(&mut self.units[unsettled.unit]);
                cells.bytes.iter_mut().zip(&unsettled.bits).for_each(|(byte, bits)| *byte ^= bits);
            }
        }
        self.unsettled.retain(|unsettled| unsettled.boots > 0);
    }

    /// Notes that bits of a unit, from `at` on, are to change when the power comes on for the second time.
    fn unsettle(&mut self, unit: usize, at: usize, unsettled: Option<Vec<u8>>) {
        let Some(unsettled) = unsettled else { return };
        let mut bits = vec![0; self.units[unit].bytes.len()];
        bits[at..at + unsettled.len()].copy_from_slice(&unsettled);
        self.unsettled.push(Unsettled { unit, bits, boots: 2 });
    }

    /// Where the last loss of power hit, and how.
    pub fn last_torn(&self) -> Option<(Address, Tear)> {
        self.instrument.torn()
    }

    /// The bytes in the cells, uncounted and with the power off, too. Unstable bits read as the erase left them.
    ///
    /// # Panics
    /// If the range leaves the part.
    pub fn peek(&self, address: Address, len: usize) -> Vec<u8> {
        let unit_bytes = self.spec.part.unit_size_bytes as usize;
        (address.0 as usize..address.0 as usize + len)
            .map(|at| self.units[at / unit_bytes].bytes[at % unit_bytes])
            .collect()
    }

    /// Overwrites cells as no part could: to damage what is on it.
    ///
    /// # Panics
    /// If the range leaves the part, or the part lives in an image file that cannot be written.
    pub fn poke(&mut self, address: Address, bytes: &[u8]) {
        let mut done = 0;
        for (unit, at, len) in self.unit_ranges(address, bytes.len()) {
            Arc::make_mut(&mut self.units[unit]).bytes[at..at + len].copy_from_slice(&bytes[done..done + len]);
            done += len;
            self.save(unit, at, len).expect("the image file can be written");
        }
    }

    /// The parts of a range in each erase unit: unit, offset in it, length.
    fn unit_ranges(&self, address: Address, len: usize) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let unit_bytes = self.spec.part.unit_size_bytes as usize;
        let (mut at, mut left) = (address.0 as usize, len);
        std::iter::from_fn(move || {
            let piece = left.min(unit_bytes - at % unit_bytes);
            let range = (at / unit_bytes, at % unit_bytes, piece);
            at += piece;
            left -= piece;
            (piece > 0).then_some(range)
        })
    }

    fn check_range(&self, address: Address, len: usize) -> Result<(), SimError> {
        if self.instrument.is_off() {
            return Err(SimError::PowerLost);
        }
        let end = self.spec.part.size_bytes();
        if address.0 as u64 + len as u64 > u64::from(end) {
            return Err(SimError::OutOfRange { address, len, end });
        }
        Ok(())
    }

    /// Refuses a program that the contract does not allow (step 1).
    fn check_program(&self, address: Address, bytes: &[u8]) -> Result<(), SimError> {
        self.check_range(address, bytes.len())?;
        let program_unit = self.spec.part.program_unit_bytes;
        if !(address.0 as usize | bytes.len()).is_multiple_of(usize::from(program_unit)) {
            return Err(SimError::Misaligned { address, len: bytes.len(), program_unit });
        }
        let mut rest = bytes;
        for (unit, at, len) in self.unit_ranges(address, bytes.len()) {
            let (piece, behind) = rest.split_at(len);
            let start = self.spec.part.start_of(EraseUnit(unit as u16)).offset(at as u32);
            self.check_cells(unit, at, start, piece)?;
            rest = behind;
        }
        Ok(())
    }

    fn check_cells(&self, unit: usize, at: usize, start: Address, bytes: &[u8]) -> Result<(), SimError> {
        let cells = &self.units[unit];
        if cells.torn && bytes.iter().any(|&byte| byte != 0) {
            return Err(SimError::TornErase { address: start, unit: EraseUnit(unit as u16) });
        }
        let stored = &cells.bytes[at..at + bytes.len()];
        if let Some(offset) = (0..bytes.len()).find(|&offset| bytes[offset] & !stored[offset] != 0) {
            let address = start.offset(offset as u32);
            return Err(SimError::SetsBits { address, stored: stored[offset], requested: bytes[offset] });
        }
        let program_unit = usize::from(self.spec.part.program_unit_bytes);
        let limit = match self.spec.part.reprogramming {
            Reprogramming::Unlimited => return Ok(()),
            Reprogramming::Once => 1,
            Reprogramming::Times(times) => times,
        };
        for (number, &times) in cells.programs[at / program_unit..][..bytes.len() / program_unit].iter().enumerate() {
            if times >= limit {
                return Err(SimError::OverBudget { address: start.offset((number * program_unit) as u32), times });
            }
        }
        Ok(())
    }

    /// Counts the words of a call that is carried out, and its time.
    fn count(
        &mut self,
        address: Address,
        len: usize,
        count: impl Fn(&mut Counters) -> &mut [u64; 6],
        time: OperationTime,
    ) {
        let word_bytes = self.spec.word_bytes;
        self.instrument.count(|counters| {
            let by_size = count(counters);
            let mut words = 1;
            if is_word(address, len, word_bytes) {
                by_size[size_class(len)] += 1; // What most calls are.
            } else {
                words = 0;
                for (_, bytes) in words_of(address, len, word_bytes) {
                    by_size[size_class(bytes)] += 1;
                    words += 1;
                }
            }
            time.call_ns + time.word_ns * words + time.byte_ns * len as u64
        });
    }

    /// Clears what `bytes` ask to be cleared at `address`, as far as `tear` lets it.
    fn clear(&mut self, address: Address, bytes: &[u8], tear: Tear) -> Result<(), SimError> {
        let program_unit = usize::from(self.spec.part.program_unit_bytes);
        let mut rest = bytes;
        for (unit, at, len) in self.unit_ranges(address, bytes.len()) {
            let (piece, behind) = rest.split_at(len);
            rest = behind;
            let cells = Arc::make_mut(&mut self.units[unit]);
            if tear == Tear::Complete {
                cells.program(at, piece); // What nearly all calls are, without detours.
            } else {
                let unstable = |at: usize| cells.unstable.get(at).copied().unwrap_or(0);
                let changing: Vec<u8> = (piece.iter().enumerate())
                    .map(|(offset, byte)| (cells.bytes[at + offset] | unstable(at + offset)) & !byte)
                    .collect();
                let cleared = tear.select(&changing);
                cells.clear(at, &cleared);
                if let Tear::Marginal(_) | Tear::Wavering(_) = tear {
                    cells.make_unstable(at, &tear.unstable(&cleared));
                }
                self.unsettle(unit, at, tear.unsettled(&changing, &cleared));
            }
            let is_unsettling = matches!(tear, Tear::Late(_) | Tear::Returning(_));
            for unsettled in self.unsettled.iter_mut().filter(|one| one.unit == unit && !is_unsettling) {
                unsettled.bits[at..].iter_mut().zip(piece).for_each(|(bits, byte)| *bits &= byte);
            }
            let cells = Arc::make_mut(&mut self.units[unit]);
            if !cells.programs.is_empty() {
                for times in &mut cells.programs[at / program_unit..(at + len) / program_unit] {
                    *times += 1;
                }
            }
            self.save(unit, at, len)?;
        }
        Ok(())
    }

    /// Carries out a program up to the cut (step 3).
    fn tear_program(&mut self, address: Address, bytes: &[u8], words_before: u64, tear: Tear) -> Result<(), SimError> {
        let words = words_of(address, bytes.len(), self.spec.word_bytes);
        let (cut, len) = words.clone().nth(words_before as usize).expect("the cut is among the words");
        let before = (cut.0 - address.0) as usize;
        self.instrument.tear(cut, tear);
        self.count(address, before + len, |counters| &mut counters.programs_by_size, self.spec.timings.program);
        if let Tear::Scattered(_) = tear {
            return self.clear(address, bytes, tear);
        }
        self.clear(address, &bytes[..before], Tear::Complete)?;
        self.clear(cut, &bytes[before..before + len], tear)
    }

    fn tear_erase(&mut self, unit: usize, tear: Tear) {
        self.instrument.tear(self.spec.part.start_of(EraseUnit(unit as u16)), tear);
        if tear == Tear::Nothing {
            return;
        }
        let cells = Arc::make_mut(&mut self.units[unit]);
        cells.torn = true;
        if tear.clears_first() {
            let cleared = tear.select(&cells.bytes);
            return cells.clear(0, &cleared);
        }
        let unset: Vec<u8> = cells.bytes.iter().map(|byte| !byte).collect();
        let set = tear.select(&unset);
        cells.bytes.iter_mut().zip(&set).for_each(|(byte, bits)| *byte |= bits);
        if let Tear::Marginal(_) | Tear::Wavering(_) = tear {
            cells.make_unstable(0, &tear.unstable(&set));
        }
        if let Tear::Unstable(seed) = tear {
            let mut random = fastrand::Rng::with_seed(!seed);
            let eighth = |random: &mut fastrand::Rng| random.u8(..) & random.u8(..) & random.u8(..);
            cells.unstable = (0..cells.bytes.len()).map(|_| eighth(&mut random)).collect();
        }
        self.unsettle(unit, 0, tear.unsettled(&unset, &set));
    }

    /// Brings a changed range of a unit, and the part's state, to the image file.
    fn save(&mut self, unit: usize, at: usize, len: usize) -> Result<(), SimError> {
        let state = self.instrument.state();
        match &self.image {
            Some(image) => {
                image.save(unit, &self.units[unit], at..at + len, &state).map_err(|error| SimError::Image(error.kind()))
            }
            None => Ok(()),
        }
    }
}

impl Drop for NorSim {
    fn drop(&mut self) {
        if let Some(image) = &self.image {
            // Reads since the last change are all that is lost if this fails.
            let _ = image.save_reads(&self.instrument.state());
        }
    }
}

impl Nor for NorSim {
    type Error = SimError;

    fn part(&self) -> NorPart {
        self.spec.part
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), SimError> {
        self.check_range(address, buffer.len())?;
        self.count(address, buffer.len(), |counters| &mut counters.reads_by_size, self.spec.timings.read);
        let unit_bytes = self.spec.part.unit_size_bytes;
        let (unit, at) = ((address.0 / unit_bytes) as usize, (address.0 % unit_bytes) as usize);
        if at + buffer.len() <= unit_bytes as usize && !buffer.is_empty() {
            self.units[unit].read(at, buffer, &mut self.random); // As nearly all calls, within a unit.
            return Ok(());
        }
        let mut rest = buffer;
        for (unit, at, len) in self.unit_ranges(address, rest.len()) {
            let (piece, behind) = rest.split_at_mut(len);
            self.units[unit].read(at, piece, &mut self.random);
            rest = behind;
        }
        Ok(())
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), SimError> {
        if let Err(error) = self.check_program(address, bytes) {
            if error != SimError::PowerLost {
                self.instrument.refuse();
            }
            return Err(error);
        }
        let words = match is_word(address, bytes.len(), self.spec.word_bytes) {
            true => 1,
            false => words_of(address, bytes.len(), self.spec.word_bytes).count() as u64,
        };
        if let Some((words_before, tear)) = self.instrument.advance(words) {
            self.tear_program(address, bytes, words_before, tear)?;
            return Err(SimError::PowerLost);
        }
        self.count(address, bytes.len(), |counters| &mut counters.programs_by_size, self.spec.timings.program);
        if self.failing.contains(&self.spec.part.unit_of(address)) {
            self.clear(address, bytes, Tear::Subset(self.operations()))?;
            return Err(SimError::ProgramFailed { address });
        }
        self.clear(address, bytes, Tear::Complete)
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), SimError> {
        if self.instrument.is_off() {
            return Err(SimError::PowerLost);
        }
        let number = usize::from(unit.0);
        let erases = match self.units.get(number) {
            Some(cells) => cells.erases,
            None => {
                return Err(SimError::NoSuchUnit { unit, unit_count: self.spec.part.unit_count });
            }
        };
        if self.endurance_erases.is_some_and(|endurance| erases >= endurance) {
            self.tear_erase(number, Tear::Subset(u64::from(erases)));
            self.save(number, 0, self.spec.part.unit_size_bytes as usize)?;
            return Err(SimError::WornOut { unit, erases });
        }
        let erase_ns = self.spec.timings.erase_ns;
        self.instrument.count(|counters| {
            counters.erases += 1;
            erase_ns
        });
        let cut = self.instrument.advance(1);
        let cells = Arc::make_mut(&mut self.units[number]);
        cells.erases += 1;
        match cut {
            Some((_, tear)) => self.tear_erase(number, tear),
            None => {
                cells.erase();
                self.unsettled.retain(|unsettled| unsettled.unit != number);
            }
        }
        self.save(number, 0, self.spec.part.unit_size_bytes as usize)?;
        if cut.is_some() { Err(SimError::PowerLost) } else { Ok(()) }
    }
}
