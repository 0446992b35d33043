//! Lengths that follow from the part and the number of logical pages: of the map, the checkpoint and the memory.
//!
//! ```text
//! memory:  blocks, 16 bytes each │ a bit for each page │ buffer: a register │ journal, 8 bytes each │ map
//! map:     logical page 0 … logical_pages-1 │ chunk 0 …          in `width` bytes each: a page number, or ones
//! ```
//!
//! What precedes the map does not depend on the number of logical pages, which mounting learns from flash.

use core::ops::Range;

use norn_flash::{Block, NandPart};

use crate::format::{CHUNK_BASE, HEADER_BYTES, RUN_LENGTH_BYTES, STREAMS, TABLE_ENTRY_BYTES};

/// The number of a logical page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lba(pub u32);

/// Fewest bytes of a page: of these, a page of the checkpoint has 40 for the journal.
pub(crate) const PAGE_BYTES_MIN: u16 = 128;
/// Programs of a mount: two pages of the checkpoint, and the suspect again.
pub(crate) const PROGRAMS_OF_MOUNT: u16 = 3;
/// Fewest pages of a block: what a mount programs, and one more, so that it takes one block.
pub(crate) const PAGES_PER_BLOCK_MIN: u16 = 4;
const _: () = assert!(PROGRAMS_OF_MOUNT < PAGES_PER_BLOCK_MIN);
/// Bytes of memory for each block.
pub(crate) const BLOCK_BYTES: usize = 16;
/// Bytes of memory for each program or trim of the journal.
pub(crate) const JOURNAL_ENTRY_BYTES: usize = 8;

/// Blocks that the FTL keeps for itself, so that power cuts never leave it without room to collect
/// (docs/design/nand-ftl.md): log2(pages of a block) + 2.
pub const fn reserve_blocks(part: &NandPart) -> u16 {
    match part.pages_per_block.checked_ilog2() {
        Some(doublings) => doublings as u16 + 2,
        None => 2,
    }
}

/// Free blocks that are left to the next mount: one for the pages that it programs, and one more, should that block
/// fail.
pub(crate) const BLOCKS_OF_MOUNT: u16 = 2;

/// Programs and erases that a write of one page, a trim or a flush takes at most, also on a full part, if at most
/// `failures` of them fail and each page of the checkpoint can be read (docs/design/nand-ftl.md): of the paper's part
/// 1.4 times its pages. On a part that is not full, it is a block's pages or two.
pub const fn longest_write(part: &NandPart, failures: u32) -> u64 {
    let (blocks, pages) = (part.block_count as u64, part.pages_per_block as u64);
    let layout = Layout::new(*part, 0);
    let journal_programs = if layout.journal_programs() > 0 { layout.journal_programs() as u64 } else { 1 };
    // Copies of a block, or two steps of the wear leveler; the pages of the checkpoint that they take; an erase.
    let recycling = pages + pages.div_ceil(journal_programs) + 1;
    // Each of the others gains an eighth of a block, until the reserve and two more are free, beside the open ones.
    let wanted = (reserve_blocks(part) as u64 + 2 + STREAMS as u64) * pages;
    let lost = blocks + 4 + failures as u64 * recycling;
    let eighth = if pages > 0 { pages.div_ceil(8) } else { 1 };
    let others = (wanted + lost).div_ceil(eighth);
    (blocks + others) * recycling + failures as u64 + 8
}

/// The lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub part: NandPart,
    pub logical_pages: u32,
    /// Bytes of an entry of the map.
    pub width: usize,
    /// Bytes of the journal in a page of the checkpoint; the entries of a chunk follow.
    pub journal_bytes: usize,
    /// Entries of a chunk of the map.
    pub chunk_entries: u32,
    pub map_chunks: u32,
    /// Blocks of a chunk of the table.
    pub chunk_blocks: u32,
    pub table_chunks: u32,
}

