//! The device without guarantees: a page-mapped FTL that collects when a write finds too few free pages, by cost and
//! benefit with the paper's wear rule, or greedily.
//!
//! It has no checkpoint, no check and no codes: nothing that could slow it down. It copies as the real-time device
//! does, by a load and a program.

use norn_flash::{Block, Column, Nand, NandPart, PageAddress, PageNumber, Piece};
use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::NandSpec;
use norn_nand_ftl::TaskHandle;

use super::system::{System, Write};

/// Free pages above which a page may be written (paper, section 5.2).
const FREE_PAGES: u32 = 100;
/// A block with this many erases fewer than the average is recycled regardless of its contents.
const WEAR_LAG: u64 = 2;
/// The same with less leveling.
const WEAR_LAG_LONG: u64 = 32;
/// In idle time blocks are recycled until so many pages more are free than a write needs.
const FREE_PAGES_IDLE: u32 = 256;

/// How victims are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The block with the fewest erases, if it has at least two fewer than the average; else the largest a(1−u)/(2u).
    CostBenefit,
    /// The same, and blocks are recycled in idle time, too, page by page (paper, section 5.2).
    CostBenefitIdle,
    /// As by cost and benefit, with 32 erases fewer instead of two.
    CostBenefitLessLeveling,
    /// The fewest live pages; of equal blocks, the first.
    Greedy,
    /// The same, and what is copied goes to blocks of its own: cold pages apart from hot ones (paper, section 5.4).
    GreedySeparated,
    /// The fewest live pages; of equal blocks, the one that was opened first.
    GreedyOldest,
}

#[derive(Clone, Copy, Debug, Default)]
struct BlockInfo {
    live: u32,
    used: u32,
    erases: u32,
    /// Blocks that were opened before it.
    opened: u64,
    /// When a page of it died last, in microseconds.
    invalidated_us: u64,
}

/// What is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Written,
    Copied,
}

/// The device.
pub struct Baseline {
    sim: NandSim,
    part: NandPart,
    policy: Policy,
    free_pages_kept: u32,
    map: Vec<Option<u32>>,
    owner: Vec<Option<u32>>,
    blocks: Vec<BlockInfo>,
    /// Where pages are written, and where they are copied; the same block unless these are separated.
    open: [usize; 2],
    /// A block that is recycled in idle time.
    idle_victim: Option<usize>,
    free_blocks: Vec<usize>,
    free_pages: u32,
    erase_sum: u64,
    opened: u64,
    now_us: u64,
    page: Vec<u8>,
    /// How long each collection took that a write waited for, in microseconds.
    pub blocking_us: Vec<u64>,
    /// Blocks recycled, and of them those without a dead page.
    pub recycled: u64,
    pub recycled_full: u64,
    /// Pages copied.
    pub copied: u64,
}

impl Baseline {
    /// On an erased part.
    pub fn new(spec: NandSpec, logical_pages: u32, policy: Policy) -> Self {
        Baseline::keeping(spec, logical_pages, policy, FREE_PAGES)
    }

    /// The same with more free pages than a write needs, or fewer.
    pub fn keeping(spec: NandSpec, logical_pages: u32, policy: Policy, free_pages_kept: u32) -> Self {
        let part = spec.part;
        let blocks = usize::from(part.block_count);
        Baseline {
            sim: NandSim::new(spec),
            part,
            policy,
            free_pages_kept,
            map: vec![None; logical_pages as usize],
            owner: vec![None; part.page_count() as usize],
            blocks: vec![BlockInfo::default(); blocks],
            open: if policy == Policy::GreedySeparated { [0, 1] } else { [0, 0] },
            idle_victim: None,
            free_blocks: (1 + usize::from(policy == Policy::GreedySeparated)..blocks).rev().collect(),
            free_pages: part.page_count(),
            erase_sum: 0,
            opened: 0,
            now_us: 0,
            page: vec![0x5A; usize::from(part.register_bytes())],
            blocking_us: Vec::new(),
            recycled: 0,
            recycled_full: 0,
            copied: 0,
        }
    }

    /// The part below.
    pub fn part(&self) -> &NandSim {
        &self.sim
    }

    fn address(&self, page: u32) -> PageAddress {
        self.part.page_at(PageNumber(page))
    }

    /// The next page for what is written or copied.
    fn next_page(&mut self, stream: Stream) -> u32 {
        let at = if self.policy == Policy::GreedySeparated { stream as usize } else { 0 };
        let pages = u32::from(self.part.pages_per_block);
        if self.blocks[self.open[at]].used == pages {
            let block = self.free_blocks.pop().expect("a block is free while collecting");
            self.open[at] = block;
            if self.policy != Policy::GreedySeparated {
                self.open = [block; 2];
            }
            self.opened += 1;
            self.blocks[block].opened = self.opened;
        }
        let page = self.open[at] as u32 * pages + self.blocks[self.open[at]].used;
        self.blocks[self.open[at]].used += 1;
        self.free_pages -= 1;
        page
    }

    fn point(&mut self, lba: u32, page: u32) {
        if let Some(old) = self.map[lba as usize].replace(page) {
            self.owner[old as usize] = None;
            let block = self.address(old).block;
            let now = self.now_us;
            let info = &mut self.blocks[usize::from(block.0)];
            info.live -= 1;
            info.invalidated_us = now;
        }
        self.owner[page as usize] = Some(lba);
        let block = self.address(page).block;
        self.blocks[usize::from(block.0)].live += 1;
    }

