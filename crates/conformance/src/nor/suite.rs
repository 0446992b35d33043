//! Tries each rule of a NOR part, the power being on.
//!
//! Each rule erases and fills what it needs, so that a breach of one does not hide the others; but what follows a
//! breach may follow from it. Rules whose breach breaks most others come first.

use norn_flash::{Address, EraseUnit, Nor, Reprogramming};

use super::bench::{Bench, Tried, broken, compare, pattern};
use super::rule::NorRule;
use crate::outcome::{BufferTooSmall, Defences, Finding, Outcome, RuleCounts};

/// The least bytes of the buffer.
pub const NOR_BUFFER_BYTES_MIN: usize = 64;
/// The pages that programs of serial parts stay in, unless the driver divides them.
const PAGE_BYTES: u32 = 256;
/// Programs of a program unit that are tried, at most.
const PROGRAMS_MAX: u32 = 8;
/// Reads of the same bytes, to see whether they change.
const READS: u32 = 16;
/// Bytes that are programmed from where constants are: in flash, on most boards.
static CONSTANT: [u8; 64] = {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = (at as u8).wrapping_mul(37) ^ 0x5A;
        at += 1;
    }
    bytes
};

/// Tries all rules of a part, and reports what became of each. **What the part held is lost.** `buffer` has at least
/// [`NOR_BUFFER_BYTES_MIN`] bytes; a larger one, up to twice a page of the part's, tries longer programs.
///
/// Cost: an erase of each unit, and some twenty of three units in the middle and of the first and last; these are
/// programmed and read as often. To leave units alone, pass a [`NorPartition`](norn_flash::NorPartition).
///
/// ```
/// use norn_conformance::{Defences, check_nor};
/// use norn_flash_sim::{NorSim, catalogue};
///
/// // On the board: the part's driver, and a line of the log for each finding.
/// let mut part = NorSim::new(catalogue::test_part(8, 512));
/// let counts = check_nor(&mut part, &mut [0; 64], Defences::Try, |finding| println!("{finding}")).unwrap();
/// assert!(counts.all_kept());
/// ```
///
/// # Errors
/// When the buffer is too small.
pub fn check_nor<D: Nor>(
    device: &mut D,
    buffer: &mut [u8],
    defences: Defences,
    mut report: impl FnMut(&Finding<NorRule, Address, D::Error>),
) -> Result<RuleCounts, BufferTooSmall> {
    let mut bench = bench(device, buffer)?;
    let mut counts = RuleCounts::default();
    let is_possible = bench.part.validate().is_ok();
    for rule in NorRule::ALL {
        let outcome = match rule {
            NorRule::PossiblePart if is_possible => Outcome::Kept,
            NorRule::PossiblePart => broken(0, 1, 0),
            _ if !is_possible => Outcome::NotTried("the description is impossible"),
            _ if rule.is_defence() && defences == Defences::Leave => Outcome::NotTried("a defence"),
            _ => bench.try_rule(rule).err().unwrap_or(Outcome::Kept),
        };
        counts.count(&outcome);
        report(&Finding { rule, outcome });
    }
    Ok(counts)
}

/// Fills the first, the middle and the last unit, for [`check_left_in_nor`] after a loss of power. **What the part held
/// is lost.** Cost: an erase of each of these units, and programming them.
///
/// # Errors
/// When the buffer is too small. Of the device, an outcome other than [`Outcome::Kept`].
pub fn leave_in_nor<D: Nor>(device: &mut D, buffer: &mut [u8]) -> Result<Outcome<Address, D::Error>, BufferTooSmall> {
    let mut bench = bench(device, buffer)?;
    let filled = bench.each_sample(|bench, unit| bench.fill(unit));
    Ok(filled.err().unwrap_or(Outcome::Kept))
}

/// Whether what [`leave_in_nor`] programmed is still there: in another run, after the power was off. Cost: reads three
/// units.
///
/// # Errors
/// As `leave_in_nor`.
pub fn check_left_in_nor<D: Nor>(
    device: &mut D,
    buffer: &mut [u8],
) -> Result<Outcome<Address, D::Error>, BufferTooSmall> {
    let mut bench = bench(device, buffer)?;
    let found = bench.each_sample(|bench, unit| bench.expect_filled(unit));
    Ok(found.err().unwrap_or(Outcome::Kept))
}

fn bench<'a, D: Nor>(device: &'a mut D, buffer: &'a mut [u8]) -> Result<Bench<'a, D>, BufferTooSmall> {
    match buffer.len() < NOR_BUFFER_BYTES_MIN {
        true => Err(BufferTooSmall { needed: NOR_BUFFER_BYTES_MIN }),
        false => Ok(Bench::new(device, buffer)),
    }
}

