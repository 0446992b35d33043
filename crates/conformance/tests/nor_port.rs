//! The suite for NOR parts accepts the simulated parts and adapters, and names the rule that a broken driver breaks:
//! for every rule there is a driver that breaks it.

use std::collections::HashMap;

use norn_conformance::{
    BufferTooSmall, CutRule, Defences, Finding, NorRule, Outcome, Powered, RuleCounts, check_left_in_nor, check_nor,
    check_nor_cuts, leave_in_nor, one_of_each,
};
use norn_flash::{Address, EraseUnit, Nor, NorPart, NorPartition, Reprogramming};
use norn_flash_sim::{NorSim, PartSpec, SimError, Tear, catalogue};

/// A buffer that is aligned as a buffer for words is.
#[repr(align(16))]
struct Buffer([u8; 64]);

fn findings<D: Nor>(
    device: &mut D,
    buffer: &mut [u8],
    defences: Defences,
) -> (RuleCounts, Vec<Finding<NorRule, Address, D::Error>>)
where
    D::Error: Clone,
{
    let mut findings = Vec::new();
    let counts = check_nor(device, buffer, defences, |finding| findings.push(finding.clone())).unwrap();
    (counts, findings)
}

/// The rules that a device does not keep, in the order in which they are tried.
fn broken_rules<D: Nor<Error: Clone>>(device: &mut D) -> Vec<NorRule> {
    let (_, findings) = findings(device, &mut Buffer([0; 64]).0, Defences::Try);
    let is_broken = |outcome: &Outcome<_, _>| matches!(outcome, Outcome::Broken { .. } | Outcome::Failed { .. });
    findings.iter().filter(|finding| is_broken(&finding.outcome)).map(|finding| finding.rule).collect()
}

#[test]
fn simulated_parts_keep_the_contract() {
    let once = |unit| catalogue::limited_test_part(6, 512, unit, Reprogramming::Once);
    let twice = catalogue::limited_test_part(6, 512, 4, Reprogramming::Times(2));
    let parts = [catalogue::test_part(8, 512), catalogue::test_part(1, 64), catalogue::test_part(2, 1000)];
    for spec in parts.into_iter().chain([once(8), once(32), twice, catalogue::w25q()]) {
        for len in [64, 72, 600, 1024] {
            let mut part = NorSim::new(spec.clone());
            let (counts, findings) = findings(&mut part, &mut vec![0; len], Defences::Leave);
            assert!(counts.all_kept(), "{}, {len}: {findings:?}", spec.name);
            assert!(counts.kept >= 12 && counts.kept + counts.not_tried == 19, "{counts:?}");
            assert_eq!(part.refusals(), 0, "it keeps the caller's side, too");
        }
        let (counts, findings) = findings(&mut NorSim::new(spec.clone()), &mut [0; 64], Defences::Try);
        assert!(counts.all_kept(), "{}: {findings:?}", spec.name);
    }
    let mut partition = NorPartition::new(NorSim::new(catalogue::test_part(9, 512)), 2..7).unwrap();
    assert!(findings(&mut partition, &mut [0; 100], Defences::Try).0.all_kept());
    let too_small = check_nor(&mut partition, &mut [0; 63], Defences::Try, |_| ());
    assert_eq!(too_small, Err(BufferTooSmall { needed: 64 }));
}

/// On a part of three units or more whose units of 512 bytes have borders in them, nothing is left untried but what the
/// part does not have.
#[test]
fn what_is_not_tried_says_why() {
    let spec = catalogue::limited_test_part(8, 512, 4, Reprogramming::Times(2));
    let (counts, findings) = findings(&mut NorSim::new(spec), &mut [0; 64], Defences::Try);
    let untried: Vec<String> = findings
        .iter()
        .filter(|finding| matches!(finding.outcome, Outcome::NotTried(_)))
        .map(ToString::to_string)
        .collect();
    assert_eq!(untried, ["mapped memory shows what is there: not tried: the part is not mapped"]);
    assert_eq!(counts, RuleCounts { kept: 18, broken: 0, not_tried: 1 });
    assert_eq!(findings.iter().map(|finding| finding.rule).collect::<Vec<_>>(), NorRule::ALL);
}

