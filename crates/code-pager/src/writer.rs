//! Writes a code image to a part, around its bad blocks.
//!
//! 1. Erase each block that may bear a header of this image, from the first on; those that are marked bad, or fail now,
//!    are left out.
//! 2. Block after block: erase it, program its pages, read them back. A block that is marked bad or fails is left out,
//!    and what it was to hold goes to the next one. The first good one is for the header.
//! 3. Program the header, and read it back. If its block fails now, it is left out, too: go on with step 2 from the
//!    next block on, for the header comes before the image.
//!
//! A cut at any place leaves a header and the whole image, the old one or the new one, or no header, and so no image.
//!
//! Invariant: of the headers of this image's room on the part, the one of the highest generation is the image's. Others
//! are in blocks that have gone bad.

use core::marker::PhantomData;

use norn_flash::{Block, Column, Nand, NandError, NandErrorKind, NandPart, Piece};

use crate::address::ImagePage;
use crate::code::{Check, Code, Uncoded};
use crate::error::ImageError;
use crate::header::{self, Header, Program, Version};
use crate::image::{HEADER_BYTES, Image, Room, stride};
use crate::policy::ByteLane;

/// Where an image's bytes come from. They may be requested more than once.
pub trait Source {
    /// Copies the bytes at `offset`; both ends lie within the image.
    fn copy(&mut self, offset: u32, buffer: &mut [u8]);
}

impl Source for &[u8] {
    fn copy(&mut self, offset: u32, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self[offset as usize..offset as usize + buffer.len()]);
    }
}

/// How one block went.
enum Attempt {
    Written,
    Bad,
}

/// The blocks that are known to have failed.
#[derive(Clone, Copy)]
struct Known {
    /// A bit for each of the room's first ones.
    failed: u16,
    /// An image whose header's block has failed: that, and those it goes around.
    refused: Option<Image>,
}

impl Known {
    fn has_failed(&self, room: Room, block: Block) -> bool {
        let first = self.failed.checked_shr(u32::from(block.0 - room.start.0)).unwrap_or(0);
        first & 1 == 1 || self.refused.is_some_and(|refused| refused.goes_around(block))
    }
}

/// Writes images of cache pages of `PAGE` bytes with code `C`, with a page of the part, of at most `BUFFER` bytes, in
/// RAM: an [`ImageWriterIn`] that holds its memory itself.
pub struct ImageWriter<const PAGE: usize, const BUFFER: usize, C = Uncoded>(pub(crate) ImageWriterIn<[u8; BUFFER], C>);

impl<const PAGE: usize, const BUFFER: usize, C: Code> Default for ImageWriter<PAGE, BUFFER, C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const PAGE: usize, const BUFFER: usize, C: Code> ImageWriter<PAGE, BUFFER, C> {
    /// A writer of programs of version 0.0.0.
    pub const fn new() -> Self {
        ImageWriter(ImageWriterIn::new(PAGE, [0; BUFFER]))
    }

    /// The same for a program of this version.
    #[must_use]
    pub fn with_version(self, version: Version) -> Self {
        ImageWriter(self.0.with_version(version))
    }

    /// As [`ImageWriterIn::write`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn write<D: Nand>(
        &mut self,
        device: &mut D,
        room: Room,
        image_bytes: u32,
        source: &mut impl Source,
    ) -> Result<Image, ImageError<D::Error>> {
        self.0.write(device, room, image_bytes, source)
    }
}

/// Writes images of cache pages of a width that is known when the program runs, with code `C`, and with a page of the
/// part in memory of the caller's.
#[derive(Debug)]
pub struct ImageWriterIn<M, C = Uncoded> {
    cache_page_bytes: usize,
    version: Version,
    page: M,
    code: PhantomData<C>,
}

impl<M: ByteLane, C: Code> ImageWriterIn<M, C> {
    /// A writer of cache pages of this width, and of programs of version 0.0.0. `page` has at least the data bytes of a
    /// page of the part, [`NandPart::page_bytes`]; what is in it does not matter.
    pub const fn new(cache_page_bytes: usize, page: M) -> Self {
        ImageWriterIn { cache_page_bytes, version: Version { major: 0, minor: 0, patch: 0 }, page, code: PhantomData }
    }

