//! The log: pages are appended to open blocks, each with the number of its program, and blocks are erased to be open
//! again.
//!
//! Each stream has an open block of its own, so that pages that die at different rates do not share blocks: stream 0
//! has what the client writes and the checkpoint; the others have pages that were copied once, twice, more often.
//!
//! Appending a page:
//! 1. program the next page of the stream's block. If that is full, open the free block that was erased least; while no
//!    more blocks are free than the reserve, only if all open blocks are full, and else take the page of any of them;
//!    if the block fails, retire it and continue in another;
//! 2. point the map to the page; the page that it pointed to is dead; note the program in the journal.
//!
//! Invariants: a program finds a page while one is free, whatever its stream; the map names the newest version of each
//! logical page; programs are numbered in their order; a block is erased only while it holds no live page.

use norn_flash::{Block, Nand, PageAddress, PageNumber};

use super::found::SEQUENCE_GAP;
use super::medium::{Attempt, Source};
use super::memory::Memory;
use super::memory::blocks::{BlockState, Flag};
use super::pages::Pages;
use crate::counts::FtlCounters;
use crate::error::{FtlError, Outcome};
use crate::format::{Content, Header, SEQUENCE_MAX, STREAMS, Tag};
use crate::layout::{Layout, reserve_blocks};

/// Where what the client writes goes, and the checkpoint.
pub(crate) const WRITTEN: usize = 0;
/// Where pages go that were copied more often than others.
pub(crate) const COLDEST: usize = STREAMS - 1;

/// A block that pages are appended to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub block: Block,
    /// Its next page, which it has.
    pub next: u16,
}

