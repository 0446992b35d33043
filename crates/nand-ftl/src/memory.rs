//! What the FTL keeps in the memory that the caller gives: blocks, live pages, a buffer, the map.
//!
//! ```text
//! block    erases 4 · live pages 2 · state 1 · flags 1 · sequence of its first program 8
//! ```
//!
//! Invariants: a page's bit is set exactly while an entry of the map names it; a block's live pages are the bits set in it.

use norn_flash::{Block, PageNumber};

use crate::layout::{AS_OF_BYTES, BLOCK_BYTES, Layout};

/// What a block is to the FTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockState {
    /// Programmed since its erase, or not known to be erased: a collector may take it.
    Used,
    /// Erased for certain.
    Free,
    /// The block that pages are appended to.
    Open,
    /// Never programmed or erased again. It may still hold live pages.
    Bad,
}

/// Marks on a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flag {
    /// A collector is at it.
    Locked = 1,
    /// Mounting looks into its pages.
    Tail = 2,
    /// Its last page is not whole, or it is the newest.
    Unfinished = 4,
}

/// The memory behind its layout.
#[derive(Debug)]
pub(crate) struct Memory<M> {
    bytes: M,
    pub layout: Layout,
}

impl<M: AsRef<[u8]> + AsMut<[u8]>> Memory<M> {
    /// Memory of at least [`Layout::memory_bytes`], all of it forgotten.
    pub fn new(mut bytes: M, layout: Layout) -> Self {
        bytes.as_mut()[..layout.memory_bytes()].fill(0);
        let mut memory = Memory { bytes, layout };
        memory.forget_map();
        memory
    }

    /// Sets all entries of the map to none, and what is known of chunks to nothing.
    pub fn forget_map(&mut self) {
        let layout = self.layout;
        let bytes = self.bytes.as_mut();
        bytes[layout.chunks_at()..layout.map_at()].fill(0);
        bytes[layout.map_at()..layout.memory_bytes()].fill(0xFF);
    }

    /// Goes on with another number of logical pages, if the memory suffices; the map is forgotten.
    pub fn with_layout(self, layout: Layout) -> Option<Self> {
        if self.bytes.as_ref().len() < layout.memory_bytes() {
            return None;
        }
        let mut memory = Memory { bytes: self.bytes, layout };
        memory.forget_map();
        Some(memory)
    }

    /// Bytes that there are.
    pub fn len(&self) -> usize {
        self.bytes.as_ref().len()
    }