    /// The same for a program of this version.
    #[must_use]
    pub fn with_version(self, version: Version) -> Self {
        ImageWriterIn { version, ..self }
    }

    /// Writes an image of `image_bytes`. Cost: nine loads, an erase and a look at the mark for each block, a program
    /// and a load for each page, and as much again for each block that fails; everything again if the header's block
    /// does.
    ///
    /// # Errors
    /// If the image does not fit, the memory is too small, too many of its blocks are bad, or the device fails.
    ///
    /// # Panics
    /// If `source` is a slice of fewer bytes.
    pub fn write<D: Nand>(
        &mut self,
        device: &mut D,
        room: Room,
        image_bytes: u32,
        source: &mut impl Source,
    ) -> Result<Image, ImageError<D::Error>> {
        self.write_program(device, room, image_bytes, source).map(|(image, _)| image)
    }

    /// As [`write`](Self::write); also how to name the program.
    pub(crate) fn write_program<D: Nand>(
        &mut self,
        device: &mut D,
        room: Room,
        image_bytes: u32,
        source: &mut impl Source,
    ) -> Result<(Image, Program), ImageError<D::Error>> {
        let part = device.part();
        let planned = self.plan(&part, room, image_bytes)?;
        let mut generation = header::next_generation(device, room.start)?;
        let failed = self.clear_headers(device, &part, room)?;
        let mut refused = None;
        loop {
            let (image, check) = self.write_blocks(device, planned, room, Known { failed, refused }, source)?;
            let header = Header { image, version: self.version, check: Some(check.value()), generation };
            let bytes = header.encode::<C>();
            if let Attempt::Written = Self::write_header(device, &image, &bytes)? {
                return Ok((image, Program::of_header(&bytes)));
            }
            // The block that failed may show its header nevertheless.
            generation = generation.saturating_add(1);
            refused = Some(image);
        }
    }

    /// Memory for a cache page, once an image has been planned.
    pub(crate) fn cache_page(&mut self) -> &mut [u8] {
        &mut self.page.as_mut()[..self.cache_page_bytes]
    }

    /// The image on a part without bad blocks.
    pub(crate) fn plan<E>(&self, part: &NandPart, room: Room, image_bytes: u32) -> Result<Image, ImageError<E>> {
        let image = Image::planned::<C, E>(part, self.cache_page_bytes, room, image_bytes)?;
        let (needed, given) = (u32::from(part.page_bytes), self.page.as_ref().len() as u32);
        if given < needed {
            return Err(ImageError::TooSmall { what: "bytes for a page of the part", needed, given });
        }
        Ok(image)
    }

    /// Step 1. Has a bit for each of the room's first blocks that failed.
    fn clear_headers<D: Nand>(&self, device: &mut D, part: &NandPart, room: Room) -> Result<u16, ImageError<D::Error>> {
        let mut failed = 0;
        for block in header::places(part, room.start).take(room.blocks.into()).map(Block) {
            if !device.is_marked_bad(block)? && matches!(bad_or(device.erase(block))?, Attempt::Bad) {
                failed |= 1 << (block.0 - room.start.0);
            }
        }
        Ok(failed)
    }

    /// Step 2, around the blocks that have failed.
    fn write_blocks<D: Nand>(
        &mut self,
        device: &mut D,
        planned: Image,
        room: Room,
        known: Known,
        source: &mut impl Source,
    ) -> Result<(Image, Check), ImageError<D::Error>> {
        let (mut image, mut check) = (planned, Check::default());
        let end = (room.start.0.saturating_add(room.blocks)).min(device.part().block_count);
        let (mut number, mut bad_blocks) = (0, 0);
        while number < image.block_count() {
            let block = image.block(number);
            if block.0 >= end {
                return Err(ImageError::TooLarge { image_bytes: image.size_bytes(), blocks: room.blocks, bad_blocks });
            }
            let before = check;
            if !known.has_failed(room, block)
                && let Attempt::Written = self.write_block(device, &image, number, source, &mut check)?
            {
                number += 1;
            } else {
                (check, bad_blocks) = (before, bad_blocks + 1);
                image.add_bad(block).map_err(|block| ImageError::TooManyBadBlocks { block })?;
            }
        }
        Ok((image, check))
    }