impl Layout {
    /// For any part; the FTL works on those whose pages have at least `PAGE_BYTES_MIN`.
    pub const fn new(part: NandPart, logical_pages: u32) -> Self {
        // Two numbers that no page has: an entry without a page, and one of which mounting does not know yet.
        let bits = (part.page_count() as u64 + 2).next_power_of_two().ilog2();
        let width = bits.div_ceil(8) as usize;
        let page_bytes = if part.page_bytes < PAGE_BYTES_MIN { PAGE_BYTES_MIN } else { part.page_bytes };
        let room = page_bytes as usize - HEADER_BYTES;
        let entry_bytes = room / 2 / TABLE_ENTRY_BYTES * TABLE_ENTRY_BYTES;
        let chunk_entries = (entry_bytes / width) as u32;
        let chunk_blocks = (entry_bytes / TABLE_ENTRY_BYTES) as u32;
        Layout {
            part,
            logical_pages,
            width,
            journal_bytes: room - entry_bytes,
            chunk_entries,
            map_chunks: logical_pages.div_ceil(chunk_entries),
            chunk_blocks,
            table_chunks: (part.block_count as u32).div_ceil(chunk_blocks),
        }
    }

    /// Pages of the checkpoint.
    pub const fn chunks(&self) -> u32 {
        self.map_chunks + self.table_chunks
    }

    /// Entries of the map.
    pub const fn entries(&self) -> u32 {
        self.logical_pages.saturating_add(self.chunks())
    }

    /// Bytes of the journal that a program of a page takes that follows none of the journal's.
    pub const fn run_bytes(&self) -> usize {
        self.width + RUN_LENGTH_BYTES + self.width
    }

    /// Bytes of the journal that a trim takes.
    pub const fn trim_bytes(&self) -> usize {
        2 * self.width
    }

    /// Where the entries of a chunk start in its page.
    pub const fn chunk_at(&self) -> usize {
        HEADER_BYTES + self.journal_bytes
    }

    /// Programs that a journal has room for, however they are spread over the open blocks.
    pub const fn journal_programs(&self) -> u32 {
        let pages = self.part.pages_per_block as usize;
        let run = self.width + RUN_LENGTH_BYTES;
        // A run for each block that is open, one for each that is opened next, and one for each that was filled.
        let left = self.journal_bytes.saturating_sub(2 * STREAMS * run);
        (left * pages / (self.width * pages + run)) as u32
    }

    /// Programs between two pages of the checkpoint at least, `failures` of them repeated. The page before is the first
    /// in the journal; a page is due when a program that begins a run may not fit, and each repeat begins one.
    pub const fn programs_between_pages(&self, failures: u32) -> u32 {
        let run = self.run_bytes().div_ceil(self.width) as u32;
        let kept = run.saturating_add(failures.saturating_mul(run));
        let programs = self.journal_programs().saturating_sub(kept);
        if programs == 0 { 1 } else { programs }
    }

    /// Dead pages of a block that is worth being recycled for room, at least: with fewer, the pages of the checkpoint
    /// that its copies take leave less than a quarter of a page in the long run (docs/design/nand-ftl.md).
    pub const fn yield_min(&self) -> u16 {
        let (pages, width) = (self.part.pages_per_block as u64, self.width as u64);
        let run = width + RUN_LENGTH_BYTES as u64;
        // A page is due when a run may not fit. A run for each block that is open; one more for each that is filled.
        let due = (self.journal_bytes + 1).saturating_sub(self.run_bytes() + STREAMS * run as usize) as u64;
        // Each page of the checkpoint has `all / each` programs at least, itself included.
        let (all, each) = (due * pages, width * pages + run);
        let others = all.saturating_sub(each);
        // The least d with d - (pages - d) * each / others >= 1/4.
        let dead = (4 * pages * each + others).div_ceil(4 * (others + each));
        if dead < pages { dead as u16 } else { self.part.pages_per_block }
    }

    /// The entry of the map that a chunk of the checkpoint has itself.
    pub const fn index_of_chunk(&self, chunk: u32) -> u32 {
        self.logical_pages + chunk
    }