/// What a broken driver does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    HasProgramUnitOfThree,
    ErasesHalf,
    ErasesToZeros,
    SpillsBefore,
    PadsWithZeros,
    ErasesNext,
    ErasesBefore,
    Overwrites,
    WrapsAddresses,
    LosesOddWords,
    WrapsInPages,
    StopsAtUnits,
    NeedsAlignedSources,
    RefusesConstants,
    RefusesNothing,
    ForgetsSecondProgram,
    AlignsReads,
    StopsReadsAtUnits,
    WearsByReads,
    ClaimsMapped,
    MapsWhatWas,
    KeepsInCache,
    WrapsOutside,
    TakesAnyLength,
    TakesAnyNumber,
    ChangesPart,
}

struct Broken {
    sim: NorSim,
    fault: Fault,
    /// Where the buffer of the suite lies.
    buffer: std::ops::Range<usize>,
    calls: u32,
    reads: HashMap<u32, u32>,
    last_program: (u32, usize),
    memory: Vec<u8>,
}

impl Broken {
    fn new(spec: &PartSpec, fault: Fault, buffer: &[u8]) -> Broken {
        let memory = vec![0xFF; spec.part.size_bytes() as usize];
        let start = buffer.as_ptr() as usize;
        let (sim, buffer) = (NorSim::new(spec.clone()), start..start + buffer.len());
        Broken { sim, fault, buffer, calls: 0, reads: HashMap::new(), last_program: (0, 0), memory }
    }

    /// Programs with what is there, whatever is allowed.
    fn clear(&mut self, address: u32, bytes: &[u8]) {
        let stored = self.sim.peek(Address(address), bytes.len());
        let cleared: Vec<u8> = stored.iter().zip(bytes).map(|(stored, byte)| stored & byte).collect();
        self.sim.poke(Address(address), &cleared);
    }

    fn is_inside(&self, address: Address, len: usize) -> bool {
        u64::from(address.0) + len as u64 <= u64::from(self.sim.part().size_bytes())
    }

    fn is_programmed(&self, address: Address) -> bool {
        self.is_inside(address, 4) && self.sim.peek(address, 4) != [0xFF; 4]
    }

    fn wrapped(&self, address: Address) -> Address {
        let size = self.sim.part().size_bytes();
        match self.fault {
            Fault::WrapsAddresses if address.0 < size => Address(address.0 % (size / 2)),
            Fault::WrapsOutside => Address(address.0 % size),
            _ => address,
        }
    }

    fn program_in_page(&mut self, address: Address, bytes: &[u8]) -> Result<(), SimError> {
        let in_page = bytes.len().min((256 - address.0 % 256) as usize);
        self.sim.program(address, &bytes[..in_page])?;
        self.clear(address.0 / 256 * 256, &bytes[in_page..]);
        Ok(())
    }
}

impl Nor for Broken {
    type Error = SimError;

