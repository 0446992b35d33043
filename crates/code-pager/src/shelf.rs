//! A shelf: several images in rooms of one part, read through one cache.
//!
//! ```text
//! block 0      rooms of as many blocks each, from block 1 on
//! unused   │   room 0   │   room 1   │   room 2   │ …
//! ```
//!
//! A room has an image whose header says so, or none: there is no directory. An image is written and read back before
//! its header, so that a cut of the power leaves it whole or absent. A cut within the header's own program may leave
//! one that reads whole now and not later: a caller notes elsewhere which images count, and clears the others.
//!
//! The cache sees one image without bad blocks over the whole shelf. So a cache page is one number whatever room it is
//! in, and each image's own bad blocks are found before the cache is asked. Numbers of cache pages have 16 bits: a
//! shelf of cache pages of 64 bytes is some 4 MB.

use core::num::NonZeroU32;

use norn_flash::{Block, Nand, NandError, NandErrorKind};

use crate::address::{CodeAddress, ImagePage};
use crate::code::{Code, Uncoded};
use crate::error::{ImageError, ReadError};
use crate::header::{Header, places};
use crate::image::{CACHE_PAGES_MAX, Image, PageLayout, Room};
use crate::observer::Observer;
use crate::pager::{Options, Pager};
use crate::policy::Policy;
use crate::writer::ImageWriter;

/// `ROOMS` rooms on a part, and a cache of `FRAMES` pages of `PAGE` bytes over all of them. RAM: that of a
/// [`Pager`], and 36 bytes a room.
#[derive(Debug)]
pub struct Shelf<D, P, const ROOMS: usize, const FRAMES: usize, const PAGE: usize, C = Uncoded, O = ()> {
    pager: Pager<D, P, FRAMES, PAGE, C, O>,
    images: [Option<Image>; ROOMS],
    room_blocks: u16,
}

