//! GreedyDual with frequency (Young 1994, Cherkasova 1998), since misses cost differently here: a cache page that comes
//! next in the register costs its transfer, one in another page of the part a load and all that is passed over.
//!
//! 1. At each request, a page's worth becomes its last miss's cost times the number of its requests, [`REQUESTS_MAX`]
//!    at most.
//! 2. The victim is the page of the least worth, by which all worths sink: what is not requested any more loses by and
//!    by.
//! 3. Of a sequence of misses, each for the page after the previous one, those after the first [`STREAM_PAGES`] share a
//!    frame. A straight piece of code longer than the cache so leaves its first pages there, and next time a few more,
//!    instead of driving out all the rest and itself.
//!
//! Invariant: a worth is at most 15 × `REQUESTS_MAX`, and fits a byte.

use super::contract::{Cost, Frame, LookUp, Policy};
use super::table::{ByteLane, FrameTable, PageLane, PolicyIn, fixed};
use super::tags::Tags;
use crate::address::CachePage;

/// Requests that count.
pub const REQUESTS_MAX: u8 = 8;

/// Misses in a row that get a frame each.
pub const STREAM_PAGES: u8 = 5;

/// Replaces what is cheap to miss and seldom requested. 4 bytes a frame and 2; up to 255 frames.
#[derive(Clone, Debug)]
pub struct GreedyIn<P, B> {
    tags: Tags<P>,
    worth: B,
    /// The cost in the upper four bits, requests in the lower.
    history: B,
    /// The frame that was filled last, and how many misses before that one were of the page before.
    last: Frame,
    row: u8,
}

/// [`GreedyIn`] over `FRAMES` frames, with its table in itself.
pub type Greedy<const FRAMES: usize> = GreedyIn<[u16; FRAMES], [u8; FRAMES]>;

impl<P: PageLane, B: ByteLane> GreedyIn<P, B> {
    fn value(&mut self, frame: usize) {
        let history = self.history.as_ref()[frame];
        let (cost, requests) = (history >> 4, history & 0xF);
        self.worth.as_mut()[frame] = cost * requests;
    }

    fn put(&mut self, frame: usize, page: CachePage, cost: Cost) -> Frame {
        self.history.as_mut()[frame] = cost.0.min(15) << 4 | 1;
        self.value(frame);
        self.last = Frame(frame as u8);
        self.tags.set(self.last, page);
        self.last
    }

    fn victim(&mut self) -> usize {
        let worth = self.worth.as_mut();
        let (victim, floor) = worth.iter().copied().enumerate().min_by_key(|pair| pair.1).unwrap_or((0, 0));
        worth.iter_mut().for_each(|worth| *worth -= floor);
        victim
    }
}

impl<const FRAMES: usize> Default for Greedy<FRAMES> {
    /// An empty cache.
    fn default() -> Self {
        fixed()
    }
}

impl<P: PageLane, B: ByteLane> PolicyIn<P, B> for GreedyIn<P, B> {
    const FRAMES_MAX: usize = LookUp::FRAMES_MAX;

    fn over(table: FrameTable<P, B>) -> Self {
        let FrameTable { pages, bytes: [mut worth, mut history] } = table.checked(LookUp::FRAMES_MAX);
        worth.as_mut().fill(0);
        history.as_mut().fill(0);
        GreedyIn { tags: Tags::over(pages), worth, history, last: Frame(0), row: 0 }
    }
}

impl<P: PageLane, B: ByteLane> Policy for GreedyIn<P, B> {
    fn request(&mut self, page: CachePage) -> LookUp {
        let found = self.tags.look_up(page);
        if let Some(frame) = found.frame() {
            let frame = usize::from(frame.0);
            let history = &mut self.history.as_mut()[frame];
            if *history & 0xF < REQUESTS_MAX {
                *history += 1;
            }
            self.value(frame);
        }
        found
    }

    fn admit(&mut self, page: CachePage, cost: Cost) -> Frame {
        let follows = self.tags.page(self.last).is_some_and(|last| last.0 + 1 == page.0);
        self.row = if follows { self.row.saturating_add(1) } else { 0 };
        let frame = if self.row < STREAM_PAGES { self.victim() } else { usize::from(self.last.0) };
        self.put(frame, page, cost)
    }

    fn admit_early(&mut self, page: CachePage) -> Frame {
        self.row = 0;
        let frame = self.victim();
        self.put(frame, page, Cost(1))
    }

    fn holds(&self, page: CachePage) -> bool {
        self.tags.holds(page)
    }

    fn abandon(&mut self, frame: Frame) {
        self.tags.clear(frame);
        self.worth.as_mut()[usize::from(frame.0)] = 0;
    }
}
