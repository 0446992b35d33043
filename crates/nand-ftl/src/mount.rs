//! Formatting, and mounting behind whatever a power cut left.
//!
//! Mounting:
//! 1. load the first page of each block: its sequence says when the block was opened;
//! 2. from the newest block on, look for a chunk of the checkpoint: it names the horizon. Blocks opened at the horizon or later are the
//!    *tail*; if a chunk turns out to be missing, every block is;
//! 3. find the newest version of each chunk in the tail, and load them: map and table of blocks;
//! 4. look at each page in the tail that its chunk does not take account of: the newest version of a logical page counts. The newest
//!    page of all is the *suspect*, and does not count yet;
//! 5. erase blocks without live pages; write the suspect anew, if it can be read;
//! 6. copy what is live in each unfinished block, fewest first, and erase it.
//!
//! What a cut can have left, and which step sees to it:
//!
//! | state | cause | step |
//! |---|---|---|
//! | a page reads as garbage or blank | its program was cut | 4 passes it over, 6 erases its block |
//! | a page reads as whole, but may not tomorrow | its program was cut late | it is the suspect: 5 programs it anew |
//! | a block reads as anything, none of it live | its erase was cut | not live: erased before it is used |
//! | two versions of a page | a copy or write was cut before the erase of the older | 4 takes the newer |
//! | blocks with pages that nothing follows | the cut itself | 6 |
//! | all of these twice | a cut in 5 or 6 | the same |
//!
//! Invariant: until the suspect is programmed anew, no block with an older version of its page is erased, for that version is live.

use norn_flash::{Block, Guard, Nand, NandPart, PageAddress};

use crate::checkpoint::Rounds;
use crate::error::{FtlError, MountError, MountRefusal};
use crate::format::{CHUNK_BASE, CHUNK_HEADER_BYTES, ChunkHeader, Codec, Content, TABLE_BAD, Tag};
use crate::ftl::{Ftl, FtlConfig, FtlCounters, Source};
use crate::layout::{Layout, max_logical_pages};
use crate::memory::{BlockState, Flag, Memory};

/// Sequence numbers left out at each mount, so that those of torn pages do not come again.
const SEQUENCE_GAP: u64 = 16;

/// Free blocks to have before pages are copied while mounting: one is enough unless a block fails.
const FREE_BLOCKS_TO_SETTLE: u16 = 3;

/// The newest page of all.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    page: PageAddress,
    tag: Tag,
}

