//! Formatting, and mounting after a power cut of any kind.
//!
//! Mounting (steps 1 to 4 are in [`replay`](crate::ground::replay), 5 and 6 here):
//! 1. load the first page of each block: its sequence says when the block was opened;
//! 2. from the newest block on, look for a chunk of the checkpoint: it names the horizon. Blocks opened at the horizon
//!    or later are the *tail*; if a chunk turns out to be missing, every block is;
//! 3. find the newest version of each chunk in the tail, and load them: map and table of blocks;
//! 4. look at each page in the tail that its chunk does not take account of: the newest version of a logical page
//!    counts. The last page of a block in which the power may have been cut is a *suspect*, and does not count yet;
//! 5. erase blocks without live pages, and program the suspects again that can be read and are out of date by no other
//!    page;
//! 6. copy what is live in each unfinished block, fewest first, and erase it;
//! 7. write the chunks of the checkpoint that are missing; if a block could not be erased, all of them.
//!
//! What a cut can have left, and which step handles it:
//!
//! | state | cause | step |
//! |---|---|---|
//! | a page reads as garbage or blank | its program was cut | 4 passes it over, 6 erases its block |
//! | a page reads as whole, but may not tomorrow | its program was cut late | it is a suspect: 5 programs it again |
//! | a page reads as garbage, but may be whole tomorrow | the same | 4 passes it over, 6 erases its block, or 7 |
//! | a block reads as anything, none of it live | its erase was cut | not live: erased before it is used |
//! | two versions of a page | a copy or write was cut before the erase of the older | 4 takes the newer |
//! | blocks with pages that nothing follows | the cut itself | 6 |
//! | all of these, several times over | cuts in 5, 6 or 7 | the same |
//!
//! Invariants: of each block, one pass over the tail decides how many pages count, and no later load changes that;
//! until all suspects are programmed again, nothing is erased that they make out of date, for that is live.

use core::ops::Range;

use norn_flash::{Block, Nand, NandPart};

use crate::checkpoint::Checkpoint;
use crate::counts::FtlCounters;
use crate::error::{FtlError, MountError, MountRefusal, Outcome, memory_too_small, mount_error};
use crate::format::{CHUNK_BASE, ChunkHeader, Content, Tag};
use crate::ftl::{Ftl, FtlConfig};
use crate::ground::log::Log;
use crate::ground::medium::{Medium, Source};
use crate::ground::memory::Memory;
use crate::ground::memory::blocks::{BlockState, Flag, Suspect};
use crate::ground::pages::Pages;
use crate::ground::replay::{Replayed, find_blocks, next_sequence, replay};
use crate::layout::{Layout, max_logical_pages};
use crate::recycle::Recycler;

