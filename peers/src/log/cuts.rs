//! Power cuts: the same appends to a full log, cut at every n-th operation.
//!
//! 1. Fill a part of 64 units.
//! 2. Record *boots*: a mount and some calls each, with a copy of the part before, every word and erase, and the oldest
//!    reading after each call. Of them keep some in which a unit is erased and some in which none is.
//! 3. Cut at every n-th of all their operations, torn in a shape that derives from the seed.
//! 4. For each, run its boot again up to the cut, turn the power on, mount, and read everything. What was acknowledged
//!    is there, except the oldest readings that the call in flight forgot when it was not cut; the call's own readings
//!    are all there or none. Then append some more, mount, and read everything again.
//!
//! Invariant: a cut that did not come where it was planned counts as an error of this program, not as survived.

use std::panic::{AssertUnwindSafe, catch_unwind};

use norn_flash_sim::{NorSim, Tear};

use crate::device::{Device, Operation};
use crate::reading_log::{Contender, Failure, Log, Opening, Query, Reading};
use crate::steady::{Bounds, SMALL_PART_BYTES, Writer, part};

/// Bytes of the units in which the power is cut: to read everything after each cut takes hours where the units, and so
/// the part, are large.
const UNIT_BYTES: usize = 4096;
/// Calls after each mount.
const CALLS_PER_BOOT: usize = 20;
/// Boots that are kept of each kind.
const BOOTS: usize = 4;
/// Windows' words after which no boot with an erase is waited for.
const RECORDED_WINDOWS: u64 = 5;
/// Words that a log may read to come back after a cut, with the appends that follow.
const WORDS_READ_MAX: u64 = 2_000_000_000;

/// The outcome of the cuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Operations that could be cut.
    pub operations: usize,
    /// Cuts made.
    pub cuts: u64,
    /// After which everything was as it must be.
    pub survived: u64,
    /// After which acknowledged readings were missing.
    pub lost: u64,
    /// The most readings that were missing after a cut.
    pub lost_most: u32,
    /// After which there was something that was never appended, or a part of the call in flight.
    pub wrong: u64,
    /// After which the log did not mount, or could not be read.
    pub unmountable: u64,
    /// After which the readings were there, but further appends failed or were lost.
    pub unusable: u64,
    /// That did not come where they were planned.
    pub missed: u64,
    /// Of those not survived: the log then did what the part's contract does not allow, and was refused.
    pub refused: u64,
}

/// How a log came back from one cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Survived,
    Lost(u32),
    Wrong,
    Unmountable,
    Unusable,
    Missed,
}

/// One boot of the recorded appends.
struct Boot {
    part: NorSim,
    /// The number of the first reading that it appends.
    first: u32,
    /// The number of the oldest reading after each call.
    oldest: Vec<u32>,
    operations: Vec<Operation>,
}

impl Boot {
    fn has_erase(&self) -> bool {
        self.operations.iter().any(|operation| matches!(operation, Operation::Erase(_)))
    }
}

/// Cuts the power of one log.
///
/// # Errors
/// What the log said when it could not do the appends even without cuts.
pub fn survive(contender: &Contender, seed: u64, bounds: &Bounds) -> Result<Cuts, Failure> {
    if ekv::config::PAGE_SIZE != UNIT_BYTES {
        return Err(Failure::Unsupported("the power is cut in units of 4 KB only"));
    }
    let boots = record(contender, bounds)?;
    let (mut random, mut cuts) = (fastrand::Rng::with_seed(seed), Cuts::default());
    let places: Vec<(usize, usize)> = boots
        .iter()
        .enumerate()
        .flat_map(|(boot, kept)| (0..kept.operations.len()).map(move |at| (boot, at)))
        .collect();
    cuts.operations = places.len();
    for &(boot, operation) in places.iter().step_by(places.len().div_ceil(bounds.cuts).max(1)) {
        let (fate, refusals) = cut(contender, &boots[boot], operation, Tear::draw(&mut random));
        cuts.cuts += 1;
        cuts.refused += u64::from(fate != Fate::Survived && refusals > 0);
        match fate {
            Fate::Survived => cuts.survived += 1,
            Fate::Lost(readings) => (cuts.lost, cuts.lost_most) = (cuts.lost + 1, cuts.lost_most.max(readings)),
            Fate::Wrong => cuts.wrong += 1,
            Fate::Unmountable => cuts.unmountable += 1,
            Fate::Unusable => cuts.unusable += 1,
            Fate::Missed => cuts.missed += 1,
        }
    }
    Ok(cuts)
}

