//! Whether a simulated NOR part does no more at a loss of power than the contract allows.
//!
//! For a simulator of your own part, whose losses of power are to be those of the part: a format that survives them has
//! shown nothing if the simulator is too kind, and is asked too much if it is too harsh. And for shapes of tears: which
//! rule a shape breaks says what about it is beyond the contract.
//!
//! A unit between two filled ones has a filled first half. The power is cut at each operation of a program of the other
//! half, and of an erase, in every shape.

use std::fmt;

use norn_flash::{Address, EraseUnit, Nor};
use norn_flash_sim::Tear;

use super::bench::{Bench, Tried, broken, pattern};
use crate::outcome::{Finding, Outcome, RuleCounts};
use crate::sweep::Powered;

/// Reads of the same bytes, to see whether they change.
const READS: usize = 8;
/// Reads after which a bit in doubt has been a one.
const READS_OF_DOUBT: usize = 64;
const BUFFER_BYTES: usize = 256;

/// What a loss of power may not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CutRule {
    /// Nothing works while the power is off, and the call that it hit fails.
    RefusesWithoutPower,
    /// What was acknowledged before is there.
    AcknowledgedStays,
    /// Other units are as they were.
    OthersStay,
    /// A program that was cut has cleared no bit that it was not to clear.
    ProgramOnlyClears,
    /// What a program left reads the same each time, and at the next boots.
    ProgramSettles,
    /// An erase that was cut has cleared no bit: those that were ones are, or read differently each time.
    EraseOnlySets,
    /// A unit whose erase was cut can be erased, and reads as ones then.
    EraseHeals,
}

impl CutRule {
    /// All of them.
    pub const ALL: [CutRule; 7] = [
        CutRule::RefusesWithoutPower,
        CutRule::AcknowledgedStays,
        CutRule::OthersStay,
        CutRule::ProgramOnlyClears,
        CutRule::ProgramSettles,
        CutRule::EraseOnlySets,
        CutRule::EraseHeals,
    ];

    /// The rule in words.
    pub const fn text(self) -> &'static str {
        match self {
            CutRule::RefusesWithoutPower => "nothing works while the power is off",
            CutRule::AcknowledgedStays => "what was acknowledged outlives a cut",
            CutRule::OthersStay => "a cut changes no other unit",
            CutRule::ProgramOnlyClears => "a program that was cut has cleared only what it was to clear",
            CutRule::ProgramSettles => "what a cut program left reads the same from then on",
            CutRule::EraseOnlySets => "an erase that was cut has cleared no bit",
            CutRule::EraseHeals => "a unit whose erase was cut can be erased",
        }
    }
}

impl fmt::Display for CutRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

/// The call that is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Program,
    Erase,
}

/// Cuts the power of clones of a part at each operation of a program and of an erase, in each of the shapes that
/// `shapes` draws, and reports the rules. The part has three units or more.
///
/// ```
/// use norn_conformance::{check_nor_cuts, one_of_each};
/// use norn_flash_sim::{NorSim, catalogue};
///
/// let part = NorSim::new(catalogue::test_part(4, 256));
/// let counts = check_nor_cuts(&part, &one_of_each, 7, |finding| println!("{finding}"));
/// assert!(counts.all_kept());
/// ```
///
/// # Panics
/// If a call fails before the power is cut: try [`check_nor`](crate::check_nor) first.
pub fn check_nor_cuts<D: Nor + Powered>(
    device: &D,
    shapes: &dyn Fn(u64, &mut fastrand::Rng) -> Vec<Tear>,
    seed: u64,
    mut report: impl FnMut(&Finding<CutRule, Address, D::Error>),
) -> RuleCounts {
    assert!(device.part().unit_count >= 3, "a part with units beside the one that is cut");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut outcomes = CutRule::ALL.map(|_| None);
    let prepared = prepare(device);
    for call in [Call::Program, Call::Erase] {
        for cut in 0.. {
            let mut was_cut = false;
            for tear in shapes(cut, &mut random) {
                was_cut |= try_cut(prepared.clone(), call, cut, tear, &mut outcomes);
            }
            if !was_cut {
                break;
            }
        }
    }
    let mut counts = RuleCounts::default();
    for (rule, outcome) in CutRule::ALL.into_iter().zip(outcomes) {
        let outcome = outcome.unwrap_or(Outcome::NotTried("no cut hit such a call"));
        counts.count(&outcome);
        report(&Finding { rule, outcome });
    }
    counts
}

type Outcomes<D> = [Option<Outcome<Address, <D as Nor>::Error>>; CutRule::ALL.len()];

/// The unit that is cut, in the middle.
fn victim<D: Nor>(bench: &Bench<'_, D>) -> EraseUnit {
    bench.middle_unit()
}