/// Free blocks to have before pages are copied while mounting: one is enough unless a block fails.
const FREE_BLOCKS_TO_SETTLE: u16 = 3;

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Ftl<D, M> {
    /// Bytes of memory for a device with `logical_pages` logical pages: for each logical page 1 to 4 bytes, as the
    /// number of the part's pages takes; for each page of the part a bit; for each block 16 bytes; a register; 8 bytes
    /// and an entry for each chunk of the checkpoint. The paper's 16 MB part with 16,384 logical pages takes 54 KB; a
    /// part of 1 GB with 500,000, 1.7 MB.
    pub const fn memory_bytes(part: &NandPart, logical_pages: u32) -> usize {
        Layout::new(*part, logical_pages).memory_bytes()
    }

    /// Formats a part: what was on it is gone. Blocks marked bad are left alone. `memory` has at least
    /// [`memory_bytes`](Self::memory_bytes). Cost: a load for each block and for each page that may bear a mark, an
    /// erase for each block, a program for each chunk and one more. If it is cut short, mounting finds what the part
    /// held before, or the new device, or refuses the part as not formatted; never a mixture.
    ///
    /// # Errors
    /// [`MountError`], except `NotFormatted`.
    pub fn format(device: D, memory: M, config: FtlConfig) -> Result<Self, MountError<D::Error>> {
        let mut pages = unmounted(device, memory, config.logical_pages)?;
        let part = pages.layout().part;
        find_blocks(&mut pages).map_err(mount_error)?;
        let sequence = next_sequence(pages.memory());
        let mut log = Log::new(pages, sequence);
        log.read_marks().map_err(mount_error)?;
        let mut recycler = Recycler::new(Checkpoint::new(log, sequence));
        forget_contents(&mut recycler).map_err(mount_error)?;
        for block in part.blocks() {
            if recycler.log().memory().state(block) == BlockState::Used {
                let mut recycling = recycler.start_of(block);
                recycler.finish(&mut recycling).map_err(mount_error)?;
            }
        }
        let max = max_logical_pages(&part, part.block_count - recycler.log().memory().counts().good_blocks);
        if config.logical_pages > max {
            return Err(MountError::Refused(MountRefusal::TooLarge { logical_pages: config.logical_pages, max }));
        }
        for _ in 0..recycler.log().layout().chunks() {
            recycler.checkpoint_mut().step().map_err(mount_error)?;
        }
        recycler.log_mut().counters = FtlCounters::default();
        Ok(Ftl::new(recycler))
    }

    /// Mounts a formatted part, also after a power cut at any place of the last operation. The memory has to suffice
    /// for the number of logical pages that the part was formatted with. Cost: a load for each block, one for each
    /// chunk, up to three for each page in the tail, which has the programs of two rounds of the checkpoint (a round
    /// has [`PROGRAMS_PER_CHUNK`](crate::PROGRAMS_PER_CHUNK) programs a chunk); copies of less than a block's pages and
    /// four erases.
    ///
    /// # Errors
    /// [`MountError`]. How much memory is needed is known when the image's size was read: with less than that takes,
    /// `TooSmall` says how much the smallest image on this part needs.
    pub fn mount(device: D, memory: M) -> Result<Self, MountError<D::Error>> {
        let Replayed { log, horizon } = replay(unmounted(device, memory, 0)?)?;
        let mut recycler = Recycler::new(Checkpoint::new(log, horizon));
        settle(&mut recycler).map_err(mount_error)?;
        recycler.log_mut().counters = FtlCounters::default();
        Ok(Ftl::new(recycler))
    }
}

/// Makes what the part holds not count, by a page in a block that holds none of it: one without a whole first page. A
/// device that keeps its reserve has such a block; without one, it is the block that was opened first. Cost: an erase
/// and a program, if the part holds anything.
fn forget_contents<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>) -> Outcome<(), D> {
    let part = recycler.log().layout().part;
    let opened = |recycler: &Recycler<D, M>, block: &Block| recycler.log().memory().opened(*block);
    let is_used = |recycler: &Recycler<D, M>, block: &Block| recycler.log().memory().state(*block) == BlockState::Used;
    if part.blocks().all(|block| !is_used(recycler, &block) || opened(recycler, &block) == 0) {
        return Ok(());
    }
    loop {
        let used = part.blocks().filter(|block| is_used(recycler, block));
        let block = used.min_by_key(|block| opened(recycler, block)).ok_or(FtlError::NoSpace)?;
        let mut recycling = recycler.start_of(block);
        recycler.finish(&mut recycling)?;
        match recycler.log_mut().begin_format() {
            Err(FtlError::NoSpace) => {} // The block failed.
            done => return done,
        }
    }
}

/// A device about which nothing is known yet, with memory for `logical_pages` logical pages.
fn unmounted<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(
    device: D,
    memory: M,
    logical_pages: u32,
) -> Result<Pages<D, M>, MountError<D::Error>> {
    let part = device.part();
    part.validate().map_err(MountError::Part)?;
    if let Some(why) = unsuitable(&part) {
        return Err(MountError::Unsuitable(why));
    }
    let no_room = MountError::Unsuitable("fewer than 16 bytes out of band a code word");
    let medium = Medium::new(device, &part).ok_or(no_room)?;
    let max = max_logical_pages(&part, 0);
    if logical_pages > max {
        return Err(MountError::Refused(MountRefusal::TooLarge { logical_pages, max }));
    }
    let layout = Layout::new(part, logical_pages);
    let (needed, given) = (layout.memory_bytes(), memory.as_ref().len());
    if given < needed {
        return Err(memory_too_small(needed, given));
    }
    Ok(Pages::new(medium, Memory::new(memory, layout)))
}