impl<D: Nor> Bench<'_, D> {
    fn try_rule(&mut self, rule: NorRule) -> Tried<D> {
        match rule {
            NorRule::PossiblePart => Ok(()),
            NorRule::EraseSetsAll => self.each_sample(Self::try_erase),
            NorRule::ProgramKeepsOthers => self.try_program_beside_others(),
            NorRule::EraseKeepsOthers => self.try_erase_beside_others(),
            NorRule::ProgramWrites => self.each_sample(Self::try_program),
            NorRule::UnitsApart => self.try_units(),
            NorRule::SmallestProgram => self.try_smallest_programs(),
            NorRule::LongPrograms => self.try_long_programs(),
            NorRule::ProgramsFromAnywhere => self.try_sources(),
            NorRule::EmptyCalls => self.try_empty_calls(),
            NorRule::Reprogramming => self.try_reprogramming(),
            NorRule::ReadsAnywhere => self.try_reads(),
            NorRule::ReadsRepeat => self.try_reading_again(),
            NorRule::Mapped => self.try_mapped(),
            NorRule::Restart => self.try_restart(),
            NorRule::RefusesOutside => self.try_outside(),
            NorRule::RefusesMisaligned => self.try_misaligned(),
            NorRule::RefusesOverBudget => self.try_over_budget(),
            NorRule::SamePart if self.device.part() == self.part => Ok(()),
            NorRule::SamePart => Err(broken(0, 1, 0)),
        }
    }

    /// The first, the middle and the last unit.
    fn each_sample(&mut self, mut call: impl FnMut(&mut Self, EraseUnit) -> Tried<D>) -> Tried<D> {
        for unit in [0, self.last() / 2, self.last()] {
            call(self, EraseUnit(unit))?;
        }
        Ok(())
    }

    /// Twice: the second time there is something to erase.
    fn try_erase(&mut self, unit: EraseUnit) -> Tried<D> {
        let (start, end) = self.ends(unit);
        self.erase(unit)?;
        self.expect_erased(start, end)?;
        self.program(start, end, |_| 0)?;
        self.erase(unit)?;
        self.expect_erased(start, end)
    }

    fn try_program(&mut self, unit: EraseUnit) -> Tried<D> {
        self.fill(unit)?;
        self.expect_filled(unit)
    }

    /// A program unit in the middle of an erased unit between two filled ones. What is around it is compared with what
    /// it was, whatever that is.
    fn try_program_beside_others(&mut self) -> Tried<D> {
        let unit = self.middle_unit();
        let ((start, end), middle) = (self.ends(unit), self.middle(unit));
        self.erase(unit)?;
        for neighbour in self.neighbours(unit) {
            self.fill(neighbour)?;
        }
        let before = [self.sum(start, middle)?, self.sum(middle + self.program_unit(), end)?];
        let beside = self.neighbour_sums(unit)?;
        self.program(middle, middle + self.program_unit(), |_| 0)?;
        let after = [self.sum(start, middle)?, self.sum(middle + self.program_unit(), end)?];
        if before != after {
            return Err(broken(middle, before[0] ^ before[1], after[0] ^ after[1]));
        }
        self.expect_neighbour_sums(unit, beside)
    }

    fn try_erase_beside_others(&mut self) -> Tried<D> {
        let unit = self.middle_unit();
        if self.last() == 0 {
            return Err(Outcome::NotTried("the part has one unit"));
        }
        for neighbour in self.neighbours(unit) {
            self.fill(neighbour)?;
        }
        let beside = self.neighbour_sums(unit)?;
        self.erase(unit)?;
        self.expect_neighbour_sums(unit, beside)
    }

    /// The sums of the units beside one; of one that there is not, 0.
    fn neighbour_sums(&mut self, unit: EraseUnit) -> Tried<D, [u32; 2]> {
        let mut sums = [0; 2];
        for (sum, neighbour) in sums.iter_mut().zip(self.neighbours(unit)) {
            let (start, end) = self.ends(neighbour);
            *sum = self.sum(start, end)?;
        }
        Ok(sums)
    }

    fn expect_neighbour_sums(&mut self, unit: EraseUnit, before: [u32; 2]) -> Tried<D> {
        let after = self.neighbour_sums(unit)?;
        for ((neighbour, before), after) in self.neighbours(unit).zip(before).zip(after) {
            if before != after {
                return Err(broken(self.ends(neighbour).0, before, after));
            }
        }
        Ok(())
    }

    /// Writes every unit's number into it, and only then reads all of them.
    fn try_units(&mut self) -> Tried<D> {
        if self.last() == 0 {
            return Err(Outcome::NotTried("the part has one unit"));
        }
        let unit_bytes = self.part.unit_size_bytes;
        let tag_bytes = self.program_unit().max(4).min(unit_bytes);
        let tag = |address: u32| [address / unit_bytes, (address / unit_bytes) >> 8][address as usize % 2] as u8;
        for unit in (0..=self.last()).map(EraseUnit) {
            let (start, _) = self.ends(unit);
            self.erase(unit)?;
            self.program(start, start + tag_bytes, tag)?;
        }
        (0..=self.last()).map(EraseUnit).try_for_each(|unit| {
            let (start, _) = self.ends(unit);
            self.expect(start, start + tag_bytes, tag)
        })
    }

    /// Every second program unit of the first and the last few of a unit, each alone.
    fn try_smallest_programs(&mut self) -> Tried<D> {
        let unit = self.middle_unit();
        let ((start, end), step) = (self.ends(unit), self.program_unit());
        self.erase(unit)?;
        let count = (end - start) / step;
        let is_programmed = |number: u32| number % 2 == 1 && (number < 16 || number + 16 >= count);
        for number in (0..count).filter(|&number| is_programmed(number)) {
            self.program_once(start + number * step, step as usize, pattern)?;
        }
        let byte = |address| if is_programmed((address - start) / step) { pattern(address) } else { 0xFF };
        self.expect(start, end, byte)
    }

    /// A program over each border of pages in a unit, and one over the border to the next unit.
    fn try_long_programs(&mut self) -> Tried<D> {
        let unit = self.middle_unit();
        let ((start, end), step) = (self.ends(unit), self.program_unit());
        let most = (self.buffer.len() as u32).min(2 * PAGE_BYTES).min(self.part.unit_size_bytes);
        let half = most / (2 * step) * step;
        self.erase(unit)?;
        self.neighbours(unit).try_for_each(|neighbour| self.erase(neighbour))?;
        let mut done = start;
        let mut border = start + PAGE_BYTES;
        while border + half <= end {
            done = self.try_program_over(border, half, done)?;
            border += PAGE_BYTES.max(2 * half);
        }
        if unit.0 < self.last() && half > 0 {
            done = self.try_program_over(end, half, done)?;
        }
        match done == start {
            true => Err(Outcome::NotTried("there is no border")),
            false => self.expect_erased(done, end.max(done)),
        }
    }

    /// Programs as many bytes before a border as after it, but none before `done`. Returns where they end.
    fn try_program_over(&mut self, border: u32, half: u32, done: u32) -> Tried<D, u32> {
        let (from, to) = ((border - half).max(done), border + half);
        self.program_once(from, (to - from) as usize, pattern)?;
        self.expect_erased(done, from)?;
        self.expect(from, border, pattern)?;
        self.expect(border, to, pattern)?;
        Ok(to)
    }

    /// Sources at each alignment, and among the constants.
    fn try_sources(&mut self) -> Tried<D> {
        let unit = self.middle_unit();
        let (start, step) = (self.ends(unit).0, self.program_unit() as usize);
        self.erase(unit)?;
        let count = (self.part.unit_size_bytes as usize / step).min(8);
        for number in 0..count {
            let at = start + (number * step) as u32;
            let bytes = &mut self.buffer[number..number + step];
            bytes.iter_mut().zip(at..).for_each(|(into, address)| *into = pattern(address));
            let place = Address(at);
            self.device.program(place, bytes).map_err(|error| Outcome::Failed { place, error })?;
        }
        self.expect(start, start + (count * step) as u32, pattern)?;
        self.erase(unit)?;
        let len = CONSTANT.len().min(self.part.unit_size_bytes as usize / step * step);
        self.program_bytes(start, &CONSTANT[..len])?;
        self.expect(start, start + len as u32, |address| CONSTANT[(address - start) as usize])
    }

    fn try_empty_calls(&mut self) -> Tried<D> {
        let unit = self.middle_unit();
        let (start, end) = self.ends(unit);
        self.erase(unit)?;
        self.program_bytes(start, &[])?;
        self.read_once(start, 0)?;
        self.expect_erased(start, end)
    }

    /// Clears more and more bits of the first few program units.
    fn try_reprogramming(&mut self) -> Tried<D> {
        let times = match self.part.reprogramming {
            Reprogramming::Once => return Err(Outcome::NotTried("a program unit is programmed once")),
            Reprogramming::Times(times) => u32::from(times).min(PROGRAMS_MAX),
            Reprogramming::Unlimited => PROGRAMS_MAX,
        };
        let unit = self.middle_unit();
        let start = self.ends(unit).0;
        let end = start + (4 * self.program_unit()).min(self.part.unit_size_bytes);
        self.erase(unit)?;
        for time in 0..times {
            let byte = |address: u32| (pattern(address) | 1) & (0xFF_u8 << time);
            self.program(start, end, byte)?;
            self.expect(start, end, byte)?;
        }
        Ok(())
    }

    /// Reads every range in the 32 bytes around a border of two units, and around the middle of a part of one unit.
    fn try_reads(&mut self) -> Tried<D> {
        let unit = self.middle_unit();
        let around = unit.0.saturating_sub(1)..=self.last().min(unit.0 + 1);
        around.map(EraseUnit).try_for_each(|unit| self.fill(unit))?;
        let (_, end) = self.ends(unit);
        let border = if unit.0 < self.last() { end } else { self.middle(unit) };
        let around = 16.min(self.part.unit_size_bytes / 2);
        for from in border - around..border + around {
            for len in 0..=(border + around - from) as usize {
                let into = &mut self.buffer[from as usize % 4..][..len];
                let place = Address(from);
                self.device.read(place, into).map_err(|error| Outcome::Failed { place, error })?;
                compare(from, into, pattern)?;
            }
        }
        Ok(())
    }

    fn try_reading_again(&mut self) -> Tried<D> {
        let unit = self.middle_unit();
        self.fill(unit)?;
        (0..READS).try_for_each(|_| self.expect_filled(unit))
    }

    /// Memory before and after an erase and a program: a cache may keep what was there.
    fn try_mapped(&mut self) -> Tried<D> {
        if !self.part.mapped && self.device.mapped().is_none() {
            return Err(Outcome::NotTried("the part is not mapped"));
        }
        let unit = self.middle_unit();
        let ((start, end), middle) = (self.ends(unit), self.middle(unit));
        self.fill(unit)?;
        self.expect_mapped(start, end, pattern)?;
        self.erase(unit)?;
        self.expect_mapped(start, end, |_| 0xFF)?;
        self.program(middle, end, pattern)?;
        self.expect_mapped(start, end, |address| if address < middle { 0xFF } else { pattern(address) })
    }

    fn expect_mapped(&mut self, start: u32, end: u32, byte: impl Fn(u32) -> u8) -> Tried<D> {
        let size = self.part.size_bytes();
        match self.device.mapped() {
            Some(memory) if memory.len() == size as usize => {
                compare(start, &memory[start as usize..end as usize], byte)
            }
            Some(memory) => Err(broken(0, size, memory.len() as u32)),
            None => Err(broken(0, size, 0)),
        }
    }

    fn try_restart(&mut self) -> Tried<D> {
        let unit = self.middle_unit();
        self.fill(unit)?;
        self.device.restart().map_err(|error| Outcome::Failed { place: Address(0), error })?;
        self.expect_filled(unit)
    }

    fn try_outside(&mut self) -> Tried<D> {
        let (size, step) = (self.part.size_bytes(), self.program_unit());
        self.each_sample(|bench, unit| bench.fill(unit))?;
        let far = u32::MAX / step * step;
        for (address, len) in [(size, step), (size - step, 2 * step), (far, step)] {
            let (place, bytes) = (Address(address), &mut self.buffer[..len as usize]);
            expect_refusal(place, self.device.read(place, bytes))?;
            bytes.fill(0);
            expect_refusal(place, self.device.program(place, bytes))?;
        }
        if let Some(unit) = self.last().checked_add(1) {
            expect_refusal(Address(size), self.device.erase(EraseUnit(unit)))?;
        }
        self.each_sample(|bench, unit| bench.expect_filled(unit))
    }

    fn try_misaligned(&mut self) -> Tried<D> {
        let (unit, step) = (self.middle_unit(), self.program_unit());
        if step == 1 {
            return Err(Outcome::NotTried("the part programs bytes"));
        }
        let (start, end) = self.ends(unit);
        self.erase(unit)?;
        for (address, len) in [(start + 1, step), (start, step - 1), (start + step / 2, step)] {
            let place = Address(address);
            self.buffer[..len as usize].fill(0);
            expect_refusal(place, self.device.program(place, &self.buffer[..len as usize]))?;
        }
        self.expect_erased(start, end)
    }

    /// Programs the first program unit once more than it may be. It is not read after that: its code for error
    /// correction may be wrong.
    fn try_over_budget(&mut self) -> Tried<D> {
        let times = match self.part.reprogramming {
            Reprogramming::Once => 1,
            Reprogramming::Times(times) => times,
            Reprogramming::Unlimited => return Err(Outcome::NotTried("there is no budget")),
        };
        let unit = self.middle_unit();
        let (start, step) = (self.ends(unit).0, self.program_unit() as usize);
        self.erase(unit)?;
        for _ in 0..times {
            self.program_once(start, step, pattern)?;
        }
        let once_more = self.device.program(Address(start), &self.buffer[..step]);
        self.erase(unit)?;
        expect_refusal(Address(start), once_more)
    }
}

/// That a call was refused.
fn expect_refusal<E>(place: Address, result: Result<(), E>) -> Result<(), Outcome<Address, E>> {
    match result {
        Ok(()) => Err(Outcome::Broken { place, expected: 1, found: 0 }),
        Err(_) => Ok(()),
    }
}
