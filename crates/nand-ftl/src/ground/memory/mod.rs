//! What the FTL keeps in the memory that the caller gives: blocks, live pages, a buffer, the journal, the map; and
//! sums over these.

pub(crate) mod blocks;
mod chunk;
pub(crate) mod journal;
mod map;

use crate::layout::Layout;

/// Sums over blocks and pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub free_blocks: u16,
    /// Blocks that are not bad.
    pub good_blocks: u16,
    /// Live pages, those in bad blocks included.
    pub live_pages: u32,
    /// Erases of all good blocks.
    pub erase_sum: u64,
}

/// How long the journal is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct JournalExtent {
    entries: usize,
    runs: u16,
    trims: u16,
}

/// The memory with its layout.
#[derive(Clone, Debug)]
pub(crate) struct Memory<M> {
    bytes: M,
    layout: Layout,
    counts: Counts,
    journal: JournalExtent,
}

impl<M: AsRef<[u8]> + AsMut<[u8]>> Memory<M> {
    /// Memory of at least [`Layout::memory_bytes`], all of it forgotten.
    pub fn new(mut bytes: M, layout: Layout) -> Self {
        bytes.as_mut()[..layout.memory_bytes()].fill(0);
        let mut memory = Memory { bytes, layout, counts: Counts::default(), journal: JournalExtent::default() };
        memory.forget_map();
        memory
    }

    /// Continues with another number of logical pages, if the memory suffices; the map is forgotten.
    pub fn with_layout(self, layout: Layout) -> Option<Self> {
        if self.len() < layout.memory_bytes() {
            return None;
        }
        let mut memory = Memory { layout, ..self };
        memory.forget_map();
        Some(memory)
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn counts(&self) -> Counts {
        self.counts
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

    /// A page with its out-of-band area, to or from flash.
    fn buffer(&self) -> &[u8] {
        &self.bytes.as_ref()[self.layout.buffer_at()..self.layout.journal_at()]
    }

    pub fn buffer_mut(&mut self) -> &mut [u8] {
        let (from, to) = (self.layout.buffer_at(), self.layout.journal_at());
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
}
