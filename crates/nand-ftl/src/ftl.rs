//! The block device: state, reading, writing, trimming.
//!
//! Writing a page:
//! 1. if the open block is full, free blocks until more than the reserve are ([`recycle`](crate::recycle));
//! 2. program the next page of the open block; if the block fails, retire it and go on in another;
//! 3. point the map to the page; the page that it pointed to is dead;
//! 4. write a chunk of the checkpoint if one is due.
//!
//! Invariants: the map names the newest version of each logical page; programs are numbered in their order; after a failure of the
//! device nothing more is programmed.

use norn_flash::{Block, Column, Guard, GuardError, Nand, NandError, NandErrorKind, PageAddress, PageNumber, Piece};

use crate::checkpoint::Rounds;
use crate::error::FtlError;
use crate::format::{Codec, Content, SEQUENCE_MAX, Tag};
use crate::layout::{Layout, reserve_blocks};
use crate::memory::{BlockState, Flag, Memory};

/// The number of a logical page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lba(pub u32);

/// How often a page is loaded before it is given up. Bit errors differ from load to load: a page that a cut left one bit short, on a part
/// that errs by another bit in every second load, is so taken for whole always, and not now and then.
pub(crate) const READ_ATTEMPTS: u32 = 16;

/// What a device is formatted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtlConfig {
    /// Logical pages, at most [`max_logical_pages`](crate::max_logical_pages). Less leaves more room to collect: at 90% of that, a page
    /// written costs about as many copies as the measurements in docs/results say.
    pub logical_pages: u32,
}

/// The block that pages are appended to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub block: Block,
    /// Its next page; as many as the block has if it is full.
    pub next: u16,
}

/// What a device has done since it was mounted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FtlCounters {
    /// Pages that the client wrote.
    pub written: u64,
    /// Pages that collectors copied.
    pub copied: u64,
    /// Pages that the wear leveler copied.
    pub leveled: u64,
    /// Pages of the checkpoint, those that a trim needed included.
    pub chunks: u64,
    /// Blocks erased.
    pub erased: u64,
    /// Blocks that went bad.
    pub retired: u64,
}

/// Pages of a device by what they are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCounts {
    /// Θ: all pages of blocks that are not bad.
    pub total: u32,
    /// Λ: live pages in these blocks.
    pub live: u32,
    /// Φ: pages that can be programmed.
    pub free: u32,
}

impl PageCounts {
    /// Δ: pages that hold nothing that anybody wants.
    pub const fn dead(&self) -> u32 {
        self.total - self.live - self.free
    }
}

/// A page-mapped block device on a NAND part, with its state in memory that the caller gives: an array, a slice or a `Vec` of
/// [`memory_bytes`](Ftl::memory_bytes).
///
/// What returned `Ok` is on flash: writes and trims survive a loss of power from then on, each page whole or not at all.
#[derive(Debug)]
pub struct Ftl<D, M> {
    pub(crate) device: Guard<D>,
    pub(crate) memory: Memory<M>,
    pub(crate) codec: Codec,
    /// The number of the next program.
    pub(crate) sequence: u64,
    pub(crate) open: Option<Open>,
    pub(crate) free_blocks: u16,
    pub(crate) good_blocks: u16,
    /// Live pages, those in bad blocks included.
    pub(crate) live_pages: u32,
    /// Erases of all good blocks.
    pub(crate) erase_sum: u64,
    pub(crate) rounds: Rounds,
    pub(crate) wear_cursor: Block,
    pub(crate) counters: FtlCounters,
}