    fn part(&self) -> NorPart {
        let part = self.sim.part();
        match self.fault {
            Fault::HasProgramUnitOfThree => NorPart { program_unit_bytes: 3, ..part },
            Fault::ClaimsMapped | Fault::MapsWhatWas => NorPart { mapped: true, ..part },
            Fault::ChangesPart => NorPart { endurance_erases: Some(self.calls), ..part },
            _ => part,
        }
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), SimError> {
        let part = self.sim.part();
        let address = self.wrapped(address);
        match self.fault {
            Fault::AlignsReads if buffer.len() > 1 => return self.sim.read(Address(address.0 & !3), buffer),
            Fault::StopsReadsAtUnits if self.is_inside(address, buffer.len()) => {
                let len = buffer.len().min((part.unit_size_bytes - address.0 % part.unit_size_bytes) as usize);
                return self.sim.read(address, &mut buffer[..len]);
            }
            Fault::WrapsOutside => {
                let len = buffer.len().min((part.size_bytes() - address.0) as usize);
                return self.sim.read(address, &mut buffer[..len]);
            }
            Fault::WearsByReads if !buffer.is_empty() => {
                let reads = self.reads.entry(address.0).or_default();
                *reads += 1;
                if *reads > 10 {
                    self.clear(address.0, &[0]);
                }
            }
            _ => {}
        }
        self.sim.read(address, buffer)
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), SimError> {
        let part = self.sim.part();
        let address = self.wrapped(address);
        let len = bytes.len();
        self.calls += 1;
        if !bytes.is_empty() {
            self.last_program = (address.0, len);
        }
        if self.fault == Fault::MapsWhatWas && self.is_inside(address, len) {
            self.memory[address.0 as usize..][..len].copy_from_slice(bytes);
        }
        match self.fault {
            _ if !self.is_inside(address, len) && self.fault != Fault::WrapsOutside => self.sim.program(address, bytes),
            Fault::Overwrites => {
                let inverted: Vec<u8> = bytes.iter().map(|byte| byte | 0x80).collect();
                self.sim.poke(address, &inverted);
                Ok(())
            }
            Fault::SpillsBefore => {
                self.clear(address.0.saturating_sub(1), &[0]);
                self.sim.program(address, bytes)
            }
            Fault::PadsWithZeros if len == 4 && self.is_inside(address, 8) => {
                self.clear(address.0 + 4, &[0; 4]);
                self.sim.program(address, bytes)
            }
            Fault::LosesOddWords if len == 4 && address.0 % 8 == 4 => Ok(()),
            Fault::WrapsInPages => self.program_in_page(address, bytes),
            Fault::StopsAtUnits => {
                let left = (part.unit_size_bytes - address.0 % part.unit_size_bytes) as usize;
                self.sim.program(address, &bytes[..len.min(left)])
            }
            Fault::NeedsAlignedSources if !(bytes.as_ptr() as usize).is_multiple_of(4) && len > 0 => {
                let shifted: Vec<u8> = bytes[1..].iter().chain(&[0xFF]).copied().collect();
                self.sim.program(address, &shifted)
            }
            Fault::RefusesConstants if len > 0 && !self.buffer.contains(&(bytes.as_ptr() as usize)) => {
                Err(SimError::PowerLost)
            }
            Fault::RefusesNothing if len == 0 => Err(SimError::PowerLost),
            Fault::ForgetsSecondProgram if self.is_programmed(address) => Ok(()),
            Fault::WrapsOutside => {
                self.sim.program(address, &bytes[..len.min((part.size_bytes() - address.0) as usize)])
            }
            Fault::TakesAnyLength => match self.sim.program(address, bytes) {
                Err(SimError::Misaligned { .. }) => Ok(()),
                result => result,
            },
            Fault::TakesAnyNumber => match self.sim.program(address, bytes) {
                Err(SimError::OverBudget { .. }) => Ok(()),
                result => result,
            },
            _ => self.sim.program(address, bytes),
        }
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), SimError> {
        let part = self.sim.part();
        let unit = match self.fault {
            Fault::WrapsAddresses if unit.0 < part.unit_count => EraseUnit(unit.0 % (part.unit_count / 2)),
            Fault::WrapsOutside => EraseUnit(unit.0 % part.unit_count),
            _ => unit,
        };
        self.sim.erase(unit)?;
        let start = part.start_of(unit);
        self.reads.retain(|&address, _| part.unit_of(Address(address)) != unit);
        match self.fault {
            Fault::ErasesHalf => self.sim.poke(start.offset(part.unit_size_bytes / 2), &[0]),
            Fault::ErasesToZeros => self.sim.poke(start, &vec![0; part.unit_size_bytes as usize]),
            Fault::ErasesNext => self.sim.erase(EraseUnit((unit.0 + 1) % part.unit_count))?,
            Fault::ErasesBefore => self.sim.erase(EraseUnit(unit.0.saturating_sub(1)))?,
            _ => {}
        }
        Ok(())
    }

