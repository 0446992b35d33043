//! What the directory of a cache and its replacement policy promise, and what they are asked with.
//!
//! Invariants of every policy: a page is in at most one frame, a frame holds at most one page; no look-up costs more
//! than one comparison of a page's number for each frame; [`state_bytes_max`](crate::pager::state_bytes_max) bounds its
//! bytes.

use crate::address::CachePage;

/// The number of a frame, counted from the cache's first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame(pub u8);

/// What a miss costs, in transfers of a cache page: one for its own, one for each that the position passes over, and
/// [`Cost::LOAD`] if the part's page has to be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(pub u8);

impl Cost {
    /// A load, of 15 to 25 µs, beside a transfer of 64 bytes, of 1.3 to 3.2 µs.
    pub const LOAD: u8 = 5;
}

/// What a look-up found, and what it cost: two plain numbers, which stay in the processor's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookUp {
    frame: u8,
    comparisons: u16,
}

impl LookUp {
    /// Frames that a cache can have: one number is left for "none".
    pub const FRAMES_MAX: usize = 255;

    /// The page is in this frame. Also the number of comparisons of page numbers that it took to find it.
    #[inline]
    pub const fn hit(frame: Frame, comparisons: u16) -> Self {
        LookUp { frame: frame.0, comparisons }
    }

    /// The page is in no frame.
    #[inline]
    pub const fn miss(comparisons: u16) -> Self {
        LookUp { frame: u8::MAX, comparisons }
    }

    /// The frame that holds the page, if one does.
    #[inline]
    pub const fn frame(self) -> Option<Frame> {
        match self.frame {
            u8::MAX => None,
            frame => Some(Frame(frame)),
        }
    }

    /// Page numbers compared.
    #[inline]
    pub const fn comparisons(self) -> u16 {
        self.comparisons
    }
}

/// The directory of a cache, and the policy by which it replaces. Its default is an empty cache.
pub trait Policy {
    /// Whether a device can carry it out, so that its RAM counts. Only a baseline that knows the future says no.
    const ONLINE: bool = true;

    /// Looks a page up that is requested, and takes note of the request.
    fn request(&mut self, page: CachePage) -> LookUp;

    /// The frame for a page that was requested and is in none. What the frame held is gone from the cache.
    fn admit(&mut self, page: CachePage, cost: Cost) -> Frame;

    /// The frame for a page that was not requested yet, but needs no load. It should not drive out what was requested
    /// lately.
    fn admit_early(&mut self, page: CachePage) -> Frame;

    /// Whether the page is in a frame. Takes no note.
    fn holds(&self, page: CachePage) -> bool;

    /// Whether the page is in no frame, but was not long ago. Never, where a policy keeps nothing of pages that are
    /// gone.
    fn remembers(&self, _page: CachePage) -> bool {
        false
    }

    /// Takes note of a request that was served without a frame.
    fn bypass(&mut self, _page: CachePage) {}

    /// The frame holds nothing: it could not be filled, or its page may have been rewritten. It may have held nothing
    /// before.
    fn abandon(&mut self, frame: Frame);
}