    /// Step 2 for the block of number `number` of the image, of which number 0 is the header's.
    fn write_block<D: Nand>(
        &mut self,
        device: &mut D,
        image: &Image,
        number: u32,
        source: &mut impl Source,
        check: &mut Check,
    ) -> Result<Attempt, ImageError<D::Error>> {
        let block = image.block(number);
        if device.is_marked_bad(block)? || matches!(bad_or(device.erase(block))?, Attempt::Bad) {
            return Ok(Attempt::Bad);
        }
        let pages_per_block = u32::from(device.part().pages_per_block);
        for page in (number.saturating_sub(1) * pages_per_block..number * pages_per_block).map(ImagePage) {
            let Some(len) = self.compose(image, page, source, check) else { break };
            let bytes = &self.page.as_ref()[..len];
            if matches!(bad_or(device.program(image.address(page), &[Piece::new(Column(0), bytes)]))?, Attempt::Bad) {
                return Ok(Attempt::Bad);
            }
            if !reads_back::<D, C>(device, image, page, bytes)? {
                return Ok(Attempt::Bad);
            }
        }
        Ok(Attempt::Written)
    }

    /// Puts the cache pages of a page of the part together, with their codes, and adds them to the check. Says how many
    /// bytes they take; `None` after the image's end.
    fn compose(
        &mut self,
        image: &Image,
        page: ImagePage,
        source: &mut impl Source,
        check: &mut Check,
    ) -> Option<usize> {
        let per_page = u32::from(image.layout.per_page.get());
        let cache_page_bytes = self.cache_page_bytes;
        let stride = usize::from(stride::<C>(cache_page_bytes));
        let mut len = 0;
        for index in 0..per_page {
            let offset = (page.0 * per_page + index) * cache_page_bytes as u32;
            if offset >= image.size_bytes() {
                break;
            }
            let start = index as usize * stride;
            let (cache_page, code) = self.page.as_mut()[start..start + stride].split_at_mut(cache_page_bytes);
            let inside = cache_page_bytes.min((image.size_bytes() - offset) as usize);
            source.copy(offset, &mut cache_page[..inside]);
            check.add(&cache_page[..inside]);
            cache_page[inside..].fill(0xFF);
            code.copy_from_slice(&C::encode(cache_page)[..C::BYTES]);
            len = start + stride;
        }
        (len > 0).then_some(len)
    }

    /// Step 3.
    fn write_header<D: Nand>(
        device: &mut D,
        image: &Image,
        bytes: &[u8; HEADER_BYTES],
    ) -> Result<Attempt, ImageError<D::Error>> {
        let page = image.header_page();
        let attempt = bad_or(device.program(page, &[Piece::new(Column(0), bytes)]))?;
        match attempt {
            Attempt::Written if !header::reads_back(device, page, bytes)? => Ok(Attempt::Bad),
            attempt => Ok(attempt),
        }
    }
}

/// Distinguishes a block that went bad from a device that failed.
fn bad_or<E: NandError>(result: Result<(), E>) -> Result<Attempt, ImageError<E>> {
    match result {
        Ok(()) => Ok(Attempt::Written),
        Err(error) if error.kind() == NandErrorKind::BlockFailed => Ok(Attempt::Bad),
        Err(error) => Err(ImageError::Device(error)),
    }
}

/// Whether a page reads back: without a code, except for as many wrong bits as the maker asks to correct; with one, so
/// that each cache page can be corrected.
fn reads_back<D: Nand, C: Code>(
    device: &mut D,
    image: &Image,
    page: ImagePage,
    bytes: &[u8],
) -> Result<bool, ImageError<D::Error>> {
    let correction = device.part().correction;
    let words = u32::from(device.part().page_bytes).div_ceil(u32::from(correction.bytes));
    let allowed =
        if C::BYTES > 0 { u32::from(image.layout.per_page.get()) } else { u32::from(correction.bits) * words };
    device.load(image.address(page))?;
    let (mut wrong, mut chunk) = (0, [0; 32]);
    for expected in bytes.chunks(chunk.len()) {
        let found = &mut chunk[..expected.len()];
        device.fetch(found)?;
        wrong += found.iter().zip(expected).map(|(found, expected)| (found ^ expected).count_ones()).sum::<u32>();
    }
    Ok(wrong <= allowed)
}