/// The log on its pages.
#[derive(Clone, Debug)]
pub(crate) struct Log<D, M> {
    pages: Pages<D, M>,
    /// The number of the next program.
    sequence: u64,
    open: [Option<Open>; STREAMS],
    /// What the device has done, for its client. Nothing depends on it.
    pub counters: FtlCounters,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Log<D, M> {
    /// No block is open: the next page goes to the beginning of one, as program `sequence`.
    pub fn new(pages: Pages<D, M>, sequence: u64) -> Self {
        Log { pages, sequence, open: [None; STREAMS], counters: FtlCounters::default() }
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

    /// The next program has a higher number than this one.
    pub fn continue_after(&mut self, sequence: u64) {
        self.sequence = self.sequence.max(sequence + 1);
    }

    /// Leaves out numbers so that a copy of the buffered page of the checkpoint does not have that of an original.
    pub fn number_copy(&mut self) {
        if let Some(header) = Header::decode(self.memory().data()) {
            self.continue_after(header.as_of + SEQUENCE_GAP);
        }
    }

    /// The open blocks of the streams.
    pub fn open(&self) -> [Option<Open>; STREAMS] {
        self.open
    }

    /// Φ: pages that can be programmed.
    pub fn free_pages(&self) -> u32 {
        let pages = u32::from(self.pages_per_block());
        u32::from(self.memory().counts().free_blocks) * pages + self.open_pages()
    }

    /// Pages that open blocks have left.
    pub fn open_pages(&self) -> u32 {
        let pages = self.pages_per_block();
        self.open.iter().flatten().map(|open| u32::from(pages - open.next)).sum()
    }

    /// Whether `pages` can be programmed so that `kept` free blocks are left.
    pub fn has_room(&self, pages: u32, kept: u16) -> bool {
        let free_blocks = self.memory().counts().free_blocks;
        let beyond = u32::from(free_blocks.saturating_sub(kept)) * u32::from(self.pages_per_block());
        beyond + self.open_pages() >= pages
    }

    /// Blocks that are kept free for collections after power cuts.
    pub fn reserve(&self) -> u16 {
        reserve_blocks(&self.layout().part)
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

    /// Makes an entry of the map name a page, in memory alone, and counts live pages anew. Cost: O(entries), no flash.
    pub fn name(&mut self, index: u32, page: PageAddress) {
        let number = self.layout().part.number_of(page);
        self.pages.memory.set_entry(index, Some(number));
        self.pages.memory.recount();
    }

    /// Rewrites the page of an entry of the map, which needs a free page.
    pub fn write(&mut self, index: u32, data: &[u8]) -> Outcome<(), D> {
        self.pages.memory.data_mut().copy_from_slice(data);
        self.append(index, Source::Buffer, WRITTEN)
    }

    /// Makes what was programmed survive what is programmed next.
    pub fn barrier(&mut self) -> Outcome<(), D> {
        self.pages.medium.barrier()
    }

    /// Adds a trim to the journal, which has room.
    pub fn note_trim(&mut self, first: u32, count: u32) {
        let fits = self.pages.memory.note_trim(first, count);
        debug_assert!(fits, "the journal has no room for a trim");
    }

    /// Makes the buffered page the checkpoint's with a chunk as it is now. It takes account of all programs so far.
    pub fn chunk_to_buffer(&mut self, chunk: u32, since: u64, suspect: Option<PageNumber>) {
        let layout = *self.layout();
        let number = |open: Open| layout.part.number_of(open.block.page(open.next));
        let header = Header {
            logical_pages: layout.logical_pages,
            since,
            as_of: self.sequence - 1,
            suspect,
            runs: 0,
            trims: 0,
            open: self.open.map(|open| open.map(number)),
        };
        self.pages.memory.chunk_to_buffer(chunk, header);
    }

    /// What the page of the checkpoint with a chunk says; `None` if there is none that is whole. Cost: a load.
    pub fn checkpoint_at(&mut self, chunk: u32) -> Outcome<Option<Header>, D> {
        match self.pages.load_entry(self.layout().index_of_chunk(chunk))? {
            Some(_) => Ok(Header::decode(self.memory().data())),
            None => Ok(None),
        }
    }

    /// Drops pages of the checkpoint that were replaced from the journal.
    pub fn drop_replaced_pages(&mut self) {
        self.pages.memory.drop_replaced_pages();
    }

    /// Forgets the journal: a page of the checkpoint has it.
    pub fn clear_journal(&mut self) {
        self.pages.memory.clear_journal();
    }

    /// Programs what is in the buffer as the newest version of an entry of the map. A block that fails is retired, and
    /// the page goes to another. The journal has room. Cost: one program, and one more for each block that fails.
    pub fn append(&mut self, index: u32, source: Source, stream: usize) -> Outcome<(), D> {
        let mut source = source;
        loop {
            let page = self.next_page(stream)?;
            let Pages { medium, memory } = &mut self.pages;
            let wear = memory.erases(page.block) as u8;
            let tag = Tag { lba: memory.layout().lba_of(index), sequence: self.sequence, wear };
            self.sequence += 1;
            match medium.program(page, tag, memory.buffer_mut(), source)? {
                Attempt::Done => {
                    let number = memory.layout().part.number_of(page);
                    memory.remap(index, Some(number));
                    let fits = memory.note_program(number, index);
                    debug_assert!(fits, "the journal has no room for a program");
                    return Ok(());
                }
                Attempt::BlockFailed => self.retire(page.block),
            }
            source = Source::Buffer;
        }
    }

    /// Takes the next page for a stream: of its open block, of a free block, or of any open block.
    fn next_page(&mut self, stream: usize) -> Outcome<PageAddress, D> {
        if self.sequence >= SEQUENCE_MAX {
            return Err(FtlError::NoSpace);
        }
        let mut at = stream;
        if self.open[stream].is_none() {
            let other = self.open.iter().position(Option::is_some);
            match other.filter(|_| self.memory().counts().free_blocks <= self.reserve()) {
                Some(other) => at = other,
                None => self.open_block(stream)?,
            }
        }
        let open = self.open[at].expect("the stream has an open block");
        self.open[at] = Some(Open { next: open.next + 1, ..open });
        if open.next + 1 == self.pages_per_block() {
            self.close(at);
        }
        Ok(open.block.page(open.next))
    }

    /// Opens the free block that was erased least; for pages that are hardly written again, the one that was most.
    fn open_block(&mut self, stream: usize) -> Outcome<(), D> {
        let memory = &mut self.pages.memory;
        let free = memory.layout().part.blocks().filter(|&block| memory.state(block) == BlockState::Free);
        let wear = |&block: &Block| memory.erases(block);
        let block = if stream == COLDEST { free.max_by_key(wear) } else { free.min_by_key(wear) };
        let block = block.ok_or(FtlError::NoSpace)?;
        memory.open(block, stream, self.sequence);
        self.open[stream] = Some(Open { block, next: 0 });
        Ok(())
    }

    /// Leaves a full block to collectors, which see its age from now on.
    fn close(&mut self, stream: usize) {
        if let Some(open) = self.open[stream].take() {
            self.pages.memory.set_state(open.block, BlockState::Used);
            self.pages.memory.set_opened(open.block, self.sequence);
        }
    }

    /// Programs the first page of a free block, outside the log, with a tag alone; the block is used then. Cost: one
    /// program.
    pub fn program_mark(&mut self, block: Block, lba: u32) -> Outcome<Attempt, D> {
        let Pages { medium, memory } = &mut self.pages;
        memory.open(block, WRITTEN, self.sequence);
        memory.set_state(block, BlockState::Used);
        memory.data_mut().fill(0);
        let tag = Tag { lba, sequence: self.sequence, wear: memory.erases(block) as u8 };
        self.sequence += 1;
        let attempt = medium.program(block.page(0), tag, memory.buffer_mut(), Source::Buffer)?;
        if attempt == Attempt::BlockFailed {
            self.retire(block);
        }
        Ok(attempt)
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
        for open in &mut self.open {
            *open = open.filter(|open| open.block != block);
        }
        self.pages.memory.retire(block);
        self.counters.retired += 1;
    }
}
