//! Which cache page stays in which frame: the directory of a cache and its replacement policy, in one.
//!
//! Invariants of every policy: a page is in at most one frame, a frame holds at most one page; no look-up costs more than
//! `FRAMES` comparisons of a page's number; [`state_bytes_max`](crate::pager::state_bytes_max) bounds its bytes.

mod clock;
mod lru;
mod s3_fifo;
mod sieve;
mod tags;

pub use clock::Clock;
pub use lru::Lru;
pub use s3_fifo::S3Fifo;
pub use sieve::Sieve;

use crate::image::CachePage;

/// The number of a frame, counted from the cache's first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame(pub u8);

/// What a look-up found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookUp {
    /// The frame that holds the page, if one does.
    pub frame: Option<Frame>,
    /// Page numbers compared.
    pub comparisons: u16,
}

/// The directory of a cache of so many frames, and the policy by which it replaces.
pub trait Policy {
    /// An empty cache.
    fn new() -> Self;

    /// Looks a page up that is requested, and takes note of the request.
    fn request(&mut self, page: CachePage) -> LookUp;

    /// The frame for a page that was requested and is in none. What the frame held is gone from the cache.
    fn admit(&mut self, page: CachePage) -> Frame;

    /// The frame for a page that nobody requested yet, but that comes along without a load. It should not drive out what was
    /// requested lately.
    fn admit_early(&mut self, page: CachePage) -> Frame;

    /// Whether the page is in a frame. Takes no note.
    fn holds(&self, page: CachePage) -> bool;

    /// Whether the page is in no frame, but was not long ago.
    fn remembers(&self, page: CachePage) -> bool;

    /// Takes note of a request that was served without a frame.
    fn bypass(&mut self, page: CachePage);

    /// The frame holds nothing: it could not be filled.
    fn abandon(&mut self, frame: Frame);
}
