//! Recycling blocks in bounded steps, and leveling their wear.
//!
//! Recycling a block (paper, sections 2 and 3.3.3):
//! 1. choose a block and lock it: no flash. While blocks are free, it is the one with the most dead pages for each live
//!    one, times the root of its age: pages that are about to die are left in peace. When fewer are free than the
//!    reserve, it is the one with the fewest live pages, so that collections after power cuts end;
//! 2. a step for each live page: copy it to an open block (`ioctl_copy`), one load and one program, not to be
//!    preempted;
//! 3. a step: erase the block (`ioctl_erase`).
//!
//! Pages that die between steps need no copy.
//!
//! Invariants: a block that is being recycled is locked, so that no other collector chooses it; no collector and no
//! wear leveler loads a page that one of them could not read, before the next mount.

use norn_flash::{Block, Nand, PageNumber};

use crate::checkpoint::Checkpoint;
use crate::error::{FtlError, Outcome};
use crate::format::{Content, Register};
use crate::ground::log::{COLDEST, Log, WRITTEN};
use crate::ground::medium::{Attempt, Source};
use crate::ground::memory::Memory;
use crate::ground::memory::blocks::{BlockState, Flag};
use crate::layout::BLOCKS_OF_MOUNT;

/// The wear leveler empties a block that has at least this many erases fewer than the average (paper, section 3.4.2).
pub(crate) const WEAR_LAG: u32 = 2;
/// The same for the leveling that writes without deadlines pay for: each erase that others may be ahead saves copies.
pub const WEAR_LAG_OF_WRITES: u32 = 64;
/// Pages that the wear leveler copies for a write without deadlines that recycles blocks.
const LEVELED_PER_WRITE: u32 = 2;
/// Blocks that gain little which a write recycles although it has room.
const POOR_PER_WRITE: u16 = 8;
/// Pages that a write, a trim, a flush, a copy takes at most: one, and one of the checkpoint.
pub(crate) const PAGES_OF_WRITE: u32 = 2;

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
    /// It found a page that cannot be read, and leaves it where it is: its block is out of use. Some loads of the page.
    Unreadable,
    /// No block has too few erases.
    Idle,
}

/// What became of a page that was to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copying {
    Done,
    /// It stays where it is.
    Unreadable,
}