/// Programs suspects again and frees unfinished blocks (steps 5 to 7).
fn settle<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>) -> Outcome<(), D> {
    adopt_suspects(recycler)?;
    let part = recycler.log().layout().part;
    loop {
        let memory = recycler.log().memory();
        let unfinished = part.blocks().filter(|&block| memory.has(block, Flag::Unfinished));
        let Some(block) = unfinished.min_by_key(|&block| memory.live(block)) else { break };
        recycler.log_mut().unmark(block, Flag::Unfinished);
        free_a_block(recycler)?;
        if recycler.log().memory().state(block) == BlockState::Used {
            let mut recycling = recycler.start_of(block);
            recycler.finish(&mut recycling)?;
        }
    }
    part.blocks().for_each(|block| recycler.log_mut().unmark(block, Flag::Tail));
    match complete_checkpoint(recycler) {
        Err(FtlError::NoSpace) => Ok(()), // What is there can be read, and nothing more is programmed.
        done => done,
    }
}

/// Writes each chunk of which no page was found; if a block could not be erased, each chunk: then what the map does not
/// name never counts again, wherever it is (step 7).
fn complete_checkpoint<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>) -> Outcome<(), D> {
    let (layout, retired) = (*recycler.log().layout(), recycler.log().counters.retired);
    for chunk in 0..layout.chunks() {
        if retired > 0 || recycler.log().memory().page(layout.index_of_chunk(chunk)).is_none() {
            recycler.make_room()?;
            recycler.checkpoint_mut().write_chunk(chunk)?;
        }
    }
    Ok(())
}

/// Programs the suspects again that no other page makes out of date, the newest first (step 5). Until all of them are
/// programmed, their blocks are locked, and nothing is erased.
fn adopt_suspects<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>) -> Outcome<(), D> {
    let mut last = None;
    while let Some(suspect) = recycler.log().memory().suspect_before(last) {
        last = Some(suspect);
        if wanted(recycler.log_mut(), suspect)?.is_some() {
            recycler.log_mut().mark(suspect.page.block, Flag::Locked);
        }
    }
    make_room_for_suspects(recycler)?;
    last = None;
    while let Some(suspect) = recycler.log().memory().suspect_before(last) {
        last = Some(suspect);
        let Some(tag) = wanted(recycler.log_mut(), suspect)? else { continue };
        let Some(chunk) = tag.lba.checked_sub(CHUNK_BASE) else { continue };
        trim_as(recycler.log_mut(), chunk, suspect)?;
        adopt_pages(recycler.log_mut())?;
        recycler.checkpoint_mut().write_chunk(chunk)?;
    }
    adopt_pages(recycler.log_mut())?;
    for block in recycler.log().layout().part.blocks() {
        recycler.log_mut().unmark(block, Flag::Suspect);
        recycler.log_mut().unmark(block, Flag::Locked);
    }
    Ok(())
}

/// Erases blocks without live pages until there is a page for each suspect. If only blocks of suspects are left, then
/// that of the oldest, whose page is there a second time in all likelihood: the power failed many times in a row, each
/// time before a block was erased.
fn make_room_for_suspects<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>) -> Outcome<(), D> {
    free_a_block(recycler)?;
    loop {
        let (memory, free) = (recycler.log().memory(), recycler.log().free_pages() as usize);
        let locked = || memory.suspects().filter(|suspect| memory.has(suspect.page.block, Flag::Locked));
        let Some(oldest) = locked().min().filter(|_| free < locked().count()) else { return Ok(()) };
        recycler.log_mut().unmark(oldest.page.block, Flag::Locked);
        free_a_block(recycler)?;
    }
}

/// Erases blocks without live pages until some are free: one to write to, and others should it fail.
fn free_a_block<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>) -> Outcome<(), D> {
    let pages_per_block = recycler.log().pages_per_block();
    while recycler.log().memory().counts().free_blocks < FREE_BLOCKS_TO_SETTLE {
        match recycler.start() {
            Some(mut recycling) if recycling.dead == pages_per_block => recycler.finish(&mut recycling)?,
            Some(recycling) => {
                recycler.stop(recycling);
                break;
            }
            None => break,
        }
    }
    Ok(())
}

