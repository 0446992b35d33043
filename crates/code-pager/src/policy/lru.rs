//! Least recently used, exactly: each frame keeps the number of its page's last request.
//!
//! 1. A request is found by an [`Index`], and stamps its frame with the next number: no other frame is touched.
//! 2. The victim is the frame of the lowest stamp. Only a miss looks for it, and waits for the part much longer.
//! 3. Stamps are signed bytes, from -128 for a frame without a page. When they are used up, all of them are lowered,
//!    and their order stays. If one is too low for that, they are numbered again: 255 - `FRAMES` requests or more are
//!    free.
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
const NEVER: i8 = i8::MIN;
/// Frames at most: stamps are numbered anew after 127 requests or more.
const FRAMES_MAX: usize = 128;
/// Stamps are lowered if that gives room for this number of requests.
const LOWERED_BY_MIN: u8 = 64;

/// Replaces the page whose last request is longest ago. A look-up compares the pages whose numbers end in the same four
/// bits, half of them on average if it finds one; a miss looks at a byte of each frame. 4 bytes a frame and 17; up to
/// 128 frames.
#[derive(Clone, Debug)]
pub struct LruIn<P, B> {
    index: Index<P, B>,
    /// Signed, one byte a frame.
    stamps: B,
    now: i8,
}

/// [`LruIn`] over `FRAMES` frames, with its table in itself.
pub type Lru<const FRAMES: usize> = LruIn<[u16; FRAMES], [u8; FRAMES]>;

impl<P: PageLane, B: ByteLane> LruIn<P, B> {
    /// Makes this frame's page the one requested last.
    #[inline]
    fn stamp(&mut self, frame: Frame) {
        self.stamps.as_mut()[usize::from(frame.0)] = self.now as u8;
    }

    /// The frame of the lowest stamp, the first of those that have none.
    #[inline]
    fn oldest(&self) -> Frame {
        // Stamp and frame are one number, so that the lowest is found without branches: wide processors take eight at a
        // time.
        let numbered = |(at, &stamp): (usize, &u8)| i16::from_le_bytes([at as u8, stamp]);
        let lowest = self.stamps.as_ref().iter().enumerate().map(numbered).reduce(i16::min).unwrap_or(0);
        Frame(lowest.to_le_bytes()[0])
    }

    /// Makes room for more requests (step 3). Cost: a few operations a frame, or, if a page was not requested for long,
    /// a few tens.
    #[cold]
    #[inline(never)]
    fn renumber(&mut self) {
        let oldest = self.stamps.as_ref().iter().map(|&stamp| stamp as i8).min().unwrap_or(NEVER);
        let lowered_by = oldest.wrapping_sub(NEVER + 1) as u8;
        match oldest > NEVER && lowered_by >= LOWERED_BY_MIN {
            true => self.lower(lowered_by),
            false => self.rank(),
        }
    }

    /// Lowers all stamps: the lowest becomes the one after [`NEVER`].
    fn lower(&mut self, by: u8) {
        self.stamps.as_mut().iter_mut().for_each(|stamp| *stamp = stamp.wrapping_sub(by));
        self.now = self.now.wrapping_sub_unsigned(by);
    }

    /// Numbers stamps by how many different ones are below each: none is [`NEVER`], which frames that are emptied later
    /// get.
    fn rank(&mut self) {
        let place = |stamp: u8| {
            let at = (stamp as i8).wrapping_sub(NEVER) as u8;
            (usize::from(at / 32), 1u32 << (at % 32))
        };
        let mut used = [0u32; 8];
        for &stamp in self.stamps.as_ref() {
            let (word, bit) = place(stamp);
            used[word] |= bit;
        }
        let mut below = [0u8; 8];
        for word in 1..used.len() {
            below[word] = below[word - 1] + used[word - 1].count_ones() as u8;
        }
        for stamp in self.stamps.as_mut() {
            let (word, bit) = place(*stamp);
            let rank = below[word] + (used[word] & (bit - 1)).count_ones() as u8;
            *stamp = (NEVER + 1).wrapping_add_unsigned(rank) as u8;
        }
        self.now = NEVER.wrapping_add_unsigned(self.stamps.as_ref().len() as u8);
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
        stamps.as_mut().fill(NEVER as u8);
        LruIn { index: Index::over(pages, next), stamps, now: NEVER }
    }
}

impl<P: PageLane, B: ByteLane> Policy for LruIn<P, B> {
    #[inline]
    fn request(&mut self, page: CachePage) -> LookUp {
        if self.now == i8::MAX {
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
        self.stamps.as_mut()[usize::from(frame.0)] = NEVER as u8;
    }
}
