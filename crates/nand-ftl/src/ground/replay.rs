//! What flash holds, found while mounting after a power cut of any kind: the steps 1 to 4 of [mounting](crate::mount).

use norn_flash::{Block, Nand, PageAddress};

use super::log::Log;
use super::memory::Memory;
use super::memory::blocks::{BlockState, Flag};
use super::pages::Pages;
use crate::error::{MountError, MountRefusal, Outcome, memory_too_small, mount_error};
use crate::format::{CHUNK_BASE, ChunkHeader, Content, Tag};
use crate::layout::{Layout, max_logical_pages};

/// Sequence numbers left out at each mount, so that those of torn pages do not come again.
const SEQUENCE_GAP: u64 = 16;

/// The newest page of all. It does not count yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspect {
    pub page: PageAddress,
    pub tag: Tag,
}

/// What flash holds.
#[derive(Debug)]
pub(crate) struct Replayed<D, M> {
    /// No block of it is free or open.
    pub log: Log<D, M>,
    /// The newest version of each chunk was programmed as this one or later.
    pub horizon: u64,
    pub suspect: Option<Suspect>,
}

/// Whether chunks were found for the whole map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunks {
    Complete,
    Missing,
}

/// Reads what flash holds. Blocks are marked as tail and as unfinished.
pub(crate) fn replay<D, M>(pages: Pages<D, M>) -> Result<Replayed<D, M>, MountError<D::Error>>
where
    D: Nand,
    M: AsRef<[u8]> + AsMut<[u8]>,
{
    let mut pages = pages;
    pages.medium.restart().map_err(mount_error)?;
    find_blocks(&mut pages).map_err(mount_error)?;
    let header = find_horizon(&mut pages).map_err(mount_error)?.ok_or(MountError::NotFormatted)?;
    let pages = with_logical_pages(pages, header.logical_pages)?;
    let mut replay = Replay { pages, horizon: header.horizon };
    let suspect = replay.make_map().map_err(mount_error)?;
    let sequence = suspect.map_or(0, |suspect| suspect.tag.sequence) + SEQUENCE_GAP;
    Ok(Replayed { log: Log::new(replay.pages, sequence), horizon: replay.horizon, suspect })
}

/// Finds out when each block was opened (step 1).
fn find_blocks<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(pages: &mut Pages<D, M>) -> Outcome<(), D> {
    let part = pages.layout().part;
    for block in part.blocks() {
        // If a page cannot be read, the next pages also show when the block was opened, or a little later.
        for page in 0..part.pages_per_block {
            match pages.load(block.page(page))? {
                Content::Page { tag, .. } => {
                    pages.memory.set_opened(block, tag.sequence);
                    pages.memory.set_erases(block, u32::from(tag.wear));
                    break;
                }
                Content::Blank => break,
                Content::Garbage => {}
            }
        }
    }
    Ok(())
}

