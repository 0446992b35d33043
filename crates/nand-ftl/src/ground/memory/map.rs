//! The map in memory: which page each entry names, and which pages live.
//!
//! Invariants: once live pages are counted, a page's bit is set exactly while an entry of the map names it, and the
//! sums of live pages are the bits that are set.

use norn_flash::PageNumber;

use super::Memory;
use crate::layout::{AS_OF_BYTES, Layout};

impl<M: AsRef<[u8]> + AsMut<[u8]>> Memory<M> {
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
        self.counts.live_pages = self.counts.live_pages.wrapping_add_signed(change.into());
    }

    /// Makes an entry of the map name another page; the one that it named is dead.
    pub fn remap(&mut self, index: u32, page: Option<PageNumber>) {
        if let Some(old) = self.page(index) {
            self.count(old, -1);
        }
        if let Some(page) = page {
            self.count(page, 1);
        }
        self.set_entry(index, page);
    }

    /// Recounts live pages from the map. An entry that names a page that is another entry's is dropped.
    pub fn recount(&mut self) {
        let layout = self.layout;
        self.bytes.as_mut()[layout.live_at()..layout.buffer_at()].fill(0);
        layout.part.blocks().for_each(|block| self.set_live(block, 0));
        self.counts.live_pages = 0;
        for index in 0..layout.entries() {
            match self.page(index) {
                Some(page) if self.is_live(page) => self.set_entry(index, None),
                Some(page) => self.count(page, 1),
                None => {}
            }
        }
    }

    /// Sets all entries of the map to none, and what is known of chunks to nothing.
    pub fn forget_map(&mut self) {
        let layout = self.layout;
        let bytes = self.bytes.as_mut();
        bytes[layout.chunks_at()..layout.map_at()].fill(0);
        bytes[layout.map_at()..layout.memory_bytes()].fill(0xFF);
    }

    /// For a chunk: the sequence up to which it takes account of programs; while mounting looks for chunks, that of its
    /// program.
    pub fn chunk_sequence(&self, chunk: u32) -> u64 {
        u64::from_le_bytes(self.number(self.layout.chunks_at() + chunk as usize * AS_OF_BYTES))
    }

    pub fn set_chunk_sequence(&mut self, chunk: u32, sequence: u64) {
        self.put(self.layout.chunks_at() + chunk as usize * AS_OF_BYTES, &sequence.to_le_bytes());
    }
}
