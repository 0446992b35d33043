//! The map in memory: which page each entry names, and which pages live.
//!
//! Invariants: once live pages are counted, a page's bit is set exactly while an entry of the map names it, and the
//! sums of live pages are the bits that are set.

use norn_flash::PageNumber;

use super::Memory;
use crate::layout::Layout;

/// An entry whose page mounting does not know yet; ones if it has none.
const UNKNOWN: u32 = u32::MAX - 1;

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

    /// Whether mounting does not know an entry's page yet.
    pub fn is_unknown(&self, index: u32) -> bool {
        let at = self.layout.map_at() + index as usize * self.layout.width;
        let entry = &self.bytes.as_ref()[at..at + self.layout.width];
        *entry == UNKNOWN.to_le_bytes()[..self.layout.width]
    }

    /// Makes all entries of the map unknown.
    pub fn forget_map(&mut self) {
        let (from, width) = (self.layout.map_at(), self.layout.width);
        let entries = &mut self.bytes.as_mut()[from..self.layout.memory_bytes()];
        entries.chunks_exact_mut(width).for_each(|entry| entry.copy_from_slice(&UNKNOWN.to_le_bytes()[..width]));
    }

    /// Entries that are unknown still have no page.
    pub fn settle_map(&mut self) {
        for index in 0..self.layout.entries() {
            if self.is_unknown(index) {
                self.set_entry(index, None);
            }
        }
    }
}