    fn restart(&mut self) -> Result<(), SimError> {
        if self.fault == Fault::KeepsInCache {
            let (address, len) = self.last_program;
            self.sim.poke(Address(address), &vec![0xFF; len]);
        }
        Ok(())
    }

    fn mapped(&self) -> Option<&[u8]> {
        (self.fault == Fault::MapsWhatWas).then_some(&self.memory)
    }
}

/// For each fault the rule that it breaks, and whether it breaks no other one.
const FAULTS: [(Fault, NorRule, bool); 26] = [
    (Fault::HasProgramUnitOfThree, NorRule::PossiblePart, true),
    (Fault::ErasesHalf, NorRule::EraseSetsAll, false),
    (Fault::ErasesToZeros, NorRule::EraseSetsAll, false),
    (Fault::SpillsBefore, NorRule::ProgramKeepsOthers, false),
    (Fault::PadsWithZeros, NorRule::ProgramKeepsOthers, false),
    (Fault::ErasesNext, NorRule::EraseKeepsOthers, false),
    (Fault::ErasesBefore, NorRule::EraseKeepsOthers, false),
    (Fault::Overwrites, NorRule::ProgramWrites, false),
    (Fault::WrapsAddresses, NorRule::UnitsApart, false),
    (Fault::LosesOddWords, NorRule::SmallestProgram, false),
    (Fault::WrapsInPages, NorRule::LongPrograms, true),
    (Fault::StopsAtUnits, NorRule::LongPrograms, true),
    (Fault::NeedsAlignedSources, NorRule::ProgramsFromAnywhere, true),
    (Fault::RefusesConstants, NorRule::ProgramsFromAnywhere, true),
    (Fault::RefusesNothing, NorRule::EmptyCalls, true),
    (Fault::ForgetsSecondProgram, NorRule::Reprogramming, false),
    (Fault::AlignsReads, NorRule::ReadsAnywhere, true),
    (Fault::StopsReadsAtUnits, NorRule::ReadsAnywhere, true),
    (Fault::WearsByReads, NorRule::ReadsRepeat, false),
    (Fault::ClaimsMapped, NorRule::Mapped, true),
    (Fault::MapsWhatWas, NorRule::Mapped, true),
    (Fault::KeepsInCache, NorRule::Restart, true),
    (Fault::WrapsOutside, NorRule::RefusesOutside, true),
    (Fault::TakesAnyLength, NorRule::RefusesMisaligned, true),
    (Fault::TakesAnyNumber, NorRule::RefusesOverBudget, true),
    (Fault::ChangesPart, NorRule::SamePart, true),
];

#[test]
fn a_broken_driver_is_found_by_the_rule_that_it_breaks() {
    let spec = catalogue::limited_test_part(8, 512, 4, Reprogramming::Times(2));
    for (fault, rule, is_alone) in FAULTS {
        let mut buffer = Buffer([0; 64]);
        let mut driver = Broken::new(&spec, fault, &buffer.0);
        let (_, findings) = findings(&mut driver, &mut buffer.0, Defences::Try);
        let is_broken = |outcome: &Outcome<_, _>| matches!(outcome, Outcome::Broken { .. } | Outcome::Failed { .. });
        let broken: Vec<_> = findings.iter().filter(|finding| is_broken(&finding.outcome)).collect();
        assert!(broken.first().is_some_and(|first| first.rule == rule), "{fault:?}: {broken:?}");
        assert!(!is_alone || broken.len() == 1, "{fault:?}: {broken:?}");
    }
    for rule in NorRule::ALL {
        assert!(FAULTS.iter().any(|&(_, broken, _)| broken == rule), "no driver breaks {rule:?}");
    }
}

