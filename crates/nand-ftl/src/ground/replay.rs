//! What flash holds, found while mounting after a power cut of any kind: the steps 1 to 4 of [mounting](crate::mount).

use core::mem::replace;
use core::ops::Range;

use norn_flash::{Block, Nand, PageAddress};

use super::log::Log;
use super::memory::Memory;
use super::memory::blocks::{BlockState, Flag};
use super::pages::Pages;
use crate::error::{MountError, MountRefusal, Outcome, memory_too_small, mount_error};
use crate::format::{CHUNK_BASE, ChunkHeader, Content, FORMAT_BEGUN, Tag};
use crate::layout::{Layout, max_logical_pages};

/// Sequence numbers left out at each mount, so that those of torn pages do not come again.
const SEQUENCE_GAP: u64 = 16;

/// What flash holds.
#[derive(Debug)]
pub(crate) struct Replayed<D, M> {
    /// No block of it is free or open.
    pub log: Log<D, M>,
    /// The newest version of each chunk was programmed as this one or later.
    pub horizon: u64,
}

/// Whether chunks were found for the whole map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunks {
    Complete,
    Missing,
}

/// Reads what flash holds. Blocks are marked as tail, as unfinished, and as those of suspects, which do not count yet.
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
    replay.make_map().map_err(mount_error)?;
    let sequence = next_sequence(replay.memory());
    Ok(Replayed { log: Log::new(replay.pages, sequence), horizon: replay.horizon })
}

/// A number that no page has, whole or torn; 1 if there is no page.
pub(crate) fn next_sequence<M: AsRef<[u8]> + AsMut<[u8]>>(memory: &Memory<M>) -> u64 {
    let part = memory.layout().part;
    match part.blocks().map(|block| memory.opened(block)).max() {
        None | Some(0) => 1,
        Some(newest) => newest + u64::from(part.pages_per_block) + SEQUENCE_GAP,
    }
}

