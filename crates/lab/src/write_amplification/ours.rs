//! The block device itself, on a simulated part that counts each program, and the greedy map beside it.

use norn_flash_sim::{NandSim, NandSpec};
use norn_nand_ftl::{Ftl, FtlConfig, Lba, programs_per_checkpoint_page, reserve_blocks};

use super::steady::Device;
use crate::realtime_gc::baseline::{Baseline, Policy};

/// The block device.
pub struct Ours {
    ftl: Ftl<NandSim, Vec<u8>>,
    page: Vec<u8>,
}

/// A formatted device that counts.
///
/// # Errors
/// If the part has no room for the logical pages.
pub fn formatted(spec: &NandSpec, logical_pages: u32) -> Result<Ftl<NandSim, Vec<u8>>, String> {
    let memory = vec![0; Ftl::<NandSim, Vec<u8>>::memory_bytes(&spec.part, logical_pages)];
    let formatted = Ftl::format(NandSim::new(spec.clone()), memory, FtlConfig { logical_pages });
    formatted.map_err(|error| error.to_string())
}

/// Pages that a part programmed, from the caller's bytes or from its register.
pub fn programs(part: &NandSim) -> u64 {
    part.counters().programs + part.counters().copies
}

impl Ours {
    /// Formatted and empty.
    ///
    /// # Errors
    /// If the part has no room for the logical pages.
    pub fn new(spec: &NandSpec, logical_pages: u32) -> Result<Self, String> {
        Ok(Ours { ftl: formatted(spec, logical_pages)?, page: vec![0x5A; usize::from(spec.part.page_bytes)] })
    }
}

impl Device for Ours {
    fn write(&mut self, page: u32) {
        self.ftl.write(Lba(page), &self.page).expect("the part works");
    }

    fn programs(&self) -> u64 {
        programs(self.ftl.device())
    }
}

impl Device for Baseline {
    fn write(&mut self, page: u32) {
        self.put(page);
    }

    fn programs(&self) -> u64 {
        programs(self.part())
    }
}

/// The greedy map without checkpoint or leveler.
pub fn greedy(spec: &NandSpec, logical_pages: u32) -> Baseline {
    Baseline::new(spec.clone(), logical_pages, Policy::GreedyOldest)
}

/// Live pages of the checkpoint of a device of ours, which a format writes.
///
/// # Errors
/// If the part has no room for the logical pages.
pub fn checkpoint_pages(spec: &NandSpec, logical_pages: u32) -> Result<u32, String> {
    Ok(formatted(spec, logical_pages)?.page_counts().live)
}

/// What the greedy map keeps free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// What it needs itself.
    Own,
    /// As ours: the blocks in reserve for power cuts, and three more that are open, half full on average.
    AsOurs,
}

/// The greedy map with a checkpoint as large as ours, of which a page is written as often.
pub struct GreedyWithCheckpoint {
    map: Baseline,
    logical_pages: u32,
    checkpoint_pages: u32,
    next: u32,
    programs_per_page: u64,
    due: u64,
}

/// Streams less the one that the greedy map has, too.
const OPEN_BLOCKS_MORE: u32 = 3;

impl GreedyWithCheckpoint {
    /// An empty map with its checkpoint.
    ///
    /// # Errors
    /// If the part has no room for the logical pages.
    pub fn new(spec: &NandSpec, logical_pages: u32, kept: Kept) -> Result<Self, String> {
        let checkpoint_pages = checkpoint_pages(spec, logical_pages)?;
        let (logical, pages) = (logical_pages + checkpoint_pages, u32::from(spec.part.pages_per_block));
        let mut map = match kept {
            Kept::Own => greedy(spec, logical),
            Kept::AsOurs => {
                let free = (u32::from(reserve_blocks(&spec.part)) + 1) * pages + OPEN_BLOCKS_MORE * pages / 2;
                Baseline::keeping(spec.clone(), logical, Policy::GreedyOldest, free)
            }
        };
        (logical_pages..logical).for_each(|page| map.put(page));
        let programs_per_page = u64::from(programs_per_checkpoint_page(&spec.part));
        let due = programs_per_page;
        Ok(GreedyWithCheckpoint { map, logical_pages, checkpoint_pages, next: 0, programs_per_page, due })
    }
}

impl Device for GreedyWithCheckpoint {
    fn write(&mut self, page: u32) {
        self.map.put(page);
        while self.programs() >= self.due {
            self.map.put(self.logical_pages + self.next);
            self.next = (self.next + 1) % self.checkpoint_pages;
            self.due += self.programs_per_page;
        }
    }

    fn programs(&self) -> u64 {
        Device::programs(&self.map)
    }
}
