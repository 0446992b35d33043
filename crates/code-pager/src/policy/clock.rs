//! CLOCK: frames in a ring, a hand, and a bit for each that a request sets and the hand clears.
//!
//! Invariant: the hand points to a frame.

use super::contract::{Cost, Frame, LookUp, Policy};
use super::index::Index;
use super::table::{ByteLane, FrameTable, PageLane, PolicyIn, fixed};
use crate::address::CachePage;

/// Second chance: replaces the first frame from the hand on that was not requested since the hand passed it. 4 bytes a
/// frame and 17; up to 255 frames.
#[derive(Clone, Debug)]
pub struct ClockIn<P, B> {
    index: Index<P, B>,
    /// 1 for each frame that was requested, else 0.
    requested: B,
    hand: u8,
}

/// [`ClockIn`] over `FRAMES` frames, with its table in itself.
pub type Clock<const FRAMES: usize> = ClockIn<[u16; FRAMES], [u8; FRAMES]>;

impl<P: PageLane, B: ByteLane> ClockIn<P, B> {
    fn advance(&mut self) {
        self.hand = ((usize::from(self.hand) + 1) % self.requested.as_ref().len()) as u8;
    }

    /// The victim. The hand points to it; it passes each frame at most once before it comes to one whose bit it
    /// cleared.
    fn sweep(&mut self) -> Frame {
        while core::mem::take(&mut self.requested.as_mut()[usize::from(self.hand)]) != 0 {
            self.advance();
        }
        Frame(self.hand)
    }
}

impl<const FRAMES: usize> Default for Clock<FRAMES> {
    /// An empty cache.
    fn default() -> Self {
        fixed()
    }
}

impl<P: PageLane, B: ByteLane> PolicyIn<P, B> for ClockIn<P, B> {
    const FRAMES_MAX: usize = LookUp::FRAMES_MAX;

    fn over(table: FrameTable<P, B>) -> Self {
        let FrameTable { pages, bytes: [next, mut requested] } = table.checked(LookUp::FRAMES_MAX);
        requested.as_mut().fill(0);
        ClockIn { index: Index::over(pages, next), requested, hand: 0 }
    }
}

impl<P: PageLane, B: ByteLane> Policy for ClockIn<P, B> {
    fn request(&mut self, page: CachePage) -> LookUp {
        let found = self.index.look_up(page);
        if let Some(frame) = found.frame() {
            self.requested.as_mut()[usize::from(frame.0)] = 1;
        }
        found
    }

    fn admit(&mut self, page: CachePage, _cost: Cost) -> Frame {
        let frame = self.sweep();
        self.index.set(frame, page);
        self.advance();
        frame
    }

    /// Stays under the hand, which is to come back to it first.
    fn admit_early(&mut self, page: CachePage) -> Frame {
        let frame = self.sweep();
        self.index.set(frame, page);
        frame
    }

    fn holds(&self, page: CachePage) -> bool {
        self.index.holds(page)
    }

    fn abandon(&mut self, frame: Frame) {
        self.index.clear(frame);
        self.requested.as_mut()[usize::from(frame.0)] = 0;
    }
}
