//! The code image on the part: which bytes are where.
//!
//! ```text
//! blocks:  header in page 0 │ cache pages │ cache pages │ …      bad blocks are left out
//! page:    cache page │ code │ cache page │ code │ …
//! ```
//!
//! Cache pages fill the page's data from column 0 on; without codes they divide it, with codes what is left over stays
//! erased, and so does the out-of-band area, where bad blocks are marked. The header
//! (`header.rs`) is the first page that is erased and the last that is programmed, so that an image with a header is
//! whole. It has a block of its own, since the erase of a block with more in it, cut short, may leave it whole and the
//! rest not. `docs/format/code-image.md` has every bit.
//!
//! Invariants of an [`Image`]: its bad blocks ascend and are after its first block; all its cache pages lie on the
//! part.

use core::num::{NonZeroU16, NonZeroU32};

use norn_flash::{Block, Column, NandPart, PageAddress};

use crate::address::{CachePage, ImagePage};
use crate::code::Code;
use crate::error::ImageError;

/// Bad blocks that an image can have among its own.
pub const BAD_BLOCKS_MAX: usize = 8;

/// Bytes of the header.
pub(crate) const HEADER_BYTES: usize = 64;

/// The blocks that an image may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The first.
    pub start: Block,
    /// How many there are.
    pub blocks: u16,
}

impl Room {
    /// Bytes of the largest program that the room takes in cache pages of this width with code `C`, if none of its
    /// blocks is bad: its first block is the header's, and a program has 65,535 cache pages at most, however large the
    /// room is.
    ///
    /// # Errors
    /// If cache pages of this width do not fit the part's pages.
    pub fn program_bytes_max<C: Code>(
        &self,
        part: &NandPart,
        cache_page_bytes: usize,
    ) -> Result<u64, ImageError<core::convert::Infallible>> {
        let layout = PageLayout::of::<C, _>(part, cache_page_bytes)?;
        let blocks = part.block_count.saturating_sub(self.start.0).min(self.blocks).saturating_sub(1);
        let pages = u64::from(blocks) * u64::from(layout.pages_per_block.get()) * u64::from(layout.per_page.get());
        Ok(pages.min(u64::from(CACHE_PAGES_MAX)) * u64::from(layout.cache_page_bytes.get()))
    }
}

/// How cache pages lie in the pages and blocks of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageLayout {
    /// Cache pages of a page of the part.
    pub per_page: NonZeroU16,
    pub(crate) pages_per_block: NonZeroU16,
    /// Bytes of a cache page, its code not counted.
    pub cache_page_bytes: NonZeroU16,
}

impl PageLayout {
    /// Cache pages of this width with code `C` on `part`.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn of<C: Code, E>(part: &NandPart, cache_page_bytes: usize) -> Result<Self, ImageError<E>> {
        let page_bytes = part.page_bytes as usize;
        let refusal = ImageError::PageSize { cache_page_bytes: cache_page_bytes as u16, page_bytes: part.page_bytes };
        let too_large = cache_page_bytes > u16::MAX as usize - C::BYTES || page_bytes < HEADER_BYTES;
        if too_large || C::BYTES == 0 && !page_bytes.is_multiple_of(cache_page_bytes) {
            return Err(refusal);
        }
        let Some(cache_page_bytes) = NonZeroU16::new(cache_page_bytes as u16) else { return Err(refusal) };
        let per_page = page_bytes / (usize::from(cache_page_bytes.get()) + C::BYTES);
        match (NonZeroU16::new(per_page as u16), NonZeroU16::new(part.pages_per_block)) {
            (Some(per_page), Some(pages_per_block)) => Ok(PageLayout { per_page, pages_per_block, cache_page_bytes }),
            _ => Err(refusal),
        }
    }

    /// Cache pages of an image.
    const fn cache_pages(&self, image_bytes: u32) -> u32 {
        image_bytes.div_ceil(self.cache_page_bytes.get() as u32)
    }
}

/// From one cache page to the next, in bytes.
pub(crate) const fn stride<C: Code>(cache_page_bytes: usize) -> u16 {
    (cache_page_bytes + C::BYTES) as u16
}

/// The column at which the cache page of number `index` in its page starts.
pub(crate) const fn column<C: Code>(index: u16, cache_page_bytes: usize) -> Column {
    Column(index * stride::<C>(cache_page_bytes))
}

/// Where an image is: what its header says, and what follows from the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    image_bytes: u32,
    start: Block,
    first: Block,
    bad_count: u16,
    bad: [Block; BAD_BLOCKS_MAX],
    pub(crate) layout: PageLayout,
}

