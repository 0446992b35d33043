//! The log: pages are appended to the open block, each with the number of its program, and blocks are erased to be open
//! again.
//!
//! Appending a page:
//! 1. program the next page of the open block; if it is full, open the free block that was erased least; if the block
//!    fails, retire it and continue in another;
//! 2. point the map to the page; the page that it pointed to is dead.
//!
//! Invariants: the map names the newest version of each logical page; programs are numbered in their order, those of a
//! block without gaps; a block is erased only while it holds no live page.

use norn_flash::{Block, Nand, PageAddress};

use super::medium::{Attempt, Source};
use super::memory::Memory;
use super::memory::blocks::{BlockState, Flag};
use super::pages::Pages;
use crate::counts::FtlCounters;
use crate::error::{FtlError, Outcome};
use crate::format::{Content, FORMAT_BEGUN, SEQUENCE_MAX, Tag};
use crate::layout::Layout;

/// The block that pages are appended to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub block: Block,
    /// Its next page; as many as the block has if it is full.
    pub next: u16,
}

/// The log on its pages.
#[derive(Clone, Debug)]
pub(crate) struct Log<D, M> {
    pages: Pages<D, M>,
    /// The number of the next program.
    sequence: u64,
    open: Option<Open>,
    /// Whether a page has been programmed since the device was mounted.
    is_begun: bool,
    /// Programs since they were last forgotten.
    programs: u32,
    /// What the device has done, for its client. Nothing depends on it.
    pub counters: FtlCounters,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Log<D, M> {
    /// No block is open: the next page goes to the beginning of one, as program `sequence`.
    pub fn new(pages: Pages<D, M>, sequence: u64) -> Self {
        Log { pages, sequence, open: None, is_begun: false, programs: 0, counters: FtlCounters::default() }
    }

    pub fn pages(&self) -> &Pages<D, M> {
        &self.pages
    }

    /// For loads, and for the settings of the device.
    pub fn pages_mut(&mut self) -> &mut Pages<D, M> {
        &mut self.pages
    }

    pub fn into_device(self) -> D {
        self.pages.into_medium().into_device()
    }

    pub fn memory(&self) -> &Memory<M> {
        self.pages.memory()
    }

    pub fn layout(&self) -> &Layout {
        self.pages.layout()
    }

    pub fn pages_per_block(&self) -> u16 {
        self.layout().part.pages_per_block
    }

    pub fn expect_running(&self) -> Outcome<(), D> {
        self.pages.medium().expect_running()
    }

    /// Loads a page into the buffer, again while it is garbage. Cost: a load, if it is none.
    pub fn load(&mut self, page: PageAddress) -> Outcome<Content, D> {
        self.pages.load(page)
    }

    /// The number of the next program.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    pub fn open(&self) -> Option<Open> {
        self.open
    }

    /// Whether the next page is the first of a block.
    pub fn is_block_due(&self) -> bool {
        self.open.is_none_or(|open| open.next >= self.pages_per_block())
    }

    /// The first program of the open block, or the next of all if none is open.
    pub fn opened_at(&self) -> u64 {
        self.open.map_or(self.sequence, |open| self.memory().opened(open.block))
    }

    /// Φ: pages that can be programmed.
    pub fn free_pages(&self) -> u32 {
        let pages = u32::from(self.pages_per_block());
        let open = self.open.map_or(0, |open| pages - u32::from(open.next));
        u32::from(self.memory().counts().free_blocks) * pages + open
    }

    /// Programs since they were last forgotten.
    pub fn programs(&self) -> u32 {
        self.programs
    }

    pub fn forget_programs(&mut self) {
        self.programs = 0;
    }

    /// Takes the blocks that are marked bad out of use, before anything is known of the part. Cost: a load for each
    /// page that may bear a mark.
    pub fn read_marks(&mut self) -> Outcome<(), D> {
        for block in self.layout().part.blocks() {
            if self.pages.medium.is_marked_bad(block)? {
                self.pages.memory.set_state(block, BlockState::Bad);
            }
        }
        self.pages.memory.count_blocks();
        Ok(())
    }

    pub fn mark(&mut self, block: Block, flag: Flag) {
        self.pages.memory.set(block, flag);
    }

    pub fn unmark(&mut self, block: Block, flag: Flag) {
        self.pages.memory.clear(block, flag);
    }

    /// Makes an entry of the map name nothing, in memory alone.
    pub fn unmap(&mut self, index: u32) {
        self.pages.memory.remap(index, None);
    }

