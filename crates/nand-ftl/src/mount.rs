//! Formatting, and mounting after a power cut of any kind.
//!
//! Mounting (steps 1 to 4 are in [`replay`](crate::ground::replay), 5 to 9 here):
//! 1. load the first page of each block: its sequence says when the block was opened;
//! 2. from the newest block on, look for a page of the checkpoint, and for a newer one in what was programmed since:
//!    the newest is the *base*, what is newer the *tail*;
//! 3. read the tail, each page once: the newest version of a logical page counts. The newest page of all is the
//!    *suspect*, and does not count yet; so is the page that the base names as one;
//! 4. load the other pages of the checkpoint, from the newest back: what is not known yet is as they say;
//! 5. erase blocks without live pages until some are free; if the base is the newest page of all, those first that hold
//!    no whole page;
//! 6. write a page of the checkpoint. Its journal has the pages of the tail that count, and it names the suspect. If
//!    the base itself is the newest page of all, it is replaced by the one that is written;
//! 7. erase blocks that hold something, but no page that is whole;
//! 8. program the suspect again, if it can be read and 6 did not replace it; [gather](crate::gathering) live pages, if
//!    few blocks are free; and write a page of the checkpoint that names no suspect;
//! 9. erase blocks without live pages until two are free.
//!
//! What a cut can have left, and which step handles it:
//!
//! | state | cause | step |
//! |---|---|---|
//! | a page reads as garbage or blank | its program was cut | 3 passes it over, 6 records that |
//! | a page reads as whole, but may not tomorrow | its program was cut late | it is the suspect: 8 programs it again |
//! | the same, a page of the checkpoint | its program was cut late | 6 replaces it; its trims do not count in 5 |
//! | the page before it in its chunk is needed again | it fades | live until 6; 4 takes what it says of trims |
//! | it is needed again | what replaced it fades | it is the suspect: not erased before 8 |
//! | the same twice, and one is the newest page | its block failed, or is being erased | the newest is the suspect |
//! | a page reads as whole that did not yesterday | its program was cut | no journal has it: it does not count |
//! | a block reads as anything, none of it live | its erase was cut | not live: erased before it is used |
//! | two versions of a page | a copy or write was cut before the erase of the older | 3 takes the newer |
//! | the page that ends a mount reads as whole only later | its program was cut | 5 erases nothing that it names |
//! | all of these twice | a cut in 5 to 9 | the same |
//!
//! Invariants: what a mount decides is on flash, in 6, before anything depends on it: later ones decide the same. Until
//! the suspect is programmed again, no block with it or with an older version of its page is erased. A mount leaves two
//! free blocks to the next one, if it can.

use norn_flash::{Block, Nand, NandPart, PageNumber};

use crate::checkpoint::{Checkpoint, Continuation};
use crate::counts::FtlCounters;
use crate::error::{FtlError, MountError, MountRefusal, Outcome, memory_too_small, mount_error};
use crate::format::{CHUNK_BASE, Content, FORMAT_BEGUN, Header};
use crate::ftl::{Ftl, FtlConfig};
use crate::gathering;
use crate::ground::found::{SEQUENCE_GAP, Written};
use crate::ground::log::{Log, WRITTEN};
use crate::ground::medium::{Attempt, Medium, Source};
use crate::ground::memory::Memory;
use crate::ground::memory::blocks::{BlockState, Flag};
use crate::ground::pages::Pages;
use crate::ground::replay::{Found, Replayed, replay};
use crate::layout::{BLOCKS_OF_MOUNT, Layout, PAGE_BYTES_MIN, PAGES_PER_BLOCK_MIN, max_logical_pages};
use crate::recycle::Recycler;

