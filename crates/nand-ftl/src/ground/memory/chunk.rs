//! Pages of the checkpoint in the buffer: the journal, and some entries of the map or of the table of blocks.

use norn_flash::{Block, PageNumber};

use super::Memory;
use super::blocks::{BlockState, Flag};
use crate::format::{Header, TABLE_BAD, TABLE_ENTRY_BYTES};
use crate::layout::Layout;

impl<M: AsRef<[u8]> + AsMut<[u8]>> Memory<M> {
    /// Makes the buffered page the checkpoint's with a chunk as it is now, and with the journal.
    pub fn chunk_to_buffer(&mut self, chunk: u32, header: Header) {
        let layout = self.layout;
        self.data_mut().fill(0xFF);
        let (runs, trims) = self.journal_to_buffer();
        Header { runs, trims, ..header }.encode(self.data_mut());
        let entries = layout.entries_of_chunk(chunk);
        let from = layout.map_at() + entries.start as usize * layout.width;
        let to = layout.buffer_at() + layout.chunk_at();
        self.bytes.as_mut().copy_within(from..from + entries.len() * layout.width, to);
        for (at, block) in table_entries(&layout, chunk) {
            let bad = if self.state(block) == BlockState::Bad { TABLE_BAD } else { 0 };
            self.clear(block, Flag::Unrecorded);
            let entry = (self.erases(block) & !TABLE_BAD) | bad;
            self.data_mut()[at..at + TABLE_ENTRY_BYTES].copy_from_slice(&entry.to_le_bytes());
        }
    }

    /// Takes the blocks of a chunk of the table from the buffered page. What a block's own pages say of the last eight
    /// bits of its erases is newer.
    pub fn blocks_from_buffer(&mut self, chunk: u32) {
        let layout = self.layout;
        for (at, block) in table_entries(&layout, chunk) {
            let data = self.data();
            let entry = u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
            let mut erases = entry & !TABLE_BAD;
            if self.opened(block) > 0 {
                let newer = (self.erases(block) as u8).wrapping_sub(erases as u8);
                erases = (erases + u32::from(newer)) & !TABLE_BAD;
            }
            self.set_erases(block, erases);
            self.set_state(block, if entry & TABLE_BAD == 0 { BlockState::Used } else { BlockState::Bad });
        }
    }

    /// The page that an entry in the buffered chunk names.
    pub fn buffered_entry(&self, number: u32) -> Option<PageNumber> {
        let Layout { width, part, .. } = self.layout;
        let from = self.layout.chunk_at() + number as usize * width;
        let mut bytes = [0; 4];
        bytes[..width].copy_from_slice(&self.buffer()[from..from + width]);
        let page = u32::from_le_bytes(bytes);
        (page < part.page_count()).then_some(PageNumber(page))
    }
}

/// Blocks of a chunk of the table, with their places in the page.
fn table_entries(layout: &Layout, chunk: u32) -> impl Iterator<Item = (usize, Block)> + use<> {
    let from = layout.chunk_at();
    layout.blocks_of_chunk(chunk).enumerate().map(move |(at, block)| (from + at * TABLE_ENTRY_BYTES, block))
}