/// Steps 1 and 2.
fn record(contender: &Contender, bounds: &Bounds) -> Result<Vec<Boot>, Failure> {
    let mut writer = Writer::format(contender, part(SMALL_PART_BYTES))?;
    let turn = writer.fill(bounds.window_words)?;
    let device = writer.device().clone();
    let (mut with_erase, mut without, end) = (Vec::new(), Vec::new(), writer.next + turn);
    let counters = device.counters();
    while with_erase.len() < BOOTS && writer.next < end {
        let done = device.counters() - counters;
        if done.reads() + done.programs() > RECORDED_WINDOWS * bounds.window_words && without.len() == BOOTS {
            break;
        }
        writer.mount()?;
        let (part, first, mut oldest) = (device.snapshot(), writer.next, Vec::new());
        device.start_trace();
        writer.mount()?;
        for _ in 0..CALLS_PER_BOOT {
            writer.append()?;
            oldest.push(writer.next - writer.kept()?);
        }
        let boot = Boot { part, first, oldest, operations: device.take_trace() };
        match boot.has_erase() {
            true => with_erase.push(boot),
            false if without.len() < BOOTS => without.push(boot),
            false => {}
        }
    }
    drop(writer);
    device.discard();
    with_erase.append(&mut without);
    Ok(with_erase)
}

/// Everything in a log, or that it cannot be read.
fn contents(log: &mut dyn Log) -> Option<Vec<Reading>> {
    let mut found = Vec::new();
    let read = log.range(0, u32::MAX, &mut |reading| {
        found.push(reading);
        Query::GoesOn
    });
    read.is_ok().then_some(found)
}

/// What must be in a log: every reading of numbers from `kept` to `acknowledged`, the older ones or not, and those up
/// to `begun` all or none.
#[derive(Clone, Copy)]
struct Expected {
    kept: u32,
    acknowledged: u32,
    begun: u32,
}

impl Expected {
    /// The number after the last reading found, if everything is as it must be.
    fn compare(self, found: &[Reading]) -> Result<u32, Fate> {
        let numbers: Vec<u32> = found.iter().map(|reading| Reading::number_at(reading.at)).collect();
        let is_known = |(&number, reading): (&u32, &Reading)| *reading == Reading::numbered(number);
        let is_ascending = numbers.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_ascending || !numbers.iter().zip(found).all(is_known) {
            return Err(Fate::Wrong);
        }
        let acknowledged = numbers.iter().filter(|number| (self.kept..self.acknowledged).contains(number)).count();
        let lost = self.acknowledged.saturating_sub(self.kept) - acknowledged as u32;
        if lost > 0 {
            return Err(Fate::Lost(lost));
        }
        match numbers.last().map_or(0, |last| last + 1) {
            end if end == self.acknowledged || end == self.begun => Ok(end),
            _ => Err(Fate::Wrong),
        }
    }
}

fn mount(contender: &Contender, device: &Device) -> Result<Box<dyn Log>, Failure> {
    (contender.open)(device.clone(), Opening::Mount)
}

