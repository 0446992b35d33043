//! The checkpoint: pages with a part of the map, a *chunk*, and with the journal of what was programmed since the page
//! before.
//!
//! A page of the checkpoint is a page like any other: it is appended, it has an entry in the map, its predecessor is
//! dead, collectors copy it. Chunks are written one after the other, over and over, each when the journal is full; so
//! the newest page of each chunk, from the newest back, have between them the whole map, and every change since.
//!
//! A trim is an entry of the journal. It is on flash with the next page of the checkpoint: that one is due before a
//! block is erased, and with a flush.
//!
//! A page whose journal is less than half full is replaced by the next: that has the same chunk, and the journal of
//! both. So many flushes, or many mounts, leave one live page.
//!
//! Invariant: the journals of the newest page of each chunk, and that in memory, have every program since the oldest of
//! these pages, and no page is in them that does not count.

use norn_flash::{Nand, PageNumber};

use crate::error::{FtlError, Outcome};
use crate::ground::log::{Log, WRITTEN};
use crate::ground::medium::Source;
use crate::ground::memory::blocks::Flag;
use crate::layout::PROGRAMS_OF_MOUNT;

/// Where the next page of the checkpoint continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Continuation {
    /// The chunk that is due next.
    pub chunk: u32,
    /// The journal in memory begins after this program.
    pub since: u64,
}

/// What follows a page of the checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// A page with the next chunk, and with a journal of its own.
    NextChunk,
    /// A page that replaces it: with the same chunk, and with its journal, too.
    Replaced,
}

