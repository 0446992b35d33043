//! The block device as its client sees it: reading, writing, trimming; recycling and checkpoint in steps.
//!
//! Writing a page:
//! 1. free blocks until more than the reserve are ([`recycle`](crate::recycle));
//! 2. write a page of the checkpoint if the journal is full;
//! 3. append the page to the log, which points the map to it ([`log`](crate::ground::log)).
//!
//! Invariant: after a failure of the device nothing more is programmed.

use norn_flash::{Nand, PageAddress};

use crate::counts::{FtlCounters, PageCounts};
use crate::error::{FtlError, Outcome};
use crate::ground::log::Log;
use crate::ground::memory::Memory;
use crate::ground::memory::blocks::BlockState;
use crate::layout::{Layout, Lba};
use crate::recycle::{LevelStep, PAGES_OF_WRITE, RecycleStep, Recycler, Recycling, WEAR_LAG};

/// What a device is formatted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtlConfig {
    /// Logical pages, 1 or more, at most [`max_logical_pages`](crate::max_logical_pages). Less leaves more room to
    /// collect: at 90% of that, a page written costs about as many copies as the measurements in docs/results say.
    pub logical_pages: u32,
}

/// A page-mapped block device on a NAND part, with its state in memory that the caller gives: an array, a slice or a
/// `Vec` of [`memory_bytes`](Ftl::memory_bytes).
///
/// What was written is on flash when the call returns: it survives a loss of power from then on, each page whole or not
/// at all. What was trimmed reads as zeros at once, and survives a loss of power after a [`flush`](Ftl::flush).
#[derive(Clone, Debug)]
pub struct Ftl<D, M> {
    recycler: Recycler<D, M>,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Ftl<D, M> {
    pub(crate) fn new(recycler: Recycler<D, M>) -> Self {
        Ftl { recycler }
    }

    /// Logical pages of the device.
    pub fn logical_pages(&self) -> u32 {
        self.layout().logical_pages
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> u16 {
        self.layout().part.page_bytes
    }

    /// What it has done since it was mounted.
    pub fn counters(&self) -> FtlCounters {
        self.log().counters
    }

    /// Its pages by what they are good for. Cost: O(blocks), no flash.
    pub fn page_counts(&self) -> PageCounts {
        let (memory, counts) = (self.memory(), self.memory().counts());
        let bad = self.layout().part.blocks().filter(|&block| memory.state(block) == BlockState::Bad);
        let lost: u32 = bad.map(|block| u32::from(memory.live(block))).sum();
        let total = u32::from(counts.good_blocks) * u32::from(self.pages_per_block());
        PageCounts { total, live: counts.live_pages - lost, free: self.free_pages() }
    }

    /// Blocks that are not bad.
    pub fn good_blocks(&self) -> u16 {
        self.memory().counts().good_blocks
    }

    /// Erases of each block that the FTL knows of; `None` for bad blocks.
    pub fn erase_counts(&self) -> impl Iterator<Item = Option<u32>> + '_ {
        let memory = self.memory();
        let erases = |block| (memory.state(block) != BlockState::Bad).then(|| memory.erases(block));
        self.layout().part.blocks().map(erases)
    }

    /// The device below.
    pub fn device(&self) -> &D {
        self.log().pages().medium().device()
    }

    /// The device below, for the settings of a simulated one. Programming it damages the FTL's data.
    pub fn device_mut(&mut self) -> &mut D {
        self.log_mut().pages_mut().medium_mut().device_mut()
    }

    /// Gives the device back.
    pub fn into_device(self) -> D {
        self.recycler.into_device()
    }

    /// Whether a logical page was written and not trimmed since.
    ///
    /// # Errors
    /// [`FtlError::OutOfRange`].
    pub fn is_mapped(&self, lba: Lba) -> Result<bool, FtlError<D::Error>> {
        self.check_range(lba, 1)?;
        Ok(self.memory().page(lba.0).is_some())
    }

    /// Where a logical page lies; `None` if it is not mapped. For tools and tests: collectors move it.
    ///
    /// # Errors
    /// [`FtlError::OutOfRange`].
    pub fn page_of(&self, lba: Lba) -> Result<Option<PageAddress>, FtlError<D::Error>> {
        self.check_range(lba, 1)?;
        Ok(self.memory().page(lba.0).map(|page| self.layout().part.page_at(page)))
    }

    /// Reads logical pages from `lba` on into `data`, whose length is a multiple of a page. Pages that were never
    /// written or that were trimmed read as zeros. Cost: a load for each page that is mapped.
    ///
    /// # Errors
    /// [`FtlError::OutOfRange`], [`FtlError::Length`]; [`FtlError::Unreadable`] with the first such page, those before
    /// it read; [`FtlError::Device`].
    pub fn read(&mut self, lba: Lba, data: &mut [u8]) -> Result<(), FtlError<D::Error>> {
        self.check_running()?;
        let count = self.check_length(data.len())?;
        self.check_range(lba, count)?;
        let page_bytes = usize::from(self.page_bytes());
        for (index, data) in (lba.0..).zip(data.chunks_exact_mut(page_bytes)) {
            match self.log_mut().pages_mut().load_entry(index)? {
                Some(_) => data.copy_from_slice(self.memory().data()),
                None => data.fill(0),
            }
        }
        Ok(())
    }

    /// Writes logical pages from `lba` on: each becomes its new value by one program, in their order, and is durable
    /// then. Cost of a page: a program; the copies and erases that keep the reserve; a program of the checkpoint for
    /// every [`programs_per_checkpoint_page`](crate::programs_per_checkpoint_page) programs, or a few more.
    ///
    /// # Errors
    /// [`FtlError::OutOfRange`], [`FtlError::Length`], [`FtlError::NoSpace`], [`FtlError::Device`]; pages before the
    /// failure are written.
    pub fn write(&mut self, lba: Lba, data: &[u8]) -> Result<(), FtlError<D::Error>> {
        self.check_running()?;
        let count = self.check_length(data.len())?;
        self.check_range(lba, count)?;
        for (index, data) in (lba.0..).zip(data.chunks_exact(usize::from(self.page_bytes()))) {
            self.recycler.make_room()?;
            self.write_page(index, data)?;
        }
        Ok(())
    }

    /// Forgets logical pages: they read as zeros from now on. That is on flash with the next page of the checkpoint,
    /// which is written when the journal is full, before a block is erased, or by [`flush`](Self::flush); a loss of
    /// power before may bring back what a page held. Cost: O(`count`); a program if the journal is full.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn trim(&mut self, lba: Lba, count: u32) -> Result<(), FtlError<D::Error>> {
        self.check_running()?;
        self.check_range(lba, count)?;
        if (lba.0..lba.0 + count).any(|index| self.memory().page(index).is_some()) {
            self.recycler.make_room()?;
            self.trim_pages(lba, count)?;
        }
        Ok(())
    }

