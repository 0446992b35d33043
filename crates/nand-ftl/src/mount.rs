//! Formatting, and mounting after a power cut of any kind.
//!
//! Mounting (steps 1 to 4 are in [`replay`](crate::ground::replay), 5 and 6 here):
//! 1. load the first page of each block: its sequence says when the block was opened;
//! 2. from the newest block on, look for a chunk of the checkpoint: it names the horizon. Blocks opened at the horizon
//!    or later are the *tail*; if a chunk turns out to be missing, every block is;
//! 3. find the newest version of each chunk in the tail, and load them: map and table of blocks;
//! 4. look at each page in the tail that its chunk does not take account of: the newest version of a logical page
//!    counts. The newest page of all is the *suspect*, and does not count yet;
//! 5. erase blocks without live pages; program the suspect again, if it can be read;
//! 6. copy what is live in each unfinished block, fewest first, and erase it.
//!
//! What a cut can have left, and which step handles it:
//!
//! | state | cause | step |
//! |---|---|---|
//! | a page reads as garbage or blank | its program was cut | 4 passes it over, 6 erases its block |
//! | a page reads as whole, but may not tomorrow | its program was cut late | it is the suspect: 5 programs it again |
//! | a block reads as anything, none of it live | its erase was cut | not live: erased before it is used |
//! | two versions of a page | a copy or write was cut before the erase of the older | 4 takes the newer |
//! | blocks with pages that nothing follows | the cut itself | 6 |
//! | all of these twice | a cut in 5 or 6 | the same |
//!
//! Invariant: until the suspect is programmed again, no block with an older version of its page is erased, for that
//! version is live.

use norn_flash::{Nand, NandPart, PageAddress};

use crate::checkpoint::Checkpoint;
use crate::counts::FtlCounters;
use crate::error::{MountError, MountRefusal, Outcome, memory_too_small, mount_error};
use crate::format::{CHUNK_BASE, Content};
use crate::ftl::{Ftl, FtlConfig};
use crate::ground::log::Log;
use crate::ground::medium::{Medium, Source};
use crate::ground::memory::Memory;
use crate::ground::memory::blocks::{BlockState, Flag};
use crate::ground::pages::Pages;
use crate::ground::replay::{Replayed, Suspect, replay};
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
    /// [`memory_bytes`](Self::memory_bytes). Cost: a load for each page that may bear a mark, an erase for each block,
    /// a program for each chunk. If it is cut short, format again.
    ///
    /// # Errors
    /// [`MountError`], except `NotFormatted`.
    pub fn format(device: D, memory: M, config: FtlConfig) -> Result<Self, MountError<D::Error>> {
        let pages = unmounted(device, memory, config.logical_pages)?;
        let part = pages.layout().part;
        let mut log = Log::new(pages, 1);
        log.read_marks().map_err(mount_error)?;
        let mut recycler = Recycler::new(Checkpoint::new(log, 1));
        for block in part.blocks() {
            if recycler.log().memory().state(block) != BlockState::Bad {
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
    /// chunk, up to four for each page in the tail, which has the programs of two rounds of the checkpoint (a round has
    /// [`PROGRAMS_PER_CHUNK`](crate::PROGRAMS_PER_CHUNK) programs a chunk); copies of less than a block's pages and
    /// four erases.
    ///
    /// # Errors
    /// [`MountError`].
    pub fn mount(device: D, memory: M) -> Result<Self, MountError<D::Error>> {
        let Replayed { log, horizon, suspect } = replay(unmounted(device, memory, 0)?)?;
        let mut recycler = Recycler::new(Checkpoint::new(log, horizon));
        if let Some(suspect) = suspect {
            settle(&mut recycler, suspect).map_err(mount_error)?;
        }
        recycler.log_mut().counters = FtlCounters::default();
        Ok(Ftl::new(recycler))
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

/// Programs the suspect again and frees unfinished blocks (steps 5 and 6).
fn settle<D, M>(recycler: &mut Recycler<D, M>, suspect: Suspect) -> Outcome<(), D>
where
    D: Nand,
    M: AsRef<[u8]> + AsMut<[u8]>,
{
    recycler.log_mut().mark(suspect.page.block, Flag::Locked);
    free_a_block(recycler)?;
    adopt(recycler, suspect)?;
    recycler.log_mut().unmark(suspect.page.block, Flag::Locked);
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
    Ok(())
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

/// Makes the suspect count, by a program of what it holds (step 5).
fn adopt<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>, suspect: Suspect) -> Outcome<(), D> {
    let log = recycler.log_mut();
    let Content::Page { tag, .. } = log.load(suspect.page)? else { return Ok(()) };
    match (log.layout().index_of(tag.lba), tag.lba.checked_sub(CHUNK_BASE)) {
        (Some(_), Some(chunk)) => adopt_chunk(recycler, chunk, suspect.page),
        (Some(index), None) => log.append(index, Source::Buffer),
        (None, _) => Ok(()),
    }
}

/// Trims what the chunk lists as trimmed, and rewrites the chunk: all its other contents are in the tail already.
fn adopt_chunk<D, M>(recycler: &mut Recycler<D, M>, chunk: u32, page: PageAddress) -> Outcome<(), D>
where
    D: Nand,
    M: AsRef<[u8]> + AsMut<[u8]>,
{
    let log = recycler.log_mut();
    for (number, index) in (0..).zip(log.layout().entries_of_chunk(chunk)) {
        // Looking at another page takes the buffer.
        let Some(header) = log.pages_mut().load_chunk(page)? else { continue };
        let trimmed = log.memory().buffered_entry(number).is_none();
        if trimmed && log.pages_mut().sequence_at(index)?.is_some_and(|sequence| sequence <= header.as_of) {
            log.unmap(index);
        }
    }
    recycler.checkpoint_mut().write_chunk(chunk)
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
