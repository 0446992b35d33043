//! The pager: byte ranges of a code image, through a cache of frames in RAM.
//!
//! A request for bytes of cache page b of page P, in a cache that does not hold b:
//! 1. the policy names a frame to fill; or the request is served from the register without one (bypass), if the options
//!    say so;
//! 2. P is loaded, if it is not in the register or the position is after b;
//! 3. cache pages that the position passes over before b come for nothing: those that the policy remembers are filled,
//!    if the options say so;
//! 4. b is fetched into its frame, with its code, and corrected;
//! 5. cache pages after b need no load while the register holds P and its position is before them: some of them are
//!    fetched ahead, if the options say so.
//!
//! Invariants: a frame that the policy says holds a page has that page's bytes, corrected; frames are as wide as the
//! image's cache pages; RAM besides frames and device is at most [`state_bytes_max`], a fact that the compiler checks
//! for each pager that holds its frames itself.

use core::marker::PhantomData;
use core::mem::size_of;

use norn_flash::{Block, Column, ColumnAccess, Nand};

use crate::address::{CachePage, CodeAddress, ImagePage};
use crate::code::{Code, Uncoded};
use crate::error::{ImageError, ReadError};
use crate::frames::Frames;
use crate::image::{Image, column, stride};
use crate::observer::{Event, Observer};
use crate::policy::{Cost, Frame, Policy};
use crate::register::Register;

/// Bytes of RAM that a [`Pager`] takes at most besides its frames, its device and its observer.
pub const fn state_bytes_max(frames: usize) -> usize {
    4 * frames + 64
}

/// Which cache pages after a requested one are fetched ahead, at the cost of their bytes' transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadAhead {
    /// None.
    #[default]
    None,
    /// This number, up to the end of the part's page.
    Always(u8),
    /// Of this number, those that the policy remembers; the bytes before them are passed over.
    Remembered(u8),
}

/// What happens to cache pages that the register's position passes over before a requested one. To fetch them takes no
/// more time than to pass them, on parts whose position only moves forwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passing {
    /// Nothing.
    #[default]
    Skip,
    /// Those that the policy remembers fill a frame.
    FillRemembered,
}

/// When a request is served from the register without filling a frame. Only [`Pager::read`] does so, and no page with a
/// code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bypass {
    /// Never.
    #[default]
    Never,
    /// While the policy does not remember the page, so that pages enter the cache with their second request.
    Unremembered,
}

/// How a pager deals with the register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Fetching ahead.
    pub read_ahead: ReadAhead,
    /// Fetching what is passed over.
    pub passing: Passing,
    /// Serving from the register.
    pub bypass: Bypass,
}

/// A cache of pages in the frames `F` over a device `D`, with replacement policy `P` and error-correcting code `C`: a
/// [`Pager`], or a [`LentPager`](crate::LentPager).
#[derive(Clone, Debug)]
pub struct PagerIn<D, P, F, C = Uncoded, O = ()> {
    device: D,
    image: Image,
    register: Register,
    options: Options,
    policy: P,
    observer: O,
    frames: F,
    code: PhantomData<C>,
}

/// A cache of `FRAMES` pages of `PAGE` bytes, which it holds itself.
pub type Pager<D, P, const FRAMES: usize, const PAGE: usize, C = Uncoded, O = ()> =
    PagerIn<D, P, [[u8; PAGE]; FRAMES], C, O>;

impl<D: Nand, P: Policy + Default, const FRAMES: usize, const PAGE: usize, C: Code> Pager<D, P, FRAMES, PAGE, C> {
    /// A pager over the image that starts in `start` or in one of the next blocks. RAM: the pager itself. Cost: a load
    /// for each block that is looked into, at most nine.
    ///
    /// # Errors
    /// Says what is wrong with the image, or that there is none.
    pub fn open(device: D, start: Block, options: Options) -> Result<Self, ImageError<D::Error>> {
        Self::open_with(device, start, options, ())
    }
}

impl<D: Nand, P: Policy, const FRAMES: usize, const PAGE: usize, C: Code, O: Observer> Pager<D, P, FRAMES, PAGE, C, O> {
    const SMALL_ENOUGH: () = {
        assert!(FRAMES > 0, "a cache has at least one frame");
        let beside = size_of::<D>() + size_of::<O>() + FRAMES * PAGE;
        assert!(
            !P::ONLINE || size_of::<Self>() - beside <= state_bytes_max(FRAMES),
            "at most 4 bytes a frame and 64 beside the frames"
        );
    };

