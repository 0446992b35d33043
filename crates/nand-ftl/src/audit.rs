//! The checker: walks map, bits, blocks and flash, and says which invariant does not hold.

use core::fmt;

use norn_flash::{Block, Nand, PageAddress};

use crate::error::FtlError;
use crate::format::Content;
use crate::ftl::{Ftl, Lba};
use crate::memory::{BlockState, Flag};

/// An invariant that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The map names a page for a logical page that does not hold it.
    Foreign(Lba, PageAddress),
    /// Two entries of the map name one page, or a page's bit is not set.
    NotLive(Lba, PageAddress),
    /// A block's count of live pages is not what the map says.
    LiveCount(Block),
    /// The count of all live pages is not what the map says.
    LiveTotal,
    /// A free block, or a page of the open one that is to be programmed, is not erased.
    NotErased(PageAddress),
    /// A free block has live pages.
    FreeButLive(Block),
    /// Counts of free or good blocks, or of their erases, are wrong.
    BlockCounts,
    /// A block is locked though no collector is at it.
    Locked(Block),
    /// A page of the checkpoint is missing, or older than the horizon.
    Chunk(u32),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Foreign(lba, page) => write!(f, "{page} does not hold logical page {}", lba.0),
            Violation::NotLive(lba, page) => write!(f, "{page}, of logical page {}, counts as dead or twice", lba.0),
            Violation::LiveCount(block) => write!(f, "{block} has another number of live pages than it counts"),
            Violation::LiveTotal => f.write_str("the number of live pages is wrong"),
            Violation::NotErased(page) => write!(f, "{page} is not erased, but is to be programmed"),
            Violation::FreeButLive(block) => write!(f, "{block} is free and has live pages"),
            Violation::BlockCounts => f.write_str("the number of free or good blocks, or of their erases, is wrong"),
            Violation::Locked(block) => write!(f, "{block} is locked, and nobody is at it"),
            Violation::Chunk(chunk) => write!(f, "chunk {chunk} is missing, or older than the horizon"),
        }
    }
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Ftl<D, M> {
    /// Checks every invariant; `victims` are the blocks that collectors are at. `Ok(None)` if all hold. Cost: a load for each live
    /// page and for each that is free.
    ///
    /// # Errors
    /// [`FtlError::Device`].
    pub fn audit(&mut self, victims: &[Block]) -> Result<Option<Violation>, FtlError<D::Error>> {
        if let Some(violation) = self.audit_counts(victims) {
            return Ok(Some(violation));
        }
        let layout = *self.layout();
        for index in 0..layout.entries() {
            let Some(page) = self.memory.page(index) else { continue };
            let address = layout.part.page_at(page);
            let content = self.load_patiently(address)?;
            let Content::Page { tag, .. } = content else { return Ok(Some(Violation::Foreign(Lba(index), address))) };
            if tag.lba != layout.lba_of(index) || tag.sequence >= self.sequence {
                return Ok(Some(Violation::Foreign(Lba(index), address)));
            }
            let chunk = index.checked_sub(layout.logical_pages);
            if chunk.is_some() && tag.sequence < self.rounds.horizon {
                return Ok(chunk.map(Violation::Chunk));
            }
        }
        self.audit_free()
    }

    fn audit_counts(&self, victims: &[Block]) -> Option<Violation> {
        let layout = *self.layout();
        let (mut free, mut good, mut erases, mut live) = (0, 0, 0, 0);
        for block in layout.part.blocks() {
            let pages = (0..layout.part.pages_per_block).map(|page| layout.part.number_of(block.page(page)));
            let bits = pages.filter(|&page| self.memory.is_live(page)).count();
            if bits != usize::from(self.memory.live(block)) {
                return Some(Violation::LiveCount(block));
            }
            live += bits as u32;
            let state = self.memory.state(block);
            free += u16::from(state == BlockState::Free);
            if state != BlockState::Bad {
                good += 1;
                erases += u64::from(self.memory.erases(block));
            }
            if state == BlockState::Free && bits > 0 {
                return Some(Violation::FreeButLive(block));
            }
            if self.memory.has(block, Flag::Locked) != victims.contains(&block) {
                return Some(Violation::Locked(block));
            }
        }
        if (free, good, erases) != (self.free_blocks, self.good_blocks, self.erase_sum) {
            return Some(Violation::BlockCounts);
        }
        self.audit_map(live)
    }

    /// As many entries as live pages, and each page of an entry live: so no page is named twice.
    fn audit_map(&self, live: u32) -> Option<Violation> {
        let layout = *self.layout();
        let mut named = 0;
        for index in 0..layout.entries() {
            match self.memory.page(index) {
                Some(page) if !self.memory.is_live(page) => {
                    return Some(Violation::NotLive(Lba(index), layout.part.page_at(page)));
                }
                Some(_) => named += 1,
                None if index >= layout.logical_pages => return Some(Violation::Chunk(index - layout.logical_pages)),
                None => {}
            }
        }
        (named != live || live != self.live_pages).then_some(Violation::LiveTotal)
    }

    fn audit_free(&mut self) -> Result<Option<Violation>, FtlError<D::Error>> {
        let pages = self.pages_per_block();
        for block in self.layout().part.blocks() {
            let first = match self.memory.state(block) {
                BlockState::Free => 0,
                BlockState::Open => self.open.map_or(pages, |open| open.next),
                BlockState::Used | BlockState::Bad => continue,
            };
            for page in first..pages {
                if self.load_patiently(block.page(page))? != Content::Blank {
                    return Ok(Some(Violation::NotErased(block.page(page))));
                }
            }
        }
        Ok(None)
    }
}
