//! Recycling blocks in bounded steps, and leveling their wear.
//!
//! Recycling a block (paper, sections 2 and 3.3.3):
//! 1. choose the block with the fewest live pages, the least worn of those, and lock it: no flash;
//! 2. a step for each live page: copy it to the open block (`ioctl_copy`), one load and one program, not to be preempted;
//! 3. a step: erase the block (`ioctl_erase`).
//!
//! Pages that die between steps need no copy. A page of the checkpoint is written anew instead, which is cheaper and shortens mounting.
//!
//! Invariant: a block is erased only while it holds no live page.

use norn_flash::{Block, Nand, NandError, NandErrorKind, PageNumber};

use crate::error::FtlError;
use crate::format::{Content, Register};
use crate::ftl::{Ftl, Source};
use crate::memory::{BlockState, Flag};

/// Erases by which a block has to lag behind the average before the wear leveler empties it (paper, section 3.4.2).
const WEAR_LAG: u64 = 2;
/// Pages that the wear leveler copies for each block that a write without deadlines recycles.
const LEVELED_PER_RECYCLE: u32 = 2;

/// A block that is being recycled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recycling {
    /// The block.
    pub victim: Block,
    /// Pages that were not live when it was chosen: so many free pages the recycling yields at least.
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
    /// It copied a page off a block that lags behind, or that has gone bad.
    Copied,
    /// No block lags behind.
    Idle,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Ftl<D, M> {
    /// The block with the fewest live pages that no collector is at (step 1), locked. `None` if every page is live or free. Cost:
    /// O(blocks), no flash.
    pub fn start_recycling(&mut self) -> Option<Recycling> {
        let candidates = self.layout().part.blocks().filter(|&block| self.is_candidate(block));
        let victim = candidates.min_by_key(|&block| (self.memory.live(block), self.memory.erases(block)))?;
        let dead = self.pages_per_block() - self.memory.live(victim);
        (dead > 0).then(|| self.start_recycling_of(victim))
    }

    pub(crate) fn start_recycling_of(&mut self, victim: Block) -> Recycling {
        self.memory.set(victim, Flag::Locked);
        Recycling { victim, dead: self.pages_per_block() - self.memory.live(victim), next: 0 }
    }

    /// Gives up recycling a block, wherever it is: what was copied stays copied.
    pub fn stop_recycling(&mut self, recycling: Recycling) {
        self.memory.clear(recycling.victim, Flag::Locked);
    }

    fn is_candidate(&self, block: Block) -> bool {
        self.memory.state(block) == BlockState::Used && !self.memory.has(block, Flag::Locked)
    }

    /// One step of recycling (2 or 3): one copy or one erase. A copy needs a free page.
    ///
    /// # Errors
    /// [`FtlError::NoSpace`] without a free page; [`FtlError::Device`].
    pub fn recycle_step(&mut self, recycling: &mut Recycling) -> Result<RecycleStep, FtlError<D::Error>> {
        self.check_running()?;
        let victim = recycling.victim;
        match self.live_page_from(victim, recycling.next) {
            None => self.erase(victim),
            Some((page, number)) => {
                recycling.next = page;
                match self.copy(number) {
                    Ok(()) => {
                        self.counters.copied += 1;
                        Ok(RecycleStep::Copied)
                    }
                    Err(FtlError::Unreadable { .. }) => {
                        self.retire(victim);
                        Ok(RecycleStep::Retired)
                    }
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// A block's first live page from `page` on.
    pub(crate) fn live_page_from(&self, block: Block, page: u16) -> Option<(u16, PageNumber)> {
        let part = self.layout().part;
        let numbers = (page..part.pages_per_block).map(|page| (page, part.number_of(block.page(page))));
        numbers.into_iter().find(|&(_, number)| self.memory.is_live(number))
    }

    /// Copies a live page to the open block: `ioctl_copy`. Cost: one load and one program; for a page of the checkpoint one program.
    pub(crate) fn copy(&mut self, page: PageNumber) -> Result<(), FtlError<D::Error>> {
        let address = self.layout().part.page_at(page);
        let content = self.load_patiently(address)?;
        let Content::Page { tag, register } = content else { return self.unreadable(page) };
        let Some(index) = self.layout().index_of(tag.lba) else { return self.unreadable(page) };
        if self.memory.page(index) != Some(page) {
            return self.unreadable(page);
        }
        match index.checked_sub(self.logical_pages()) {
            Some(chunk) => self.write_chunk(chunk),
            None if register == Register::Right => self.append(index, Source::Register),
            None => self.append(index, Source::Buffer),
        }
    }

    /// Says which logical page cannot be read any more; a page of the checkpoint is written anew instead. Cost: O(map), no flash.
    fn unreadable(&mut self, page: PageNumber) -> Result<(), FtlError<D::Error>> {
        let layout = *self.layout();
        let index = (0..layout.entries()).find(|&index| self.memory.page(index) == Some(page));
        let index = index.expect("a live page has an entry");
        match index.checked_sub(layout.logical_pages) {
            Some(chunk) => self.write_chunk(chunk),
            None => Err(FtlError::Unreadable { lba: crate::Lba(index), page: layout.part.page_at(page) }),
        }
    }

    /// Erases a block without live pages: `ioctl_erase`.
    fn erase(&mut self, block: Block) -> Result<RecycleStep, FtlError<D::Error>> {
        debug_assert_eq!(self.memory.live(block), 0, "{block} is erased while it holds live pages");
        match self.device.erase(block) {
            Ok(()) => {
                self.memory.set_erases(block, self.memory.erases(block) + 1);
                self.memory.set_opened(block, 0);
                self.memory.set_state(block, BlockState::Free);
                self.memory.clear(block, Flag::Locked);
                self.erase_sum += 1;
                self.free_blocks += 1;
                self.counters.erased += 1;
                Ok(RecycleStep::Erased)
            }
            Err(error) if error.kind() == NandErrorKind::BlockFailed => {
                self.retire(block);
                Ok(RecycleStep::Retired)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Recycles one block. Cost: its live pages' copies and an erase.
    ///
    /// # Errors
    /// [`FtlError::NoSpace`] if no block has a dead page; [`FtlError::Device`].
    pub fn recycle(&mut self) -> Result<(), FtlError<D::Error>> {
        self.check_running()?;
        let mut recycling = self.start_recycling().ok_or(FtlError::NoSpace)?;
        self.finish_recycling(&mut recycling)
    }

    pub(crate) fn finish_recycling(&mut self, recycling: &mut Recycling) -> Result<(), FtlError<D::Error>> {
        while self.recycle_step(recycling)? == RecycleStep::Copied {}
        Ok(())
    }

    /// Makes sure that the next page can be appended, and that the reserve is kept.
    pub(crate) fn make_room(&mut self) -> Result<(), FtlError<D::Error>> {
        if self.open.is_some_and(|open| open.next < self.pages_per_block()) {
            return Ok(());
        }
        while self.free_blocks <= self.reserve() {
            self.recycle()?;
            for _ in 0..LEVELED_PER_RECYCLE {
                if self.free_blocks <= 1 || self.level_step()? == LevelStep::Idle {
                    break;
                }
            }
        }
        Ok(())
    }

    /// A step of the wear leveler (paper, section 3.4.2): copies one live page off the next block whose erases lag behind the
    /// average by two or more, so that the block is soon recycled; first of all, off a block that has gone bad. Needs a free page. Cost:
    /// O(blocks) and one copy.
    ///
    /// # Errors
    /// [`FtlError::NoSpace`], [`FtlError::Device`].
    pub fn level_step(&mut self) -> Result<LevelStep, FtlError<D::Error>> {
        self.check_running()?;
        let block_count = self.layout().part.block_count;
        for passed in 0..block_count {
            let block = Block(((u32::from(self.wear_cursor.0) + u32::from(passed)) % u32::from(block_count)) as u16);
            if !self.is_to_be_emptied(block) {
                continue;
            }
            let (_, page) = self.live_page_from(block, 0).expect("it has a live page");
            self.wear_cursor = block;
            match self.copy(page) {
                Ok(()) => {
                    self.counters.leveled += 1;
                    return Ok(LevelStep::Copied);
                }
                Err(FtlError::Unreadable { .. }) if self.memory.state(block) != BlockState::Bad => self.retire(block),
                // What cannot be read stays in its bad block until it is overwritten.
                Err(FtlError::Unreadable { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(LevelStep::Idle)
    }

    fn is_to_be_emptied(&self, block: Block) -> bool {
        if self.memory.live(block) == 0 {
            return false;
        }
        match self.memory.state(block) {
            BlockState::Bad => true,
            BlockState::Used => {
                let lagged = u64::from(self.memory.erases(block)) + WEAR_LAG;
                !self.memory.has(block, Flag::Locked) && self.erase_sum >= lagged * u64::from(self.good_blocks)
            }
            BlockState::Free | BlockState::Open => false,
        }
    }
}