    /// As [`open`](Pager::open), with an observer that is called for each event.
    ///
    /// # Errors
    /// As [`open`](Pager::open).
    pub fn open_with(mut device: D, start: Block, options: Options, observer: O) -> Result<Self, ImageError<D::Error>>
    where
        P: Default,
    {
        let image = Image::find::<D, C>(&mut device, start, PAGE)?;
        Ok(Self::own(device, image, P::default(), options, observer))
    }

    /// A pager over an image whose place is known, with an empty policy. RAM: the pager itself. Cost: none.
    ///
    /// # Panics
    /// If the image has cache pages of another width.
    pub fn over(device: D, image: Image, policy: P, options: Options, observer: O) -> Self {
        let width = image.cache_page_bytes();
        assert!(usize::from(width) == PAGE, "an image in cache pages of {width} bytes, frames of {PAGE}");
        Self::own(device, image, policy, options, observer)
    }

    /// A pager with frames of its own over an image of their width.
    fn own(device: D, image: Image, policy: P, options: Options, observer: O) -> Self {
        let () = Self::SMALL_ENOUGH;
        Self::with_frames(device, image, policy, [[0; PAGE]; FRAMES], options, observer)
    }
}

impl<D: Nand, P: Policy, F: Frames, C: Code, O: Observer> PagerIn<D, P, F, C, O> {
    /// A pager over an image whose cache pages are as wide as the frames.
    pub(crate) fn with_frames(device: D, image: Image, policy: P, frames: F, options: Options, observer: O) -> Self {
        let register = Register::new(device.part().columns);
        PagerIn { device, image, register, options, policy, observer, frames, code: PhantomData }
    }

    /// Where the image is.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// The device, as it is.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// The device and the observer.
    pub fn into_parts(self) -> (D, O) {
        (self.device, self.observer)
    }

    /// Lends the device, whose register is another's business until this returns. The cache is empty afterwards, since
    /// the image may have been rewritten; if it was, [`reopen`](Self::reopen) finds the new one, which may lie in other
    /// blocks.
    pub fn with_device<T>(&mut self, operate: impl FnOnce(&mut D) -> T) -> T {
        self.forget();
        operate(&mut self.device)
    }

    /// Finds the image again, with an empty cache. Cost: a load for each block that is looked into, at most nine.
    ///
    /// # Errors
    /// Says what is wrong with the image, or that there is none; the pager then serves the place of the one before.
    pub fn reopen(&mut self) -> Result<(), ImageError<D::Error>> {
        self.forget();
        self.image = Image::find::<D, C>(&mut self.device, self.image.start(), self.frames.page_bytes())?;
        Ok(())
    }

    /// Forgets what is in the register and in the frames.
    fn forget(&mut self) {
        self.register = Register::new(self.device.part().columns);
        (0..self.frames.count()).for_each(|frame| self.policy.abandon(Frame(frame)));
    }

    /// The bytes from `address` to the end of its cache page or of the image, whichever comes first. Cost: a look-up;
    /// if the cache does not hold the page, at most a load and the transfer of the part's page.
    ///
    /// # Errors
    /// If `address` is outside the image, the device fails, or more bits are wrong than the code corrects.
    #[inline]
    pub fn view(&mut self, address: CodeAddress) -> Result<&[u8], ReadError<D::Error>> {
        let image_bytes = self.image.size_bytes();
        if address.0 >= image_bytes {
            return Err(ReadError::OutOfImage { address, len: 1, image_bytes });
        }
        let page = self.page_of(address);
        let found = self.policy.request(page);
        // Reported in both branches, so that the compiler knows the outcome there.
        let frame = match found.frame() {
            Some(frame) => {
                self.observer.note(Event::LookUp(found));
                frame
            }
            None => {
                self.observer.note(Event::LookUp(found));
                self.fill_requested(page)?
            }
        };
        let start = self.start_in_page(address);
        let end = self.frames.page_bytes().min((image_bytes - address.0) as usize + start);
        Ok(&self.frames.frame(frame)[start..end])
    }