/// Free blocks to have before a mount programs anything: one is enough unless blocks fail.
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
    /// [`memory_bytes`](Self::memory_bytes). If it is cut short, the part holds what it held, or no device. Cost: a
    /// load for each page that may bear a mark, two for each block, an erase for each block and one more, a program for
    /// each page of the checkpoint and one more.
    ///
    /// # Errors
    /// [`MountError`], except `NotFormatted`.
    pub fn format(device: D, memory: M, config: FtlConfig) -> Result<Self, MountError<D::Error>> {
        let pages = unmounted(device, memory, config.logical_pages)?;
        let part = pages.layout().part;
        let mut log = Log::new(pages, 1);
        log.read_marks().map_err(mount_error)?;
        let max = max_logical_pages(&part, part.block_count - log.memory().counts().good_blocks);
        match config.logical_pages {
            0 => return Err(MountError::Refused(MountRefusal::NoPages { max })),
            logical_pages if logical_pages > max => {
                return Err(MountError::Refused(MountRefusal::TooLarge { logical_pages, max }));
            }
            _ => {}
        }
        let mut recycler = Recycler::new(Checkpoint::new(log, Continuation { chunk: 0, since: 0 }));
        rebuild(&mut recycler).map_err(mount_error)?;
        recycler.log_mut().counters = FtlCounters::default();
        Ok(Ftl::new(recycler))
    }

    /// Mounts a formatted part, also after a power cut at any place of the last operation. The memory has to suffice
    /// for the number of logical pages that the part was formatted with. Cost: a load for each block and for each page
    /// of the checkpoint; two for each page that was programmed since the newest of these, at most as many as a journal
    /// has; those of a few blocks, to find it; up to five erases, and one for each cut in a row; three programs, two
    /// if the newest page is one of the checkpoint that was made then. If fewer blocks are free than the reserve and
    /// two, as after many cuts, as many erases as the reserve has blocks, and as many copies as fit a journal.
    ///
    /// # Errors
    /// [`MountError`]. How much memory is needed is known when the image's size was read: with less than that takes,
    /// `TooSmall` says how much the smallest image on this part needs.
    pub fn mount(device: D, memory: M) -> Result<Self, MountError<D::Error>> {
        let Replayed { log, next, checkpoint, suspect, .. } = replay(unmounted(device, memory, 0)?)?;
        let mut recycler = Recycler::new(Checkpoint::new(log, next));
        settle(&mut recycler, checkpoint, suspect).map_err(mount_error)?;
        let scans = u64::from(checkpoint == Found::Missing);
        let gathered = recycler.log().counters.gathered;
        recycler.log_mut().counters = FtlCounters { gathered, scans, ..FtlCounters::default() };
        Ok(Ftl::new(recycler))
    }
}

/// Erases a part and writes a checkpoint. A page in a block that held nothing says meanwhile that the part holds no
/// device; it goes last.
fn rebuild<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>) -> Outcome<(), D> {
    let part = recycler.log().layout().part;
    let old = highest_of_first_pages(recycler)?;
    let mark = mark_formatting(recycler, old)?;
    for block in part.blocks().filter(|&block| block != mark) {
        if recycler.log().memory().state(block) == BlockState::Used {
            forget(recycler, block, old)?;
        }
    }
    recycler.write_round()?;
    recycler.free(mark)?;
    if recycler.log().memory().state(mark) == BlockState::Bad {
        // The mark is there for good. It does not count in a block that the checkpoint calls bad.
        recycler.write_round()?;
    }
    Ok(())
}

/// The highest number of a first page on a part, of whatever device. Cost: a load for each block.
fn highest_of_first_pages<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>) -> Outcome<u64, D> {
    let mut highest = 0;
    for block in recycler.log().layout().part.blocks() {
        if recycler.log().memory().state(block) == BlockState::Used
            && let Content::Page { tag, .. } = recycler.log_mut().load(block.page(0))?
        {
            highest = highest.max(tag.sequence);
        }
    }
    Ok(highest)
}

/// Erases a block of which nothing is to count. If that fails, its pages stay there, and what is programmed from here
/// on is newer: also than a page that is torn now and reads as whole later. That one is of the `old` device, and at
/// most a page of the part for each program, and what numbers these leave out, newer than its newest first page. Cost:
/// one erase; a load for each page of a block that fails.
fn forget<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(
    recycler: &mut Recycler<D, M>,
    block: Block,
    old: u64,
) -> Outcome<(), D> {
    recycler.free(block)?;
    if recycler.log().memory().state(block) == BlockState::Bad {
        let pages = u64::from(recycler.log().layout().part.page_count());
        recycler.log_mut().continue_after(old + pages * (SEQUENCE_GAP + 1));
        for page in 0..recycler.log().pages_per_block() {
            if let Content::Page { tag, .. } = recycler.log_mut().load(block.page(page))? {
                recycler.log_mut().continue_after(tag.sequence);
            }
        }
    }
    Ok(())
}

/// Programs a page that says that the part is being formatted: into a block that reads as erased, which no device
/// needs; if there is none, into the first that can be erased.
fn mark_formatting<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(
    recycler: &mut Recycler<D, M>,
    old: u64,
) -> Outcome<Block, D> {
    let part = recycler.log().layout().part;
    for wanted in [Wanted::Blank, Wanted::Any] {
        for block in part.blocks() {
            if recycler.log().memory().state(block) != BlockState::Used {
                continue;
            }
            if wanted == Wanted::Blank && recycler.log_mut().load(block.page(0))? != Content::Blank {
                continue;
            }
            forget(recycler, block, old)?;
            if recycler.log().memory().state(block) == BlockState::Free
                && recycler.log_mut().program_mark(block, FORMAT_BEGUN)? == Attempt::Done
            {
                return Ok(block);
            }
        }
    }
    Err(FtlError::NoSpace)
}