/// Whether chunks were found for the whole map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunks {
    Complete,
    Missing,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Ftl<D, M> {
    /// Bytes of memory for a device of so many logical pages: for each logical page 1 to 4 bytes, as the number of the part's pages
    /// takes; for each page of the part a bit; for each block 16 bytes; a register; 8 bytes and an entry for each chunk of the
    /// checkpoint. The paper's 16 MB part with 16,384 logical pages takes 54 KB; a part of 1 GB with 500,000, 1.7 MB.
    pub const fn memory_bytes(part: &NandPart, logical_pages: u32) -> usize {
        Layout::new(*part, logical_pages).memory_bytes()
    }

    /// Formats a part: what was on it is gone. Blocks marked bad are left alone. `memory` has at least
    /// [`memory_bytes`](Self::memory_bytes). Cost: a load for each page that may bear a mark, an erase for each block, a program for
    /// each chunk. If it is cut short, format again.
    ///
    /// # Errors
    /// [`MountError`], but for `NotFormatted`.
    pub fn format(device: D, memory: M, config: FtlConfig) -> Result<Self, MountError<D::Error>> {
        let mut ftl = Self::unmounted(device, memory, config.logical_pages)?;
        let part = ftl.layout().part;
        for block in part.blocks() {
            if ftl.device.is_marked_bad(block).map_err(FtlError::from).map_err(mount_error)? {
                ftl.memory.set_state(block, BlockState::Bad);
            }
        }
        ftl.count_blocks();
        for block in part.blocks() {
            if ftl.memory.state(block) == BlockState::Bad {
                continue;
            }
            let mut recycling = ftl.start_recycling_of(block);
            ftl.finish_recycling(&mut recycling).map_err(mount_error)?;
        }
        let max = max_logical_pages(&part, part.block_count - ftl.good_blocks);
        if config.logical_pages > max {
            return Err(MountError::Refused(MountRefusal::TooLarge { logical_pages: config.logical_pages, max }));
        }
        for _ in 0..ftl.layout().chunks() {
            ftl.checkpoint_step().map_err(mount_error)?;
        }
        ftl.counters = FtlCounters::default();
        Ok(ftl)
    }

    /// Mounts a formatted part, whatever a power cut left of the last operation. The memory has to suffice for the number of logical
    /// pages that the part was formatted with. Cost: a load for each block, one for each chunk, up to two for each page in the
    /// tail (as many as were programmed in two rounds of the checkpoint, a round being
    /// [`PROGRAMS_PER_CHUNK`](crate::PROGRAMS_PER_CHUNK) programs a chunk), twice; copies of less than a block's pages and four erases.
    ///
    /// # Errors
    /// [`MountError`].
    pub fn mount(device: D, memory: M) -> Result<Self, MountError<D::Error>> {
        let mut ftl = Self::unmounted(device, memory, 0)?;
        ftl.device.restart().map_err(FtlError::from).map_err(mount_error)?;
        ftl.find_blocks().map_err(mount_error)?;
        let header = ftl.find_horizon().map_err(mount_error)?.ok_or(MountError::NotFormatted)?;
        ftl = ftl.with_logical_pages(header.logical_pages)?;
        ftl.rounds.horizon = header.horizon;
        ftl.mark_tail(header.horizon);
        let suspect = ftl.replay().map_err(mount_error)?;
        ftl.count_blocks();
        // The round at hand begins anew: what mounting relied on is all that is known of the chunks' age.
        ftl.rounds.start = ftl.rounds.horizon;
        if let Some(suspect) = suspect {
            ftl.settle(suspect).map_err(mount_error)?;
        }
        ftl.counters = FtlCounters::default();
        Ok(ftl)
    }

    fn unmounted(device: D, memory: M, logical_pages: u32) -> Result<Self, MountError<D::Error>> {
        let part = device.part();
        part.validate().map_err(MountError::Part)?;
        if let Some(why) = unsuitable(&part) {
            return Err(MountError::Unsuitable(why));
        }
        let codec = Codec::new(&part).ok_or(MountError::Unsuitable("fewer than 16 bytes out of band a code word"))?;
        let max = max_logical_pages(&part, 0);
        if logical_pages > max {
            return Err(MountError::Refused(MountRefusal::TooLarge { logical_pages, max }));
        }
        let layout = Layout::new(part, logical_pages);
        let (needed, given) = (layout.memory_bytes(), memory.as_ref().len());
        if given < needed {
            return Err(memory_too_small(needed, given));
        }
        Ok(Ftl {
            device: Guard::new(device),
            memory: Memory::new(memory, layout),
            codec,
            sequence: 1,
            open: None,
            free_blocks: 0,
            good_blocks: 0,
            live_pages: 0,
            erase_sum: 0,
            rounds: Rounds { cursor: 0, start: 1, horizon: 1, programs: 0 },
            wear_cursor: Block(0),
            counters: FtlCounters::default(),
        })
    }

    fn with_logical_pages(self, logical_pages: u32) -> Result<Self, MountError<D::Error>> {
        let part = self.layout().part;
        let max = max_logical_pages(&part, 0);
        if logical_pages > max {
            return Err(MountError::Refused(MountRefusal::TooLarge { logical_pages, max }));
        }
        let layout = Layout::new(part, logical_pages);
        let given = self.memory.len();
        let memory = self.memory.with_layout(layout);
        let memory = memory.ok_or(memory_too_small(layout.memory_bytes(), given))?;
        Ok(Ftl { memory, ..self })
    }

    /// Counts good blocks and their erases.
    fn count_blocks(&mut self) {
        (self.good_blocks, self.erase_sum) = (0, 0);
        for block in self.layout().part.blocks() {
            if self.memory.state(block) != BlockState::Bad {
                self.good_blocks += 1;
                self.erase_sum += u64::from(self.memory.erases(block));
            }
        }
    }

    /// Finds out when each block was opened (step 1).
    fn find_blocks(&mut self) -> Result<(), FtlError<D::Error>> {
        for block in self.layout().part.blocks() {
            // Pages behind one that cannot be read say as well when the block was opened, or a little later.
            for page in 0..self.pages_per_block() {
                match self.load_patiently(block.page(page))? {
                    Content::Page { tag, .. } => {
                        self.memory.set_opened(block, tag.sequence);
                        self.memory.set_erases(block, u32::from(tag.wear));
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
    fn find_horizon(&mut self) -> Result<Option<ChunkHeader>, FtlError<D::Error>> {
        let mut before = u64::MAX;
        while let Some(block) = self.newest_block_before(before) {
            before = self.memory.opened(block);
            let mut found: Option<ChunkHeader> = None;
            for page in 0..self.pages_per_block() {
                let content = self.load_patiently(block.page(page))?;
                if matches!(content, Content::Page { tag, .. } if tag.lba >= CHUNK_BASE) {
                    let header = ChunkHeader::decode(self.memory.data());
                    found = header.filter(|new| found.is_none_or(|old| new.horizon >= old.horizon)).or(found);
                }
            }
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn newest_block_before(&self, sequence: u64) -> Option<Block> {
        let earlier = |block: &Block| (1..sequence).contains(&self.memory.opened(*block));
        self.layout().part.blocks().filter(earlier).max_by_key(|&block| self.memory.opened(block))
    }

    fn mark_tail(&mut self, horizon: u64) {
        for block in self.layout().part.blocks() {
            if self.memory.opened(block) >= horizon.max(1) {
                self.memory.set(block, Flag::Tail);
            }
        }
    }

    /// Makes the map from chunks and tail (steps 3 and 4); again with every block as tail if a chunk is missing.
    fn replay(&mut self) -> Result<Option<Suspect>, FtlError<D::Error>> {
        let suspect = self.find_suspect()?;
        self.sequence = suspect.map_or(0, |suspect| suspect.tag.sequence) + SEQUENCE_GAP;
        if self.find_chunks(suspect)? == Chunks::Missing {
            self.memory.forget_map();
            self.rounds.horizon = 1;
            self.mark_tail(1);
            self.find_chunks(suspect)?;
        }
        self.load_chunks()?;
        self.replay_tail(suspect)?;
        if let Some(suspect) = suspect {
            self.drop_stale_entries(suspect)?;
        }
        self.live_pages = self.memory.recount();
        Ok(suspect)
    }

    /// Calls `visit` with each whole page in the tail, loaded; it may load others.
    fn visit_tail(
        &mut self,
        mut visit: impl FnMut(&mut Self, PageAddress, Tag) -> Result<(), FtlError<D::Error>>,
    ) -> Result<(), FtlError<D::Error>> {
        for block in self.layout().part.blocks() {
            if !self.memory.has(block, Flag::Tail) {
                continue;
            }
            for page in 0..self.pages_per_block() {
                if let Content::Page { tag, .. } = self.load_patiently(block.page(page))? {
                    visit(self, block.page(page), tag)?;
                }
            }
        }
        Ok(())
    }

    /// The newest page of all, and which blocks are unfinished: those of the tail whose last page is not whole, and the newest.
    fn find_suspect(&mut self) -> Result<Option<Suspect>, FtlError<D::Error>> {
        for block in self.layout().part.blocks() {
            if self.memory.has(block, Flag::Tail) {
                self.memory.set(block, Flag::Unfinished);
            }
        }
        let mut suspect: Option<Suspect> = None;
        let last = self.pages_per_block() - 1;
        self.visit_tail(|ftl, page, tag| {
            if page.page == last {
                ftl.memory.clear(page.block, Flag::Unfinished);
            }
            if suspect.is_none_or(|suspect| suspect.tag.sequence < tag.sequence) {
                suspect = Some(Suspect { page, tag });
            }
            Ok(())
        })?;
        if let Some(suspect) = suspect {
            self.memory.set(suspect.page.block, Flag::Unfinished);
        }
        Ok(suspect)
    }

    /// Finds the newest version of each chunk since the horizon, without the suspect (step 3), unless there is no other: then the other
    /// has been erased, which happens only when the newest is whole for certain.
    fn find_chunks(&mut self, suspect: Option<Suspect>) -> Result<Chunks, FtlError<D::Error>> {
        let layout = *self.layout();
        self.visit_tail(|ftl, page, tag| {
            let is_suspect = suspect.is_some_and(|suspect| suspect.page == page);
            if !is_suspect && tag.sequence >= ftl.rounds.horizon {
                ftl.note_chunk(page, tag);
            }
            Ok(())
        })?;
        if let Some(Suspect { page, tag }) = suspect {
            let known = tag.lba.checked_sub(CHUNK_BASE).filter(|&chunk| chunk < layout.chunks());
            if known.is_some_and(|chunk| self.memory.chunk_sequence(chunk) == 0) {
                self.load_patiently(page)?;
                self.note_chunk(page, tag);
            }
        }
        let missing = (0..layout.chunks()).any(|chunk| self.memory.chunk_sequence(chunk) == 0);
        Ok(if missing { Chunks::Missing } else { Chunks::Complete })
    }

    /// Takes the buffered page, if it is a chunk, for the newest version unless a newer one is known.
    fn note_chunk(&mut self, page: PageAddress, tag: Tag) {
        let layout = *self.layout();
        let chunk = tag.lba.checked_sub(CHUNK_BASE).filter(|&chunk| chunk < layout.chunks());
        let Some(chunk) = chunk else { return };
        let header = ChunkHeader::decode(self.memory.data());
        let belongs = header.is_some_and(|header| header.logical_pages == layout.logical_pages);
        if belongs && self.memory.chunk_sequence(chunk) < tag.sequence {
            self.memory.set_chunk_sequence(chunk, tag.sequence);
            self.memory.set_entry(layout.logical_pages + chunk, Some(layout.part.number_of(page)));
        }
    }

    /// Loads the chunks that were found. For one that was not, the map's entries are none as of the beginning, and blocks are bad that are
    /// marked so.
    fn load_chunks(&mut self) -> Result<(), FtlError<D::Error>> {
        let layout = *self.layout();
        for chunk in 0..layout.chunks() {
            let header = match self.memory.page(layout.logical_pages + chunk) {
                Some(page) => self.load_chunk(layout.part.page_at(page))?,
                None => None,
            };
            if header.is_none() {
                self.memory.set_entry(layout.logical_pages + chunk, None);
            }
            self.memory.set_chunk_sequence(chunk, header.map_or(0, |header| header.as_of));
            match chunk.checked_sub(layout.map_chunks) {
                Some(table) if header.is_some() => self.table_from_buffer(table),
                Some(table) => self.table_from_marks(table)?,
                None if header.is_some() => {
                    let from = chunk * layout.chunk_entries;
                    for number in 0..layout.chunk_entries.min(layout.logical_pages - from) {
                        let page = self.memory.buffered_entry(CHUNK_HEADER_BYTES, number);
                        self.memory.set_entry(from + number, page);
                    }
                }
                None => {}
            }
        }
        Ok(())
    }

    fn load_chunk(&mut self, page: PageAddress) -> Result<Option<ChunkHeader>, FtlError<D::Error>> {
        match self.load_patiently(page)? {
            Content::Page { .. } => Ok(ChunkHeader::decode(self.memory.data())),
            _ => Ok(None),
        }
    }

    /// Takes erases and bad blocks from the buffered chunk. What a block's own pages say of the last eight bits of its erases is newer.
    fn table_from_buffer(&mut self, table: u32) {
        for (at, block) in self.table_entries(table) {
            let data = self.memory.data();
            let entry = u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
            let mut erases = entry & !TABLE_BAD;
            if self.memory.opened(block) > 0 {
                let newer = (self.memory.erases(block) as u8).wrapping_sub(erases as u8);
                erases = (erases + u32::from(newer)) & !TABLE_BAD;
            }
            self.memory.set_erases(block, erases);
            self.memory.set_state(block, if entry & TABLE_BAD == 0 { BlockState::Used } else { BlockState::Bad });
        }
    }

    fn table_from_marks(&mut self, table: u32) -> Result<(), FtlError<D::Error>> {
        for (_, block) in self.table_entries(table) {
            if self.device.is_marked_bad(block)? {
                self.memory.set_state(block, BlockState::Bad);
            }
        }
        Ok(())
    }

    /// Makes the map name the newest version of each page in the tail (step 4).
    fn replay_tail(&mut self, suspect: Option<Suspect>) -> Result<(), FtlError<D::Error>> {
        let layout = *self.layout();
        self.visit_tail(|ftl, page, tag| {
            let is_suspect = suspect.is_some_and(|suspect| suspect.page == page);
            if is_suspect || tag.lba >= layout.logical_pages {
                return Ok(());
            }
            let known = ftl.memory.chunk_sequence(layout.chunk_of(tag.lba));
            if tag.sequence > known && ftl.sequence_at(tag.lba)?.is_none_or(|current| current < tag.sequence) {
                ftl.memory.set_entry(tag.lba, Some(layout.part.number_of(page)));
            }
            Ok(())
        })
    }

    /// Drops entries that the suspect made out of date, and that does not count yet: the pages that they name may be others' by now. Those
    /// are its own entry; or, if it is a chunk, those of pages that it says are trimmed.
    fn drop_stale_entries(&mut self, suspect: Suspect) -> Result<(), FtlError<D::Error>> {
        let layout = *self.layout();
        let stale = match suspect.tag.lba.checked_sub(CHUNK_BASE) {
            None if suspect.tag.lba < layout.logical_pages => suspect.tag.lba..suspect.tag.lba + 1,
            Some(chunk) if chunk < layout.map_chunks => {
                let from = chunk * layout.chunk_entries;
                from..(from + layout.chunk_entries).min(layout.logical_pages)
            }
            _ => return Ok(()),
        };
        for index in stale {
            if self.memory.page(index).is_some() && self.sequence_at(index)?.is_none() {
                self.memory.set_entry(index, None);
            }
        }
        Ok(())
    }

    /// The sequence of the page that the map names for an entry, if it holds it. Cost: a load.
    fn sequence_at(&mut self, index: u32) -> Result<Option<u64>, FtlError<D::Error>> {
        let Some(page) = self.memory.page(index) else { return Ok(None) };
        let address = self.layout().part.page_at(page);
        let content = self.load_patiently(address)?;
        let lba = self.layout().lba_of(index);
        Ok(match content {
            Content::Page { tag, .. } if tag.lba == lba => Some(tag.sequence),
            _ => None,
        })
    }

    /// Programs the suspect anew and frees unfinished blocks (steps 5 and 6).
    fn settle(&mut self, suspect: Suspect) -> Result<(), FtlError<D::Error>> {
        self.memory.set(suspect.page.block, Flag::Locked);
        self.free_a_block()?;
        self.adopt(suspect)?;
        self.memory.clear(suspect.page.block, Flag::Locked);
        let part = self.layout().part;
        loop {
            let unfinished = part.blocks().filter(|&block| self.memory.has(block, Flag::Unfinished));
            let Some(block) = unfinished.min_by_key(|&block| self.memory.live(block)) else { break };
            self.memory.clear(block, Flag::Unfinished);
            self.free_a_block()?;
            if self.memory.state(block) == BlockState::Used {
                let mut recycling = self.start_recycling_of(block);
                self.finish_recycling(&mut recycling)?;
            }
        }
        part.blocks().for_each(|block| self.memory.clear(block, Flag::Tail));
        Ok(())
    }

    /// Erases blocks without live pages until some are free: one to write to, and others should it fail.
    fn free_a_block(&mut self) -> Result<(), FtlError<D::Error>> {
        while self.free_blocks < FREE_BLOCKS_TO_SETTLE {
            match self.start_recycling() {
                Some(mut recycling) if recycling.dead == self.pages_per_block() => {
                    self.finish_recycling(&mut recycling)?
                }
                Some(recycling) => {
                    self.stop_recycling(recycling);
                    break;
                }
                None => break,
            }
        }
        Ok(())
    }

    /// Makes the suspect count, by a program of what it holds (step 5).
    fn adopt(&mut self, suspect: Suspect) -> Result<(), FtlError<D::Error>> {
        let Content::Page { tag, .. } = self.load_patiently(suspect.page)? else { return Ok(()) };
        let layout = *self.layout();
        match layout.index_of(tag.lba).map(|index| index.checked_sub(layout.logical_pages).ok_or(index)) {
            Some(Err(index)) => self.append(index, Source::Buffer),
            Some(Ok(chunk)) => self.adopt_chunk(chunk, suspect.page),
            None => Ok(()),
        }
    }

    /// Trims what a chunk says is trimmed, and writes it anew: whatever else it says, the tail has said already.
    fn adopt_chunk(&mut self, chunk: u32, page: PageAddress) -> Result<(), FtlError<D::Error>> {
        let layout = *self.layout();
        let from = chunk * layout.chunk_entries;
        let count = if chunk < layout.map_chunks { layout.chunk_entries.min(layout.logical_pages - from) } else { 0 };
        for number in 0..count {
            // Looking at another page takes the buffer.
            let Some(header) = self.load_chunk(page)? else { continue };
            let trimmed = self.memory.buffered_entry(CHUNK_HEADER_BYTES, number).is_none();
            let index = from + number;
            if trimmed && self.sequence_at(index)?.is_some_and(|sequence| sequence <= header.as_of) {
                self.live_pages = self.live_pages.wrapping_add_signed(self.memory.remap(index, None));
            }
        }
        self.write_chunk(chunk)
    }
}

/// Why the FTL does not work on a part.
fn unsuitable(part: &NandPart) -> Option<&'static str> {
    match part {
        part if part.page_bytes < 64 => Some("pages of fewer than 64 bytes"),
        part if part.pages_per_block < 2 => Some("blocks of fewer than two pages"),
        part if part.correction.bits > 1 => Some("a part that asks for the correction of more than a bit a code word"),
        part if part.page_count() >= CHUNK_BASE => Some("too many pages"),
        _ => None,
    }
}

fn memory_too_small<E>(needed: usize, given: usize) -> MountError<E> {
    MountError::TooSmall { what: "bytes of memory", needed: needed as u32, given: given as u32 }
}

/// What an operation's failure is while mounting. The FTL's own state is in order then, so that nothing but the device and room can
/// fail.
fn mount_error<E>(error: FtlError<E>) -> MountError<E> {
    match error {
        FtlError::Device(error) => MountError::Device(error),
        _ => MountError::Refused(MountRefusal::NoSpace),
    }
}