    /// Copies `buffer.len()` bytes from `address` on. Cost: as [`view`](Self::view) for each cache page of the range.
    ///
    /// # Errors
    /// If the range leaves the image, nothing is copied; else as [`view`](Self::view).
    pub fn read(&mut self, address: CodeAddress, buffer: &mut [u8]) -> Result<(), ReadError<D::Error>> {
        let image_bytes = self.image.size_bytes();
        if u64::from(address.0) + buffer.len() as u64 > u64::from(image_bytes) {
            return Err(ReadError::OutOfImage { address, len: buffer.len(), image_bytes });
        }
        let page_bytes = self.frames.page_bytes();
        let (mut at, mut rest) = (address, buffer);
        while !rest.is_empty() {
            let len = rest.len().min(page_bytes - self.start_in_page(at));
            let (piece, behind) = rest.split_at_mut(len);
            self.read_piece(at, piece)?;
            (at, rest) = (CodeAddress(at.0 + len as u32), behind);
        }
        Ok(())
    }

    /// Copies bytes of one cache page.
    fn read_piece(&mut self, address: CodeAddress, buffer: &mut [u8]) -> Result<(), ReadError<D::Error>> {
        let page = self.page_of(address);
        let may_bypass = self.options.bypass == Bypass::Unremembered && C::BYTES == 0;
        if may_bypass && !self.policy.holds(page) && !self.policy.remembers(page) {
            return self.serve_from_register(page, address, buffer);
        }
        buffer.copy_from_slice(&self.view(address)?[..buffer.len()]);
        Ok(())
    }

    /// Serves a request without a frame.
    fn serve_from_register(
        &mut self,
        page: CachePage,
        address: CodeAddress,
        buffer: &mut [u8],
    ) -> Result<(), ReadError<D::Error>> {
        let (image_page, index) = self.place(page);
        let column = Column(self.column(index).0 + self.start_in_page(address) as u16);
        self.register.stand_before(&mut self.device, &self.image, image_page, column)?;
        self.register.fetch(&mut self.device, column, buffer)?;
        self.policy.bypass(page);
        self.observer.note(Event::Bypassed { page, bytes: buffer.len() as u16 });
        Ok(())
    }

    /// The cache page that a byte is in. Cost: a division, where the type does not say how wide pages are.
    #[inline]
    fn page_of(&self, address: CodeAddress) -> CachePage {
        CachePage((address.0 / self.frames.page_bytes() as u32) as u16)
    }

    /// The place of a byte in its cache page. Cost: that of [`page_of`](Self::page_of).
    #[inline]
    fn start_in_page(&self, address: CodeAddress) -> usize {
        (address.0 % self.frames.page_bytes() as u32) as usize
    }

    /// The page of the part that a cache page is in, and its number there.
    #[inline]
    fn place(&self, page: CachePage) -> (ImagePage, u16) {
        let per_page = self.image.layout.per_page;
        (ImagePage(u32::from(page.0 / per_page)), page.0 % per_page)
    }

    /// From one cache page to the next in a page of the part, in bytes.
    #[inline]
    fn stride(&self) -> u16 {
        stride::<C>(self.frames.page_bytes())
    }

    /// The column at which the cache page of number `index` in its page starts.
    #[inline]
    fn column(&self, index: u16) -> Column {
        column::<C>(index, self.frames.page_bytes())
    }

    /// Fills a frame with a page that is requested, and others with what comes along (steps 1 to 5).
    #[inline]
    fn fill_requested(&mut self, page: CachePage) -> Result<Frame, ReadError<D::Error>> {
        let (image_page, index) = self.place(page);
        let column = self.column(index);
        let (position, load) = self.register.stand_before(&mut self.device, &self.image, image_page, column)?;
        if self.options.passing == Passing::FillRemembered && self.register_is_forwards() {
            let first = CachePage(page.0 - index);
            let passed = position.0.div_ceil(self.stride())..index;
            self.fill_remembered(first, passed)?;
        }
        let passed = index.saturating_sub(position.0 / self.stride());
        let cost = Cost(load.saturating_add(passed.min(250) as u8 + 1));
        let frame = self.policy.admit(page, cost);
        self.fill(frame, page, index)?;
        self.observer.note(Event::Filled { page, requested: true });
        match self.options.read_ahead {
            ReadAhead::None => Ok(frame),
            read_ahead => self.fill_ahead(page, index, read_ahead, frame),
        }
    }

