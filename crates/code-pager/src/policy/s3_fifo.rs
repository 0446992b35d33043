//! S3-FIFO (Yang et al., SOSP 2023) in four bytes a frame: a small queue for new pages, a main queue for pages that
//! were requested again, and a ghost queue of pages that left the small one.
//!
//! 1. A new page goes to the main queue if a ghost remembers it, else to the small one.
//! 2. If the small queue has more than a tenth of the frames, its oldest page leaves: to the main queue if it was
//!    requested again, else out of the cache, to be a ghost.
//! 3. Else the oldest page of the main queue leaves, or is queued once more for each time it was requested, three at
//!    most.
//!
//! A ghost is a byte, a hash of the page's number: two pages in 256 are taken for each other. A frame's byte is its
//! successor in its queue (6 bits) and its count of requests (2 bits).
//!
//! Invariants: each frame is in one queue; the queues' lengths add up to `FRAMES`; no count exceeds 3.

use super::contract::{Cost, Frame, LookUp, Policy};
use super::table::{ByteLane, FrameTable, PageLane, PolicyIn, fixed};
use super::tags::Tags;
use crate::address::CachePage;

const NEXT: u8 = 0b0011_1111;
const COUNT: u8 = 0b1100_0000;
const ONE: u8 = 0b0100_0000;
/// Frames whose numbers fit a link.
const FRAMES_MAX: usize = NEXT as usize + 1;

/// A queue of frames, linked through their bytes.
#[derive(Clone, Debug)]
struct Queue {
    oldest: u8,
    newest: u8,
    len: u8,
}

/// Replaces new pages that were not requested again before old ones that were. 4 bytes a frame; up to 64 frames.
#[derive(Clone, Debug)]
pub struct S3FifoIn<P, B> {
    tags: Tags<P>,
    links: B,
    ghosts: B,
    ghost_at: u8,
    ghost_len: u8,
    small: Queue,
    main: Queue,
}

/// [`S3FifoIn`] over `FRAMES` frames, with its table in itself.
pub type S3Fifo<const FRAMES: usize> = S3FifoIn<[u16; FRAMES], [u8; FRAMES]>;

impl Queue {
    const EMPTY: Queue = Queue { oldest: 0, newest: 0, len: 0 };

    fn push(&mut self, frame: Frame, links: &mut [u8]) {
        if self.len == 0 {
            self.oldest = frame.0;
        } else {
            let newest = &mut links[usize::from(self.newest)];
            *newest = *newest & COUNT | frame.0;
        }
        self.newest = frame.0;
        self.len += 1;
    }

    fn pop(&mut self, links: &[u8]) -> Option<Frame> {
        self.len = self.len.checked_sub(1)?;
        let oldest = self.oldest;
        self.oldest = links[usize::from(oldest)] & NEXT;
        Some(Frame(oldest))
    }
}

fn hash(page: CachePage) -> u8 {
    (page.0.wrapping_mul(0x9E37) >> 8) as u8
}

impl<P: PageLane, B: ByteLane> S3FifoIn<P, B> {
    /// Frames of the small queue, at most.
    fn small_max(&self) -> u8 {
        (self.tags.frames() / 10).max(1) as u8
    }

    fn count(&self, frame: Frame) -> u8 {
        self.links.as_ref()[usize::from(frame.0)] & COUNT
    }

    fn set_count(&mut self, frame: Frame, count: u8) {
        let link = &mut self.links.as_mut()[usize::from(frame.0)];
        *link = *link & NEXT | count;
    }

    fn ghost(&self, page: CachePage) -> Option<usize> {
        let len = usize::from(self.ghost_len);
        self.ghosts.as_ref()[..len].iter().position(|&ghost| ghost == hash(page))
    }

    fn remember(&mut self, page: CachePage) {
        let frames = self.tags.frames();
        self.ghosts.as_mut()[usize::from(self.ghost_at)] = hash(page);
        self.ghost_at = ((usize::from(self.ghost_at) + 1) % frames) as u8;
        self.ghost_len = (self.ghost_len + 1).min(frames as u8);
    }

    /// Takes the victim out of its queue (steps 2 and 3). A page is queued at most three times.
    fn evict(&mut self) -> Frame {
        while self.small.len > self.small_max() || self.main.len == 0 {
            let Some(frame) = self.small.pop(self.links.as_ref()) else { break };
            if self.count(frame) == 0 {
                if let Some(page) = self.tags.page(frame) {
                    self.remember(page);
                }
                return frame;
            }
            self.set_count(frame, 0);
            self.main.push(frame, self.links.as_mut());
        }
        while let Some(frame) = self.main.pop(self.links.as_ref()) {
            let count = self.count(frame);
            if count == 0 {
                return frame;
            }
            self.set_count(frame, count - ONE);
            self.main.push(frame, self.links.as_mut());
        }
        Frame(0)
    }
}

impl<const FRAMES: usize> Default for S3Fifo<FRAMES> {
    /// An empty cache.
    fn default() -> Self {
        fixed()
    }
}

impl<P: PageLane, B: ByteLane> PolicyIn<P, B> for S3FifoIn<P, B> {
    const FRAMES_MAX: usize = FRAMES_MAX;

    fn over(table: FrameTable<P, B>) -> Self {
        let FrameTable { pages, bytes: [mut links, mut ghosts] } = table.checked(FRAMES_MAX);
        ghosts.as_mut().fill(0);
        let links_empty = links.as_mut();
        links_empty.fill(0);
        let (small, mut main) = (Queue::EMPTY, Queue::EMPTY);
        (0..links_empty.len()).for_each(|frame| main.push(Frame(frame as u8), links_empty));
        S3FifoIn { tags: Tags::over(pages), links, ghosts, ghost_at: 0, ghost_len: 0, small, main }
    }
}

impl<P: PageLane, B: ByteLane> Policy for S3FifoIn<P, B> {
    fn request(&mut self, page: CachePage) -> LookUp {
        let found = self.tags.look_up(page);
        if let Some(frame) = found.frame() {
            let link = &mut self.links.as_mut()[usize::from(frame.0)];
            *link = link.checked_add(ONE).unwrap_or(*link);
        }
        found
    }

    fn admit(&mut self, page: CachePage, _cost: Cost) -> Frame {
        let known = self.ghost(page).is_some();
        let frame = self.evict();
        self.tags.set(frame, page);
        self.set_count(frame, 0);
        if known {
            self.main.push(frame, self.links.as_mut())
        } else {
            self.small.push(frame, self.links.as_mut())
        }
        frame
    }

    /// Joins the small queue, even if it is remembered.
    fn admit_early(&mut self, page: CachePage) -> Frame {
        let frame = self.evict();
        self.tags.set(frame, page);
        self.set_count(frame, 0);
        self.small.push(frame, self.links.as_mut());
        frame
    }

    fn holds(&self, page: CachePage) -> bool {
        self.tags.holds(page)
    }

    fn remembers(&self, page: CachePage) -> bool {
        self.ghost(page).is_some()
    }

    fn bypass(&mut self, page: CachePage) {
        if self.ghost(page).is_none() {
            self.remember(page);
        }
    }

    fn abandon(&mut self, frame: Frame) {
        self.tags.clear(frame);
        self.set_count(frame, 0);
    }
}
