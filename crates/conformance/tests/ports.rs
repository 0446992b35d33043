//! The checks of ports accept the simulated parts and adapters, and refuse drivers that break one promise each.

use norn_conformance::{NandBreach, NandPromise, NorBreach, NorPromise, check_nand, check_nor};
use norn_flash::{
    Address, Block, Column, EraseUnit, Nand, NandPart, NandPartition, Nor, NorPart, NorPartition, PageAddress, Piece,
    Reprogramming,
};
use norn_flash_sim::{NandSim, NandSimError, Noise, NorSim, SimError, catalogue, nand_catalogue};

#[test]
fn simulated_parts_keep_the_contract() {
    let once = catalogue::limited_test_part(6, 512, 8, Reprogramming::Once);
    let twice = catalogue::limited_test_part(6, 512, 4, Reprogramming::Times(2));
    for spec in [catalogue::test_part(8, 512), catalogue::test_part(1, 64), once, twice, catalogue::w25q()] {
        let mut part = NorSim::new(spec.clone());
        assert_eq!(check_nor(&mut part, &mut [0; 72]), Ok(()), "{}", spec.name);
        assert_eq!(part.refusals(), 0);
    }
    let mut partition = NorPartition::new(NorSim::new(catalogue::test_part(9, 512)), 2..7).unwrap();
    assert_eq!(check_nor(&mut partition, &mut [0; 100]), Ok(()));
    assert_eq!(check_nor(&mut partition, &mut [0; 15]), Err(NorBreach::Buffer));

    let mut nand = NandSim::new(nand_catalogue::test_part(8, 4, 128));
    nand.mark_bad(&[Block(3), Block(7)]);
    nand.set_noise(Noise { bits_max: nand.part().correction.bits, beyond_per_million: 0 });
    assert_eq!(check_nand(&mut nand, &mut [0; 600]), Ok(()));
    assert_eq!(nand.refusals(), 0);
    let mut partition = NandPartition::new(nand, 3..8).unwrap();
    assert_eq!(check_nand(&mut partition, &mut [0; 600]), Ok(()));
    assert_eq!(check_nand(&mut partition, &mut [0; 100]), Err(NandBreach::Buffer));
}

/// What a broken NOR driver does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NorFault {
    ErasesHalf,
    ErasesNeighbour,
    WrapsErases,
    Overwrites,
    SpillsProgram,
    ForgetsSecondProgram,
    AlignsReads,
    StopsReadsAtUnits,
    ClaimsMapped,
    ChangesPart,
}

struct BrokenNor {
    sim: NorSim,
    fault: NorFault,
    programmed: Vec<u32>,
}

impl Nor for BrokenNor {
    type Error = SimError;

    fn part(&self) -> NorPart {
        let part = self.sim.part();
        match self.fault {
            NorFault::ClaimsMapped => NorPart { mapped: true, ..part },
            NorFault::ChangesPart => NorPart { endurance_erases: Some(self.programmed.len() as u32), ..part },
            _ => part,
        }
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), SimError> {
        let unit_bytes = self.sim.part().unit_size_bytes;
        match self.fault {
            NorFault::AlignsReads if buffer.len() > 1 => self.sim.read(Address(address.0 & !3), buffer),
            NorFault::StopsReadsAtUnits => {
                let len = buffer.len().min((unit_bytes - address.0 % unit_bytes) as usize);
                self.sim.read(address, &mut buffer[..len])
            }
            _ => self.sim.read(address, buffer),
        }
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), SimError> {
        self.programmed.push(address.0);
        match self.fault {
            NorFault::Overwrites => {
                let inverted: Vec<u8> = bytes.iter().map(|byte| byte | 0x80).collect();
                self.sim.poke(address, &inverted);
                Ok(())
            }
            NorFault::SpillsProgram => {
                self.sim.poke(Address(address.0.saturating_sub(1)), &[0]);
                self.sim.program(address, bytes)
            }
            NorFault::ForgetsSecondProgram if self.sim.peek(address, 1) != [0xFF] => Ok(()),
            _ => self.sim.program(address, bytes),
        }
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), SimError> {
        let part = self.sim.part();
        self.sim.erase(match self.fault {
            NorFault::WrapsErases => EraseUnit(unit.0 % 4),
            _ => unit,
        })?;
        match self.fault {
            NorFault::ErasesHalf => {
                self.sim.poke(part.start_of(unit).offset(part.unit_size_bytes / 2), &[0]);
            }
            NorFault::ErasesNeighbour => self.sim.erase(EraseUnit((unit.0 + 1) % part.unit_count))?,
            _ => {}
        }
        Ok(())
    }
}