/// Which block the mark of formatting goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Blank,
    Any,
}

/// A device about which nothing is known yet, with memory for `logical_pages` logical pages.
pub(crate) fn unmounted<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(
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

/// Records what was found, and programs the suspect again (steps 5 to 9).
fn settle<D, M>(recycler: &mut Recycler<D, M>, checkpoint: Found, suspect: Option<Written>) -> Outcome<(), D>
where
    D: Nand,
    M: AsRef<[u8]> + AsMut<[u8]>,
{
    let written = CHUNK_BASE + recycler.checkpoint().next().chunk;
    if let Some(suspect) = suspect {
        recycler.log_mut().mark(suspect.page.block, Flag::Locked);
    }
    let gathers = checkpoint != Found::Missing && gathering::is_needed(recycler);
    let wanted = if gathers { recycler.log().reserve().max(FREE_BLOCKS_TO_SETTLE) } else { FREE_BLOCKS_TO_SETTLE };
    free_blocks(recycler, checkpoint, suspect, wanted)?;
    recycler.checkpoint_mut().repeat_trims();
    let part = recycler.log().layout().part;
    // No page has the second number: nothing is suspect, but what follows does not count yet.
    let nobody = gathers.then_some(PageNumber(part.page_count()));
    let named = suspect.map(|suspect| part.number_of(suspect.page)).or(nobody);
    recycler.checkpoint_mut().set_suspect(named);
    match checkpoint {
        Found::Older | Found::Newest if gathers => recycler.checkpoint_mut().step_before_gathering()?,
        Found::Older | Found::Newest => recycler.checkpoint_mut().step_of_mount()?,
        Found::Missing => write_round_beside(recycler, suspect)?,
    }
    erase_torn_blocks(recycler)?;
    if gathers && recycler.log().memory().counts().free_blocks == 0 {
        // The next mount needs a block that no decision needs. Those that are dead now are, once this page shows that
        // the mount got further than its first.
        if suspect.is_some_and(|suspect| suspect.tag.lba == written) {
            recycler.checkpoint_mut().set_suspect(nobody);
        }
        recycler.checkpoint_mut().step_before_gathering()?;
        unmark_all(recycler, Flag::Locked);
        if let Some(suspect) = suspect {
            recycler.log_mut().mark(suspect.page.block, Flag::Locked);
        }
        free_dead_blocks(recycler, BLOCKS_OF_MOUNT, Caution::Locked)?;
    }
    if let Some(suspect) = suspect.filter(|suspect| suspect.tag.lba != written) {
        adopt(recycler, suspect)?;
    }
    if gathers {
        gathering::gather(recycler)?;
    }
    if named.is_some() {
        recycler.checkpoint_mut().set_suspect(None);
        recycler.checkpoint_mut().step_of_mount()?;
    }
    unmark_all(recycler, Flag::Locked);
    free_dead_blocks(recycler, BLOCKS_OF_MOUNT, Caution::Locked)
}

/// Erases blocks that hold something, but no page that is whole (step 7).
fn erase_torn_blocks<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>) -> Outcome<(), D> {
    for block in recycler.log().layout().part.blocks() {
        let memory = recycler.log().memory();
        if memory.has(block, Flag::Torn) && memory.state(block) == BlockState::Used && memory.live(block) == 0 {
            recycler.free(block)?;
        }
        recycler.log_mut().unmark(block, Flag::Torn);
    }
    Ok(())
}

fn unmark_all<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>, flag: Flag) {
    recycler.log().layout().part.blocks().for_each(|block| recycler.log_mut().unmark(block, flag));
}

/// Writes the checkpoint anew, and moves no version of the suspect's page meanwhile: without a checkpoint, the newest
/// number counts.
fn write_round_beside<D, M>(recycler: &mut Recycler<D, M>, suspect: Option<Written>) -> Outcome<(), D>
where
    D: Nand,
    M: AsRef<[u8]> + AsMut<[u8]>,
{
    let layout = *recycler.log().layout();
    let index = suspect.and_then(|suspect| layout.index_of(suspect.tag.lba));
    let older = index.and_then(|index| recycler.log().memory().page(index)).map(|page| layout.part.page_at(page));
    let blocks = [suspect.map(|suspect| suspect.page.block), older.map(|page| page.block)];
    blocks.into_iter().flatten().for_each(|block| recycler.log_mut().mark(block, Flag::Locked));
    recycler.write_round()?;
    unmark_all(recycler, Flag::Locked);
    Ok(())
}

/// What a block without live pages must not hold, to be erased before the mount's first page of the checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caution {
    /// Any whole page but one of the checkpoint that a mount programmed which was cut next: no mount needs the block,
    /// whatever fades.
    Whole,
    /// Pages that a trim made dead which may fade.
    Trimmed,
    /// The suspect, or one that is kept in case the newest page fades.
    Locked,
}

