//! The pager whose cache is in memory that the caller lends, of a shape that is known when the program runs.

use norn_flash::{Block, Nand};

use crate::code::{Code, Uncoded};
use crate::error::ImageError;
use crate::frames::LentFrames;
use crate::image::Image;
use crate::observer::Observer;
use crate::pager::{Options, PagerIn};
use crate::policy::{FrameTable, PolicyIn};

/// How many frames a cache has, and how wide they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheShape {
    /// Frames: from 1 to as many as the policy takes, 128 with LRU, 64 with S3-FIFO, else 255.
    pub frames: u8,
    /// Bytes of a cache page, as the image was written with.
    pub page_bytes: u16,
}

impl CacheShape {
    /// Bytes for the cache pages, [`CacheMemory::frames`]: `frames × page_bytes`.
    pub const fn frame_bytes(&self) -> usize {
        self.frames as usize * self.page_bytes as usize
    }

    /// Bytes for the policy besides the pages' numbers, [`CacheMemory::marks`]: two for each frame.
    pub const fn mark_bytes(&self) -> usize {
        2 * self.frames as usize
    }

    /// Bytes of all pieces of [`CacheMemory`]: `frames × (page_bytes + 4)`. A cache of 32 pages of 64 bytes takes
    /// 2,176.
    pub const fn memory_bytes(&self) -> usize {
        self.frame_bytes() + size_of::<u16>() * self.frames as usize + self.mark_bytes()
    }
}

/// Memory that the caller lends for a cache. Each piece may be longer than needed: the rest is left alone. What is in
/// it does not matter. Numbers of pages are a piece of their own, aligned by its type: a processor that cannot load an
/// unaligned number would take two steps for each page that is compared.
#[derive(Debug)]
pub struct CacheMemory<'a> {
    /// The cache pages: [`CacheShape::frame_bytes`].
    pub frames: &'a mut [u8],
    /// The number of the page in each frame: as many as [`CacheShape::frames`].
    pub pages: &'a mut [u16],
    /// What the policy knows of each frame: [`CacheShape::mark_bytes`].
    pub marks: &'a mut [u8],
}

impl<'a> CacheMemory<'a> {
    /// An empty cache of a shape.
    fn divide<P, E>(self, shape: CacheShape) -> Result<(P, LentFrames<'a>), ImageError<E>>
    where
        P: PolicyIn<&'a mut [u16], &'a mut [u8]>,
    {
        let count = usize::from(shape.frames);
        if count == 0 || count > P::FRAMES_MAX {
            return Err(ImageError::Frames { given: shape.frames, max: P::FRAMES_MAX as u8 });
        }
        let facts = [
            ("bytes for frames", shape.frame_bytes(), self.frames.len()),
            ("numbers for pages in frames", count, self.pages.len()),
            ("bytes for marks of frames", shape.mark_bytes(), self.marks.len()),
        ];
        if let Some((what, needed, given)) = facts.into_iter().find(|&(_, needed, given)| given < needed) {
            return Err(ImageError::TooSmall { what, needed: needed as u32, given: given as u32 });
        }
        let (first, second) = self.marks[..shape.mark_bytes()].split_at_mut(count);
        let policy = P::over(FrameTable { pages: &mut self.pages[..count], bytes: [first, second] });
        Ok((policy, LentFrames::new(&mut self.frames[..shape.frame_bytes()], shape.page_bytes)))
    }
}

/// A pager with its cache in memory that the caller lends: its own size depends on no shape.
///
/// ```
/// use norn_code_pager::policy::LruIn;
/// use norn_code_pager::{CacheMemory, CacheShape, CodeAddress, ImageWriterIn, LentPager, Options, Room};
/// # use norn_flash::Block;
/// # use norn_flash_sim::NandSim;
/// # use norn_flash_sim::nand_catalogue::{Bus, k9f1208q0b};
/// # let mut part = NandSim::new(k9f1208q0b(Bus::Mhz33Bits8));
/// # let code: Vec<u8> = (0..10_000u32).map(|at| (at / 7) as u8).collect();
/// # let room = Room { start: Block(0), blocks: 4 };
///
/// let shape = CacheShape { frames: 32, page_bytes: 64 }; // read from a configuration, say
/// let mut page = vec![0; 512];
/// let mut writer: ImageWriterIn<_> = ImageWriterIn::new(64, &mut page[..]);
/// writer.write(&mut part, room, code.len() as u32, &mut &code[..]).unwrap();
///
/// let (mut frames, mut pages, mut marks) = (vec![0; shape.frame_bytes()], vec![0; 32], vec![0; shape.mark_bytes()]);
/// let memory = CacheMemory { frames: &mut frames, pages: &mut pages, marks: &mut marks };
/// let mut pager: LentPager<_, LruIn<_, _>> =
///     LentPager::open_in(part, Block(0), shape, memory, Options::default()).unwrap();
/// assert_eq!(pager.view(CodeAddress(700)).unwrap(), &code[700..704]);
/// ```
pub type LentPager<'a, D, P, C = Uncoded, O = ()> = PagerIn<D, P, LentFrames<'a>, C, O>;

impl<'a, D, P, C> LentPager<'a, D, P, C>
where
    D: Nand,
    P: PolicyIn<&'a mut [u16], &'a mut [u8]>,
    C: Code,
{
    /// A pager over the image that starts in `start` or in one of the next blocks, with its cache in `memory`. RAM:
    /// [`CacheShape::memory_bytes`], and the pager itself. Cost: a load for each block that is looked into, at most
    /// nine.
    ///
    /// # Errors
    /// Says what is wrong with the shape or the image, that there is none, or which piece of memory is too small; the
    /// latter before the device is used.
    pub fn open_in(
        device: D,
        start: Block,
        shape: CacheShape,
        memory: CacheMemory<'a>,
        options: Options,
    ) -> Result<Self, ImageError<D::Error>> {
        Self::open_in_with(device, start, shape, memory, options, ())
    }
}

impl<'a, D, P, C, O> LentPager<'a, D, P, C, O>
where
    D: Nand,
    P: PolicyIn<&'a mut [u16], &'a mut [u8]>,
    C: Code,
    O: Observer,
{
    /// As [`open_in`](LentPager::open_in), with an observer that is called for each event.
    ///
    /// # Errors
    /// As [`open_in`](LentPager::open_in).
    pub fn open_in_with(
        mut device: D,
        start: Block,
        shape: CacheShape,
        memory: CacheMemory<'a>,
        options: Options,
        observer: O,
    ) -> Result<Self, ImageError<D::Error>> {
        let (policy, frames) = memory.divide(shape)?;
        let image = Image::find::<D, C>(&mut device, start, usize::from(shape.page_bytes))?;
        Ok(Self::with_frames(device, image, policy, frames, options, observer))
    }

    /// A pager over an image whose place is known, with its cache in `memory`. RAM: as [`open_in`](LentPager::open_in).
    /// Cost: none.
    ///
    /// # Errors
    /// Says what is wrong with the shape, that the image has cache pages of another width, or which piece of memory is
    /// too small.
    pub fn over_in(
        device: D,
        image: Image,
        shape: CacheShape,
        memory: CacheMemory<'a>,
        options: Options,
        observer: O,
    ) -> Result<Self, ImageError<D::Error>> {
        let cache_page_bytes = image.cache_page_bytes();
        if cache_page_bytes != shape.page_bytes {
            return Err(ImageError::Layout { cache_page_bytes, code_bytes: C::BYTES as u8 });
        }
        let (policy, frames) = memory.divide(shape)?;
        Ok(Self::with_frames(device, image, policy, frames, options, observer))
    }
}