/// The header of a chunk in the newest block that has one (step 2).
fn find_horizon<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(pages: &mut Pages<D, M>) -> Outcome<Option<ChunkHeader>, D> {
    let mut before = u64::MAX;
    while let Some(block) = newest_block_before(&pages.memory, before) {
        before = pages.memory.opened(block);
        let mut found: Option<ChunkHeader> = None;
        for page in 0..pages.layout().part.pages_per_block {
            let content = pages.load(block.page(page))?;
            if matches!(content, Content::Page { tag, .. } if tag.lba >= CHUNK_BASE) {
                let header = ChunkHeader::decode(pages.memory.data());
                found = header.filter(|new| found.is_none_or(|old| new.horizon >= old.horizon)).or(found);
            }
        }
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn newest_block_before<M: AsRef<[u8]> + AsMut<[u8]>>(memory: &Memory<M>, sequence: u64) -> Option<Block> {
    let earlier = |block: &Block| (1..sequence).contains(&memory.opened(*block));
    memory.layout().part.blocks().filter(earlier).max_by_key(|&block| memory.opened(block))
}

/// Continues with the number of logical pages that was found.
fn with_logical_pages<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(
    pages: Pages<D, M>,
    logical_pages: u32,
) -> Result<Pages<D, M>, MountError<D::Error>> {
    let part = pages.layout().part;
    let max = max_logical_pages(&part, 0);
    if logical_pages > max {
        return Err(MountError::Refused(MountRefusal::TooLarge { logical_pages, max }));
    }
    let Pages { medium, memory } = pages;
    let layout = Layout::new(part, logical_pages);
    let given = memory.len();
    let memory = memory.with_layout(layout).ok_or(memory_too_small(layout.memory_bytes(), given))?;
    Ok(Pages::new(medium, memory))
}

/// Pages of a known number, and the horizon.
struct Replay<D, M> {
    pages: Pages<D, M>,
    horizon: u64,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Replay<D, M> {
    fn memory(&mut self) -> &mut Memory<M> {
        &mut self.pages.memory
    }

    /// Makes the map from chunks and tail (steps 3 and 4); again with every block as tail if a chunk is missing.
    fn make_map(&mut self) -> Outcome<Option<Suspect>, D> {
        self.mark_tail();
        let suspect = self.find_suspect()?;
        if self.find_chunks(suspect)? == Chunks::Missing {
            self.memory().forget_map();
            self.horizon = 1;
            self.mark_tail();
            self.find_chunks(suspect)?;
        }
        self.load_chunks()?;
        self.replay_tail(suspect)?;
        if let Some(suspect) = suspect {
            self.drop_stale_entries(suspect)?;
        }
        self.memory().recount();
        self.memory().count_blocks();
        Ok(suspect)
    }

    fn mark_tail(&mut self) {
        let from = self.horizon.max(1);
        let memory = self.memory();
        for block in memory.layout().part.blocks() {
            if memory.opened(block) >= from {
                memory.set(block, Flag::Tail);
            }
        }
    }

    /// Calls `visit` with each whole page in the tail, loaded; it may load others.
    fn visit_tail(&mut self, mut visit: impl FnMut(&mut Self, PageAddress, Tag) -> Outcome<(), D>) -> Outcome<(), D> {
        let part = self.pages.layout().part;
        for block in part.blocks() {
            if !self.pages.memory.has(block, Flag::Tail) {
                continue;
            }
            for page in 0..part.pages_per_block {
                if let Content::Page { tag, .. } = self.pages.load(block.page(page))? {
                    visit(self, block.page(page), tag)?;
                }
            }
        }
        Ok(())
    }

    /// The newest page of all, and which blocks are unfinished: those of the tail whose last page is not whole, and the
    /// newest.
    fn find_suspect(&mut self) -> Outcome<Option<Suspect>, D> {
        let part = self.pages.layout().part;
        for block in part.blocks() {
            if self.memory().has(block, Flag::Tail) {
                self.memory().set(block, Flag::Unfinished);
            }
        }
        let mut suspect: Option<Suspect> = None;
        self.visit_tail(|replay, page, tag| {
            if page.page == part.pages_per_block - 1 {
                replay.memory().clear(page.block, Flag::Unfinished);
            }
            if suspect.is_none_or(|suspect| suspect.tag.sequence < tag.sequence) {
                suspect = Some(Suspect { page, tag });
            }
            Ok(())
        })?;
        if let Some(suspect) = suspect {
            self.memory().set(suspect.page.block, Flag::Unfinished);
        }
        Ok(suspect)
    }

    /// Finds the newest version of each chunk since the horizon, without the suspect (step 3), unless there is no
    /// other: then the other has been erased, which happens only when the newest is whole for certain.
    fn find_chunks(&mut self, suspect: Option<Suspect>) -> Outcome<Chunks, D> {
        let layout = *self.pages.layout();
        self.visit_tail(|replay, page, tag| {
            let is_suspect = suspect.is_some_and(|suspect| suspect.page == page);
            if !is_suspect && tag.sequence >= replay.horizon {
                replay.note_chunk(page, tag);
            }
            Ok(())
        })?;
        if let Some(Suspect { page, tag }) = suspect {
            let known = tag.lba.checked_sub(CHUNK_BASE).filter(|&chunk| chunk < layout.chunks());
            if known.is_some_and(|chunk| self.memory().chunk_sequence(chunk) == 0) {
                self.pages.load(page)?;
                self.note_chunk(page, tag);
            }
        }
        let missing = (0..layout.chunks()).any(|chunk| self.memory().chunk_sequence(chunk) == 0);
        Ok(if missing { Chunks::Missing } else { Chunks::Complete })
    }

    /// Takes the buffered page, if it is a chunk, for the newest version unless a newer one is known.
    fn note_chunk(&mut self, page: PageAddress, tag: Tag) {
        let layout = *self.pages.layout();
        let chunk = tag.lba.checked_sub(CHUNK_BASE).filter(|&chunk| chunk < layout.chunks());
        let Some(chunk) = chunk else { return };
        let memory = self.memory();
        let header = ChunkHeader::decode(memory.data());
        let belongs = header.is_some_and(|header| header.logical_pages == layout.logical_pages);
        if belongs && memory.chunk_sequence(chunk) < tag.sequence {
            memory.set_chunk_sequence(chunk, tag.sequence);
            memory.set_entry(layout.index_of_chunk(chunk), Some(layout.part.number_of(page)));
        }
    }

    /// Loads the chunks that were found. For one that was not, the map's entries are none as of the beginning, and
    /// blocks are bad that are marked so.
    fn load_chunks(&mut self) -> Outcome<(), D> {
        let layout = *self.pages.layout();
        for chunk in 0..layout.chunks() {
            let header = match self.memory().page(layout.index_of_chunk(chunk)) {
                Some(page) => self.pages.load_chunk(layout.part.page_at(page))?,
                None => None,
            };
            self.memory().set_chunk_sequence(chunk, header.map_or(0, |header| header.as_of));
            match header {
                Some(_) => self.memory().chunk_from_buffer(chunk),
                None => {
                    self.memory().set_entry(layout.index_of_chunk(chunk), None);
                    self.read_marks(chunk)?;
                }
            }
        }
        Ok(())
    }

    fn read_marks(&mut self, chunk: u32) -> Outcome<(), D> {
        for block in self.pages.layout().blocks_of_chunk(chunk) {
            if self.pages.medium.is_marked_bad(block)? {
                self.memory().set_state(block, BlockState::Bad);
            }
        }
        Ok(())
    }

    /// Makes the map name the newest version of each page in the tail (step 4).
    fn replay_tail(&mut self, suspect: Option<Suspect>) -> Outcome<(), D> {
        let layout = *self.pages.layout();
        self.visit_tail(|replay, page, tag| {
            let is_suspect = suspect.is_some_and(|suspect| suspect.page == page);
            if is_suspect || tag.lba >= layout.logical_pages {
                return Ok(());
            }
            let known = replay.memory().chunk_sequence(layout.chunk_of(tag.lba));
            if tag.sequence > known && replay.pages.sequence_at(tag.lba)?.is_none_or(|current| current < tag.sequence) {
                replay.memory().set_entry(tag.lba, Some(layout.part.number_of(page)));
            }
            Ok(())
        })
    }

    /// Drops entries that the suspect made out of date, and that does not count yet: the pages that they name may be
    /// others' by now. Those are its own entry; or, if it is a chunk, those of pages that it says are trimmed.
    fn drop_stale_entries(&mut self, suspect: Suspect) -> Outcome<(), D> {
        let layout = *self.pages.layout();
        let stale = match suspect.tag.lba.checked_sub(CHUNK_BASE) {
            Some(chunk) => layout.entries_of_chunk(chunk),
            None if suspect.tag.lba < layout.logical_pages => suspect.tag.lba..suspect.tag.lba + 1,
            None => return Ok(()),
        };
        for index in stale {
            if self.memory().page(index).is_some() && self.pages.sequence_at(index)?.is_none() {
                self.memory().set_entry(index, None);
            }
        }
        Ok(())
    }
}