/// The collector and the wear leveler on their log.
#[derive(Clone, Debug)]
pub(crate) struct Recycler<D, M> {
    checkpoint: Checkpoint<D, M>,
    /// The block that the wear leveler looks at next, and where in it: after the page that it could not read.
    wear_cursor: (Block, u16),
    /// Pages of the checkpoint to write because one that counted could not be read.
    round_left: u32,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Recycler<D, M> {
    pub fn new(checkpoint: Checkpoint<D, M>) -> Self {
        Recycler { checkpoint, wear_cursor: (Block(0), 0), round_left: 0 }
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

    /// The best block that no collector is at with at least `dead` dead pages (step 1), locked. `None` if there is
    /// none. Cost: O(blocks), no flash.
    pub fn start(&mut self, dead: u16) -> Option<Recycling> {
        self.start_among(|pages, live| pages - live >= dead.max(1))
    }

    /// The best block that no collector is at, of those whose pages and live pages are `suitable`.
    fn start_among(&mut self, suitable: impl Fn(u16, u16) -> bool) -> Option<Recycling> {
        let (memory, pages) = (self.memory(), self.log().pages_per_block());
        let candidates = memory.layout().part.blocks().filter(|&block| is_candidate(memory, block));
        let candidates = candidates.filter(|&block| suitable(pages, memory.live(block)));
        let victim = candidates.max_by_key(|&block| (self.benefit(block), u32::MAX - memory.erases(block)))?;
        Some(self.start_of(victim))
    }

    /// What recycling a block is worth, to compare it with others.
    fn benefit(&self, block: Block) -> u64 {
        let (live, pages) = (u64::from(self.memory().live(block)), u64::from(self.log().pages_per_block()));
        if self.memory().counts().free_blocks < self.log().reserve() {
            return pages - live;
        }
        let age = self.log().sequence().saturating_sub(self.memory().opened(block));
        let worth = (pages - live) * (age + 1).isqrt();
        (worth << 16).checked_div(live).unwrap_or(u64::MAX)
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
        if self.live_page_from(victim, recycling.next).is_some() {
            // A page of the checkpoint that is written for room in the journal may be newer than the victim's.
            self.checkpoint.make_journal_room()?;
        }
        let Some((page, number)) = self.live_page_from(victim, recycling.next) else {
            return self.free(victim);
        };
        recycling.next = page;
        let stream = (self.memory().stream(victim) + 1).min(COLDEST);
        if self.copy(number, stream)? == Copying::Done {
            self.log_mut().counters.copied += 1;
            return Ok(RecycleStep::Copied);
        }
        self.leave_unreadable(victim, page);
        Ok(RecycleStep::Retired)
    }

    /// Whether a step leaves the next mount its room.
    pub fn has_room_for_step(&self, recycling: &Recycling) -> bool {
        let needed = match self.live_page_from(recycling.victim, recycling.next) {
            Some(_) => PAGES_OF_WRITE,
            None => u32::from(self.checkpoint.has_trims()),
        };
        self.log().has_room(needed, BLOCKS_OF_MOUNT)
    }

    /// Erases a block without live pages. One that was made so by a trim is erased when the trim is on flash.
    pub fn free(&mut self, block: Block) -> Outcome<RecycleStep, D> {
        if self.checkpoint.has_trims() {
            self.checkpoint.step()?;
        }
        Ok(match self.log_mut().erase(block)? {
            Attempt::Done => RecycleStep::Erased,
            Attempt::BlockFailed => RecycleStep::Retired,
        })
    }

    /// A block's first live page from `page` on.
    pub fn live_page_from(&self, block: Block, page: u16) -> Option<(u16, PageNumber)> {
        let part = self.log().layout().part;
        let mut numbers = (page..part.pages_per_block).map(|page| (page, part.number_of(block.page(page))));
        numbers.find(|&(_, number)| self.memory().is_live(number))
    }

    /// Copies a live page to a stream: `ioctl_copy`. The journal has room. If a page of the checkpoint cannot be read,
    /// all are to be written anew. Cost: one load and one program.
    pub fn copy(&mut self, page: PageNumber, stream: usize) -> Outcome<Copying, D> {
        let layout = *self.log().layout();
        let content = self.log_mut().load(layout.part.page_at(page))?;
        let index = match content {
            Content::Page { tag, .. } => layout.index_of(tag.lba),
            Content::Blank | Content::Garbage => None,
        };
        let Some(index) = index.filter(|&index| self.memory().page(index) == Some(page)) else {
            if self.is_of_checkpoint(page) {
                self.round_left = layout.chunks();
            }
            return Ok(Copying::Unreadable);
        };
        let source = match content {
            Content::Page { register: Register::Right, .. } => Source::Register,
            _ => Source::Buffer,
        };
        let stream = if index < layout.logical_pages { stream } else { WRITTEN };
        if index >= layout.logical_pages {
            self.log_mut().number_copy();
        }
        self.log_mut().append(index, source, stream)?;
        Ok(Copying::Done)
    }

    /// Takes the block of a page that cannot be read out of use. The wear leveler empties the rest of it, from the next
    /// page on; if it was at another such block, that one is left as it is.
    fn leave_unreadable(&mut self, block: Block, page: u16) {
        let (other, after) = self.wear_cursor;
        if other != block && after > 0 {
            self.log_mut().mark(other, Flag::Unreadable);
        }
        self.wear_cursor = (block, page + 1);
        if self.memory().state(block) != BlockState::Bad {
            self.log_mut().retire(block);
        }
    }

    /// Whether a page is one of the checkpoint by the map. Cost: O(chunks), no flash.
    fn is_of_checkpoint(&self, page: PageNumber) -> bool {
        let layout = self.log().layout();
        (layout.logical_pages..layout.entries()).any(|index| self.memory().page(index) == Some(page))
    }

    /// Writes every chunk of the checkpoint, so that none that was on flash before is needed. Cost: a program for each,
    /// and what room takes.
    pub fn write_round(&mut self) -> Outcome<(), D> {
        for _ in 0..self.log().layout().chunks() {
            self.make_room()?;
            self.checkpoint.advance()?;
        }
        Ok(())
    }

    /// Whether the checkpoint is to be written anew, because a page of it could not be read.
    pub fn is_round_due(&self) -> bool {
        self.round_left > 0
    }

    /// Writes the next page of a checkpoint that is written anew. Needs a free page. Cost: one program.
    pub fn round_step(&mut self) -> Outcome<(), D> {
        self.checkpoint.advance()?;
        self.round_left = self.round_left.saturating_sub(1);
        Ok(())
    }

    /// Goes on with a round of the checkpoint that a page took which could not be read, as far as room for the next
    /// mount is left. No block is recycled for it here: a recycling may find the next such page. Cost: a program for
    /// each chunk that is left.
    fn continue_round(&mut self) -> Outcome<(), D> {
        while self.round_left > 0 && self.log().has_room(1, BLOCKS_OF_MOUNT) {
            self.round_step()?;
        }
        Ok(())
    }

    /// Recycles one block with at least `dead` dead pages. Cost: its live pages' copies and an erase.
    pub fn recycle(&mut self, dead: u16) -> Outcome<(), D> {
        let mut recycling = self.start(dead).ok_or(FtlError::NoSpace)?;
        self.finish(&mut recycling)
    }

    /// Takes the steps that are left.
    pub fn finish(&mut self, recycling: &mut Recycling) -> Outcome<(), D> {
        while self.step(recycling)? == RecycleStep::Copied {}
        Ok(())
    }

    /// Makes sure that two pages can be appended, and that the reserve is kept: that a block more is free, as long as
    /// that can be had, so that copies find blocks for their streams.
    ///
    /// A block is recycled if its dead pages are more than the pages of the checkpoint that its copies take in the long
    /// run. That may gain little: so it ends when there is room after a few blocks that gain less than an eighth of a
    /// block, and in any case after as many of these as the part has. Cost: of a part that is not full, a block or two;
    /// of any part at most [`longest_write`](crate::longest_write).
    pub fn make_room(&mut self) -> Outcome<(), D> {
        self.continue_round()?;
        let eighth = u32::from(self.log().pages_per_block()).div_ceil(8);
        let (mut poor, mut leveled) = (0, false);
        while self.memory().counts().free_blocks <= self.log().reserve() + 1 {
            let free = self.log().free_pages();
            let has_room = self.log().has_room(PAGES_OF_WRITE, self.log().reserve());
            let poor_max = if has_room { POOR_PER_WRITE } else { self.log().layout().part.block_count };
            let started = if poor < poor_max { self.start_for_room() } else { None };
            let Some(mut recycling) = started else {
                return if has_room { Ok(()) } else { Err(FtlError::NoSpace) };
            };
            self.finish(&mut recycling)?;
            self.continue_round()?;
            if self.log().free_pages() < free + eighth {
                poor += 1;
            } else if !leveled {
                self.level_after_recycling()?;
                leveled = true;
            }
        }
        Ok(())
    }

    /// The best block to recycle for room, locked: one that is worth its copies, and whose copies leave the next mount
    /// its room. `None` if there is none.
    fn start_for_room(&mut self) -> Option<Recycling> {
        let (log, journal_programs) = (self.log(), self.log().layout().journal_programs().max(1));
        let (in_open, opens) = (log.open_pages(), log.memory().counts().free_blocks > BLOCKS_OF_MOUNT);
        let yield_min = log.layout().yield_min();
        let trims = u32::from(self.checkpoint.has_trims());
        self.start_among(|pages, live| {
            let chunks = u32::from(live).div_ceil(journal_programs);
            let programs = if live > 0 { u32::from(live) + chunks } else { trims };
            (opens || programs <= in_open) && pages - live >= yield_min
        })
    }

    /// Steps of the wear leveler that a write pays for, as long as there is room.
    fn level_after_recycling(&mut self) -> Outcome<(), D> {
        for _ in 0..LEVELED_PER_WRITE {
            let has_room = self.log().has_room(PAGES_OF_WRITE, BLOCKS_OF_MOUNT);
            if !has_room || self.level(WEAR_LAG_OF_WRITES)? == LevelStep::Idle {
                break;
            }
        }
        Ok(())
    }

    /// A step of the wear leveler (paper, section 3.4.2): copies one live page off the next block whose erases lag the
    /// average by `lag` or more, so that the block is soon recycled; first of all, off a block that has gone bad. Needs
    /// a free page. Cost: O(blocks) and one copy.
    pub fn level(&mut self, lag: u32) -> Outcome<LevelStep, D> {
        let block_count = u32::from(self.log().layout().part.block_count);
        for _ in 0..=block_count {
            let (block, from) = self.wear_cursor;
            if is_to_be_emptied(self.memory(), block, lag) {
                self.checkpoint.make_journal_room()?;
                if let Some((page, number)) = self.live_page_from(block, from) {
                    if self.copy(number, COLDEST)? == Copying::Unreadable {
                        self.leave_unreadable(block, page);
                        return Ok(LevelStep::Unreadable);
                    }
                    self.log_mut().counters.leveled += 1;
                    return Ok(LevelStep::Copied);
                }
            }
            if from > 0 {
                self.log_mut().mark(block, Flag::Unreadable);
            }
            self.wear_cursor = (Block(((u32::from(block.0) + 1) % block_count) as u16), 0);
        }
        Ok(LevelStep::Idle)
    }
}

fn is_candidate<M: AsRef<[u8]> + AsMut<[u8]>>(memory: &Memory<M>, block: Block) -> bool {
    memory.state(block) == BlockState::Used && !memory.has(block, Flag::Locked)
}

fn is_to_be_emptied<M: AsRef<[u8]> + AsMut<[u8]>>(memory: &Memory<M>, block: Block, lag: u32) -> bool {
    if memory.live(block) == 0 {
        return false;
    }
    match memory.state(block) {
        BlockState::Bad => !memory.has(block, Flag::Unreadable),
        BlockState::Used => {
            let (counts, lagged) = (memory.counts(), u64::from(memory.erases(block)) + u64::from(lag));
            !memory.has(block, Flag::Locked) && counts.erase_sum >= lagged * u64::from(counts.good_blocks)
        }
        BlockState::Free | BlockState::Open => false,
    }
}