/// Where the page that is appended has its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// In the buffer.
    Buffer,
    /// In the part's register and in the buffer.
    Register,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Ftl<D, M> {
    /// Logical pages of the device.
    pub fn logical_pages(&self) -> u32 {
        self.memory.layout.logical_pages
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> u16 {
        self.memory.layout.part.page_bytes
    }

    /// What it has done since it was mounted.
    pub fn counters(&self) -> FtlCounters {
        self.counters
    }

    /// Its pages by what they are good for. Cost: O(blocks), no flash.
    pub fn page_counts(&self) -> PageCounts {
        let layout = self.layout();
        let bad = layout.part.blocks().filter(|&block| self.memory.state(block) == BlockState::Bad);
        let lost: u32 = bad.map(|block| u32::from(self.memory.live(block))).sum();
        let total = u32::from(self.good_blocks) * u32::from(layout.part.pages_per_block);
        PageCounts { total, live: self.live_pages - lost, free: self.free_pages() }
    }

    /// Blocks that are not bad.
    pub fn good_blocks(&self) -> u16 {
        self.good_blocks
    }

    /// Erases of each block that the FTL knows of; `None` for bad blocks.
    pub fn erase_counts(&self) -> impl Iterator<Item = Option<u32>> + '_ {
        let memory = &self.memory;
        let erases = |block| (memory.state(block) != BlockState::Bad).then(|| memory.erases(block));
        self.layout().part.blocks().map(erases)
    }

    /// The device below.
    pub fn device(&self) -> &D {
        self.device.device()
    }

    /// The device below, for a simulated one's settings: whoever programs it breaks the FTL.
    pub fn device_mut(&mut self) -> &mut D {
        self.device.device_mut()
    }

    /// Gives the device back.
    pub fn into_device(self) -> D {
        self.device.into_device()
    }

    /// Whether a logical page was written and not trimmed since.
    ///
    /// # Errors
    /// [`FtlError::OutOfRange`].
    pub fn is_mapped(&self, lba: Lba) -> Result<bool, FtlError<D::Error>> {
        self.check_range(lba, 1)?;
        Ok(self.memory.page(lba.0).is_some())
    }

    /// Reads logical pages from `lba` on into `data`, whose length is a multiple of a page. Pages that were never written or that were
    /// trimmed read as zeros. Cost: a load for each page that is mapped.
    ///
    /// # Errors
    /// [`FtlError::OutOfRange`], [`FtlError::Length`]; [`FtlError::Unreadable`] with the first such page, those before it read;
    /// [`FtlError::Device`].
    pub fn read(&mut self, lba: Lba, data: &mut [u8]) -> Result<(), FtlError<D::Error>> {
        self.check_running()?;
        let count = self.check_length(data.len())?;
        self.check_range(lba, count)?;
        let page_bytes = usize::from(self.page_bytes());
        for (index, data) in (lba.0..).zip(data.chunks_exact_mut(page_bytes)) {
            match self.memory.page(index) {
                Some(page) => {
                    self.load_live(index, page)?;
                    data.copy_from_slice(self.memory.data());
                }
                None => data.fill(0),
            }
        }
        Ok(())
    }

    /// Writes logical pages from `lba` on: each becomes its new value by one program, in their order, and is durable then. Cost of a
    /// page: a program; at each block's end the copies and erases that keep the reserve; a program of the checkpoint for every
    /// [`PROGRAMS_PER_CHUNK`](crate::PROGRAMS_PER_CHUNK) programs.
    ///
    /// # Errors
    /// [`FtlError::OutOfRange`], [`FtlError::Length`], [`FtlError::NoSpace`], [`FtlError::Device`]; pages before the failure are
    /// written.
    pub fn write(&mut self, lba: Lba, data: &[u8]) -> Result<(), FtlError<D::Error>> {
        self.check_running()?;
        let count = self.check_length(data.len())?;
        self.check_range(lba, count)?;
        for (index, data) in (lba.0..).zip(data.chunks_exact(usize::from(self.page_bytes()))) {
            self.make_room()?;
            self.write_page(index, data)?;
            self.write_due_chunk()?;
        }
        Ok(())
    }

    /// Forgets logical pages: they read as zeros, also after a loss of power, once this returned. Cost: a program for each chunk of the
    /// checkpoint that has one of them, about one for each `page_bytes / 3` pages; nothing for pages that are not mapped.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn trim(&mut self, lba: Lba, count: u32) -> Result<(), FtlError<D::Error>> {
        self.check_running()?;
        self.check_range(lba, count)?;
        let end = lba.0 + count;
        let mut from = lba.0;
        while from < end {
            let chunk = self.layout().chunk_of(from);
            let to = end.min((chunk + 1) * self.layout().chunk_entries);
            if (from..to).any(|index| self.memory.page(index).is_some()) {
                self.make_room()?;
                self.trim_in_chunk(chunk, from, to)?;
            }
            from = to;
        }
        Ok(())
    }

    /// Makes what was acknowledged durable. It is: every write and trim reaches flash before it returns. Cost: nothing.
    ///
    /// # Errors
    /// [`FtlError::Halted`] if the device failed before.
    pub fn flush(&mut self) -> Result<(), FtlError<D::Error>> {
        self.check_running()
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.memory.layout
    }

    pub(crate) fn pages_per_block(&self) -> u16 {
        self.memory.layout.part.pages_per_block
    }

    /// Blocks kept free for collections and power cuts.
    pub(crate) fn reserve(&self) -> u16 {
        reserve_blocks(&self.memory.layout.part)
    }

    /// Φ: pages that can be programmed.
    pub(crate) fn free_pages(&self) -> u32 {
        let pages = u32::from(self.pages_per_block());
        let open = self.open.map_or(0, |open| pages - u32::from(open.next));
        u32::from(self.free_blocks) * pages + open
    }

    pub(crate) fn check_running(&self) -> Result<(), FtlError<D::Error>> {
        Ok(self.device.expect_running()?)
    }

    fn check_length(&self, bytes: usize) -> Result<u32, FtlError<D::Error>> {
        let page_bytes = self.page_bytes();
        let error = FtlError::Length { bytes, page_bytes };
        match bytes.is_multiple_of(usize::from(page_bytes)) {
            true => u32::try_from(bytes / usize::from(page_bytes)).map_err(|_| error),
            false => Err(error),
        }
    }

    pub(crate) fn check_range(&self, lba: Lba, count: u32) -> Result<(), FtlError<D::Error>> {
        let logical_pages = self.logical_pages();
        match lba.0.checked_add(count).is_some_and(|end| end <= logical_pages) {
            true => Ok(()),
            false => Err(FtlError::OutOfRange { lba, count, logical_pages }),
        }
    }

    /// Loads a page into the buffer, corrects it and says what it is. Cost: one load.
    pub(crate) fn load(&mut self, page: PageAddress) -> Result<Content, FtlError<D::Error>> {
        self.device.load(page)?;
        self.device.fetch(self.memory.buffer_mut())?;
        Ok(self.codec.decode(self.memory.buffer_mut()))
    }

    /// As [`load`](Self::load), again and again while it is garbage.
    pub(crate) fn load_patiently(&mut self, page: PageAddress) -> Result<Content, FtlError<D::Error>> {
        let mut content = Content::Garbage;
        for _ in 0..READ_ATTEMPTS {
            content = self.load(page)?;
            if content != Content::Garbage {
                break;
            }
        }
        Ok(content)
    }

    /// Loads the page that an entry of the map names.
    pub(crate) fn load_live(
        &mut self,
        index: u32,
        page: PageNumber,
    ) -> Result<crate::format::Register, FtlError<D::Error>> {
        let address = self.layout().part.page_at(page);
        match self.load_patiently(address)? {
            Content::Page { tag, register } if tag.lba == self.layout().lba_of(index) => Ok(register),
            _ => Err(FtlError::Unreadable { lba: Lba(index), page: address }),
        }
    }

    /// Writes a logical page, which needs a free page.
    pub(crate) fn write_page(&mut self, index: u32, data: &[u8]) -> Result<(), FtlError<D::Error>> {
        self.memory.data_mut().copy_from_slice(data);
        self.append(index, Source::Buffer)?;
        self.counters.written += 1;
        Ok(())
    }

    /// Unmaps entries of one chunk and makes that durable, which needs a free page.
    pub(crate) fn trim_in_chunk(&mut self, chunk: u32, from: u32, to: u32) -> Result<(), FtlError<D::Error>> {
        for index in from..to {
            self.live_pages = self.live_pages.wrapping_add_signed(self.memory.remap(index, None));
        }
        self.write_chunk(chunk)
    }

    /// Programs what is in the buffer as the newest version of an entry of the map (steps 2 and 3). A block that fails is retired, and the
    /// page goes to another. Cost: one program, and one more for each block that fails.
    pub(crate) fn append(&mut self, index: u32, source: Source) -> Result<(), FtlError<D::Error>> {
        let mut source = source;
        loop {
            let page = self.next_page()?;
            let wear = self.memory.erases(page.block) as u8;
            let tag = Tag { lba: self.layout().lba_of(index), sequence: self.sequence, wear };
            self.codec.encode(self.memory.buffer_mut(), tag);
            self.sequence += 1;
            match self.program(page, source) {
                Ok(()) => {
                    let number = self.layout().part.number_of(page);
                    self.live_pages = self.live_pages.wrapping_add_signed(self.memory.remap(index, Some(number)));
                    self.rounds.programs += 1;
                    return Ok(());
                }
                Err(error) if error.kind() == NandErrorKind::BlockFailed => self.retire(page.block),
                Err(error) => return Err(error.into()),
            }
            source = Source::Buffer;
        }
    }

    fn program(&mut self, page: PageAddress, source: Source) -> Result<(), GuardError<D::Error>> {
        let oob = self.layout().part.oob_column();
        let buffer = self.memory.buffer();
        match source {
            Source::Buffer => self.device.program(page, &[Piece::new(Column(0), buffer)]),
            Source::Register => self.device.program_loaded(page, &[Piece::new(oob, &buffer[usize::from(oob.0)..])]),
        }
    }

    /// Takes the next page of the open block, or the first of a free one, of those the one that was erased least.
    fn next_page(&mut self) -> Result<PageAddress, FtlError<D::Error>> {
        if self.sequence >= SEQUENCE_MAX {
            return Err(FtlError::NoSpace);
        }
        let pages = self.pages_per_block();
        if self.open.is_none_or(|open| open.next == pages) {
            let free = self.layout().part.blocks().filter(|&block| self.memory.state(block) == BlockState::Free);
            let block = free.min_by_key(|&block| self.memory.erases(block)).ok_or(FtlError::NoSpace)?;
            self.close();
            self.memory.set_state(block, BlockState::Open);
            self.memory.set_opened(block, self.sequence);
            self.free_blocks -= 1;
            self.open = Some(Open { block, next: 0 });
        }
        let open = self.open.as_mut().expect("a block is open");
        open.next += 1;
        Ok(open.block.page(open.next - 1))
    }

    /// Leaves the open block to collectors.
    pub(crate) fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.memory.set_state(open.block, BlockState::Used);
        }
    }

    /// Takes a block that failed, or that holds a page that cannot be read, out of use. What is live in it stays there until it is
    /// overwritten or the wear leveler copies it.
    pub(crate) fn retire(&mut self, block: Block) {
        match self.memory.state(block) {
            BlockState::Open => self.open = None,
            BlockState::Free => self.free_blocks -= 1,
            BlockState::Used | BlockState::Bad => {}
        }
        self.memory.set_state(block, BlockState::Bad);
        self.memory.clear(block, Flag::Locked);
        self.erase_sum -= u64::from(self.memory.erases(block));
        self.good_blocks -= 1;
        self.counters.retired += 1;
    }
}