fn prepare<D: Nor + Powered>(device: &D) -> D {
    let mut device = device.clone();
    let mut buffer = [0; BUFFER_BYTES];
    let mut bench = Bench::new(&mut device, &mut buffer);
    let unit = victim(&bench);
    let ((start, _), middle) = (bench.ends(unit), bench.middle(unit));
    let filled = bench.neighbours(unit).try_for_each(|neighbour| bench.fill(neighbour));
    let prepared = filled.and_then(|()| bench.erase(unit)).and_then(|()| bench.program(start, middle, pattern));
    prepared.unwrap_or_else(|outcome| panic!("the power is on, and a call is {outcome}"));
    device
}

/// Cuts one call; returns whether the power failed in it. What holds is noted where nothing else is yet.
fn try_cut<D: Nor + Powered>(mut device: D, call: Call, cut: u64, tear: Tear, outcomes: &mut Outcomes<D>) -> bool {
    let mut buffer = [0; BUFFER_BYTES];
    device.cut_power_after(cut, tear);
    let mut bench = Bench::new(&mut device, &mut buffer);
    let unit = victim(&bench);
    let ((start, end), middle) = (bench.ends(unit), bench.middle(unit));
    let mut note = |rule: CutRule, tried: Tried<D>| {
        let place = CutRule::ALL.iter().position(|&one| one == rule).expect("one of all");
        match (&outcomes[place], tried) {
            (None | Some(Outcome::Kept), Err(outcome)) => outcomes[place] = Some(outcome),
            (None, Ok(())) => outcomes[place] = Some(Outcome::Kept),
            _ => {}
        }
    };
    let result = match call {
        Call::Program => bench.program(middle, end, pattern),
        Call::Erase => bench.erase(unit),
    };
    if result.is_ok() && bench.read_once(start, 1).is_ok() {
        return false;
    }
    let works = bench.device.read(Address(start), &mut [0]).is_ok() || bench.device.erase(unit).is_ok();
    note(CutRule::RefusesWithoutPower, if works || result.is_ok() { Err(broken(start, 1, 0)) } else { Ok(()) });
    bench.device.power_on();
    match call {
        Call::Program => {
            note(CutRule::AcknowledgedStays, bench.expect(start, middle, pattern));
            note(CutRule::ProgramOnlyClears, bench.expect_ones(middle, end, 1, pattern));
            note(CutRule::ProgramSettles, bench.expect_settled(middle, end));
        }
        Call::Erase => {
            let before = |address| if address < middle { pattern(address) } else { 0xFF };
            note(CutRule::EraseOnlySets, bench.expect_ones(start, end, READS_OF_DOUBT, before));
            bench.device.power_on();
            note(CutRule::EraseOnlySets, bench.expect_ones(start, end, READS_OF_DOUBT, before));
            let erased = bench.erase(unit);
            note(CutRule::EraseHeals, erased.and_then(|()| bench.expect_erased(start, end)));
        }
    }
    let others = bench.neighbours(unit).try_for_each(|neighbour| bench.expect_filled(neighbour));
    note(CutRule::OthersStay, others);
    true
}

impl<D: Nor + Powered> Bench<'_, D> {
    /// That bits which are ones in the bytes are ones on the part, in one of some reads. Bits in doubt are so at times.
    fn expect_ones(&mut self, start: u32, end: u32, reads: usize, byte: impl Fn(u32) -> u8) -> Tried<D> {
        let mut ones = self.read_all(start, end)?;
        for _ in 1..reads {
            let bytes = self.read_all(start, end)?;
            ones.iter_mut().zip(bytes).for_each(|(ones, byte)| *ones |= byte);
        }
        match (start..).zip(ones).find(|&(address, found)| byte(address) & !found != 0) {
            Some((address, found)) => Err(broken(address, u32::from(byte(address)), u32::from(found))),
            None => Ok(()),
        }
    }

    /// That reads agree, the power going and coming in between.
    fn expect_settled(&mut self, start: u32, end: u32) -> Tried<D> {
        let first = self.read_all(start, end)?;
        for number in 1..READS {
            if number > READS / 2 {
                self.device.power_on();
            }
            self.expect(start, end, |address| first[(address - start) as usize])?;
        }
        Ok(())
    }

    fn read_all(&mut self, start: u32, end: u32) -> Tried<D, Vec<u8>> {
        let (place, mut bytes) = (Address(start), vec![0; (end - start) as usize]);
        match self.device.read(place, &mut bytes) {
            Ok(()) => Ok(bytes),
            Err(error) => Err(Outcome::Failed { place, error }),
        }
    }
}
