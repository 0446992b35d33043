//! A page map that collects as MQSim does (Tavakkol et al., FAST 2018; its sources, `GC_and_WL_Unit_Page_Level`).
//!
//! What is followed, with the defaults of its configuration:
//! - one block is open for the client's pages and one for copies, in a plane of all blocks;
//! - when either is full, and fewer than 5% of the blocks are free, one block is collected; when a block was erased and
//!   fewer than 10 are free, another one;
//! - *greedy* collects the full block with the most dead pages, *random greedy* (RGA, the default) the one with the
//!   most of log2(blocks) drawn at random, and nothing if that one has none;
//! - dynamic wear levelling: of the free blocks, the one with the fewest erases is opened.
//!
//! What is left out: pages of the map (MQSim loads and evicts them through a cache; an ideal one is among its options),
//! its cache of written data, static wear levelling (from a difference of 100 erases on), channels, time, and what
//! happens while a collection is under way: here it is done at once.
//!
//! Invariant: a block is free, open, or full; free ones have no live page.

use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use super::steady::Device;

const NONE: u32 = u32::MAX;
/// Free blocks below which a block is collected, in a hundred.
const THRESHOLD_PERCENT: usize = 5;
/// Free blocks below which a collection follows an erase.
const CLIENT_WAITS: usize = 10;

/// How a block to collect is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    /// Among all.
    Greedy,
    /// Among some drawn at random.
    RandomGreedy,
}

/// What an open block is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frontier {
    Client,
    Copies,
}

#[derive(Clone, Copy, Default)]
struct BlockInfo {
    live: u32,
    used: u32,
    erases: u32,
}

/// The device.
pub struct MqsimLike {
    pages_per_block: u32,
    choice: Choice,
    map: Vec<u32>,
    owner: Vec<u32>,
    blocks: Vec<BlockInfo>,
    /// Free blocks by erases, then by the order in which they came.
    free: BTreeSet<(u32, u64, usize)>,
    arrivals: u64,
    open: [usize; 2],
    /// Collections that are due.
    due: u32,
    random: fastrand::Rng,
    programs: u64,
}

impl MqsimLike {
    /// On an erased part.
    pub fn new(blocks: u16, pages_per_block: u16, logical_pages: u32, choice: Choice, seed: u64) -> Self {
        let (count, pages) = (usize::from(blocks), u32::from(pages_per_block));
        MqsimLike {
            pages_per_block: pages,
            choice,
            map: vec![NONE; logical_pages as usize],
            owner: vec![NONE; count * pages as usize],
            blocks: vec![BlockInfo::default(); count],
            free: (2..count).map(|block| (0, block as u64, block)).collect(),
            arrivals: count as u64,
            open: [0, 1],
            due: 0,
            random: fastrand::Rng::with_seed(seed),
            programs: 0,
        }
    }

    fn program(&mut self, frontier: Frontier, page: u32) {
        let block = self.open[frontier as usize];
        let place = block as u32 * self.pages_per_block + self.blocks[block].used;
        let old = std::mem::replace(&mut self.map[page as usize], place);
        if old != NONE {
            self.owner[old as usize] = NONE;
            self.blocks[(old / self.pages_per_block) as usize].live -= 1;
        }
        self.owner[place as usize] = page;
        let info = &mut self.blocks[block];
        (info.live, info.used) = (info.live + 1, info.used + 1);
        self.programs += 1;
        if info.used == self.pages_per_block {
            let (_, _, next) = self.free.pop_first().expect("a block is free: collections keep some");
            self.open[frontier as usize] = next;
            self.due += u32::from(self.free.len() < self.blocks.len() * THRESHOLD_PERCENT / 100);
        }
    }

    fn collect(&mut self) {
        let victim = match self.choice {
            Choice::Greedy => self.best(0..self.blocks.len()),
            Choice::RandomGreedy => self.drawn(),
        };
        let Some(victim) = victim.filter(|&block| self.dead(block) > 0) else { return };
        let first = victim as u32 * self.pages_per_block;
        for place in first..first + self.pages_per_block {
            let page = self.owner[place as usize];
            if page != NONE {
                self.program(Frontier::Copies, page);
            }
        }
        let info = &mut self.blocks[victim];
        (info.used, info.erases) = (0, info.erases + 1);
        self.free.insert((info.erases, self.arrivals, victim));
        self.arrivals += 1;
        self.due += u32::from(self.free.len() < CLIENT_WAITS);
    }

    fn is_full(&self, block: usize) -> bool {
        !self.open.contains(&block) && self.blocks[block].used == self.pages_per_block
    }

    fn dead(&self, block: usize) -> u32 {
        self.blocks[block].used - self.blocks[block].live
    }

    /// The full block with the most dead pages, the first of them.
    fn best(&self, among: impl Iterator<Item = usize>) -> Option<usize> {
        among.filter(|&block| self.is_full(block)).min_by_key(|&block| self.blocks[block].live)
    }

    /// The same among blocks drawn at random that are not open, free ones included.
    fn drawn(&mut self) -> Option<usize> {
        let wanted = self.blocks.len().ilog2() as usize;
        let mut among = HashSet::new();
        while among.len() < wanted {
            let block = self.random.usize(0..self.blocks.len());
            if !self.open.contains(&block) {
                among.insert(block);
            }
        }
        let mut among: Vec<usize> = among.into_iter().collect();
        among.sort_unstable();
        self.best(among.into_iter())
    }
}

impl Device for MqsimLike {
    fn write(&mut self, page: u32) {
        self.program(Frontier::Client, page);
        while self.due > 0 {
            self.due -= 1;
            self.collect();
        }
    }

    fn programs(&self) -> u64 {
        self.programs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(device: &MqsimLike) {
        for (block, info) in device.blocks.iter().enumerate() {
            let first = block * device.pages_per_block as usize;
            let places = first..first + device.pages_per_block as usize;
            let live = places.filter(|&place| device.owner[place] != NONE).count();
            assert_eq!(live, info.live as usize, "block {block}");
            let free = device.free.iter().any(|&(_, _, free)| free == block);
            let states = [free, device.open.contains(&block), device.is_full(block)];
            assert_eq!(states.iter().filter(|&&is| is).count(), 1, "block {block}: {states:?}");
        }
        for (page, &place) in device.map.iter().enumerate() {
            assert!(place == NONE || device.owner[place as usize] == page as u32, "page {page}");
        }
    }

    #[test]
    fn maps_stay_whole_and_the_random_choice_costs_more() {
        let costs = [Choice::Greedy, Choice::RandomGreedy].map(|choice| {
            let mut device = MqsimLike::new(256, 32, 6400, choice, 1);
            let mut random = fastrand::Rng::with_seed(2);
            (0..6400).for_each(|page| device.write(page));
            for _ in 0..5 {
                (0..8192).for_each(|_| device.write(random.u32(0..6400)));
                check(&device);
            }
            let erases: Vec<u32> = device.blocks.iter().map(|info| info.erases).collect();
            assert!(erases.iter().max().unwrap() - erases.iter().min().unwrap() < 40, "wear is spread: {erases:?}");
            device.programs()
        });
        assert!(costs[0] > 60_000 && costs[1] > costs[0] * 103 / 100, "{costs:?}");
    }
}
