//! SIEVE (Zhang et al., NSDI 2024): a queue in the order of admission, and a hand that moves from its old end to its
//! new one, sparing what was requested. Unlike with CLOCK, new pages do not take the place of their victims, but the
//! new end.
//!
//! Invariants: `order` is a permutation, its first frame the newest; the hand points to a place.

use super::contract::{Cost, Frame, LookUp, Policy};
use super::table::{ByteLane, FrameTable, PageLane, PolicyIn, fixed};
use super::tags::Tags;
use crate::address::CachePage;

/// Replaces the first page from the hand on that was not requested since the hand passed it. 4 bytes a frame; up to 255
/// frames.
#[derive(Clone, Debug)]
pub struct SieveIn<P, B> {
    tags: Tags<P>,
    /// 1 for each frame that was requested, else 0.
    requested: B,
    order: B,
    hand: u8,
}

/// [`SieveIn`] over `FRAMES` frames, with its table in itself.
pub type Sieve<const FRAMES: usize> = SieveIn<[u16; FRAMES], [u8; FRAMES]>;

impl<P: PageLane, B: ByteLane> SieveIn<P, B> {
    /// The place of the oldest page.
    fn old_end(&self) -> usize {
        self.order.as_ref().len() - 1
    }

    /// The place of the victim, to which the hand points.
    fn sweep(&mut self) -> usize {
        let mut hand = usize::from(self.hand);
        while core::mem::take(&mut self.requested.as_mut()[usize::from(self.order.as_ref()[hand])]) != 0 {
            hand = if hand == 0 { self.old_end() } else { hand - 1 };
        }
        hand
    }
}

impl<const FRAMES: usize> Default for Sieve<FRAMES> {
    /// An empty cache.
    fn default() -> Self {
        fixed()
    }
}

impl<P: PageLane, B: ByteLane> PolicyIn<P, B> for SieveIn<P, B> {
    const FRAMES_MAX: usize = LookUp::FRAMES_MAX;

    fn over(table: FrameTable<P, B>) -> Self {
        let FrameTable { pages, bytes: [mut requested, mut order] } = table.checked(LookUp::FRAMES_MAX);
        requested.as_mut().fill(0);
        order.as_mut().iter_mut().enumerate().for_each(|(at, frame)| *frame = at as u8);
        let mut sieve = SieveIn { tags: Tags::over(pages), requested, order, hand: 0 };
        sieve.hand = sieve.old_end() as u8;
        sieve
    }
}

impl<P: PageLane, B: ByteLane> Policy for SieveIn<P, B> {
    fn request(&mut self, page: CachePage) -> LookUp {
        let found = self.tags.look_up(page);
        if let Some(frame) = found.frame() {
            self.requested.as_mut()[usize::from(frame.0)] = 1;
        }
        found
    }

    /// The pages before the victim move one place towards the old end, so that the hand, which stays, is on the next of
    /// them.
    fn admit(&mut self, page: CachePage, _cost: Cost) -> Frame {
        let at = self.sweep();
        let frame = Frame(self.order.as_ref()[at]);
        self.order.as_mut().copy_within(..at, 1);
        self.order.as_mut()[0] = frame.0;
        self.hand = if at == 0 { self.old_end() } else { at } as u8;
        self.tags.set(frame, page);
        frame
    }

    /// Takes the victim's place, under the hand.
    fn admit_early(&mut self, page: CachePage) -> Frame {
        let at = self.sweep();
        self.hand = at as u8;
        let frame = Frame(self.order.as_ref()[at]);
        self.tags.set(frame, page);
        frame
    }

    fn holds(&self, page: CachePage) -> bool {
        self.tags.holds(page)
    }

    fn abandon(&mut self, frame: Frame) {
        self.tags.clear(frame);
        self.requested.as_mut()[usize::from(frame.0)] = 0;
    }
}
