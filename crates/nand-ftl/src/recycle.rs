//! Recycling blocks in bounded steps, and leveling their wear.
//!
//! Recycling a block (paper, sections 2 and 3.3.3):
//! 1. choose the block with the fewest live pages, the least worn of those, and lock it: no flash;
//! 2. a step for each live page: copy it to the open block (`ioctl_copy`), one load and one program, not to be
//!    preempted;
//! 3. a step: erase the block (`ioctl_erase`).
//!
//! Pages that die between steps need no copy. A page of the checkpoint is rewritten instead, which is cheaper and
//! shortens mounting.
//!
//! Invariant: a block that is being recycled is locked, so that no other collector chooses it.

use norn_flash::{Block, Nand, PageNumber};

use crate::checkpoint::Checkpoint;
use crate::error::{FtlError, Outcome};
use crate::format::{Content, Register};
use crate::ground::log::Log;
use crate::ground::medium::{Attempt, Source};
use crate::ground::memory::Memory;
use crate::ground::memory::blocks::{BlockState, Flag};
use crate::layout::{Lba, reserve_blocks};

/// The wear leveler empties a block that has at least this many erases fewer than the average (paper, section 3.4.2).
const WEAR_LAG: u64 = 2;
/// Pages that the wear leveler copies for each block that a write without deadlines recycles.
const LEVELED_PER_RECYCLE: u32 = 2;

/// A block that is being recycled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recycling {
    /// The block.
    pub victim: Block,
    /// Pages that were not live when it was chosen: the recycling yields at least this number of free pages.
    pub dead: u16,
    /// Where to look for the next live page.
    next: u16,
}

/// What one step of recycling a block did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecycleStep {
    /// It copied a live page.
    Copied,
    /// It erased the block: its pages are free.
    Erased,
    /// It gave the block up: the erase failed, or a page cannot be read, which then stays where it is.
    Retired,
}

/// What a step of the wear leveler did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelStep {
    /// It copied a page off a block with fewer erases than others, or one that has gone bad.
    Copied,
    /// No block has too few erases.
    Idle,
}

