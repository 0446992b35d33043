//! Gathering: how a mount makes room for itself.
//!
//! Each session takes a free block, for what its mount programs. If many are cut early, each leaves a block with a page
//! or a few: what was in flight, or a page of the checkpoint. No session may get as far as to collect them. So a mount
//! that finds few blocks to write to copies what lives in such blocks together, before it serves anything:
//!
//! 1. its first page of the checkpoint names a suspect, so that what follows is left out if the mount is cut;
//! 2. it copies all live pages of the blocks that have the fewest, as many as gain the most blocks and fit the journal;
//! 3. its last page of the checkpoint names no suspect, and has all copies in its journal.
//!
//! Invariant: either all copies count or none. So a cut takes no room, however often the same mount is cut, and a mount
//! that gets to its end has the blocks. No block is erased between 1 and 3.

use norn_flash::{Block, Nand, NandPart};

use crate::error::Outcome;
use crate::format::RUN_LENGTH_BYTES;
use crate::ground::log::WRITTEN;
use crate::ground::memory::Memory;
use crate::ground::memory::blocks::{BlockState, Flag};
use crate::layout::BLOCKS_OF_MOUNT;
use crate::recycle::{Copying, Recycler};

/// Whether so few blocks are free, or have no live page and are not locked, that a mount is to gather: fewer than the
/// reserve and what it takes itself. Cost: O(blocks), no flash.
pub(crate) fn is_needed<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &Recycler<D, M>) -> bool {
    let log = recycler.log();
    let (memory, part) = (log.memory(), log.layout().part);
    let is_dead = |block: &Block| is_used(memory, *block) && memory.live(*block) == 0;
    let dead = part.blocks().filter(is_dead).count();
    dead + usize::from(memory.counts().free_blocks) < usize::from(log.reserve() + BLOCKS_OF_MOUNT)
}

/// Copies what lives in the blocks with the fewest live pages, as much as gains blocks (step 2). One more free page is
/// left, and a free block. Cost: O(blocks · pages of a block); a load and a program for each page, at most as many as a
/// journal has.
pub(crate) fn gather<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>) -> Outcome<(), D> {
    let part = recycler.log().layout().part;
    let count = blocks_to_gather(recycler);
    for _ in 0..count {
        let Some(block) = smallest(recycler.log().memory(), &part) else { break };
        recycler.log_mut().mark(block, Flag::Passed);
    }
    for block in part.blocks() {
        if recycler.log().memory().has(block, Flag::Passed) {
            recycler.log_mut().unmark(block, Flag::Passed);
            copy_all(recycler, block)?;
        }
    }
    Ok(())
}

/// Copies the live pages of a block, as long as the journal has room. What cannot be read stays.
fn copy_all<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>, block: Block) -> Outcome<(), D> {
    let mut from = 0;
    while let Some((at, page)) = recycler.live_page_from(block, from) {
        let log = recycler.log();
        if !log.memory().journal_has_room(1) || !log.has_room(2, 1) {
            break;
        }
        from = at + 1;
        if recycler.copy(page, WRITTEN)? == Copying::Done {
            recycler.log_mut().counters.gathered += 1;
        }
    }
    Ok(())
}

/// How many of the blocks with the fewest live pages gain the most when they are emptied.
fn blocks_to_gather<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>) -> u16 {
    let (layout, memory) = (*recycler.log().layout(), recycler.log().memory());
    let pages = u32::from(layout.part.pages_per_block);
    let (open, free) = (recycler.log().open_pages(), u32::from(memory.counts().free_blocks));
    // The last page of the mount, too, and one that fails.
    let opened = |copies: u32| (copies + 1).saturating_sub(open).div_ceil(pages);
    let journal = memory.journal_left().saturating_sub(layout.run_bytes());
    let run = layout.width + RUN_LENGTH_BYTES;
    let fits = |copies: u32| {
        let runs = 1 + copies.saturating_sub(open).div_ceil(pages) as usize;
        runs * run + copies as usize * layout.width <= journal && opened(copies) < free.max(1)
    };
    let (mut copies, mut count, mut best) = (0, 0, (0, 0));
    for live in 1..layout.part.pages_per_block {
        let with_so_many = |&block: &Block| is_used(memory, block) && memory.live(block) == live;
        for _ in layout.part.blocks().filter(with_so_many) {
            copies += u32::from(live);
            count += 1;
            if !fits(copies) {
                return best.1;
            }
            let gained = i64::from(count) - i64::from(opened(copies)) + i64::from(opened(0));
            if gained > best.0 {
                best = (gained, count);
            }
        }
    }
    best.1
}

/// The block with the fewest live pages, of those that have one and are not marked.
fn smallest<M: AsRef<[u8]> + AsMut<[u8]>>(memory: &Memory<M>, part: &NandPart) -> Option<Block> {
    let is_left = |&block: &Block| is_used(memory, block) && memory.live(block) > 0 && !memory.has(block, Flag::Passed);
    part.blocks().filter(is_left).min_by_key(|&block| memory.live(block))
}

fn is_used<M: AsRef<[u8]> + AsMut<[u8]>>(memory: &Memory<M>, block: Block) -> bool {
    memory.state(block) == BlockState::Used && !memory.has(block, Flag::Locked)
}