    /// The entries of the map that are in a chunk; none if it is of the table of blocks.
    pub fn entries_of_chunk(&self, chunk: u32) -> Range<u32> {
        if chunk >= self.map_chunks {
            return 0..0;
        }
        let from = chunk * self.chunk_entries;
        from..(from + self.chunk_entries).min(self.logical_pages)
    }

    /// The blocks whose entries are in a chunk; none if it is of the map.
    pub fn blocks_of_chunk(&self, chunk: u32) -> impl Iterator<Item = Block> + use<> {
        let table = chunk.checked_sub(self.map_chunks);
        let from = table.map_or(0, |table| table * self.chunk_blocks);
        let to = table.map_or(0, |_| (from + self.chunk_blocks).min(u32::from(self.part.block_count)));
        (from..to).map(|block| Block(block as u16))
    }

    /// What the out-of-band area calls the page of an entry.
    pub const fn lba_of(&self, index: u32) -> u32 {
        if index < self.logical_pages { index } else { CHUNK_BASE + (index - self.logical_pages) }
    }

    /// The entry that an lba of the out-of-band area names.
    pub const fn index_of(&self, lba: u32) -> Option<u32> {
        if lba < self.logical_pages {
            Some(lba)
        } else if lba >= CHUNK_BASE && lba - CHUNK_BASE < self.chunks() {
            Some(self.logical_pages + lba - CHUNK_BASE)
        } else {
            None
        }
    }

    /// Where the bits of pages start.
    pub const fn live_at(&self) -> usize {
        self.part.block_count as usize * BLOCK_BYTES
    }

    /// Where the buffer starts.
    pub const fn buffer_at(&self) -> usize {
        self.live_at() + (self.part.page_count() as usize).div_ceil(8)
    }

    /// Where the journal starts.
    pub const fn journal_at(&self) -> usize {
        self.buffer_at() + self.part.register_bytes() as usize
    }

    /// Programs and trims that the journal can have: no more fit a page.
    pub const fn journal_entries(&self) -> usize {
        self.journal_bytes / self.width
    }

    /// Where the map starts: so much memory is needed before the number of logical pages is known.
    pub const fn map_at(&self) -> usize {
        self.journal_at() + self.journal_entries() * JOURNAL_ENTRY_BYTES
    }

    /// All of it; the largest number if that is larger.
    pub const fn memory_bytes(&self) -> usize {
        (self.entries() as usize).saturating_mul(self.width).saturating_add(self.map_at())
    }
}

/// Most logical pages of a part with `bad_blocks` bad blocks: all of these can be rewritten for ever, in any order. It
/// is what the reserve, the open blocks, two more and the checkpoint leave, and, where pages are small, the dead pages
/// that each block has to have to be worth its copies (docs/design/nand-ftl.md). A device that is to be fast, or to
/// live on when more blocks fail, is given less.
pub const fn max_logical_pages(part: &NandPart, bad_blocks: u16) -> u32 {
    let unused = Layout::new(*part, 0).yield_min().saturating_sub(1);
    pages_beside_checkpoint(part, bad_blocks, part.pages_per_block - unused)
}

/// Most logical pages that a device on a part may have: earlier releases formatted parts with small pages
/// to more than [`max_logical_pages`]. They are mounted; a write may find no room.
pub const fn logical_pages_limit(part: &NandPart) -> u32 {
    pages_beside_checkpoint(part, 0, part.pages_per_block)
}

/// Logical pages if each block that is not kept has so many live ones.
const fn pages_beside_checkpoint(part: &NandPart, bad_blocks: u16, live_each: u16) -> u32 {
    let kept = reserve_blocks(part).saturating_add(STREAMS as u16 + 2).saturating_add(bad_blocks);
    let pages = part.block_count.saturating_sub(kept) as u32 * live_each as u32;
    let left = pages.saturating_sub(Layout::new(*part, pages).chunks());
    if left < CHUNK_BASE { left } else { CHUNK_BASE }
}