/// The collector and the wear leveler on their log.
#[derive(Clone, Debug)]
pub(crate) struct Recycler<D, M> {
    checkpoint: Checkpoint<D, M>,
    /// The block that the wear leveler looks at next.
    wear_cursor: Block,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Recycler<D, M> {
    pub fn new(checkpoint: Checkpoint<D, M>) -> Self {
        Recycler { checkpoint, wear_cursor: Block(0) }
    }

    pub fn checkpoint(&self) -> &Checkpoint<D, M> {
        &self.checkpoint
    }

    pub fn checkpoint_mut(&mut self) -> &mut Checkpoint<D, M> {
        &mut self.checkpoint
    }

    pub fn into_device(self) -> D {
        self.checkpoint.into_device()
    }

    pub fn log(&self) -> &Log<D, M> {
        self.checkpoint.log()
    }

    pub fn log_mut(&mut self) -> &mut Log<D, M> {
        self.checkpoint.log_mut()
    }

    fn memory(&self) -> &Memory<M> {
        self.log().memory()
    }

    /// Blocks kept free for collections and power cuts.
    pub fn reserve(&self) -> u16 {
        reserve_blocks(&self.log().layout().part)
    }

    /// The block with the fewest live pages that no collector is at (step 1), locked. `None` if every page is live or
    /// free. Cost: O(blocks), no flash.
    pub fn start(&mut self) -> Option<Recycling> {
        let memory = self.memory();
        let candidates = memory.layout().part.blocks().filter(|&block| is_candidate(memory, block));
        let victim = candidates.min_by_key(|&block| (memory.live(block), memory.erases(block)))?;
        let dead = self.log().pages_per_block() - memory.live(victim);
        (dead > 0).then(|| self.start_of(victim))
    }

    /// Locks a block that is to be recycled.
    pub fn start_of(&mut self, victim: Block) -> Recycling {
        self.log_mut().mark(victim, Flag::Locked);
        Recycling { victim, dead: self.log().pages_per_block() - self.memory().live(victim), next: 0 }
    }

    /// Gives up recycling a block, wherever it is: what was copied stays copied.
    pub fn stop(&mut self, recycling: Recycling) {
        self.log_mut().unmark(recycling.victim, Flag::Locked);
    }

    /// One step of recycling (2 or 3): one copy or one erase. A copy needs a free page.
    pub fn step(&mut self, recycling: &mut Recycling) -> Outcome<RecycleStep, D> {
        let victim = recycling.victim;
        let Some((page, number)) = self.live_page_from(victim, recycling.next) else {
            return Ok(match self.log_mut().erase(victim)? {
                Attempt::Done => RecycleStep::Erased,
                Attempt::BlockFailed => RecycleStep::Retired,
            });
        };
        recycling.next = page;
        match self.copy(number) {
            Ok(()) => {
                self.log_mut().counters.copied += 1;
                Ok(RecycleStep::Copied)
            }
            Err(FtlError::Unreadable { .. }) => {
                self.log_mut().retire(victim);
                Ok(RecycleStep::Retired)
            }
            Err(error) => Err(error),
        }
    }

    /// A block's first live page from `page` on.
    pub fn live_page_from(&self, block: Block, page: u16) -> Option<(u16, PageNumber)> {
        let part = self.log().layout().part;
        let mut numbers = (page..part.pages_per_block).map(|page| (page, part.number_of(block.page(page))));
        numbers.find(|&(_, number)| self.memory().is_live(number))
    }

    /// Copies a live page to the open block: `ioctl_copy`. Cost: one load and one program; for a page of the checkpoint
    /// one program.
    fn copy(&mut self, page: PageNumber) -> Outcome<(), D> {
        let layout = *self.log().layout();
        let content = self.log_mut().load(layout.part.page_at(page))?;
        let Content::Page { tag, register } = content else { return self.unreadable(page) };
        let Some(index) = layout.index_of(tag.lba) else { return self.unreadable(page) };
        if self.memory().page(index) != Some(page) {
            return self.unreadable(page);
        }
        match index.checked_sub(layout.logical_pages) {
            Some(chunk) => self.checkpoint.write_chunk(chunk),
            None if register == Register::Right => self.log_mut().append(index, Source::Register),
            None => self.log_mut().append(index, Source::Buffer),
        }
    }

    /// Returns which logical page cannot be read any more; a page of the checkpoint is rewritten instead. Cost: O(map),
    /// no flash.
    fn unreadable(&mut self, page: PageNumber) -> Outcome<(), D> {
        let layout = *self.log().layout();
        let index = (0..layout.entries()).find(|&index| self.memory().page(index) == Some(page));
        let index = index.expect("a live page has an entry");
        match index.checked_sub(layout.logical_pages) {
            Some(chunk) => self.checkpoint.write_chunk(chunk),
            None => Err(FtlError::Unreadable { lba: Lba(index), page: layout.part.page_at(page) }),
        }
    }

    /// Recycles one block. Cost: its live pages' copies and an erase.
    pub fn recycle(&mut self) -> Outcome<(), D> {
        let mut recycling = self.start().ok_or(FtlError::NoSpace)?;
        self.finish(&mut recycling)
    }

    /// Takes the steps that are left.
    pub fn finish(&mut self, recycling: &mut Recycling) -> Outcome<(), D> {
        while self.step(recycling)? == RecycleStep::Copied {}
        Ok(())
    }

    /// Makes sure that the next page can be appended, and that the reserve is kept.
    pub fn make_room(&mut self) -> Outcome<(), D> {
        // After power cuts in a row, the reserve may be gone: the pages of the open block are then for copies first.
        if !self.log().is_block_due() && self.memory().counts().free_blocks > 1 {
            return Ok(());
        }
        while self.memory().counts().free_blocks <= self.reserve() {
            self.recycle()?;
            for _ in 0..LEVELED_PER_RECYCLE {
                if self.memory().counts().free_blocks <= 1 || self.level()? == LevelStep::Idle {
                    break;
                }
            }
        }
        Ok(())
    }

    /// A step of the wear leveler (paper, section 3.4.2): copies one live page off the next block whose erases lag the
    /// average by two or more, so that the block is soon recycled; first of all, off a block that has gone bad. Needs a
    /// free page. Cost: O(blocks) and one copy.
    pub fn level(&mut self) -> Outcome<LevelStep, D> {
        let block_count = u32::from(self.log().layout().part.block_count);
        for passed in 0..block_count {
            let block = Block(((u32::from(self.wear_cursor.0) + passed) % block_count) as u16);
            if !is_to_be_emptied(self.memory(), block) {
                continue;
            }
            let (_, page) = self.live_page_from(block, 0).expect("it has a live page");
            self.wear_cursor = block;
            match self.copy(page) {
                Ok(()) => {
                    self.log_mut().counters.leveled += 1;
                    return Ok(LevelStep::Copied);
                }
                Err(FtlError::Unreadable { .. }) if self.memory().state(block) != BlockState::Bad => {
                    self.log_mut().retire(block)
                }
                // What cannot be read stays in its bad block until it is overwritten.
                Err(FtlError::Unreadable { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(LevelStep::Idle)
    }
}

fn is_candidate<M: AsRef<[u8]> + AsMut<[u8]>>(memory: &Memory<M>, block: Block) -> bool {
    memory.state(block) == BlockState::Used && !memory.has(block, Flag::Locked)
}

fn is_to_be_emptied<M: AsRef<[u8]> + AsMut<[u8]>>(memory: &Memory<M>, block: Block) -> bool {
    if memory.live(block) == 0 {
        return false;
    }
    match memory.state(block) {
        BlockState::Bad => true,
        BlockState::Used => {
            let (counts, lagged) = (memory.counts(), u64::from(memory.erases(block)) + WEAR_LAG);
            !memory.has(block, Flag::Locked) && counts.erase_sum >= lagged * u64::from(counts.good_blocks)
        }
        BlockState::Free | BlockState::Open => false,
    }
}