/// Erases blocks without live pages until some are free: one to write to, and others should it fail (step 5). If the
/// newest page may fade, those first that no mount needs; of the others as few as will do.
fn free_blocks<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(
    recycler: &mut Recycler<D, M>,
    checkpoint: Found,
    suspect: Option<Written>,
    wanted: u16,
) -> Outcome<(), D> {
    if checkpoint == Found::Newest {
        free_dead_blocks(recycler, wanted, Caution::Whole)?;
        free_dead_blocks(recycler, 1, Caution::Trimmed)?;
    } else {
        free_dead_blocks(recycler, wanted, Caution::Locked)?;
    }
    if recycler.log().memory().counts().free_blocks == 0 {
        // Better than no mount: what was kept is needed only if the newest page fades.
        unmark_all(recycler, Flag::Locked);
        if let Some(suspect) = suspect {
            recycler.log_mut().mark(suspect.page.block, Flag::Locked);
        }
        free_dead_blocks(recycler, 1, Caution::Locked)?;
    }
    Ok(())
}

/// Erases blocks that are not locked and have no live pages, until `wanted` are free.
fn free_dead_blocks<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(
    recycler: &mut Recycler<D, M>,
    wanted: u16,
    caution: Caution,
) -> Outcome<(), D> {
    let part = recycler.log().layout().part;
    while recycler.log().memory().counts().free_blocks < wanted {
        let memory = recycler.log().memory();
        let is_marked = |block| memory.has(block, Flag::Locked) || memory.has(block, Flag::Passed);
        let is_dead =
            |&block: &Block| memory.state(block) == BlockState::Used && memory.live(block) == 0 && !is_marked(block);
        let Some(block) = part.blocks().filter(is_dead).min_by_key(|&block| memory.erases(block)) else { break };
        let is_kept = match caution {
            Caution::Whole => !holds_no_more_than_a_record(recycler, block)?,
            Caution::Trimmed => holds_trimmed(recycler, block)?,
            Caution::Locked => false,
        };
        if is_kept {
            recycler.log_mut().mark(block, Flag::Passed);
        } else {
            recycler.free(block)?;
        }
    }
    unmark_all(recycler, Flag::Passed);
    Ok(())
}

/// Whether a block holds no whole page but the first one of a mount that was cut next: a page of the checkpoint that
/// names a suspect. Cost: two loads, none if it holds no whole page.
fn holds_no_more_than_a_record<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(
    recycler: &mut Recycler<D, M>,
    block: Block,
) -> Outcome<bool, D> {
    if recycler.log().memory().opened(block) == 0 {
        return Ok(true);
    }
    let is_record = match recycler.log_mut().load(block.page(0))? {
        Content::Page { tag, .. } if tag.lba >= CHUNK_BASE => {
            Header::decode(recycler.log().memory().data()).is_some_and(|header| header.suspect.is_some())
        }
        _ => false,
    };
    Ok(is_record && recycler.log_mut().load(block.page(1))? == Content::Blank)
}

/// Whether a block holds a page that is dead because of a trim of the journal alone. Should the page of the checkpoint
/// that has this trim not read as whole again, the page counts. Cost: a load for each of its pages in the journal.
fn holds_trimmed<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(
    recycler: &mut Recycler<D, M>,
    block: Block,
) -> Outcome<bool, D> {
    let part = recycler.log().layout().part;
    for page in 0..part.pages_per_block {
        let page = block.page(page);
        if recycler.log().memory().journaled(part.number_of(page)).is_none() {
            continue;
        }
        if let Content::Page { tag, .. } = recycler.log_mut().load(page)?
            && recycler.log().memory().trims().any(|(first, count)| (first..first + count).contains(&tag.lba))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes the suspect count, by a program of what it holds (step 8).
fn adopt<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(recycler: &mut Recycler<D, M>, suspect: Written) -> Outcome<(), D> {
    recycler.checkpoint_mut().make_journal_room()?;
    let log = recycler.log_mut();
    match log.load(suspect.page)? {
        Content::Page { tag, .. } if tag == suspect.tag => match log.layout().index_of(tag.lba) {
            Some(index) => log.append(index, Source::Buffer, WRITTEN),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Why the FTL does not work on a part.
fn unsuitable(part: &NandPart) -> Option<&'static str> {
    match part {
        part if part.page_bytes < PAGE_BYTES_MIN => Some("pages of fewer than 128 bytes"),
        part if part.pages_per_block < PAGES_PER_BLOCK_MIN => Some("blocks of fewer than four pages"),
        part if part.correction.bits > 1 => Some("a part that asks for the correction of more than a bit a code word"),
        part if part.page_count() >= CHUNK_BASE => Some("too many pages"),
        _ => None,
    }
}
