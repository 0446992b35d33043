//! The suite for NAND parts accepts the simulated parts and adapters, and names the rule that a broken driver breaks:
//! for every rule there is a driver that breaks it.

use std::collections::{HashMap, HashSet};

use norn_conformance::{BufferTooSmall, Defences, Finding, NandRule, NandSummary, Outcome, RuleCounts, check_nand};
use norn_flash::{
    Block, Column, ColumnAccess, Nand, NandError, NandErrorKind, NandPart, NandPartition, PageAddress, Piece,
};
use norn_flash_sim::{NandSim, NandSimError, NandSpec, Noise, nand_catalogue};

fn findings<D: Nand<Error: Clone>>(
    device: &mut D,
    defences: Defences,
) -> (NandSummary, Vec<Finding<NandRule, PageAddress, D::Error>>) {
    let mut findings = Vec::new();
    let summary = check_nand(device, &mut [0; 600], defences, |finding| findings.push(finding.clone())).unwrap();
    (summary, findings)
}

/// A part whose register's position goes anywhere, with seven good blocks of eight at least.
fn spec() -> NandSpec {
    let spec = nand_catalogue::test_part(8, 4, 128);
    NandSpec { part: NandPart { columns: ColumnAccess::Anywhere, good_blocks_min: 7, ..spec.part }, ..spec }
}

#[test]
fn simulated_parts_keep_the_contract() {
    for spec in [nand_catalogue::test_part(8, 4, 128), spec(), nand_catalogue::test_part(4, 1, 256)] {
        let mut nand = NandSim::new(spec.clone());
        let (summary, findings) = findings(&mut nand, Defences::Leave);
        assert!(summary.counts.all_kept(), "{}: {findings:?}", spec.name);
        assert_eq!(nand.refusals(), 0, "it keeps the caller's side, too");
        assert!(self::findings(&mut nand, Defences::Try).0.counts.all_kept());
    }
    let mut nand = NandSim::new(nand_catalogue::test_part(8, 4, 128));
    nand.mark_bad(&[Block(3), Block(7)]);
    nand.set_noise(Noise { bits_max: nand.part().correction.bits, beyond_per_million: 0 });
    let (summary, findings) = findings(&mut nand, Defences::Try);
    assert!(summary.counts.all_kept(), "{findings:?}");
    assert_eq!((summary.bad_blocks, summary.bit_errors_max), (2, 1), "as many as the noise has");
    let mut partition = NandPartition::new(nand, 0..3).unwrap();
    assert!(self::findings(&mut partition, Defences::Try).0.counts.all_kept());
    let too_small = check_nand(&mut partition, &mut [0; 143], Defences::Try, |_| ());
    assert_eq!(too_small, Err(BufferTooSmall { needed: 144 }));
}

#[test]
fn all_is_tried_that_the_part_has() {
    let (summary, findings) = findings(&mut NandSim::new(spec()), Defences::Try);
    assert_eq!(summary.counts, RuleCounts { kept: 20, broken: 0, not_tried: 0 }, "{findings:?}");
    assert_eq!(findings.iter().map(|finding| finding.rule).collect::<Vec<_>>(), NandRule::ALL);
}

/// A part that counts the programs and erases of blocks after they have failed.
struct Failing {
    sim: NandSim,
    failed: HashSet<Block>,
    again: Vec<Block>,
}

impl Failing {
    fn changed(&mut self, block: Block, result: Result<(), NandSimError>) -> Result<(), NandSimError> {
        if self.failed.contains(&block) {
            self.again.push(block);
        }
        if result.as_ref().is_err_and(|error| error.kind() == NandErrorKind::BlockFailed) {
            self.failed.insert(block);
        }
        result
    }
}

impl Nand for Failing {
    type Error = NandSimError;

    fn part(&self) -> NandPart {
        self.sim.part()
    }

    fn load(&mut self, page: PageAddress) -> Result<(), NandSimError> {
        self.sim.load(page)
    }

    fn seek(&mut self, column: Column) -> Result<(), NandSimError> {
        self.sim.seek(column)
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), NandSimError> {
        self.sim.fetch(buffer)
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        let result = self.sim.program(page, pieces);
        self.changed(page.block, result)
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        let result = self.sim.program_loaded(page, pieces);
        self.changed(page.block, result)
    }

    fn erase(&mut self, block: Block) -> Result<(), NandSimError> {
        let result = self.sim.erase(block);
        self.changed(block, result)
    }
}