/// Programs between two pages of the checkpoint, however they are spread over the open blocks: the journal has room for
/// them, and for a few more where they are not.
pub const fn programs_per_checkpoint_page(part: &NandPart) -> u32 {
    Layout::new(*part, 0).journal_programs()
}

#[cfg(test)]
mod tests {
    use norn_flash_sim::nand_catalogue::{k9f2808, k9k8g08, test_part};

    use super::*;

    #[test]
    fn a_part_has_room_for_no_more_than_its_good_blocks() {
        let part = k9f2808().part;
        assert_eq!(
            max_logical_pages(&part, 0) - max_logical_pages(&part, 100),
            3200 - 27,
            "100 blocks less, and 27 chunks"
        );
        for bad_blocks in [part.block_count - 10, part.block_count, u16::MAX - 9, u16::MAX] {
            assert_eq!(max_logical_pages(&part, bad_blocks), 0, "{bad_blocks} bad blocks");
        }
        assert_eq!(max_logical_pages(&test_part(4, 4, 128).part, 0), 0);
    }

    #[test]
    fn the_longest_write_takes_some_passes_over_the_part() {
        let passes = |part: NandPart, failures| longest_write(&part, failures) as f64 / f64::from(part.page_count());
        assert_eq!((passes(k9f2808().part, 0) * 100.0) as u32, 143);
        assert_eq!((passes(test_part(40, 128, 512).part, 0) * 100.0) as u32, 417);
        let one_more = longest_write(&k9f2808().part, 1) - longest_write(&k9f2808().part, 0);
        assert_eq!(one_more, 9 * 34 + 1, "34 operations are lost: nine eighths of a block of 32 pages, and the repeat");
    }

    /// Never too small a length, and never a panic.
    #[test]
    fn parts_of_any_numbers_have_lengths() {
        let small = test_part(40, 8, 128).part;
        let numbers = [0, 1, 2, 7, 127, 128, 32_768, u16::MAX];
        for block_count in numbers {
            for pages_per_block in numbers {
                for page_bytes in [0, 1, 128, 2048, 32_768] {
                    let part = NandPart { block_count, pages_per_block, page_bytes, ..small };
                    let max = [0, 1, u16::MAX].map(|bad_blocks| max_logical_pages(&part, bad_blocks));
                    assert!(max[0] >= max[1] && max[2] == 0 && logical_pages_limit(&part) >= max[0], "{part:?}");
                    let lengths = [0, 1, max[0].max(1), u32::MAX - 1, u32::MAX].map(|pages| Layout::new(part, pages));
                    assert!(lengths.is_sorted_by_key(Layout::memory_bytes), "{part:?}");
                    let map_bytes = u32::MAX as usize * lengths[4].width;
                    assert!(lengths[4].memory_bytes() > map_bytes, "{part:?}");
                    assert!(longest_write(&part, u32::MAX) > 0 && reserve_blocks(&part) >= 2, "{part:?}");
                    assert!(
                        lengths[0].yield_min() <= pages_per_block && programs_per_checkpoint_page(&part) < u32::MAX
                    );
                }
            }
        }
    }

    #[test]
    fn parts_of_any_page_have_lengths() {
        for page_bytes in [1, 16, 47, 48, 64, 127, 128, 32_768] {
            let part = NandPart { page_bytes, ..test_part(40, 8, 128).part };
            assert!(Layout::new(part, 200).memory_bytes() > 0, "pages of {page_bytes} bytes");
        }
    }

    #[test]
    fn the_map_is_as_wide_as_the_part_needs() {
        let width = |part| Layout::new(part, 10).width;
        assert_eq!(width(test_part(31, 8, 64).part), 1, "248 pages and one number for none");
        assert_eq!(width(test_part(32, 8, 64).part), 2, "256 pages leave none for none");
        assert_eq!(width(k9f2808().part), 2);
        assert_eq!(width(test_part(2048, 32, 64).part), 3);
        assert_eq!(width(k9k8g08().part), 3);
    }
}
