//! Least recently used, exactly: each frame keeps the number of its page's last request.
//!
//! 1. A request is found by an [`Index`], and stamps its frame with the next number: no other frame is touched.
//! 2. The victim is the frame of the lowest stamp. Only a miss looks for it, and waits for the part much longer.
//! 3. Stamps are bytes. When they are used up, after 255 - `FRAMES` requests or more, they are numbered again from 1
//!    on, in their order.
//!
//! A list of frames in the order of their requests would name the victim at once, but takes another byte a frame, and
//! six more stores a request that finds its page.
//!
//! Invariants: stamps of frames that hold a page differ, and are above those of frames that hold none; none is above
//! `now`.

use super::contract::{Cost, Frame, LookUp, Policy};
use super::index::Index;
use super::table::{ByteLane, FrameTable, PageLane, PolicyIn, fixed};
use crate::address::CachePage;

/// The stamp of a frame without a page.
const NEVER: u8 = 0;
/// Frames at most: stamps are numbered anew after 127 requests or more.
const FRAMES_MAX: usize = 128;

/// Replaces the page whose last request is longest ago. A look-up compares the pages whose numbers end in the same four
/// bits, half of them on average if it finds one; a miss looks at a byte of each frame. 4 bytes a frame and 17; up to
/// 128 frames.
#[derive(Clone, Debug)]
pub struct LruIn<P, B> {
    index: Index<P, B>,
    stamps: B,
    now: u8,
}

/// [`LruIn`] over `FRAMES` frames, with its table in itself.
pub type Lru<const FRAMES: usize> = LruIn<[u16; FRAMES], [u8; FRAMES]>;

impl<P: PageLane, B: ByteLane> LruIn<P, B> {
    /// Makes this frame's page the one requested last.
    #[inline]
    fn stamp(&mut self, frame: Frame) {
        self.stamps.as_mut()[usize::from(frame.0)] = self.now;
    }

    /// The frame of the lowest stamp, the first of those that have none.
    #[inline]
    fn oldest(&self) -> Frame {
        // Stamp and frame are one number, so that the lowest is found without branches: wide processors take eight at a
        // time.
        let numbered = |(at, &stamp): (usize, &u8)| i16::from_le_bytes([at as u8, stamp ^ 0x80]);
        let lowest = self.stamps.as_ref().iter().enumerate().map(numbered).reduce(i16::min).unwrap_or(0);
        Frame(lowest.to_le_bytes()[0])
    }

    /// Makes each stamp one more than the number of those below it (step 3): none is [`NEVER`], which frames that are
    /// emptied later get. Cost: each stamp is compared with each.
    #[cold]
    #[inline(never)]
    fn renumber(&mut self) {
        let stamps = self.stamps.as_mut();
        let mut before = [NEVER; FRAMES_MAX];
        let before = &mut before[..stamps.len()];
        before.copy_from_slice(stamps);
        for (stamp, &old) in stamps.iter_mut().zip(&*before) {
            *stamp = before.iter().fold(1, |rank, &other| rank + u8::from(other < old));
        }
        self.now = before.len() as u8;
    }
}

impl<const FRAMES: usize> Default for Lru<FRAMES> {
    /// An empty cache.
    fn default() -> Self {
        fixed()
    }
}

impl<P: PageLane, B: ByteLane> PolicyIn<P, B> for LruIn<P, B> {
    const FRAMES_MAX: usize = FRAMES_MAX;

    fn over(table: FrameTable<P, B>) -> Self {
        let FrameTable { pages, bytes: [next, mut stamps] } = table.checked(FRAMES_MAX);
        stamps.as_mut().fill(NEVER);
        LruIn { index: Index::over(pages, next), stamps, now: NEVER }
    }
}

impl<P: PageLane, B: ByteLane> Policy for LruIn<P, B> {
    #[inline]
    fn request(&mut self, page: CachePage) -> LookUp {
        if self.now == u8::MAX {
            self.renumber();
        }
        self.now += 1;
        let found = self.index.look_up(page);
        if let Some(frame) = found.frame() {
            self.stamp(frame);
        }
        found
    }

    #[inline]
    fn admit(&mut self, page: CachePage, _cost: Cost) -> Frame {
        let frame = self.admit_early(page);
        self.stamp(frame);
        frame
    }

    /// Takes the place of the page whose last request is longest ago, and keeps its rank.
    #[inline]
    fn admit_early(&mut self, page: CachePage) -> Frame {
        let frame = self.oldest();
        self.index.set(frame, page);
        frame
    }

    fn holds(&self, page: CachePage) -> bool {
        self.index.holds(page)
    }

    fn abandon(&mut self, frame: Frame) {
        self.index.clear(frame);
        self.stamps.as_mut()[usize::from(frame.0)] = NEVER;
    }
}