    /// Rewrites the page of an entry of the map, which needs a free page.
    pub fn write(&mut self, index: u32, data: &[u8]) -> Outcome<(), D> {
        self.pages.memory.data_mut().copy_from_slice(data);
        self.append(index, Source::Buffer)
    }

    /// Writes a chunk of the checkpoint as it is now, which needs a free page. After a barrier: mounting trusts its
    /// word for pages that it does not look at.
    pub fn write_chunk(&mut self, chunk: u32, horizon: u64) -> Outcome<(), D> {
        self.pages.medium.barrier()?;
        let as_of = self.sequence - 1;
        self.pages.memory.chunk_to_buffer(chunk, as_of, horizon);
        self.append(self.layout().index_of_chunk(chunk), Source::Buffer)?;
        self.pages.memory.set_chunk_sequence(chunk, as_of);
        self.counters.chunks += 1;
        Ok(())
    }

    /// Programs what is in the buffer as the newest version of an entry of the map. A block that fails is retired, and
    /// the page goes to another. Cost: one program, and one more for each block that fails.
    pub fn append(&mut self, index: u32, source: Source) -> Outcome<(), D> {
        let page = self.program(self.layout().lba_of(index), source)?;
        let number = self.layout().part.number_of(page);
        self.pages.memory.remap(index, Some(number));
        self.programs += 1;
        Ok(())
    }

    /// Makes every page that was programmed before not count, which needs a free page. Cost: as
    /// [`append`](Self::append).
    pub fn begin_format(&mut self) -> Outcome<(), D> {
        self.pages.memory.data_mut().fill(0xFF);
        self.program(FORMAT_BEGUN, Source::Buffer).map(drop)
    }

    fn program(&mut self, lba: u32, source: Source) -> Outcome<PageAddress, D> {
        let mut source = source;
        loop {
            let page = self.next_page()?;
            let Pages { medium, memory } = &mut self.pages;
            let tag = Tag { lba, sequence: self.sequence, wear: memory.erases(page.block) as u8 };
            self.sequence += 1;
            match medium.program(page, tag, memory.buffer_mut(), source)? {
                Attempt::Done => {
                    self.is_begun = true;
                    return Ok(page);
                }
                Attempt::BlockFailed => self.retire(page.block),
            }
            source = Source::Buffer;
        }
    }

    /// Takes the next page of the open block, or the first of a free one, of those the one that was erased least.
    fn next_page(&mut self) -> Outcome<PageAddress, D> {
        if self.sequence >= SEQUENCE_MAX {
            return Err(FtlError::NoSpace);
        }
        let open = match self.open {
            Some(open) if open.next < self.pages_per_block() => open,
            full => self.open_block(full.map(|open| open.block))?,
        };
        self.open = Some(Open { next: open.next + 1, ..open });
        Ok(open.block.page(open.next))
    }

    /// Opens a free block, and leaves the full one to collectors. The first page of a session has an odd number, that
    /// of each further block an even one: so mounting sees after which full blocks a session may have ended.
    fn open_block(&mut self, full: Option<Block>) -> Outcome<Open, D> {
        let memory = &mut self.pages.memory;
        let free = memory.layout().part.blocks().filter(|&block| memory.state(block) == BlockState::Free);
        let block = free.min_by_key(|&block| memory.erases(block)).ok_or(FtlError::NoSpace)?;
        if let Some(full) = full {
            memory.set_state(full, BlockState::Used);
        }
        self.sequence = if self.is_begun { self.sequence.next_multiple_of(2) } else { self.sequence | 1 };
        memory.open(block, self.sequence);
        Ok(Open { block, next: 0 })
    }

    /// Erases a block without live pages; one that fails is retired. Cost: one erase.
    pub fn erase(&mut self, block: Block) -> Outcome<Attempt, D> {
        debug_assert_eq!(self.memory().live(block), 0, "{block} is erased while it holds live pages");
        let attempt = self.pages.medium.erase(block)?;
        match attempt {
            Attempt::Done => {
                self.pages.memory.free(block);
                self.counters.erased += 1;
            }
            Attempt::BlockFailed => self.retire(block),
        }
        Ok(attempt)
    }

    /// Takes a block that failed, or that holds a page that cannot be read, out of use. What is live in it stays there
    /// until it is overwritten or the wear leveler copies it.
    pub fn retire(&mut self, block: Block) {
        if self.memory().state(block) == BlockState::Open {
            self.open = None;
        }
        self.pages.memory.retire(block);
        self.counters.retired += 1;
    }
}