    /// Makes what was acknowledged durable: writes are, trims reach flash. Cost: one program if pages were trimmed
    /// since the last page of the checkpoint, and what room for it takes; after a block has failed, up to one for each
    /// page of the checkpoint, so that every later mount leaves the block alone; else nothing.
    ///
    /// # Errors
    /// [`FtlError::Halted`] if the device failed before; as [`write`](Self::write).
    pub fn flush(&mut self) -> Result<(), FtlError<D::Error>> {
        self.check_running()?;
        if self.recycler.checkpoint().has_trims() {
            self.recycler.make_room()?;
            self.write_checkpoint_page()?;
        }
        match self.record_bad_blocks() {
            // Nothing that was acknowledged depends on it.
            Err(FtlError::NoSpace) => Ok(()),
            outcome => outcome,
        }
    }

    /// Writes pages of the checkpoint up to the last one whose entry in the table of blocks has gone bad. Else the next
    /// mount would take the block for good, and program it until it fails again.
    fn record_bad_blocks(&mut self) -> Outcome<(), D> {
        for _ in 0..self.layout().chunks() {
            if !self.recycler.checkpoint().has_unrecorded_blocks() {
                break;
            }
            self.recycler.make_room()?;
            self.empty_journal()?;
        }
        Ok(())
    }

    /// The block that is best to recycle, with at least `dead` dead pages, and no collector at it; locked. `None` if
    /// there is none. Cost: O(blocks), no flash.
    pub fn start_recycling(&mut self, dead: u16) -> Option<Recycling> {
        self.recycler.start(dead)
    }

    /// Gives up recycling a block, wherever it is: what was copied stays copied.
    pub fn stop_recycling(&mut self, recycling: Recycling) {
        self.recycler.stop(recycling);
    }

    /// One step of recycling: one copy or one erase. A copy needs a free page, and another if the journal is full; an
    /// erase needs one if pages were trimmed.
    ///
    /// # Errors
    /// [`FtlError::NoSpace`] without a free page beyond those that the next mount takes, the last two or three blocks;
    /// [`FtlError::Device`].
    pub fn recycle_step(&mut self, recycling: &mut Recycling) -> Result<RecycleStep, FtlError<D::Error>> {
        self.check_running()?;
        if !self.recycler.has_room_for_step(recycling) {
            return Err(FtlError::NoSpace);
        }
        self.recycler.step(recycling)
    }

    /// Recycles one block. Cost: its live pages' copies and an erase.
    ///
    /// # Errors
    /// [`FtlError::NoSpace`] if no block has a dead page; [`FtlError::Device`].
    pub fn recycle(&mut self) -> Result<(), FtlError<D::Error>> {
        self.check_running()?;
        self.recycle_one(1)
    }

    /// Recycles one block with at least so many dead pages.
    pub(crate) fn recycle_one(&mut self, dead: u16) -> Outcome<(), D> {
        self.recycler.recycle(dead)
    }

