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
use super::tags::Tags;
use crate::address::CachePage;

/// Requests that count.
pub const REQUESTS_MAX: u8 = 8;

/// Misses in a row that get a frame each.
pub const STREAM_PAGES: u8 = 5;

/// Replaces what is cheap to miss and seldom requested. 4 bytes a frame and 2; up to 255 frames.
#[derive(Clone, Debug)]
pub struct Greedy<const FRAMES: usize> {
    tags: Tags<FRAMES>,
    worth: [u8; FRAMES],
    /// The cost in the upper four bits, requests in the lower.
    history: [u8; FRAMES],
    /// The frame that was filled last, and how many misses before that one were of the page before.
    last: Frame,
    row: u8,
}

impl<const FRAMES: usize> Greedy<FRAMES> {
    fn value(&mut self, frame: usize) {
        let (cost, requests) = (self.history[frame] >> 4, self.history[frame] & 0xF);
        self.worth[frame] = cost * requests;
    }

    fn put(&mut self, frame: usize, page: CachePage, cost: Cost) -> Frame {
        self.history[frame] = cost.0.min(15) << 4 | 1;
        self.value(frame);
        self.last = Frame(frame as u8);
        self.tags.set(self.last, page);
        self.last
    }

    fn victim(&mut self) -> usize {
        let (victim, floor) =
            (0..FRAMES).map(|frame| (frame, self.worth[frame])).min_by_key(|pair| pair.1).unwrap_or((0, 0));
        self.worth.iter_mut().for_each(|worth| *worth -= floor);
        victim
    }
}

impl<const FRAMES: usize> Default for Greedy<FRAMES> {
    /// An empty cache.
    fn default() -> Self {
        const { assert!(FRAMES > 0 && FRAMES <= LookUp::FRAMES_MAX, "1 to 255 frames") };
        Greedy { tags: Tags::new(), worth: [0; FRAMES], history: [0; FRAMES], last: Frame(0), row: 0 }
    }
}

impl<const FRAMES: usize> Policy for Greedy<FRAMES> {
    fn request(&mut self, page: CachePage) -> LookUp {
        let found = self.tags.look_up(page);
        if let Some(frame) = found.frame() {
            let frame = usize::from(frame.0);
            if self.history[frame] & 0xF < REQUESTS_MAX {
                self.history[frame] += 1;
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
        self.worth[usize::from(frame.0)] = 0;
    }
}