/// The log, and where its checkpoint is.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint<D, M> {
    log: Log<D, M>,
    next: Continuation,
    /// The journal has a trim that no page of the checkpoint has.
    trimmed: bool,
    /// What a page of the checkpoint says of a page that does not count yet.
    suspect: Option<PageNumber>,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Checkpoint<D, M> {
    pub fn new(log: Log<D, M>, next: Continuation) -> Self {
        Checkpoint { log, next, trimmed: false, suspect: None }
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

    pub fn next(&self) -> Continuation {
        self.next
    }

    /// Whether the table of blocks on flash has one as good that has gone bad. Cost: O(blocks), no flash.
    pub fn has_unrecorded_blocks(&self) -> bool {
        let memory = self.log.memory();
        memory.layout().part.blocks().any(|block| memory.has(block, Flag::Unrecorded))
    }

    /// Whether a trim is in memory alone.
    pub fn has_trims(&self) -> bool {
        self.trimmed
    }

    /// The page that the next pages of the checkpoint name as one that does not count.
    pub fn set_suspect(&mut self, suspect: Option<PageNumber>) {
        self.suspect = suspect;
    }

    /// Writes a page of the checkpoint if the journal has no room for a program more. That takes the buffer. Needs a
    /// free page then. Cost: nothing, or one program.
    pub fn make_journal_room(&mut self) -> Outcome<(), D> {
        if self.log.memory().journal_has_room(1) { Ok(()) } else { self.step() }
    }

    /// Writes the next page of the checkpoint, which needs a free page. Cost: one program.
    pub fn step(&mut self) -> Outcome<(), D> {
        self.log.drop_replaced_pages();
        let is_half_full = 2 * self.log.memory().journal_used() >= self.log.layout().journal_bytes;
        self.write(if is_half_full { Then::NextChunk } else { Then::Replaced })
    }

    /// Writes a page of the checkpoint while mounting, which the next one replaces if its journal has room for what a
    /// mount programs: mounts that are cut in a row leave no live pages in blocks of their own. Needs a free page.
    /// Cost: one program.
    pub fn step_of_mount(&mut self) -> Outcome<(), D> {
        self.log.drop_replaced_pages();
        self.write(if self.log.memory().journal_has_room(usize::from(PROGRAMS_OF_MOUNT)) {
            Then::Replaced
        } else {
            Then::NextChunk
        })
    }

    /// As [`step_of_mount`](Self::step_of_mount), before pages are gathered: the next page replaces it only if its
    /// journal is all but empty. Of mounts that are cut one after the other, only the first finds it full.
    pub fn step_before_gathering(&mut self) -> Outcome<(), D> {
        self.log.drop_replaced_pages();
        let is_empty = self.log.memory().journal_used() <= 2 * self.log.layout().run_bytes();
        self.write(if is_empty { Then::Replaced } else { Then::NextChunk })
    }

    /// Writes a page of the checkpoint that the next one does not replace, which needs a free page. Cost: one program.
    pub fn advance(&mut self) -> Outcome<(), D> {
        self.write(Then::NextChunk)
    }

    /// Mounting trusts its word for pages that it does not look at, and looks at pages that were programmed since. So
    /// what precedes it is to outlive a loss of power if it does, and it is to if what follows does.
    fn write(&mut self, then: Then) -> Outcome<(), D> {
        if self.log.free_pages() == 0 {
            // Before the journal is given up.
            return Err(FtlError::NoSpace);
        }
        self.log.barrier()?;
        let Continuation { chunk, since } = self.next;
        let as_of = self.log.sequence() - 1;
        let index = self.log.layout().index_of_chunk(chunk);
        self.log.chunk_to_buffer(chunk, since, self.suspect);
        if then == Then::NextChunk {
            self.log.clear_journal();
            self.next = Continuation { chunk: (chunk + 1) % self.log.layout().chunks(), since: as_of };
        }
        self.log.append(index, Source::Buffer, WRITTEN)?;
        self.log.counters.chunks += 1;
        self.trimmed = false;
        self.log.barrier()
    }

    /// Unmaps logical pages, and notes that in the journal, which has room.
    pub fn trim(&mut self, first: u32, count: u32) {
        (first..first + count).for_each(|index| self.log.unmap(index));
        self.log.note_trim(first, count);
        self.trimmed = true;
    }

    /// Unmaps what the journal says is trimmed: a mount has found that journal, and no page of it is trimmed that was
    /// programmed since.
    pub fn repeat_trims(&mut self) {
        for number in 0.. {
            let Some((first, count)) = self.log.memory().trims().nth(number) else { break };
            for index in first..first + count {
                let memory = self.log.memory();
                if memory.page(index).is_some_and(|page| memory.journaled(page) != Some(index)) {
                    self.log.unmap(index);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use norn_flash_sim::NandSim;
    use norn_flash_sim::nand_catalogue::test_part;

    use crate::ftl::{Ftl, FtlConfig};
    use crate::layout::Lba;

    #[test]
    fn a_page_is_replaced_if_its_journal_is_less_than_half_full() {
        let (mut halves, mut replaced) = (0, 0);
        for (pages_per_block, seed) in [(8, 1), (5, 2), (16, 3)] {
            let mut random = fastrand::Rng::with_seed(seed);
            let sim = NandSim::new(test_part(40, pages_per_block, 128));
            let bytes = Ftl::<NandSim, Vec<u8>>::memory_bytes(&sim.spec().part, 60);
            let mut ftl = Ftl::format(sim, vec![0; bytes], FtlConfig { logical_pages: 60 }).unwrap();
            for _ in 0..600 {
                for _ in 0..random.u32(1..9) {
                    ftl.write(Lba(random.u32(0..60)), &[7; 128]).unwrap();
                }
                ftl.log_mut().drop_replaced_pages();
                let (before, used) = (ftl.recycler().checkpoint().next(), ftl.memory().journal_used());
                if ftl.checkpoint_step().is_err() {
                    continue;
                }
                let (after, all) = (ftl.recycler().checkpoint().next(), ftl.layout().journal_bytes);
                assert_eq!(after == before, 2 * used < all, "{used} of {all} bytes");
                halves += u32::from(2 * used == all);
                replaced += u32::from(after == before);
            }
        }
        assert!(halves > 3 && replaced > 100, "{halves} just half full, {replaced} replaced");
    }
}
