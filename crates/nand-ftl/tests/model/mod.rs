//! The block device in plain memory, and a driver that runs random operations on it and on the FTL.

use norn_flash::{Block, NandPart};
use norn_flash_sim::nand_catalogue::NandSpec;
use norn_flash_sim::{NandSim, NandSimError};
use norn_nand_ftl::{Ftl, FtlConfig, FtlError, Lba, max_logical_pages};

pub type TestFtl = Ftl<NandSim, Vec<u8>>;
pub type Error = FtlError<NandSimError>;

/// What logical pages hold: the number of the write, 0 for zeros. While an operation is in flight, either of two.
#[derive(Clone, Debug)]
pub struct Model {
    pub page_bytes: usize,
    pub pages: Vec<u64>,
    /// What an operation that was cut may have left instead.
    pub maybe: Vec<(usize, u64)>,
    /// What trimmed pages may hold again after a loss of power: trims since the last flush, and what they trimmed.
    pub unflushed: Vec<(usize, u64)>,
    pub next: u64,
}

impl Model {
    pub fn new(part: &NandPart, logical_pages: u32) -> Self {
        Model {
            page_bytes: usize::from(part.page_bytes),
            pages: vec![0; logical_pages as usize],
            maybe: Vec::new(),
            unflushed: Vec::new(),
            next: 1,
        }
    }

    /// The bytes of a page: the write's number and the page's, again and again. Write 0 is zeros; every fifth is mostly
    /// ones.
    pub fn bytes(&self, lba: usize, write: u64) -> Vec<u8> {
        let word = if write == 0 { 0 } else { write << 20 | lba as u64 };
        let mut bytes: Vec<u8> = word.to_le_bytes().into_iter().cycle().take(self.page_bytes).collect();
        if write % 5 == 1 {
            bytes[8..].fill(0xFF);
        }
        bytes
    }

    /// A page was written.
    fn written(&mut self, page: usize, write: u64) {
        self.pages[page] = write;
        self.unflushed.retain(|&(trimmed, _)| trimmed != page);
    }

    /// The power failed, or the device was left without a flush.
    pub fn lose_power(&mut self) {
        let mut trimmed = std::mem::take(&mut self.unflushed);
        self.maybe.append(&mut trimmed);
    }

    /// Asserts that the device holds what the model does; where two values are possible, settles on the one that is
    /// there.
    pub fn check(&mut self, ftl: &mut TestFtl, context: &str) {
        let maybe = std::mem::take(&mut self.maybe);
        for lba in 0..self.pages.len() {
            let mut found = vec![0; self.page_bytes];
            ftl.read(Lba(lba as u32), &mut found)
                .unwrap_or_else(|error| panic!("reading page {lba}: {error} ({context})"));
            if found != self.bytes(lba, self.pages[lba]) {
                let other = maybe.iter().find(|&&(page, write)| page == lba && found == self.bytes(lba, write));
                let other = other.unwrap_or_else(|| {
                    panic!("page {lba} holds {:x?}, not write {} ({context})", &found[..8], self.pages[lba])
                });
                self.pages[lba] = other.1;
            }
        }
    }
}

/// A random operation.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    Write { lba: u32, count: u32 },
    Trim { lba: u32, count: u32 },
    Level,
    Checkpoint,
    Flush,
}

impl Operation {
    pub fn draw(random: &mut fastrand::Rng, logical_pages: u32) -> Self {
        // Three quarters of the writes go to an eighth of the pages.
        let hot = random.u8(0..4) > 0;
        let lba = if hot { random.u32(0..(logical_pages / 8).max(1)) } else { random.u32(0..logical_pages) };
        let left = logical_pages - lba;
        match random.u8(0..22) {
            0 => Operation::Trim { lba, count: random.u32(0..=left.min(20)) },
            1 => Operation::Level,
            2 => Operation::Checkpoint,
            3 => Operation::Flush,
            4 => Operation::Trim { lba, count: 1 },
            _ => Operation::Write { lba, count: random.u32(1..=left.min(3)) },
        }
    }

    /// Carries it out on both.
    pub fn run(self, ftl: &mut TestFtl, model: &mut Model) -> Result<(), Error> {
        match self {
            Operation::Write { lba, count } => {
                let write = model.next;
                model.next += 1;
                let pages = lba as usize..(lba + count) as usize;
                model.maybe = pages.clone().map(|page| (page, write)).collect();
                let data: Vec<u8> = pages.clone().flat_map(|page| model.bytes(page, write)).collect();
                ftl.write(Lba(lba), &data)?;
                pages.for_each(|page| model.written(page, write));
            }
            Operation::Trim { lba, count } => {
                let pages = lba as usize..(lba + count) as usize;
                model.maybe = pages.clone().map(|page| (page, 0)).collect();
                ftl.trim(Lba(lba), count)?;
                for page in pages {
                    let before = std::mem::take(&mut model.pages[page]);
                    if before > 0 {
                        model.unflushed.push((page, before));
                    }
                }
            }
            // Steps are refused, and nothing is done, where writes have left no more than the reserve.
            Operation::Level => match ftl.level_step() {
                Ok(_) | Err(FtlError::NoSpace) => {}
                Err(error) => return Err(error),
            },
            Operation::Checkpoint => match ftl.checkpoint_step() {
                Ok(()) => model.unflushed.clear(),
                Err(FtlError::NoSpace) => {}
                Err(error) => return Err(error),
            },
            Operation::Flush => {
                ftl.flush()?;
                model.unflushed.clear();
            }
        }
        model.maybe.clear();
        Ok(())
    }
}

pub fn memory(part: &NandPart) -> Vec<u8> {
    vec![0xA5; TestFtl::memory_bytes(part, max_logical_pages(part, 0))]
}

/// A formatted part with bad blocks, and its model.
pub fn formatted(spec: NandSpec, bad: u16, logical_pages: u32, seed: u64) -> (TestFtl, Model) {
    let mut sim = NandSim::new(spec);
    sim.reseed(seed);
    sim.mark_random_bad(bad, seed);
    let part = sim.spec().part;
    let ftl = Ftl::format(sim, memory(&part), FtlConfig { logical_pages }).expect("the part can be formatted");
    (ftl, Model::new(&part, logical_pages))
}

/// Mounts after a power cut.
pub fn mounted(mut sim: NandSim) -> TestFtl {
    sim.power_on();
    let part = sim.spec().part;
    let before = sim.counters().programs;
    let ftl = Ftl::mount(sim, memory(&part)).expect("the part can be mounted");
    let programs = ftl.device().counters().programs - before;
    assert_eq!(ftl.counters().scans, 0, "no page of the checkpoint is missing");
    let more = if ftl.counters().gathered > 0 { ftl.counters().gathered + 1 } else { 0 };
    assert!(programs <= 3 + more, "{programs} programs to mount");
    ftl
}

/// Asserts every invariant, unseen by counters.
pub fn audit(ftl: &mut TestFtl, victims: &[Block], context: &str) {
    ftl.device_mut().freeze_counters();
    let violation = ftl.audit(victims).unwrap();
    ftl.device_mut().thaw_counters();
    if let Some(violation) = violation {
        panic!("{violation} ({context})");
    }
    assert_eq!(ftl.device().refusals(), 0, "the contract is kept ({context})");
}
