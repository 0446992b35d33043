//! The checker: walks map, bits, blocks and flash, and says which invariant does not hold.

use core::fmt;

use norn_flash::{Block, Nand, PageAddress};

use crate::checkpoint::Continuation;
use crate::error::FtlError;
use crate::format::{Content, Header};
use crate::ftl::Ftl;
use crate::ground::memory::Counts;
use crate::ground::memory::blocks::{BlockState, Flag};
use crate::layout::Lba;

/// An invariant that does not hold, and where.
pub type Violation = norn_flash::Violation<Place>;

/// What an invariant is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A logical page, and the page that the map names for it.
    Mapped(Lba, PageAddress),
    /// A page.
    Page(PageAddress),
    /// A block.
    Block(Block),
    /// A chunk of the checkpoint.
    Chunk(u32),
    /// The device as a whole.
    Device,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Mapped(lba, page) => write!(f, "logical page {}, {page}", lba.0),
            Place::Page(page) => page.fmt(f),
            Place::Block(block) => block.fmt(f),
            Place::Chunk(chunk) => write!(f, "chunk {chunk}"),
            Place::Device => f.write_str("the device as a whole"),
        }
    }
}

const FOREIGN: &str = "the map names a page that does not hold the logical page";
const NOT_LIVE: &str = "a page that the map names counts as dead, or is named twice";
const LIVE_COUNT: &str = "a block's count of live pages is not what the map says";
const LIVE_TOTAL: &str = "the count of all live pages is not what the map says";
const NOT_ERASED: &str = "a page to be programmed is not erased";
const FREE_BUT_LIVE: &str = "a free block has live pages";
const BLOCK_COUNTS: &str = "the number of free or good blocks, or of their erases, is wrong";
const LOCKED: &str = "a block is locked though no collector is at it";
const JOURNAL: &str = "the journal lacks a page that counts, or has an older one";
const STALE_CHUNK: &str = "a chunk of the checkpoint is missing, or does not precede the next";

const fn violation(what: &'static str, address: Place) -> Violation {
    Violation { address, what }
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Ftl<D, M> {
    /// Checks every invariant; `victims` are the blocks that collectors are at. `Ok(None)` if all hold. Cost: a load
    /// for each live page and for each that is free.
    ///
    /// # Errors
    /// [`FtlError::Device`].
    pub fn audit(&mut self, victims: &[Block]) -> Result<Option<Violation>, FtlError<D::Error>> {
        if let Some(violation) = self.audit_counts(victims) {
            return Ok(Some(violation));
        }
        let layout = *self.layout();
        for index in 0..layout.entries() {
            let Some(page) = self.memory().page(index) else { continue };
            let address = layout.part.page_at(page);
            let content = self.log_mut().load(address)?;
            let Content::Page { tag, .. } = content else {
                return Ok(Some(violation(FOREIGN, Place::Mapped(Lba(index), address))));
            };
            if tag.lba != layout.lba_of(index) || tag.sequence >= self.log().sequence() {
                return Ok(Some(violation(FOREIGN, Place::Mapped(Lba(index), address))));
            }
            let is_recent = tag.sequence > self.recycler().checkpoint().next().since;
            let is_journaled = self.memory().journaled(page) == Some(index);
            // A page of the checkpoint precedes what its own journal says that it follows.
            if is_recent && !is_journaled && index < layout.logical_pages || is_journaled && !is_recent {
                return Ok(Some(violation(JOURNAL, Place::Mapped(Lba(index), address))));
            }
        }
        if let Some(violation) = self.audit_checkpoint()? {
            return Ok(Some(violation));
        }
        self.audit_free()
    }

    /// The pages of the checkpoint, from the newest back: each says what the next one's journal follows. Each chunk has
    /// one.
    fn audit_checkpoint(&mut self) -> Result<Option<Violation>, FtlError<D::Error>> {
        let layout = *self.layout();
        let Continuation { chunk, since } = self.recycler().checkpoint().next();
        let is_replaced = self.log_mut().checkpoint_at(chunk)?.is_some_and(|header| header.since == since);
        let mut expected = since;
        for back in 0..layout.chunks() {
            let chunk = (chunk + 2 * layout.chunks() - back - u32::from(!is_replaced)) % layout.chunks();
            let found = self.log_mut().checkpoint_at(chunk)?;
            let fits = |header: Header| {
                if is_replaced && back == 0 { header.since == since } else { header.as_of == expected }
            };
            match found.filter(|&header| fits(header)) {
                Some(header) => expected = header.since,
                None => return Ok(Some(violation(STALE_CHUNK, Place::Chunk(chunk)))),
            }
        }
        Ok(None)
    }

    fn audit_counts(&self, victims: &[Block]) -> Option<Violation> {
        let (layout, memory) = (*self.layout(), self.memory());
        let mut sums = Counts::default();
        for block in layout.part.blocks() {
            let pages = (0..layout.part.pages_per_block).map(|page| layout.part.number_of(block.page(page)));
            let bits = pages.filter(|&page| memory.is_live(page)).count();
            if bits != usize::from(memory.live(block)) {
                return Some(violation(LIVE_COUNT, Place::Block(block)));
            }
            sums.live_pages += bits as u32;
            let state = memory.state(block);
            sums.free_blocks += u16::from(state == BlockState::Free);
            if state != BlockState::Bad {
                sums.good_blocks += 1;
                sums.erase_sum += u64::from(memory.erases(block));
            }
            if state == BlockState::Free && bits > 0 {
                return Some(violation(FREE_BUT_LIVE, Place::Block(block)));
            }
            if memory.has(block, Flag::Locked) != victims.contains(&block) {
                return Some(violation(LOCKED, Place::Block(block)));
            }
        }
        let counts = memory.counts();
        if sums != (Counts { live_pages: sums.live_pages, ..counts }) {
            return Some(violation(BLOCK_COUNTS, Place::Device));
        }
        self.audit_map(sums.live_pages)
    }

    /// As many entries as live pages, and each page of an entry live: so no page is named twice.
    fn audit_map(&self, live: u32) -> Option<Violation> {
        let layout = *self.layout();
        let mut named = 0;
        for index in 0..layout.entries() {
            match self.memory().page(index) {
                Some(page) if !self.memory().is_live(page) => {
                    return Some(violation(NOT_LIVE, Place::Mapped(Lba(index), layout.part.page_at(page))));
                }
                Some(_) => named += 1,
                None if index >= layout.logical_pages => {
                    return Some(violation(STALE_CHUNK, Place::Chunk(index - layout.logical_pages)));
                }
                None => {}
            }
        }
        (named != live || live != self.memory().counts().live_pages).then_some(violation(LIVE_TOTAL, Place::Device))
    }

    fn audit_free(&mut self) -> Result<Option<Violation>, FtlError<D::Error>> {
        let pages = self.pages_per_block();
        for block in self.layout().part.blocks() {
            let first = match self.memory().state(block) {
                BlockState::Free => 0,
                BlockState::Open => {
                    let open = self.log().open().into_iter().flatten().find(|open| open.block == block);
                    open.map_or(pages, |open| open.next)
                }
                BlockState::Used | BlockState::Bad => continue,
            };
            for page in first..pages {
                if self.log_mut().load(block.page(page))? != Content::Blank {
                    return Ok(Some(violation(NOT_ERASED, Place::Page(block.page(page)))));
                }
            }
        }
        Ok(None)
    }
}