impl<D: Nand, P: Policy + Default, const ROOMS: usize, const FRAMES: usize, const PAGE: usize, C: Code, O: Observer>
    Shelf<D, P, ROOMS, FRAMES, PAGE, C, O>
{
    /// The shelf on a part. Rooms are as large as the part and the numbers of cache pages allow. Cost: nine loads a
    /// room.
    ///
    /// # Errors
    /// If cache pages of this width do not fit the part's pages, rooms would have no two blocks, or the device fails.
    pub fn mount(device: D, options: Options, observer: O) -> Result<Self, ImageError<D::Error>> {
        let mut shelf = Self::unopened(device, options, observer)?;
        for number in 0..ROOMS {
            shelf.open(number)?;
        }
        Ok(shelf)
    }

    /// The same shelf, whose rooms are not looked at: for a caller who knows which ones have images, and opens those.
    /// Cost: none on the part.
    ///
    /// # Errors
    /// As [`Shelf::mount`], except the device's.
    pub fn unopened(device: D, options: Options, observer: O) -> Result<Self, ImageError<D::Error>> {
        let part = device.part();
        let layout = PageLayout::of::<C, _>(&part, PAGE)?;
        let pages_per_block = u32::from(layout.per_page.get()) * u32::from(part.pages_per_block);
        let blocks = (CACHE_PAGES_MAX / pages_per_block).min(u32::from(part.block_count).saturating_sub(1));
        let room_blocks = (blocks / ROOMS.max(1) as u32) as u16;
        if room_blocks < 2 {
            let (needed, given) = (1 + 2 * ROOMS as u32, blocks + 1);
            return Err(ImageError::TooSmall { what: "blocks for rooms of two blocks each", needed, given });
        }
        let size = u32::from(room_blocks) * ROOMS as u32 * pages_per_block * PAGE as u32;
        let whole = Image::planned::<C, _>(&part, PAGE, Room { start: Block(0), blocks: u16::MAX }, size)?;
        let pager = Pager::over(device, whole, P::default(), options, observer);
        Ok(Shelf { pager, images: [None; ROOMS], room_blocks })
    }

    /// Looks for the image in a room. The cache is empty afterwards. Cost: nine loads.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// If there is no such room.
    pub fn open(&mut self, number: usize) -> Result<(), D::Error> {
        let start = room(number, self.room_blocks).start;
        let found = self.pager.with_device(|part| Header::find::<D, C>(part, start, PAGE));
        self.images[number] = match found {
            Ok(header) => Some(header.image),
            Err(ImageError::Device(error)) => return Err(error),
            // Nothing, or what another program has left.
            Err(_) => None,
        };
        Ok(())
    }

    /// How many blocks a room has: one for the header, the others for the image and for as many bad blocks.
    pub fn room_blocks(&self) -> u16 {
        self.room_blocks
    }

    /// Bytes of the image in a room; none where there is no image.
    pub fn size_bytes(&self, number: usize) -> Option<u32> {
        Some(self.images.get(number)?.as_ref()?.size_bytes())
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        self.pager.observer()
    }

    /// The device, as it is.
    pub fn device(&self) -> &D {
        self.pager.device()
    }

    /// Lends the device; the cache is empty afterwards. Images must not be changed.
    pub fn with_device<T>(&mut self, operate: impl FnOnce(&mut D) -> T) -> T {
        self.pager.with_device(operate)
    }

    /// The device and the observer.
    pub fn into_parts(self) -> (D, O) {
        self.pager.into_parts()
    }

    /// The bytes of the image in a room from `address` to the end of its cache page or of the image, whichever comes
    /// first. Cost: as [`Pager::view`], and two divisions.
    ///
    /// # Errors
    /// As there; [`ReadError::OutOfImage`] in an empty room.
    #[inline]
    pub fn view(&mut self, number: usize, address: CodeAddress) -> Result<&[u8], ReadError<D::Error>> {
        let Some(image) = self.images.get(number).and_then(Option::as_ref) else {
            return Err(ReadError::OutOfImage { address, len: 1, image_bytes: 0 });
        };
        let image_bytes = image.size_bytes();
        if address.0 >= image_bytes {
            return Err(ReadError::OutOfImage { address, len: 1, image_bytes });
        }
        let page_bytes = NonZeroU32::from(image.layout.per_page).get() * PAGE as u32;
        let page = image.address(ImagePage(address.0 / page_bytes));
        let pages_per_block = u32::from(image.layout.pages_per_block.get());
        let page = (u32::from(page.block.0) - 1) * pages_per_block + u32::from(page.page);
        let found = self.pager.view(CodeAddress(page * page_bytes + address.0 % page_bytes))?;
        Ok(&found[..found.len().min((image_bytes - address.0) as usize)])
    }

    /// Writes an image to an empty room and reads it back; a cut of the power leaves it whole or absent. The cache is
    /// empty afterwards. `PART_PAGE` is at least the bytes of a page of the part. Cost: as
    /// [`ImageWriterIn::write`](crate::ImageWriterIn::write).
    ///
    /// # Errors
    /// [`ImageError::TooLarge`] where the room has no place for it; as there.
    ///
    /// # Panics
    /// If there is no such room.
    pub fn write<const PART_PAGE: usize>(&mut self, number: usize, bytes: &[u8]) -> Result<(), ImageError<D::Error>> {
        let room = room(number, self.room_blocks);
        self.images[number] = None;
        let mut writer = ImageWriter::<PAGE, PART_PAGE, C>::new();
        let written = self.pager.with_device(|part| writer.write(part, room, bytes.len() as u32, &mut &bytes[..]));
        self.images[number] = Some(written?);
        Ok(())
    }

    /// Clears a room. The cache is empty afterwards. Cost: an erase for each block that may bear a header.
    ///
    /// # Errors
    /// If the device fails. A header in a block that cannot be erased is found again by the next mount.
    ///
    /// # Panics
    /// If there is no such room.
    pub fn clear(&mut self, number: usize) -> Result<(), D::Error> {
        let Room { start, blocks } = room(number, self.room_blocks);
        self.images[number] = None;
        self.pager.with_device(|part| {
            for block in places(&part.part(), start).take(blocks.into()).map(Block) {
                if part.is_marked_bad(block)? {
                    continue;
                }
                match part.erase(block) {
                    Err(error) if error.kind() != NandErrorKind::BlockFailed => return Err(error),
                    _ => {}
                }
            }
            Ok(())
        })
    }

    /// Checks every byte of an image against its header's check.
    ///
    /// # Errors
    /// If the device fails, the room is empty, or what is wrong with the image.
    pub fn verify(&mut self, number: usize) -> Result<(), ImageError<D::Error>> {
        let start = room(number, self.room_blocks).start;
        self.pager.with_device(|part| Header::find::<D, C>(part, start, PAGE)?.verify::<D, C>(part, &mut [0; PAGE]))
    }
}

/// Where a room is.
fn room(number: usize, blocks: u16) -> Room {
    Room { start: Block(1 + number as u16 * blocks), blocks }
}