#[test]
fn a_finding_says_what_is_wrong_and_where() {
    let spec = catalogue::limited_test_part(8, 512, 4, Reprogramming::Times(2));
    let mut buffer = Buffer([0; 64]);
    let mut driver = Broken::new(&spec, Fault::ErasesHalf, &buffer.0);
    let (_, findings) = findings(&mut driver, &mut buffer.0, Defences::Leave);
    assert_eq!(findings[1].to_string(), "an erased unit reads as ones: BROKEN at 0x000100: 0x00 instead of 0xff");
}

/// Memory that is mapped, as it should be.
struct Ram(Vec<u8>);

impl Nor for Ram {
    type Error = core::convert::Infallible;

    fn part(&self) -> NorPart {
        NorPart { mapped: true, ..catalogue::test_part(4, 512).part }
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
        let at = address.0 as usize;
        buffer.copy_from_slice(&self.0[at..at + buffer.len()]);
        Ok(())
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0[address.0 as usize..].iter_mut().zip(bytes).for_each(|(cell, byte)| *cell &= byte);
        Ok(())
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error> {
        self.0[usize::from(unit.0) * 512..][..512].fill(0xFF);
        Ok(())
    }

    fn mapped(&self) -> Option<&[u8]> {
        Some(&self.0)
    }
}

#[test]
fn a_mapped_part_without_defences_is_accepted_where_none_are_tried() {
    let (counts, findings) = findings(&mut Ram(vec![0; 2048]), &mut [0; 64], Defences::Leave);
    assert!(counts.all_kept(), "{findings:?}");
    assert!(findings.iter().any(|finding| finding.rule == NorRule::Mapped && finding.outcome == Outcome::Kept));
}

#[test]
fn what_was_left_is_found_in_another_run() {
    let mut part = NorSim::new(catalogue::test_part(6, 512));
    assert_eq!(leave_in_nor(&mut part, &mut [0; 64]), Ok(Outcome::Kept));
    part.power_on();
    assert_eq!(check_left_in_nor(&mut part, &mut [0; 64]), Ok(Outcome::Kept));
    part.poke(Address(5 * 512 + 511), &[0]);
    let found = check_left_in_nor(&mut part, &mut [0; 64]).unwrap();
    assert!(matches!(found, Outcome::Broken { place: Address(3071), found: 0, .. }), "{found:?}");
    assert!(broken_rules(&mut part).is_empty(), "an erase makes good what was wrong");
}

/// What a simulator does wrong when the power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CutFault {
    WorksWithoutPower,
    LosesWhatWasBefore,
    TearsOthers,
    ClearsMore,
    Wavers,
    ProgramsBeforeErasing,
    NeverHeals,
}

/// A simulated part that fails in another way when its power does.
#[derive(Clone)]
struct FaultySim {
    sim: NorSim,
    fault: CutFault,
    is_torn: bool,
}

impl Nor for FaultySim {
    type Error = SimError;

    fn part(&self) -> NorPart {
        self.sim.part()
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), SimError> {
        match self.sim.read(address, buffer) {
            Err(SimError::PowerLost) if self.fault == CutFault::WorksWithoutPower => Ok(()),
            result => result,
        }
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), SimError> {
        self.sim.program(address, bytes)
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), SimError> {
        self.sim.erase(unit)?;
        if self.fault == CutFault::NeverHeals && self.is_torn {
            self.sim.poke(self.sim.part().start_of(unit), &[0x7F]);
        }
        Ok(())
    }
}

impl Powered for FaultySim {
    fn cut_power_after(&mut self, operations: u64, tear: Tear) {
        self.sim.cut_power_after(operations, tear);
    }

    /// Does its harm at the first boot after the cut. The unit that is cut is the third one of six.
    fn power_on(&mut self) {
        self.sim.power_on();
        if self.is_torn {
            return;
        }
        self.is_torn = true;
        let unit = 2 * 512;
        match self.fault {
            CutFault::LosesWhatWasBefore => self.sim.poke(Address(unit + 255), &[0xFF]),
            CutFault::TearsOthers => self.sim.poke(Address(unit - 1), &[0x00]),
            CutFault::ClearsMore => self.sim.poke(Address(unit + 511), &[0x00]),
            _ => {}
        }
    }