    /// Writes a page, after a collection if there are too few free ones.
    pub fn put(&mut self, lba: u32) {
        if self.free_pages <= self.free_pages_kept {
            let start = self.elapsed_us();
            // What was begun in idle time comes first.
            if let Some(victim) = self.idle_victim.take() {
                while self.copy_next(victim) {}
                self.free(victim);
            }
            while self.free_pages <= self.free_pages_kept {
                let victim = self.victim();
                self.recycle(victim);
            }
            self.blocking_us.push(self.elapsed_us() - start);
        }
        let page = self.next_page(Stream::Written);
        let address = self.address(page);
        self.sim.program(address, &[Piece::new(Column(0), &self.page)]).expect("the part works");
        self.point(lba, page);
    }

    fn victim(&self) -> usize {
        let pages = u32::from(self.part.pages_per_block);
        let full = |&block: &usize| !self.open.contains(&block) && self.blocks[block].used == pages;
        let candidates = || (0..self.blocks.len()).filter(full);
        let fewest_live = |&block: &usize| {
            let info = &self.blocks[block];
            (info.live, if self.policy == Policy::GreedyOldest { info.opened } else { 0 })
        };
        if matches!(self.policy, Policy::Greedy | Policy::GreedySeparated | Policy::GreedyOldest) {
            return candidates().min_by_key(fewest_live).expect("blocks are in use");
        }
        let lag = if self.policy == Policy::CostBenefitLessLeveling { WEAR_LAG_LONG } else { WEAR_LAG };
        let lags = |&block: &usize| {
            let lagged = (u64::from(self.blocks[block].erases) + lag) * self.blocks.len() as u64;
            self.erase_sum >= lagged
        };
        let lagging = candidates().filter(lags).min_by_key(|&block| self.blocks[block].erases);
        let score = |block: usize| {
            let info = &self.blocks[block];
            let u = f64::from(info.live) / f64::from(pages);
            let age = (self.now_us - info.invalidated_us.min(self.now_us)) as f64 + 1.0;
            if info.live == 0 { f64::INFINITY } else { age * (1.0 - u) / (2.0 * u) }
        };
        let best = || candidates().max_by(|&a, &b| score(a).total_cmp(&score(b))).expect("blocks are in use");
        lagging.unwrap_or_else(best)
    }

    fn recycle(&mut self, victim: usize) {
        self.begin_recycling(victim);
        while self.copy_next(victim) {}
        self.free(victim);
    }

    fn begin_recycling(&mut self, victim: usize) {
        self.recycled += 1;
        self.recycled_full += u64::from(self.blocks[victim].live == u32::from(self.part.pages_per_block));
    }

    /// Copies a block's first live page; whether there was one.
    fn copy_next(&mut self, victim: usize) -> bool {
        let pages = u32::from(self.part.pages_per_block);
        let mut of_block = victim as u32 * pages..(victim as u32 + 1) * pages;
        let Some(page) = of_block.find(|&page| self.owner[page as usize].is_some()) else { return false };
        let lba = self.owner[page as usize].expect("it was found live");
        let to = self.next_page(Stream::Copied);
        let (from, to_address) = (self.address(page), self.address(to));
        self.sim.copy(from, to_address, &[]).expect("the part works");
        self.point(lba, to);
        self.copied += 1;
        true
    }

    fn free(&mut self, victim: usize) {
        let pages = u32::from(self.part.pages_per_block);
        self.sim.erase(Block(victim as u16)).expect("the part works");
        let info = &mut self.blocks[victim];
        (info.used, info.erases) = (0, info.erases + 1);
        self.erase_sum += 1;
        self.free_pages += pages;
        self.free_blocks.insert(0, victim);
    }
}

impl System for Baseline {
    fn elapsed_us(&self) -> u64 {
        self.sim.elapsed_ns() / 1000
    }

    fn advance(&mut self, now_us: u64) {
        self.now_us = now_us;
    }

    fn next_release_us(&self) -> Option<u64> {
        None
    }

    fn next_deadline_us(&self) -> Option<u64> {
        None
    }

    fn step(&mut self) -> u64 {
        0
    }

    fn write(&mut self, _: Option<TaskHandle>, lba: u32) -> Write {
        self.put(lba);
        Write::Done
    }

    fn read(&mut self, lba: u32) {
        if let Some(page) = self.map[lba as usize] {
            let address = self.address(page);
            self.sim.load(address).expect("the part works");
        }
    }

    fn background_write(&mut self, lba: u32) -> Write {
        self.write(None, lba)
    }

    fn background_step(&mut self) {}

    fn level(&mut self) -> Write {
        Write::Done
    }

    fn idle_step(&mut self) -> bool {
        if self.policy != Policy::CostBenefitIdle {
            return false;
        }
        match self.idle_victim {
            Some(victim) => {
                if !self.copy_next(victim) {
                    self.free(victim);
                    self.idle_victim = None;
                }
            }
            None if self.free_pages <= self.free_pages_kept + FREE_PAGES_IDLE => {
                let victim = self.victim();
                self.begin_recycling(victim);
                self.idle_victim = Some(victim);
            }
            None => return false,
        }
        true
    }

    fn erase_counts(&self) -> Vec<u32> {
        self.blocks.iter().map(|info| info.erases).collect()
    }
}