    /// A step of the wear leveler (paper, section 3.4.2): copies one live page off the next block whose erases lag the
    /// average by two or more, so that the block is soon recycled; first of all, off a block that has gone bad. Needs a
    /// free page beyond the reserve, and another if the journal is full. Cost: O(blocks) and one copy.
    ///
    /// # Errors
    /// [`FtlError::NoSpace`] if no more blocks are free than the [reserve](crate::reserve_blocks); a write makes room
    /// then. [`FtlError::Device`].
    pub fn level_step(&mut self) -> Result<LevelStep, FtlError<D::Error>> {
        self.level_step_at_lag(WEAR_LAG)
    }

    /// The same for blocks whose erases lag by `lag` or more. With a larger one fewer pages are copied, and wear is
    /// less even. Writes level at [`WEAR_LAG_OF_WRITES`](crate::WEAR_LAG_OF_WRITES). Cost: as
    /// [`level_step`](Self::level_step).
    ///
    /// # Errors
    /// As [`level_step`](Self::level_step).
    pub fn level_step_at_lag(&mut self, lag: u32) -> Result<LevelStep, FtlError<D::Error>> {
        self.check_running()?;
        self.keep_reserve(PAGES_OF_WRITE)?;
        self.recycler.level(lag)
    }

    /// Writes the next page of a checkpoint that is written anew.
    pub(crate) fn round_step(&mut self) -> Outcome<(), D> {
        self.recycler.round_step()
    }

    /// Writes the next page of the checkpoint, which needs a free page beyond the reserve. Cost: one program.
    ///
    /// # Errors
    /// As [`level_step`](Self::level_step).
    pub fn checkpoint_step(&mut self) -> Result<(), FtlError<D::Error>> {
        self.check_running()?;
        self.keep_reserve(1)?;
        self.write_checkpoint_page()
    }

    /// Writes the next page of the checkpoint, which needs a free page.
    pub(crate) fn write_checkpoint_page(&mut self) -> Outcome<(), D> {
        self.recycler.checkpoint_mut().step()
    }

    /// Writes the next page of the checkpoint, so that the journal is empty, which needs a free page.
    pub(crate) fn empty_journal(&mut self) -> Outcome<(), D> {
        self.recycler.checkpoint_mut().advance()
    }

    /// Refuses what takes `pages` from the reserve.
    fn keep_reserve(&self, pages: u32) -> Outcome<(), D> {
        let has_room = self.log().has_room(pages, self.log().reserve());
        if has_room { Ok(()) } else { Err(FtlError::NoSpace) }
    }

    pub(crate) fn recycler(&self) -> &Recycler<D, M> {
        &self.recycler
    }

    pub(crate) fn log(&self) -> &Log<D, M> {
        self.recycler.log()
    }

    pub(crate) fn log_mut(&mut self) -> &mut Log<D, M> {
        self.recycler.log_mut()
    }

    pub(crate) fn memory(&self) -> &Memory<M> {
        self.log().memory()
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.log().layout()
    }

    pub(crate) fn pages_per_block(&self) -> u16 {
        self.log().pages_per_block()
    }

    /// Φ: pages that can be programmed.
    pub(crate) fn free_pages(&self) -> u32 {
        self.log().free_pages()
    }

    pub(crate) fn check_running(&self) -> Outcome<(), D> {
        self.log().expect_running()
    }

    fn check_length(&self, bytes: usize) -> Outcome<u32, D> {
        let page_bytes = self.page_bytes();
        let error = FtlError::Length { bytes, page_bytes };
        match bytes.is_multiple_of(usize::from(page_bytes)) {
            true => u32::try_from(bytes / usize::from(page_bytes)).map_err(|_| error),
            false => Err(error),
        }
    }

    pub(crate) fn check_range(&self, lba: Lba, count: u32) -> Outcome<(), D> {
        let logical_pages = self.logical_pages();
        match lba.0.checked_add(count).is_some_and(|end| end <= logical_pages) {
            true => Ok(()),
            false => Err(FtlError::OutOfRange { lba, count, logical_pages }),
        }
    }

    /// Writes a page of the checkpoint if the journal has no room, which needs a free page.
    pub(crate) fn make_journal_room(&mut self) -> Outcome<(), D> {
        self.recycler.checkpoint_mut().make_journal_room()
    }

    /// Writes a logical page, which needs a free page, and another if the journal is full.
    pub(crate) fn write_page(&mut self, index: u32, data: &[u8]) -> Outcome<(), D> {
        self.make_journal_room()?;
        self.log_mut().write(index, data)?;
        self.log_mut().counters.written += 1;
        Ok(())
    }

    /// Trims logical pages, which needs a free page if the journal is full.
    pub(crate) fn trim_pages(&mut self, lba: Lba, count: u32) -> Outcome<(), D> {
        self.make_journal_room()?;
        self.recycler.checkpoint_mut().trim(lba.0, count);
        Ok(())
    }
}
