//! GreedyDual with frequency (Young 1994, Cherkasova 1998), since misses cost differently here: a cache page that comes next in the
//! register costs its transfer, one in another page of the part a load and all that is passed over.
//!
//! 1. At each request, a page's worth becomes its last miss's cost times the number of its requests, [`REQUESTS_MAX`] at most.
//! 2. The victim is the page of the least worth, by which all worths sink: what is not requested any more loses by and by.
//!
//! Invariant: a worth is at most 15 × `REQUESTS_MAX`, and fits a byte.

use super::tags::Tags;
use super::{Cost, Frame, LookUp, Policy};
use crate::image::CachePage;

/// Requests that count.
pub const REQUESTS_MAX: u8 = 8;

/// Replaces what is cheap to miss and seldom requested. 4 bytes a frame; up to 256 frames.
#[derive(Clone, Debug)]
pub struct Greedy<const FRAMES: usize> {
    tags: Tags<FRAMES>,
    worth: [u8; FRAMES],
    /// The cost in the upper four bits, requests in the lower.
    history: [u8; FRAMES],
}

impl<const FRAMES: usize> Greedy<FRAMES> {
    fn value(&mut self, frame: usize) {
        let (cost, requests) = (self.history[frame] >> 4, self.history[frame] & 0xF);
        self.worth[frame] = cost * requests;
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
        const { assert!(FRAMES > 0 && FRAMES <= 256, "1 to 256 frames") };
        Greedy { tags: Tags::new(), worth: [0; FRAMES], history: [0; FRAMES] }
    }
}

impl<const FRAMES: usize> Policy for Greedy<FRAMES> {
    fn request(&mut self, page: CachePage) -> LookUp {
        let found = self.tags.look_up(page);
        if let Some(frame) = found.frame {
            let frame = usize::from(frame.0);
            if self.history[frame] & 0xF < REQUESTS_MAX {
                self.history[frame] += 1;
            }
            self.value(frame);
        }
        found
    }

    fn admit(&mut self, page: CachePage, cost: Cost) -> Frame {
        let frame = self.victim();
        self.history[frame] = cost.0.min(15) << 4 | 1;
        self.value(frame);
        self.tags.set(Frame(frame as u8), page);
        Frame(frame as u8)
    }

    fn admit_early(&mut self, page: CachePage) -> Frame {
        self.admit(page, Cost(1))
    }

    fn holds(&self, page: CachePage) -> bool {
        self.tags.holds(page)
    }

    /// Never: it keeps nothing of pages that are gone.
    fn remembers(&self, _page: CachePage) -> bool {
        false
    }

    fn bypass(&mut self, _page: CachePage) {}

    fn abandon(&mut self, frame: Frame) {
        self.tags.clear(frame);
        self.worth[usize::from(frame.0)] = 0;
    }
}