/// Wherever blocks fail, up to all of them, none is touched again, and rules go on as long as there are two.
#[test]
fn a_block_that_failed_is_left_alone() {
    for (first, step) in (0..200).flat_map(|first| [(first, 1), (first, 9), (first, 1000)]) {
        let mut nand = Failing { sim: NandSim::new(spec()), failed: HashSet::new(), again: Vec::new() };
        (first..400).step_by(step).for_each(|operations| nand.sim.fail_after(operations));
        let (summary, findings) = findings(&mut nand, Defences::Leave);
        assert_eq!(nand.again, [], "{first} {step}: {findings:?}");
        let failed = findings.iter().filter(|finding| matches!(finding.outcome, Outcome::Failed { .. })).count();
        assert_eq!(failed, nand.failed.len(), "{first} {step}: {findings:?}");
        assert_eq!(usize::from(summary.counts.broken), failed, "{first} {step}: {findings:?}");
        let defences = findings.iter().filter(|finding| finding.rule.is_defence()).count();
        assert!(failed > 6 || usize::from(summary.counts.not_tried) == defences, "{first} {step}: {findings:?}");
    }
}

#[test]
fn more_errors_than_can_be_corrected_are_a_breach() {
    let mut nand = NandSim::new(nand_catalogue::test_part(8, 4, 128));
    nand.set_noise(Noise { bits_max: 3, beyond_per_million: 0 });
    let (summary, _) = findings(&mut nand, Defences::Leave);
    assert!(summary.counts.broken > 0 && summary.bit_errors_max <= 1, "{summary:?}");
}

/// What a broken driver does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    HasOddPages,
    HasTooManyBadBlocks,
    HasBadFirstBlock,
    MarksMore,
    ErasesNotAll,
    LeavesOutData,
    LeavesOutOutOfBand,
    ProgramsTwoPages,
    ErasesTwo,
    WrapsBlocks,
    RefusesSkips,
    RefusesNothing,
    ForgetsRegister,
    SeeksNowhere,
    SeeksForwardsOnly,
    WearsByLoads,
    LoadedWithoutPieces,
    CopiesNothing,
    KeepsInCache,
    WrapsPages,
    TakesAnyOrder,
    ChangesPart,
}

struct Broken {
    sim: NandSim,
    fault: Fault,
    page: PageAddress,
    calls: u32,
    position: u16,
    loads: HashMap<PageAddress, u32>,
    last_program: PageAddress,
}

impl Broken {
    fn new(fault: Fault) -> Broken {
        let mut sim = NandSim::new(spec());
        match fault {
            Fault::HasTooManyBadBlocks => sim.mark_bad(&[Block(3), Block(4)]),
            Fault::HasBadFirstBlock => sim.mark_bad(&[Block(0)]),
            _ => {}
        }
        let page = PageAddress::default();
        Broken { sim, fault, page, calls: 0, position: 0, loads: HashMap::new(), last_program: page }
    }

    fn wrapped(&self, page: PageAddress) -> PageAddress {
        let part = self.sim.part();
        match self.fault {
            Fault::WrapsBlocks if page.block.0 < 8 => Block(page.block.0 % 4).page(page.page),
            Fault::WrapsPages => Block(page.block.0 % 8).page(page.page % part.pages_per_block),
            _ => page,
        }
    }
}

impl Nand for Broken {
    type Error = NandSimError;

    fn part(&self) -> NandPart {
        let part = self.sim.part();
        match self.fault {
            Fault::HasOddPages => NandPart { page_bytes: 100, ..part },
            Fault::ChangesPart => NandPart { endurance_erases: Some(self.calls), ..part },
            _ => part,
        }
    }

    fn load(&mut self, page: PageAddress) -> Result<(), NandSimError> {
        self.page = self.wrapped(page);
        self.position = 0;
        let loads = self.loads.entry(page).or_default();
        *loads += 1;
        if self.fault == Fault::WearsByLoads && *loads > 10 {
            self.sim.poke(page, Column(20), &[0, 0, 0]);
        }
        self.sim.load(self.page)
    }

    fn seek(&mut self, column: Column) -> Result<(), NandSimError> {
        let forwards = column.0 >= self.position;
        match self.fault {
            Fault::SeeksNowhere => Ok(()),
            Fault::SeeksForwardsOnly if !forwards => Ok(()),
            _ => {
                self.position = column.0;
                self.sim.seek(column)
            }
        }
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), NandSimError> {
        self.sim.fetch(buffer)?;
        self.position += buffer.len() as u16;
        match self.fault {
            // The next fetch begins at the start again.
            Fault::ForgetsRegister => self.sim.load(self.page),
            _ => Ok(()),
        }
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        let page = self.wrapped(page);
        let is_next = page.page == 0 || self.last_program == page.block.page(page.page - 1);
        self.calls += 1;
        match self.fault {
            Fault::LeavesOutData if pieces.len() == 2 => self.sim.program(page, &pieces[1..]),
            Fault::LeavesOutOutOfBand if pieces.len() == 2 => self.sim.program(page, &pieces[..1]),
            Fault::RefusesSkips if !is_next => Err(NandSimError::NothingLoaded),
            Fault::RefusesNothing if pieces.is_empty() => Err(NandSimError::NothingLoaded),
            Fault::ProgramsTwoPages => {
                let next = page.block.page((page.page + 1) % self.sim.part().pages_per_block);
                self.sim.program(page, pieces)?;
                self.sim.poke(next, Column(4), &[0]);
                Ok(())
            }
            Fault::TakesAnyOrder => match self.sim.program(page, pieces) {
                Err(NandSimError::OutOfOrder { .. }) => Ok(()),
                result => result,
            },
            _ => self.sim.program(page, pieces),
        }?;
        self.last_program = page;
        Ok(())
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        match self.fault {
            Fault::LoadedWithoutPieces => self.sim.program_loaded(page, &[]),
            _ => self.sim.program_loaded(self.wrapped(page), pieces),
        }
    }