    fn number<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut number = [0; N];
        number.copy_from_slice(&self.bytes.as_ref()[at..at + N]);
        number
    }

    fn put(&mut self, at: usize, number: &[u8]) {
        self.bytes.as_mut()[at..at + number.len()].copy_from_slice(number);
    }

    fn block_at(block: Block) -> usize {
        usize::from(block.0) * BLOCK_BYTES
    }

    /// Erases of a block.
    pub fn erases(&self, block: Block) -> u32 {
        u32::from_le_bytes(self.number(Self::block_at(block)))
    }

    pub fn set_erases(&mut self, block: Block, erases: u32) {
        self.put(Self::block_at(block), &erases.to_le_bytes());
    }

    /// Live pages of a block.
    pub fn live(&self, block: Block) -> u16 {
        u16::from_le_bytes(self.number(Self::block_at(block) + 4))
    }

    fn set_live(&mut self, block: Block, live: u16) {
        self.put(Self::block_at(block) + 4, &live.to_le_bytes());
    }

    pub fn state(&self, block: Block) -> BlockState {
        match self.bytes.as_ref()[Self::block_at(block) + 6] {
            0 => BlockState::Used,
            1 => BlockState::Free,
            2 => BlockState::Open,
            _ => BlockState::Bad,
        }
    }

    pub fn set_state(&mut self, block: Block, state: BlockState) {
        self.bytes.as_mut()[Self::block_at(block) + 6] = state as u8;
    }

    pub fn has(&self, block: Block, flag: Flag) -> bool {
        self.bytes.as_ref()[Self::block_at(block) + 7] & flag as u8 != 0
    }

    pub fn set(&mut self, block: Block, flag: Flag) {
        self.bytes.as_mut()[Self::block_at(block) + 7] |= flag as u8;
    }

    pub fn clear(&mut self, block: Block, flag: Flag) {
        self.bytes.as_mut()[Self::block_at(block) + 7] &= !(flag as u8);
    }

    /// Sequence of a block's first program since its erase; 0 if there is none.
    pub fn opened(&self, block: Block) -> u64 {
        u64::from_le_bytes(self.number(Self::block_at(block) + 8))
    }

    pub fn set_opened(&mut self, block: Block, sequence: u64) {
        self.put(Self::block_at(block) + 8, &sequence.to_le_bytes());
    }

    /// Whether an entry of the map names the page.
    pub fn is_live(&self, page: PageNumber) -> bool {
        let byte = self.bytes.as_ref()[self.layout.live_at() + page.0 as usize / 8];
        byte >> (page.0 % 8) & 1 == 1
    }

    /// The page of a map's entry.
    pub fn page(&self, index: u32) -> Option<PageNumber> {
        let Layout { width, .. } = self.layout;
        let at = self.layout.map_at() + index as usize * width;
        let mut number = [0; 4];
        number[..width].copy_from_slice(&self.bytes.as_ref()[at..at + width]);
        let number = u32::from_le_bytes(number);
        (number < self.layout.part.page_count()).then_some(PageNumber(number))
    }

    /// Sets an entry of the map, and nothing else.
    pub fn set_entry(&mut self, index: u32, page: Option<PageNumber>) {
        let Layout { width, .. } = self.layout;
        let at = self.layout.map_at() + index as usize * width;
        let number = page.map_or(u32::MAX, |page| page.0).to_le_bytes();
        self.put(at, &number[..width]);
    }

    /// Counts a page as live, or as dead.
    fn count(&mut self, page: PageNumber, change: i16) {
        let at = self.layout.live_at() + page.0 as usize / 8;
        self.bytes.as_mut()[at] ^= 1 << (page.0 % 8);
        let block = self.layout.part.page_at(page).block;
        let live = self.live(block).checked_add_signed(change).expect("a block has as many live pages as bits say");
        self.set_live(block, live);
    }

    /// Makes an entry of the map name another page; the one that it named is dead. Says by how much live pages change.
    pub fn remap(&mut self, index: u32, page: Option<PageNumber>) -> i32 {
        let old = self.page(index);
        if let Some(old) = old {
            self.count(old, -1);
        }
        if let Some(page) = page {
            self.count(page, 1);
        }
        self.set_entry(index, page);
        i32::from(page.is_some()) - i32::from(old.is_some())
    }

    /// Counts live pages anew from the map. An entry that names a page that is another entry's is dropped. Says how many live.
    pub fn recount(&mut self) -> u32 {
        let layout = self.layout;
        self.bytes.as_mut()[layout.live_at()..layout.buffer_at()].fill(0);
        layout.part.blocks().for_each(|block| self.set_live(block, 0));
        let mut live = 0;
        for index in 0..layout.entries() {
            match self.page(index) {
                Some(page) if self.is_live(page) => self.set_entry(index, None),
                Some(page) => {
                    self.count(page, 1);
                    live += 1;
                }
                None => {}
            }
        }
        live
    }

    /// For a chunk: the sequence up to which it takes account of programs; while mounting looks for chunks, that of its program.
    pub fn chunk_sequence(&self, chunk: u32) -> u64 {
        u64::from_le_bytes(self.number(self.layout.chunks_at() + chunk as usize * AS_OF_BYTES))
    }

    pub fn set_chunk_sequence(&mut self, chunk: u32, sequence: u64) {
        self.put(self.layout.chunks_at() + chunk as usize * AS_OF_BYTES, &sequence.to_le_bytes());
    }

    /// A page with its out-of-band area, to or from flash.
    pub fn buffer(&self) -> &[u8] {
        &self.bytes.as_ref()[self.layout.buffer_at()..self.layout.chunks_at()]
    }

    pub fn buffer_mut(&mut self) -> &mut [u8] {
        let (from, to) = (self.layout.buffer_at(), self.layout.chunks_at());
        &mut self.bytes.as_mut()[from..to]
    }

    /// The data of the buffered page.
    pub fn data(&self) -> &[u8] {
        &self.buffer()[..usize::from(self.layout.part.page_bytes)]
    }

    pub fn data_mut(&mut self) -> &mut [u8] {
        let page_bytes = usize::from(self.layout.part.page_bytes);
        &mut self.buffer_mut()[..page_bytes]
    }

    /// Copies entries of the map to the buffer, from `index` on, to `at` in the page.
    pub fn entries_to_buffer(&mut self, index: u32, count: u32, at: usize) {
        let Layout { width, .. } = self.layout;
        let from = self.layout.map_at() + index as usize * width;
        let to = self.layout.buffer_at() + at;
        self.bytes.as_mut().copy_within(from..from + count as usize * width, to);
    }

    /// The page that an entry in the buffered chunk names.
    pub fn buffered_entry(&self, at: usize, number: u32) -> Option<PageNumber> {
        let Layout { width, part, .. } = self.layout;
        let from = at + number as usize * width;
        let mut bytes = [0; 4];
        bytes[..width].copy_from_slice(&self.buffer()[from..from + width]);
        let page = u32::from_le_bytes(bytes);
        (page < part.page_count()).then_some(PageNumber(page))
    }
}
