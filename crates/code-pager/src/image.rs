//! The code image on the part: which bytes are where.
//!
//! ```text
//! blocks:  header in page 0 │ cache pages │ cache pages │ …      bad blocks are left out
//! page:    cache page │ code │ cache page │ code │ …
//! header, 64 bytes:  0 "NPAG" │ 4 version │ 5 code bytes │ 6 cache-page bytes 2 │ 8 image bytes 4
//!                    12 first block of its room 2 │ 14 number of bad blocks 2 │ 16 bad blocks 8 × 2 │ 32 zeros
//!                    60 CRC-32C of bytes 0..60
//! ```
//!
//! Cache pages fill the page's data from column 0 on; without codes they divide it, with codes what is left over stays
//! erased, and so does the out-of-band area, where bad blocks are marked. The header is the first page that is erased
//! and the last that is programmed, so that an image with a header is whole. It has a block of its own, since the erase
//! of a block with more in it, cut short, may leave it whole and the rest not. Its own code corrects a bit.
//! `docs/format/code-image.md` has every bit.
//!
//! Invariants of an [`Image`]: its bad blocks ascend and are after its first block; all its cache pages lie on the
//! part.

use core::num::{NonZeroU16, NonZeroU32};

use norn_flash::{Block, Column, Nand, NandPart, PageAddress};

use crate::address::ImagePage;
use crate::code::{Code, Crc32c};
use crate::error::ImageError;

/// Bad blocks that an image can have among its own.
pub const BAD_BLOCKS_MAX: usize = 8;
/// Bytes of the header.
pub(crate) const HEADER_BYTES: usize = 64;
const MAGIC: [u8; 4] = *b"NPAG";
pub(crate) const FORMAT_VERSION: u8 = 1;
const CHECKED_BYTES: usize = HEADER_BYTES - Crc32c::BYTES;

/// The blocks that an image may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The first.
    pub start: Block,
    /// How many there are.
    pub blocks: u16,
}

/// How cache pages lie in the pages and blocks of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageLayout {
    /// Cache pages of a page of the part.
    pub per_page: NonZeroU16,
    pages_per_block: NonZeroU16,
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
        let image = Image::new(layout, image_bytes, room.start);
        let blocks = part.block_count.saturating_sub(room.start.0).min(room.blocks);
        if image.block_count() > u32::from(blocks) {
            return Err(ImageError::TooLarge { image_bytes, blocks, bad_blocks: 0 });
        }
        Ok(image)
    }

    fn new(layout: PageLayout, image_bytes: u32, start: Block) -> Self {
        Image { image_bytes, start, first: start, bad_count: 0, bad: [Block(0); BAD_BLOCKS_MAX], layout }
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
    pub(crate) const fn cache_pages(&self) -> u32 {
        self.layout.cache_pages(self.image_bytes)
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
        if block == self.first && self.first.0 - self.start.0 < BAD_BLOCKS_MAX as u16 {
            self.first = Block(block.0 + 1);
            return Ok(());
        }
        let place = self.bad.get_mut(usize::from(self.bad_count)).ok_or(block)?;
        *place = block;
        self.bad_count += 1;
        Ok(())
    }

    /// The block on the part of the image's block number `number`: one further for each bad one before it.
    #[inline]
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

    /// The header's bytes.
    pub(crate) fn encode<C: Code>(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..4].copy_from_slice(&MAGIC);
        header[4..6].copy_from_slice(&[FORMAT_VERSION, C::BYTES as u8]);
        header[6..8].copy_from_slice(&self.layout.cache_page_bytes.get().to_le_bytes());
        header[8..12].copy_from_slice(&self.image_bytes.to_le_bytes());
        header[12..14].copy_from_slice(&self.start.0.to_le_bytes());
        header[14..16].copy_from_slice(&self.bad_count.to_le_bytes());
        for (place, bad) in header[16..32].chunks_exact_mut(2).zip(self.bad_blocks()) {
            place.copy_from_slice(&bad.0.to_le_bytes());
        }
        let code = Crc32c::encode(&header[..CHECKED_BYTES]);
        header[CHECKED_BYTES..].copy_from_slice(&code);
        header
    }

    /// Finds the image in cache pages of this width, whose header is in the first block from `start` on that has one;
    /// it looks into one block more than an image may have bad ones. Cost: a load for each.
    ///
    /// # Errors
    /// Says what is wrong with what was found, or that nothing was.
    pub fn find<D: Nand, C: Code>(
        device: &mut D,
        start: Block,
        cache_page_bytes: usize,
    ) -> Result<Self, ImageError<D::Error>> {
        let part = device.part();
        let layout = PageLayout::of::<C, _>(&part, cache_page_bytes)?;
        let end = start.0.saturating_add(BAD_BLOCKS_MAX as u16 + 1).min(part.block_count);
        for block in (start.0..end).map(Block) {
            let page = block.page(0);
            match read_header(device, page)? {
                Some(header) if header[12..14] == start.0.to_le_bytes() => {
                    return Self::decode::<D::Error, C>(&header, &part, layout, page);
                }
                _ => {}
            }
        }
        Err(ImageError::NoImage { start, end: Block(end.saturating_sub(1)) })
    }

    fn decode<E, C: Code>(
        header: &[u8; HEADER_BYTES],
        part: &NandPart,
        layout: PageLayout,
        page: PageAddress,
    ) -> Result<Self, ImageError<E>> {
        let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let (version, code_bytes, cache_page_bytes) = (header[4], header[5], half(6));
        if version > FORMAT_VERSION {
            return Err(ImageError::Newer { version });
        }
        if usize::from(code_bytes) != C::BYTES || cache_page_bytes != layout.cache_page_bytes.get() {
            return Err(ImageError::Layout { cache_page_bytes, code_bytes });
        }
        let image_bytes = u32::from(half(8)) | u32::from(half(10)) << 16;
        let mut image = Image { first: page.block, ..Image::new(layout, image_bytes, Block(half(12))) };
        let bad_count = usize::from(half(14));
        let mut previous = image.first;
        for at in 0..bad_count.min(BAD_BLOCKS_MAX) {
            let bad = Block(half(16 + 2 * at));
            if bad <= previous || image.add_bad(bad).is_err() {
                return Err(ImageError::Header { page });
            }
            previous = bad;
        }
        let blocks = image.block_count() + u32::from(image.bad_count);
        let fits = u32::from(image.first.0) + blocks <= u32::from(part.block_count);
        let too_many_pages = image.cache_pages() > CACHE_PAGES_MAX;
        if bad_count > BAD_BLOCKS_MAX || image_bytes == 0 || !fits || too_many_pages {
            return Err(ImageError::Header { page });
        }
        Ok(image)
    }
}

/// The header in a page, with a bit corrected, if there is a whole one. Cost: a load.
pub(crate) fn read_header<D: Nand>(device: &mut D, page: PageAddress) -> Result<Option<[u8; HEADER_BYTES]>, D::Error> {
    let mut header = [0; HEADER_BYTES];
    device.load(page)?;
    device.fetch(&mut header)?;
    let (checked, code) = header.split_at_mut(CHECKED_BYTES);
    let code = [code[0], code[1], code[2], code[3]];
    let is_whole = Crc32c::correct(checked, code).is_ok() && header[..4] == MAGIC;
    Ok(is_whole.then_some(header))
}

/// Cache pages that an image can have: one number is left for "none".
pub(crate) const CACHE_PAGES_MAX: u32 = 0xFFFF;