    /// Fills frames with pages after a requested one (step 5), which may take the requested page's own frame in a cache
    /// of few: it is then filled again.
    fn fill_ahead(
        &mut self,
        page: CachePage,
        index: u16,
        read_ahead: ReadAhead,
        frame: Frame,
    ) -> Result<Frame, ReadError<D::Error>> {
        let last = self.last_index(page, index);
        let first = CachePage(page.0 - index);
        let behind = |pages: u8| index + 1..last.min(index + u16::from(pages) + 1);
        match read_ahead {
            ReadAhead::None => {}
            ReadAhead::Always(pages) => {
                for ahead in behind(pages) {
                    self.fill_early(CachePage(first.0 + ahead), ahead)?;
                }
            }
            ReadAhead::Remembered(pages) => self.fill_remembered(first, behind(pages))?,
        }
        match self.policy.holds(page) {
            true => Ok(frame),
            false => self.fill_requested_alone(page),
        }
    }

    /// Fills a frame with a page that is requested, and no other.
    fn fill_requested_alone(&mut self, page: CachePage) -> Result<Frame, ReadError<D::Error>> {
        let (image_page, index) = self.place(page);
        let column = self.column(index);
        self.register.stand_before(&mut self.device, &self.image, image_page, column)?;
        let frame = self.policy.admit(page, Cost(1));
        self.fill(frame, page, index)?;
        self.observer.note(Event::Filled { page, requested: true });
        Ok(frame)
    }

    fn register_is_forwards(&self) -> bool {
        self.register.columns() == ColumnAccess::Forwards
    }

    /// One more than the number of the last cache page that the image has in the part's page of `page`.
    fn last_index(&self, page: CachePage, index: u16) -> u16 {
        let pages = self.image.size_bytes().div_ceil(self.frames.page_bytes() as u32);
        let behind = pages - u32::from(page.0 - index);
        self.image.layout.per_page.get().min(behind.min(0xFFFF) as u16)
    }

    /// Fills frames with those cache pages of numbers `indices` after `first` that the policy remembers.
    fn fill_remembered(&mut self, first: CachePage, indices: core::ops::Range<u16>) -> Result<(), ReadError<D::Error>> {
        for index in indices {
            let page = CachePage(first.0 + index);
            if self.policy.remembers(page) {
                self.fill_early(page, index)?;
            }
        }
        Ok(())
    }

    /// Fills a frame with a page that was not requested, unless the cache holds it. One with too many wrong bits is
    /// left out.
    fn fill_early(&mut self, page: CachePage, index: u16) -> Result<(), ReadError<D::Error>> {
        if self.policy.holds(page) {
            return Ok(());
        }
        let frame = self.policy.admit_early(page);
        match self.fill(frame, page, index) {
            Ok(()) => {
                self.observer.note(Event::Filled { page, requested: false });
                Ok(())
            }
            Err(ReadError::Uncorrectable { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Fetches a cache page into a frame, and corrects it (step 4).
    #[inline]
    fn fill(&mut self, frame: Frame, page: CachePage, index: u16) -> Result<(), ReadError<D::Error>> {
        let column = self.column(index);
        let page_bytes = self.frames.page_bytes();
        let bytes = self.frames.frame_mut(frame);
        let mut code = [0; 4];
        let mut fetched = self.register.fetch(&mut self.device, column, bytes);
        if C::BYTES > 0 && fetched.is_ok() {
            let behind = Column(column.0 + page_bytes as u16);
            fetched = self.register.fetch(&mut self.device, behind, &mut code[..C::BYTES]);
        }
        if let Err(error) = fetched {
            self.policy.abandon(frame);
            return Err(ReadError::Device(error));
        }
        match C::correct(bytes, code) {
            Ok(0) => Ok(()),
            Ok(bits) => {
                self.observer.note(Event::Corrected { page, bits });
                Ok(())
            }
            Err(_) => {
                self.policy.abandon(frame);
                Err(ReadError::Uncorrectable { address: CodeAddress(u32::from(page.0) * page_bytes as u32) })
            }
        }
    }
}
