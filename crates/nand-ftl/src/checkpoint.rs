//! The checkpoint: the map and the table of blocks in chunks of a page, written one after the other, over and over.
//!
//! A chunk is a page like any other: it is appended, it has an entry in the map, and its predecessor is dead. Its entries take account of
//! every program before it. A round writes each chunk once. What mounting has to look at is what was programmed since the round
//! before the one at hand began: that is the *horizon*, and each chunk names it.
//!
//! A trim is a chunk with none in its entries: it outlives, as the newest version of its chunk, every older version of the pages.
//!
//! Invariant: the newest version of each chunk was programmed at the horizon or later, and a block that was open then counts from its
//! first page.

use norn_flash::{Block, Nand};

use crate::error::FtlError;
use crate::format::{CHUNK_HEADER_BYTES, ChunkHeader, TABLE_BAD, TABLE_ENTRY_BYTES};
use crate::ftl::{Ftl, Source};
use crate::memory::BlockState;

/// Programs after which a client without deadlines pays for a chunk: pages to look at when mounting against pages written. A
/// checkpoint of n chunks has a tail of about 2 · 16 · n pages.
pub const PROGRAMS_PER_CHUNK: u32 = 16;

/// Where the rounds of the checkpoint are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// The chunk that is due next.
    pub cursor: u32,
    /// Start of the round at hand.
    pub start: u64,
    /// Start of the round before it.
    pub horizon: u64,
    /// Programs since the last chunk that was due.
    pub programs: u32,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Ftl<D, M> {
    /// Writes the next chunk of the checkpoint, which needs a free page. Cost: one program.
    ///
    /// # Errors
    /// [`FtlError::NoSpace`] without a free page; [`FtlError::Device`].
    pub fn checkpoint_step(&mut self) -> Result<(), FtlError<D::Error>> {
        self.check_running()?;
        if self.rounds.cursor == 0 {
            self.start_round();
        }
        let chunk = self.rounds.cursor;
        self.rounds.cursor = (chunk + 1) % self.layout().chunks();
        self.rounds.programs = 0;
        self.write_chunk(chunk)
    }

    fn start_round(&mut self) {
        self.rounds.horizon = self.rounds.start;
        // What precedes in the open block belongs to the tail as well, so that a block is in it from its first page on or not at all.
        self.rounds.start = self.open.map_or(self.sequence, |open| self.memory.opened(open.block));
    }

    /// Writes a chunk if one is due.
    pub(crate) fn write_due_chunk(&mut self) -> Result<(), FtlError<D::Error>> {
        if self.rounds.programs < PROGRAMS_PER_CHUNK {
            return Ok(());
        }
        self.make_room()?;
        self.checkpoint_step()
    }

    /// Writes a chunk as it is now. Behind a barrier: mounting takes its word for pages that it does not look at.
    pub(crate) fn write_chunk(&mut self, chunk: u32) -> Result<(), FtlError<D::Error>> {
        self.device.barrier()?;
        let layout = *self.layout();
        let as_of = self.sequence - 1;
        let header = ChunkHeader { logical_pages: layout.logical_pages, as_of, horizon: self.rounds.horizon };
        let data = self.memory.data_mut();
        data.fill(0xFF);
        header.encode(data);
        match chunk.checked_sub(layout.map_chunks) {
            None => {
                let from = chunk * layout.chunk_entries;
                let count = layout.chunk_entries.min(layout.logical_pages - from);
                self.memory.entries_to_buffer(from, count, CHUNK_HEADER_BYTES);
            }
            Some(table) => self.table_to_buffer(table),
        }
        self.append(layout.logical_pages + chunk, Source::Buffer)?;
        self.memory.set_chunk_sequence(chunk, as_of);
        self.counters.chunks += 1;
        Ok(())
    }

    /// Blocks of a chunk of the table, with their places in the page.
    pub(crate) fn table_entries(&self, table: u32) -> impl Iterator<Item = (usize, Block)> + use<D, M> {
        let layout = *self.layout();
        let from = table * layout.chunk_blocks;
        let to = (from + layout.chunk_blocks).min(u32::from(layout.part.block_count));
        (from..to).enumerate().map(|(at, block)| (CHUNK_HEADER_BYTES + at * TABLE_ENTRY_BYTES, Block(block as u16)))
    }

    fn table_to_buffer(&mut self, table: u32) {
        for (at, block) in self.table_entries(table) {
            let bad = if self.memory.state(block) == BlockState::Bad { TABLE_BAD } else { 0 };
            let entry = (self.memory.erases(block) & !TABLE_BAD) | bad;
            self.memory.data_mut()[at..at + TABLE_ENTRY_BYTES].copy_from_slice(&entry.to_le_bytes());
        }
    }
}