    fn operations(&self) -> u64 {
        self.sim.operations()
    }

    fn refusals(&self) -> u64 {
        self.sim.refusals()
    }
}

/// The rules that are not kept where cuts have these shapes.
fn broken_by_cuts<D: Nor + Powered>(device: &D, shapes: &dyn Fn(u64, &mut fastrand::Rng) -> Vec<Tear>) -> Vec<CutRule> {
    let mut broken = Vec::new();
    let counts = check_nor_cuts(device, shapes, 26, |finding| {
        if !matches!(finding.outcome, Outcome::Kept) {
            broken.push(finding.rule);
        }
    });
    assert_eq!(usize::from(counts.kept) + broken.len(), CutRule::ALL.len());
    broken
}

#[test]
fn the_simulator_does_no_more_than_the_contract_allows() {
    for unit in [1, 8, 32] {
        let spec = catalogue::limited_test_part(6, 512, unit, Reprogramming::Once);
        assert_eq!(broken_by_cuts(&NorSim::new(spec), &one_of_each), []);
    }
}

#[test]
fn a_simulator_that_does_more_is_found_by_the_rule_that_it_breaks() {
    let faults = [
        (CutFault::WorksWithoutPower, CutRule::RefusesWithoutPower),
        (CutFault::LosesWhatWasBefore, CutRule::AcknowledgedStays),
        (CutFault::TearsOthers, CutRule::OthersStay),
        (CutFault::ClearsMore, CutRule::ProgramOnlyClears),
        (CutFault::Wavers, CutRule::ProgramSettles),
        (CutFault::ProgramsBeforeErasing, CutRule::EraseOnlySets),
        (CutFault::NeverHeals, CutRule::EraseHeals),
    ];
    for (fault, rule) in faults {
        let sim = NorSim::new(catalogue::limited_test_part(6, 512, 8, Reprogramming::Once));
        let shapes = |_: u64, random: &mut fastrand::Rng| match fault {
            CutFault::Wavers => vec![Tear::Marginal(random.u64(..))],
            CutFault::ProgramsBeforeErasing => vec![Tear::ZerosFirst(random.u64(..))],
            _ => vec![Tear::Subset(random.u64(..))],
        };
        let broken = broken_by_cuts(&FaultySim { sim, fault, is_torn: false }, &shapes);
        assert!(broken.contains(&rule), "{fault:?}: {broken:?}");
        // Zeros in a unit whose bits are to be ones are cleared bits after an erase, too.
        let follows = |found: &CutRule| fault == CutFault::ClearsMore && *found == CutRule::EraseOnlySets;
        assert!(broken.iter().all(|found| *found == rule || follows(found)), "{fault:?}: {broken:?}");
    }
    for rule in CutRule::ALL {
        assert!(faults.iter().any(|&(_, broken)| broken == rule), "no simulator breaks {rule:?}");
    }
}

/// The shapes beyond the contract are beyond it, each by one rule.
#[test]
fn shapes_beyond_the_contract_break_the_rules_that_they_are_to_break() {
    let sim = NorSim::new(catalogue::limited_test_part(6, 512, 8, Reprogramming::Once));
    let broken = |shape: fn(u64) -> Tear| broken_by_cuts(&sim, &|_, random| vec![shape(random.u64(..))]);
    assert_eq!(broken(Tear::Marginal), [CutRule::ProgramSettles]);
    assert_eq!(broken(Tear::Wavering), [CutRule::ProgramSettles]);
    assert_eq!(broken(Tear::Late), [CutRule::ProgramSettles]);
    assert_eq!(broken(Tear::Returning), [CutRule::ProgramSettles]);
    assert_eq!(broken(Tear::ZerosFirst), [CutRule::EraseOnlySets]);
}