#[test]
fn a_broken_nor_driver_is_found_by_the_promise_that_it_breaks() {
    for (fault, promise) in [
        (NorFault::ErasesHalf, NorPromise::EraseSetsAll),
        (NorFault::ErasesNeighbour, NorPromise::EraseChangesNoOther),
        (NorFault::Overwrites, NorPromise::ProgramClears),
        (NorFault::SpillsProgram, NorPromise::ProgramChangesNoOther),
        (NorFault::ForgetsSecondProgram, NorPromise::Reprogramming),
        (NorFault::AlignsReads, NorPromise::ReadsOfAnyAlignment),
        (NorFault::StopsReadsAtUnits, NorPromise::ReadsOfAnyAlignment),
        (NorFault::ClaimsMapped, NorPromise::Mapped),
        (NorFault::ChangesPart, NorPromise::SamePart),
    ] {
        let mut driver = BrokenNor { sim: NorSim::new(catalogue::test_part(8, 512)), fault, programmed: Vec::new() };
        let found = check_nor(&mut driver, &mut [0; 64]);
        assert!(
            matches!(found, Err(NorBreach::Broken { promise: broken, .. }) if broken == promise),
            "{fault:?}: {found:?}"
        );
    }
    // On a part that is not as new, an erase of another unit leaves this one as it was.
    let mut sim = NorSim::new(catalogue::test_part(8, 512));
    sim.program(Address(7 * 512), &[0; 8]).unwrap();
    let mut driver = BrokenNor { sim, fault: NorFault::WrapsErases, programmed: Vec::new() };
    let found = check_nor(&mut driver, &mut [0; 64]);
    assert!(matches!(found, Err(NorBreach::Broken { promise: NorPromise::EraseSetsAll, .. })), "{found:?}");
}

/// What a broken NAND driver does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NandFault {
    ErasesNothing,
    ErasesTwo,
    LeavesOutOutOfBand,
    ForgetsRegister,
    CopiesWithoutPieces,
    ProgramsTwoPages,
    SeeksNowhere,
}

struct BrokenNand {
    sim: NandSim,
    fault: NandFault,
    page: PageAddress,
}

impl Nand for BrokenNand {
    type Error = NandSimError;

    fn part(&self) -> NandPart {
        self.sim.part()
    }

    fn load(&mut self, page: PageAddress) -> Result<(), NandSimError> {
        self.page = page;
        self.sim.load(page)
    }

    fn seek(&mut self, column: Column) -> Result<(), NandSimError> {
        match self.fault {
            NandFault::SeeksNowhere => Ok(()),
            _ => self.sim.seek(column),
        }
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), NandSimError> {
        self.sim.fetch(buffer)?;
        match self.fault {
            // The next fetch begins at the start again.
            NandFault::ForgetsRegister => self.sim.load(self.page),
            _ => Ok(()),
        }
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        match self.fault {
            NandFault::LeavesOutOutOfBand => self.sim.program(page, &pieces[..1]),
            NandFault::ProgramsTwoPages => {
                self.sim.program(page, pieces)?;
                let next = page.block.page((page.page + 1) % self.sim.part().pages_per_block);
                self.sim.poke(next, Column(4), &[0]);
                Ok(())
            }
            _ => self.sim.program(page, pieces),
        }
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        match self.fault {
            NandFault::CopiesWithoutPieces => self.sim.program_loaded(page, &[]),
            _ => self.sim.program_loaded(page, pieces),
        }
    }

    fn erase(&mut self, block: Block) -> Result<(), NandSimError> {
        if self.fault == NandFault::ErasesTwo {
            self.sim.erase(Block(7 - block.0))?;
        }
        self.sim.erase(block)?;
        if self.fault == NandFault::ErasesNothing {
            self.sim.poke(block.page(1), Column(9), &[0, 0]);
        }
        Ok(())
    }
}

#[test]
fn a_broken_nand_driver_is_found_by_the_promise_that_it_breaks() {
    for (fault, promise) in [
        (NandFault::ErasesNothing, NandPromise::EraseSetsAll),
        (NandFault::ErasesTwo, NandPromise::EraseChangesNoOther),
        (NandFault::LeavesOutOutOfBand, NandPromise::ProgramPieces),
        (NandFault::ProgramsTwoPages, NandPromise::ProgramChangesNoOther),
        (NandFault::ForgetsRegister, NandPromise::RegisterKeeps),
        (NandFault::SeeksNowhere, NandPromise::RegisterKeeps),
        (NandFault::CopiesWithoutPieces, NandPromise::Copies),
    ] {
        let sim = NandSim::new(nand_catalogue::test_part(8, 4, 128));
        let mut driver = BrokenNand { sim, fault, page: PageAddress::default() };
        let found = check_nand(&mut driver, &mut [0; 600]);
        assert!(
            matches!(found, Err(NandBreach::Broken { promise: broken, .. }) if broken == promise),
            "{fault:?}: {found:?}"
        );
    }
}