/// Finds out when each block was opened (step 1). A block that holds something, but no page that is whole, may hold one
/// tomorrow: it is unfinished. What was programmed before a format began does not count.
pub(crate) fn find_blocks<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(pages: &mut Pages<D, M>) -> Outcome<(), D> {
    let part = pages.layout().part;
    let mut format_begun = 0;
    for block in part.blocks() {
        for page in 0..part.pages_per_block {
            match pages.load(block.page(page))? {
                Content::Page { tag, .. } => {
                    // The pages of a block are numbered without gaps, those that cannot be read as well.
                    pages.memory.set_opened(block, tag.sequence.saturating_sub(u64::from(page)).max(1));
                    pages.memory.set_erases(block, u32::from(tag.wear));
                    pages.memory.clear(block, Flag::Unfinished);
                    if tag.lba == FORMAT_BEGUN {
                        format_begun = tag.sequence.max(format_begun);
                    }
                    break;
                }
                Content::Blank => break,
                Content::Garbage => pages.memory.set(block, Flag::Unfinished),
            }
        }
    }
    for block in part.blocks() {
        if pages.memory.opened(block) < format_begun {
            pages.memory.set_opened(block, 0);
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
    fn make_map(&mut self) -> Outcome<(), D> {
        self.scan(self.horizon.max(1)..u64::MAX)?;
        if self.find_chunks()? == Chunks::Missing {
            self.memory().forget_map();
            let scanned = replace(&mut self.horizon, 1);
            self.scan(1..scanned)?;
            self.find_chunks()?;
        }
        self.load_chunks()?;
        self.replay_tail()?;
        self.drop_stale_entries()?;
        self.memory().recount();
        self.memory().count_blocks();
        Ok(())
    }

    /// Makes the blocks that were opened at these programs tail, and decides which of their pages count: those up to
    /// the last one that is whole now. Pages after that one do not count, whatever they are when they are loaded next.
    /// The last one itself is a suspect, unless the block is full and the session went on after it.
    fn scan(&mut self, opened: Range<u64>) -> Outcome<(), D> {
        let part = self.pages.layout().part;
        for block in part.blocks() {
            if !opened.contains(&self.pages.memory.opened(block)) {
                continue;
            }
            let mut end = part.pages_per_block;
            while end > 0 && !matches!(self.pages.load(block.page(end - 1))?, Content::Page { .. }) {
                end -= 1;
            }
            let is_full = end == part.pages_per_block;
            let memory = &mut self.pages.memory;
            memory.set(block, Flag::Tail);
            memory.set_end(block, end);
            let next = opened_after(memory, block);
            // The newest block is copied and erased even if it is full: so a mount takes no free block for good.
            if !is_full || next.is_none() {
                memory.set(block, Flag::Unfinished);
            }
            if end > 0 && !(is_full && next.is_some_and(|next| next.is_multiple_of(2))) {
                memory.set(block, Flag::Suspect);
            }
        }
        Ok(())
    }

    /// Calls `visit` with each page of the tail that counts, loaded, without suspects; it may load others.
    fn visit_tail(&mut self, mut visit: impl FnMut(&mut Self, PageAddress, Tag) -> Outcome<(), D>) -> Outcome<(), D> {
        for block in self.pages.layout().part.blocks() {
            if !self.pages.memory.has(block, Flag::Tail) {
                continue;
            }
            for page in 0..self.certain_pages(block) {
                if let Content::Page { tag, .. } = self.pages.load(block.page(page))? {
                    visit(self, block.page(page), tag)?;
                }
            }
        }
        Ok(())
    }

    /// Pages of a block of the tail that count, without its suspect.
    fn certain_pages(&self, block: Block) -> u16 {
        let memory = &self.pages.memory;
        memory.end(block) - u16::from(memory.has(block, Flag::Suspect))
    }

    /// The sequence of the page that the map names for a logical page. A chunk may name a page that has been erased
    /// since, and programmed again by an operation that was cut: that one does not count. Cost: a load.
    fn sequence_at(&mut self, lba: u32) -> Outcome<Option<u64>, D> {
        let (memory, layout) = (&self.pages.memory, self.pages.layout());
        let Some(page) = memory.page(lba) else { return Ok(None) };
        let PageAddress { block, page } = layout.part.page_at(page);
        let is_known = memory.opened(block) + u64::from(page) <= memory.chunk_sequence(layout.chunk_of(lba));
        let counts = match memory.opened(block) {
            0 => false,
            _ => !memory.has(block, Flag::Tail) || page < self.certain_pages(block) || is_known,
        };
        if counts { self.pages.sequence_at(lba) } else { Ok(None) }
    }

    /// Finds the newest version of each chunk since the horizon (step 3). A chunk of which there are only suspects is
    /// not missing: the others have been erased, which happens only when one of the suspects is whole for certain.
    fn find_chunks(&mut self) -> Outcome<Chunks, D> {
        self.visit_tail(|replay, page, tag| {
            if tag.sequence >= replay.horizon {
                replay.note_chunk(page, tag);
            }
            Ok(())
        })?;
        for chunk in 0..self.pages.layout().chunks() {
            if self.memory().chunk_sequence(chunk) == 0 && self.load_suspected_chunk(chunk)?.is_none() {
                return Ok(Chunks::Missing);
            }
        }
        Ok(Chunks::Complete)
    }

    /// Loads the newest version of a chunk among the suspects.
    fn load_suspected_chunk(&mut self, chunk: u32) -> Outcome<Option<ChunkHeader>, D> {
        let mut last = None;
        while let Some(suspect) = self.memory().suspect_before(last) {
            last = Some(suspect);
            if let Content::Page { tag, .. } = self.pages.load(suspect.page)?
                && tag.lba == CHUNK_BASE + chunk
                && tag.sequence >= self.horizon
                && let Some(header) = self.chunk_header()
            {
                return Ok(Some(header));
            }
        }
        Ok(None)
    }

    /// The header of the buffered page, if it is a chunk of this device.
    fn chunk_header(&self) -> Option<ChunkHeader> {
        let header = ChunkHeader::decode(self.pages.memory.data());
        header.filter(|header| header.logical_pages == self.pages.layout().logical_pages)
    }

    /// Takes the buffered page, if it is a chunk, for the newest version unless a newer one is known.
    fn note_chunk(&mut self, page: PageAddress, tag: Tag) {
        let layout = *self.pages.layout();
        let chunk = tag.lba.checked_sub(CHUNK_BASE).filter(|&chunk| chunk < layout.chunks());
        let Some(chunk) = chunk else { return };
        let belongs = self.chunk_header().is_some();
        let memory = self.memory();
        if belongs && memory.chunk_sequence(chunk) < tag.sequence {
            memory.set_chunk_sequence(chunk, tag.sequence);
            memory.set_entry(layout.index_of_chunk(chunk), Some(layout.part.number_of(page)));
        }
    }

    /// Loads the chunks that were found. One of which there are suspects only has no page yet. For one that was not
    /// found, the map's entries are none as of the beginning, and blocks are bad that are marked so.
    fn load_chunks(&mut self) -> Outcome<(), D> {
        let layout = *self.pages.layout();
        for chunk in 0..layout.chunks() {
            let header = match self.memory().page(layout.index_of_chunk(chunk)) {
                Some(page) => self.pages.load_chunk(layout.part.page_at(page))?,
                None => self.load_suspected_chunk(chunk)?,
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
    fn replay_tail(&mut self) -> Outcome<(), D> {
        let layout = *self.pages.layout();
        self.visit_tail(|replay, page, tag| {
            if tag.lba >= layout.logical_pages {
                return Ok(());
            }
            let known = replay.memory().chunk_sequence(layout.chunk_of(tag.lba));
            if tag.sequence > known && replay.sequence_at(tag.lba)?.is_none_or(|current| current < tag.sequence) {
                replay.memory().set_entry(tag.lba, Some(layout.part.number_of(page)));
            }
            Ok(())
        })
    }

    /// Drops entries that suspects made out of date, and that do not count yet: the pages that they name may be others'
    /// by now. Those are a suspect's own entry; or, if it is a chunk, those of pages that it says are trimmed.
    fn drop_stale_entries(&mut self) -> Outcome<(), D> {
        let mut last = None;
        while let Some(suspect) = self.memory().suspect_before(last) {
            last = Some(suspect);
            let Content::Page { tag, .. } = self.pages.load(suspect.page)? else { continue };
            for index in self.entries_of(tag) {
                if self.memory().page(index).is_some() && self.sequence_at(index)?.is_none() {
                    self.memory().set_entry(index, None);
                }
            }
        }
        Ok(())
    }

    /// The entries of the map that a page may make out of date.
    fn entries_of(&self, tag: Tag) -> Range<u32> {
        let layout = self.pages.layout();
        match tag.lba.checked_sub(CHUNK_BASE) {
            Some(chunk) => layout.entries_of_chunk(chunk),
            None if tag.lba < layout.logical_pages => tag.lba..tag.lba + 1,
            None => 0..0,
        }
    }
}

/// The first program of the block that was opened next. If it has an even number, the session went on there after the
/// block was full, whose last page is whole then.
fn opened_after<M: AsRef<[u8]> + AsMut<[u8]>>(memory: &Memory<M>, block: Block) -> Option<u64> {
    let opened = memory.layout().part.blocks().map(|block| memory.opened(block));
    opened.filter(|&opened| opened > memory.opened(block)).min()
}