/// What a suspect says that it is, if it is whole, and newer than what the map names. One that is not whole is in a
/// block to be erased.
fn wanted<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(log: &mut Log<D, M>, suspect: Suspect) -> Outcome<Option<Tag>, D> {
    let Content::Page { tag, .. } = log.load(suspect.page)? else {
        log.mark(suspect.page.block, Flag::Unfinished);
        return Ok(None);
    };
    let (layout, memory) = (*log.layout(), log.memory());
    let Some(index) = layout.index_of(tag.lba) else { return Ok(None) };
    let is_wanted = match tag.lba.checked_sub(CHUNK_BASE) {
        Some(chunk) => {
            let header = ChunkHeader::decode(memory.data());
            let is_newer = |header: &ChunkHeader| header.as_of > memory.chunk_sequence(chunk);
            header.is_some_and(|header| is_newer(&header) || memory.page(index).is_none())
        }
        None if tag.sequence <= memory.chunk_sequence(layout.chunk_of(index)) => false,
        None => log.pages_mut().sequence_at(index)?.is_none_or(|current| current < tag.sequence),
    };
    Ok(is_wanted.then_some(tag))
}

/// Makes the suspects among logical pages count, by a program of what each holds: the load before it decides.
fn adopt_pages<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(log: &mut Log<D, M>) -> Outcome<(), D> {
    let mut last = None;
    while let Some(suspect) = log.memory().suspect_before(last) {
        last = Some(suspect);
        match wanted(log, suspect)?.filter(|tag| tag.lba < CHUNK_BASE) {
            Some(Tag { lba, .. }) if matches!(log.load(suspect.page)?, Content::Page { .. }) => {
                log.append(lba, Source::Buffer)?;
            }
            Some(_) => log.mark(suspect.page.block, Flag::Unfinished),
            None => {}
        }
    }
    Ok(())
}

/// Trims what a suspect, a chunk, lists as trimmed: suspects and pages that it takes account of. All its other contents
/// are in the tail already.
fn trim_as<D, M>(log: &mut Log<D, M>, chunk: u32, suspect: Suspect) -> Outcome<(), D>
where
    D: Nand,
    M: AsRef<[u8]> + AsMut<[u8]>,
{
    let entries = log.layout().entries_of_chunk(chunk);
    let mut last = None;
    while let Some(other) = log.memory().suspect_before(last) {
        last = Some(other);
        let Content::Page { tag, .. } = log.load(other.page)? else { continue };
        let as_of = trimmed_as_of(log, suspect, &entries, tag.lba)?;
        if let Some(as_of) = as_of.filter(|&as_of| tag.sequence <= as_of) {
            log.unmark(other.page.block, Flag::Suspect);
            unmap_before(log, tag.lba, as_of)?;
        }
    }
    for index in entries.clone() {
        if let Some(as_of) = trimmed_as_of(log, suspect, &entries, index)? {
            unmap_before(log, index, as_of)?;
        }
    }
    Ok(())
}

/// Unmaps a logical page, unless it was programmed after `as_of`.
fn unmap_before<D, M>(log: &mut Log<D, M>, index: u32, as_of: u64) -> Outcome<(), D>
where
    D: Nand,
    M: AsRef<[u8]> + AsMut<[u8]>,
{
    if log.pages_mut().sequence_at(index)?.is_some_and(|sequence| sequence <= as_of) {
        log.unmap(index);
    }
    Ok(())
}

/// The program as of which a suspect, a chunk with these entries, says that a logical page is trimmed; `None` if it
/// does not.
fn trimmed_as_of<D, M>(
    log: &mut Log<D, M>,
    suspect: Suspect,
    entries: &Range<u32>,
    index: u32,
) -> Outcome<Option<u64>, D>
where
    D: Nand,
    M: AsRef<[u8]> + AsMut<[u8]>,
{
    if !entries.contains(&index) {
        return Ok(None);
    }
    let header = log.pages_mut().load_chunk(suspect.page)?;
    let is_trimmed = log.memory().buffered_entry(index - entries.start).is_none();
    Ok(header.filter(|_| is_trimmed).map(|header| header.as_of))
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