/// Runs a boot up to the planned cut; what must be there afterwards.
fn run_to_cut(contender: &Contender, boot: &Boot, device: &Device) -> Expected {
    let mut expected = Expected { kept: boot.oldest[0], acknowledged: boot.first, begun: boot.first };
    if let Ok(mut log) = mount(contender, device) {
        let batch = log.batch() as u32;
        for oldest in &boot.oldest {
            expected.kept = *oldest;
            expected.begun = expected.acknowledged + batch;
            let readings: Vec<Reading> = (expected.acknowledged..expected.begun).map(Reading::numbered).collect();
            if log.append(&readings).is_err() {
                return expected;
            }
            expected.acknowledged = expected.begun;
        }
    }
    expected
}

/// Step 4, after the cut.
fn come_back(contender: &Contender, device: &Device, expected: Expected) -> Fate {
    let Ok(mut log) = mount(contender, device) else { return Fate::Unmountable };
    let Some(found) = contents(&mut *log) else { return Fate::Unmountable };
    let first = match expected.compare(&found) {
        Ok(end) => end,
        Err(fate) => return fate,
    };
    let (batch, mut next) = (log.batch() as u32, first);
    for _ in 0..CALLS_PER_BOOT {
        let readings: Vec<Reading> = (next..next + batch).map(Reading::numbered).collect();
        if log.append(&readings).is_err() {
            return Fate::Unusable;
        }
        next += batch;
    }
    drop(log);
    let again = mount(contender, device).ok().and_then(|mut log| contents(&mut *log));
    let expected = Expected { kept: first, acknowledged: next, begun: next };
    match again.map(|found| expected.compare(&found)) {
        Some(Ok(_)) => Fate::Survived,
        _ => Fate::Unusable,
    }
}

/// One cut, and how often the part refused the log afterwards.
fn cut(contender: &Contender, boot: &Boot, operation: usize, tear: Tear) -> (Fate, u64) {
    let device = Device::new(boot.part.clone());
    device.cut_power_after(operation as u64, tear);
    let expected = run_to_cut(contender, boot, &device);
    let mut refusals = device.refusals();
    let fate = match device.is_off() {
        false => Fate::Missed,
        true => {
            device.power_on();
            device.limit_reads(WORDS_READ_MAX);
            let back = || come_back(contender, &device, expected);
            catch_unwind(AssertUnwindSafe(back)).unwrap_or(Fate::Unmountable)
        }
    };
    refusals = device.refusals() - refusals;
    device.discard();
    (fate, refusals)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: Expected = Expected { kept: 100, acknowledged: 120, begun: 125 };

    fn numbered(numbers: impl Iterator<Item = u32>) -> Vec<Reading> {
        numbers.map(Reading::numbered).collect()
    }

    #[test]
    fn what_must_be_there_is_all_that_passes() {
        for (from, to) in [(100, 120), (90, 120), (100, 125), (0, 125)] {
            assert_eq!(EXPECTED.compare(&numbered(from..to)), Ok(to), "{from}..{to}");
        }
        assert_eq!(EXPECTED.compare(&numbered(103..120)), Err(Fate::Lost(3)), "the oldest are gone early");
        assert_eq!(EXPECTED.compare(&numbered(100..119)), Err(Fate::Lost(1)), "the newest is gone");
        assert_eq!(EXPECTED.compare(&numbered((100..110).chain(112..120))), Err(Fate::Lost(2)), "a hole");
        assert_eq!(EXPECTED.compare(&[]), Err(Fate::Lost(20)));
        assert_eq!(EXPECTED.compare(&numbered(100..123)), Err(Fate::Wrong), "a part of the call in flight");
        assert_eq!(EXPECTED.compare(&numbered(100..130)), Err(Fate::Wrong), "more than was begun");
        let mut changed = numbered(100..120);
        changed[7].value ^= 1;
        assert_eq!(EXPECTED.compare(&changed), Err(Fate::Wrong));
        let twice = [numbered(100..111), numbered(110..120)].concat();
        assert_eq!(EXPECTED.compare(&twice), Err(Fate::Wrong), "a reading twice");
    }
}
