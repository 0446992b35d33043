//! SIEVE (Zhang et al., NSDI 2024): a queue in the order of admission, and a hand that moves from its old end to its
//! new one, sparing what was requested. Unlike with CLOCK, new pages do not take the place of their victims, but the
//! new end.
//!
//! Invariants: `order` is a permutation, its first frame the newest; the hand points to a place.

use super::contract::{Cost, Frame, LookUp, Policy};
use super::tags::Tags;
use crate::address::CachePage;

/// Replaces the first page from the hand on that was not requested since the hand passed it. 4 bytes a frame; up to 255
/// frames.
#[derive(Clone, Debug)]
pub struct Sieve<const FRAMES: usize> {
    tags: Tags<FRAMES>,
    requested: [bool; FRAMES],
    order: [u8; FRAMES],
    hand: u8,
}

impl<const FRAMES: usize> Sieve<FRAMES> {
    /// The place of the victim, to which the hand points.
    fn sweep(&mut self) -> usize {
        let mut hand = usize::from(self.hand);
        while core::mem::take(&mut self.requested[usize::from(self.order[hand])]) {
            hand = if hand == 0 { FRAMES - 1 } else { hand - 1 };
        }
        hand
    }
}

impl<const FRAMES: usize> Default for Sieve<FRAMES> {
    /// An empty cache.
    fn default() -> Self {
        const { assert!(FRAMES > 0 && FRAMES <= LookUp::FRAMES_MAX, "1 to 255 frames") };
        let order = core::array::from_fn(|at| at as u8);
        Sieve { tags: Tags::new(), requested: [false; FRAMES], order, hand: (FRAMES - 1) as u8 }
    }
}

impl<const FRAMES: usize> Policy for Sieve<FRAMES> {
    fn request(&mut self, page: CachePage) -> LookUp {
        let found = self.tags.look_up(page);
        if let Some(frame) = found.frame() {
            self.requested[usize::from(frame.0)] = true;
        }
        found
    }

    /// The pages before the victim move one place towards the old end, so that the hand, which stays, is on the next of
    /// them.
    fn admit(&mut self, page: CachePage, _cost: Cost) -> Frame {
        let at = self.sweep();
        let frame = Frame(self.order[at]);
        self.order.copy_within(..at, 1);
        self.order[0] = frame.0;
        self.hand = if at == 0 { FRAMES - 1 } else { at } as u8;
        self.tags.set(frame, page);
        frame
    }

    /// Takes the victim's place, under the hand.
    fn admit_early(&mut self, page: CachePage) -> Frame {
        let at = self.sweep();
        self.hand = at as u8;
        let frame = Frame(self.order[at]);
        self.tags.set(frame, page);
        frame
    }

    fn holds(&self, page: CachePage) -> bool {
        self.tags.holds(page)
    }

    fn abandon(&mut self, frame: Frame) {
        self.tags.clear(frame);
        self.requested[usize::from(frame.0)] = false;
    }
}
