//! CLOCK: frames in a ring, a hand, and a bit for each that a request sets and the hand clears.
//!
//! Invariant: the hand points to a frame.

use super::contract::{Cost, Frame, LookUp, Policy};
use super::index::Index;
use crate::address::CachePage;

/// Second chance: replaces the first frame from the hand on that was not requested since the hand passed it. 4 bytes a
/// frame and 17; up to 255 frames.
#[derive(Clone, Debug)]
pub struct Clock<const FRAMES: usize> {
    index: Index<FRAMES>,
    requested: [bool; FRAMES],
    hand: u8,
}

impl<const FRAMES: usize> Clock<FRAMES> {
    fn advance(&mut self) {
        self.hand = ((usize::from(self.hand) + 1) % FRAMES) as u8;
    }

    /// The victim. The hand points to it; it passes each frame at most once before it comes to one whose bit it
    /// cleared.
    fn sweep(&mut self) -> Frame {
        while core::mem::take(&mut self.requested[usize::from(self.hand)]) {
            self.advance();
        }
        Frame(self.hand)
    }
}

impl<const FRAMES: usize> Default for Clock<FRAMES> {
    /// An empty cache.
    fn default() -> Self {
        const { assert!(FRAMES > 0 && FRAMES <= LookUp::FRAMES_MAX, "1 to 255 frames") };
        Clock { index: Index::new(), requested: [false; FRAMES], hand: 0 }
    }
}

impl<const FRAMES: usize> Policy for Clock<FRAMES> {
    fn request(&mut self, page: CachePage) -> LookUp {
        let found = self.index.look_up(page);
        if let Some(frame) = found.frame() {
            self.requested[usize::from(frame.0)] = true;
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
        self.requested[usize::from(frame.0)] = false;
    }
}