impl Image {
    /// An image without bad blocks in cache pages of this width, whose header is in `start`, for a program that keeps
    /// images without headers.
    ///
    /// # Errors
    /// If its cache pages do not fit the part's pages, or are too many.
    pub fn without_bad_blocks<C: Code>(
        part: &NandPart,
        cache_page_bytes: usize,
        start: Block,
        image_bytes: u32,
    ) -> Result<Self, ImageError<core::convert::Infallible>> {
        Self::planned::<C, _>(part, cache_page_bytes, Room { start, blocks: u16::MAX }, image_bytes)
    }

    /// An image in a room without bad blocks.
    pub(crate) fn planned<C: Code, E>(
        part: &NandPart,
        cache_page_bytes: usize,
        room: Room,
        image_bytes: u32,
    ) -> Result<Self, ImageError<E>> {
        let layout = PageLayout::of::<C, E>(part, cache_page_bytes)?;
        if image_bytes == 0 {
            return Err(ImageError::Empty);
        }
        if layout.cache_pages(image_bytes) > CACHE_PAGES_MAX {
            return Err(ImageError::TooManyPages { image_bytes, cache_page_bytes: layout.cache_page_bytes.get() });
        }
        let image = Image::beginning(layout, image_bytes, room.start, room.start);
        let blocks = part.block_count.saturating_sub(room.start.0).min(room.blocks);
        if image.block_count() > u32::from(blocks) {
            return Err(ImageError::TooLarge { image_bytes, blocks, bad_blocks: 0 });
        }
        Ok(image)
    }

    /// An image of a room from `start` on whose header is in `first`, and that has no bad blocks after that.
    pub(crate) fn beginning(layout: PageLayout, image_bytes: u32, start: Block, first: Block) -> Self {
        Image { image_bytes, start, first, bad_count: 0, bad: [Block(0); BAD_BLOCKS_MAX], layout }
    }

    /// The first block of its room.
    pub const fn start(&self) -> Block {
        self.start
    }

    /// Bytes of the image.
    pub const fn size_bytes(&self) -> u32 {
        self.image_bytes
    }

    /// Bytes of a cache page, its code not counted.
    pub const fn cache_page_bytes(&self) -> u16 {
        self.layout.cache_page_bytes.get()
    }

    /// Cache pages, the last of which may be filled up.
    pub const fn cache_pages(&self) -> u32 {
        self.layout.cache_pages(self.image_bytes)
    }

    /// Where a cache page with code `C` lies: the page of the part, and the first column. `None` after the image's end.
    /// For tools and tests.
    pub fn place_of<C: Code>(&self, page: CachePage) -> Option<(PageAddress, Column)> {
        let per_page = self.layout.per_page.get();
        let index = page.0 % per_page;
        let column = column::<C>(index, self.cache_page_bytes().into());
        (u32::from(page.0) < self.cache_pages())
            .then(|| (self.address(ImagePage(u32::from(page.0 / per_page))), column))
    }

    /// The bad blocks among its own, which it leaves out.
    pub fn bad_blocks(&self) -> &[Block] {
        &self.bad[..usize::from(self.bad_count)]
    }

    /// The page with its header.
    pub const fn header_page(&self) -> PageAddress {
        self.first.page(0)
    }

    /// Blocks that it uses, the header's included, bad ones not.
    pub(crate) fn block_count(&self) -> u32 {
        let pages = self.cache_pages().div_ceil(u32::from(self.layout.per_page.get()));
        1 + pages.div_ceil(u32::from(self.layout.pages_per_block.get()))
    }

    /// Adds a bad block after the known ones; one before the first good block only moves that.
    pub(crate) fn add_bad(&mut self, block: Block) -> Result<(), Block> {
        if block == self.first {
            self.first = Block(block.0 + 1);
            return if block.0 - self.start.0 < BAD_BLOCKS_MAX as u16 { Ok(()) } else { Err(block) };
        }
        let place = self.bad.get_mut(usize::from(self.bad_count)).ok_or(block)?;
        *place = block;
        self.bad_count += 1;
        Ok(())
    }

    /// The block on the part of the image's block number `number`: one further for each bad one before it.
    #[inline(never)]
    pub(crate) fn block(&self, number: u32) -> Block {
        let mut block = self.first.0 + number as u16;
        for bad in self.bad.iter().take(usize::from(self.bad_count)) {
            block += u16::from(bad.0 <= block);
        }
        Block(block)
    }

    /// The page of the part; the header's block comes before the first.
    #[inline]
    pub(crate) fn address(&self, page: ImagePage) -> PageAddress {
        let pages_per_block = NonZeroU32::from(self.layout.pages_per_block);
        self.block(1 + page.0 / pages_per_block).page((page.0 % pages_per_block) as u16)
    }

    /// Whether a block is one that the image goes around, or the header's own.
    pub(crate) fn goes_around(&self, block: Block) -> bool {
        (self.start..=self.first).contains(&block) || self.bad_blocks().contains(&block)
    }
}

/// Cache pages that an image can have: one number is left for "none".
pub(crate) const CACHE_PAGES_MAX: u32 = 0xFFFF;