    fn copy(&mut self, from: PageAddress, to: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        match self.fault {
            Fault::CopiesNothing => self.sim.program(to, pieces),
            _ => {
                self.load(from)?;
                self.program_loaded(to, pieces)
            }
        }
    }

    fn erase(&mut self, block: Block) -> Result<(), NandSimError> {
        let block = self.wrapped(block.page(0)).block;
        self.loads.retain(|page, _| page.block != block);
        if self.fault == Fault::ErasesTwo {
            self.sim.erase(Block(7_u16.saturating_sub(block.0)))?;
        }
        self.sim.erase(block)?;
        if self.fault == Fault::ErasesNotAll {
            self.sim.poke(block.page(1), Column(9), &[0, 0]);
        }
        Ok(())
    }

    fn is_marked_bad(&mut self, block: Block) -> Result<bool, NandSimError> {
        self.calls += 1;
        Ok(self.sim.is_marked_bad(block)? || self.fault == Fault::MarksMore && block.0 == 5 && self.calls > 8)
    }

    fn restart(&mut self) -> Result<(), NandSimError> {
        if self.fault == Fault::KeepsInCache {
            self.sim.poke(self.last_program, Column(0), &[0xFF; 128]);
        }
        self.sim.restart()
    }
}

/// For each fault the rule that it breaks, and whether it breaks no other one.
const FAULTS: [(Fault, NandRule, bool); 22] = [
    (Fault::HasOddPages, NandRule::PossiblePart, true),
    (Fault::HasTooManyBadBlocks, NandRule::GoodBlocks, true),
    (Fault::HasBadFirstBlock, NandRule::GoodBlocks, true),
    (Fault::MarksMore, NandRule::BadMarks, true),
    (Fault::ErasesNotAll, NandRule::EraseSetsAll, false),
    (Fault::LeavesOutData, NandRule::ProgramWrites, false),
    (Fault::LeavesOutOutOfBand, NandRule::OutOfBand, false),
    (Fault::ProgramsTwoPages, NandRule::ProgramKeepsOthers, false),
    (Fault::ErasesTwo, NandRule::EraseKeepsOthers, false),
    (Fault::WrapsBlocks, NandRule::BlocksApart, true),
    (Fault::RefusesSkips, NandRule::SkippedPages, false),
    (Fault::RefusesNothing, NandRule::EmptyCalls, true),
    (Fault::ForgetsRegister, NandRule::RegisterKeeps, false),
    (Fault::SeeksNowhere, NandRule::RegisterKeeps, false),
    (Fault::SeeksForwardsOnly, NandRule::SeeksAnywhere, true),
    (Fault::WearsByLoads, NandRule::LoadsRepeat, true),
    (Fault::LoadedWithoutPieces, NandRule::ProgramLoaded, false),
    (Fault::CopiesNothing, NandRule::Copies, true),
    (Fault::KeepsInCache, NandRule::Restart, true),
    (Fault::WrapsPages, NandRule::RefusesOutside, true),
    (Fault::TakesAnyOrder, NandRule::RefusesPageOrder, true),
    (Fault::ChangesPart, NandRule::SamePart, true),
];

#[test]
fn a_broken_driver_is_found_by_the_rule_that_it_breaks() {
    for (fault, rule, is_alone) in FAULTS {
        let (_, findings) = findings(&mut Broken::new(fault), Defences::Try);
        let is_broken = |outcome: &Outcome<_, _>| matches!(outcome, Outcome::Broken { .. } | Outcome::Failed { .. });
        let broken: Vec<_> = findings.iter().filter(|finding| is_broken(&finding.outcome)).collect();
        assert!(broken.first().is_some_and(|first| first.rule == rule), "{fault:?}: {broken:?}");
        assert!(!is_alone || broken.len() == 1, "{fault:?}: {broken:?}");
    }
    for rule in NandRule::ALL {
        assert!(FAULTS.iter().any(|&(_, broken, _)| broken == rule), "no driver breaks {rule:?}");
    }
}
