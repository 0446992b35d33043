//! The checkpoint: the map and the table of blocks in chunks of a page, written one after the other, over and over.
//!
//! A chunk is a page like any other: it is appended, it has an entry in the map, and its predecessor is dead. Its
//! entries take account of every program before it. A round writes each chunk once. What mounting has to look at is
//! what was programmed since the beginning of the round before the current one: that is the *horizon*, and each chunk
//! names it.
//!
//! A trim is a chunk with none in its entries: it outlives, as the newest version of its chunk, every older version of
//! the pages.
//!
//! Invariant: the newest version of each chunk was programmed at the horizon or later, and a block that was open then
//! counts from its first page.

use core::ops::Range;

use norn_flash::Nand;

use crate::error::Outcome;
use crate::ground::log::Log;

/// Programs after which a client without deadlines pays for a chunk: pages to look at when mounting against pages
/// written. A checkpoint of n chunks has a tail of about 2 · 16 · n pages.
pub const PROGRAMS_PER_CHUNK: u32 = 16;

/// The log, and where the rounds of its checkpoint are.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint<D, M> {
    log: Log<D, M>,
    /// The chunk that is due next.
    cursor: u32,
    /// Start of the current round.
    start: u64,
    /// Start of the round before it.
    horizon: u64,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Checkpoint<D, M> {
    /// A round begins. What is known of the chunks' age is the horizon alone.
    pub fn new(log: Log<D, M>, horizon: u64) -> Self {
        Checkpoint { log, cursor: 0, start: horizon, horizon }
    }

    pub fn log(&self) -> &Log<D, M> {
        &self.log
    }

    pub fn log_mut(&mut self) -> &mut Log<D, M> {
        &mut self.log
    }

    pub fn into_device(self) -> D {
        self.log.into_device()
    }

    pub fn horizon(&self) -> u64 {
        self.horizon
    }

    /// Whether a client without deadlines is to pay for a chunk.
    pub fn is_due(&self) -> bool {
        self.log.programs() >= PROGRAMS_PER_CHUNK
    }

    /// Writes the next chunk, which needs a free page. Cost: one program.
    pub fn step(&mut self) -> Outcome<(), D> {
        if self.cursor == 0 {
            self.start_round();
        }
        let chunk = self.cursor;
        self.cursor = (chunk + 1) % self.log.layout().chunks();
        self.log.forget_programs();
        self.write_chunk(chunk)
    }

    fn start_round(&mut self) {
        self.horizon = self.start;
        // What precedes in the open block belongs to the tail as well, so that a block is in it from its first page on
        // or not at all.
        self.start = self.log.opened_at();
    }

    /// Writes a chunk as it is now, out of turn.
    pub fn write_chunk(&mut self, chunk: u32) -> Outcome<(), D> {
        self.log.write_chunk(chunk, self.horizon)
    }

    /// Unmaps entries of one chunk and makes that durable, which needs a free page.
    pub fn trim(&mut self, chunk: u32, indices: Range<u32>) -> Outcome<(), D> {
        indices.for_each(|index| self.log.unmap(index));
        self.write_chunk(chunk)
    }
}
