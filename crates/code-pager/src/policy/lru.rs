//! Least recently used, as an array of pages in the order of their last requests.
//!
//! Invariant: `frames` is a permutation; `pages[n]` is in frame `frames[n]`, and was requested later than `pages[n + 1]`.

use super::{Cost, Frame, LookUp, Policy};
use crate::image::CachePage;

const NONE: u16 = u16::MAX;

/// Replaces the page whose last request is longest ago. A look-up compares as many numbers as pages were requested since the
/// page's last request. 3 bytes a frame; up to 256 frames.
#[derive(Clone, Debug)]
pub struct Lru<const FRAMES: usize> {
    pages: [u16; FRAMES],
    frames: [u8; FRAMES],
}

impl<const FRAMES: usize> Lru<FRAMES> {
    /// Moves the place `at` to the front, with `page` in it.
    #[inline]
    fn move_to_front(&mut self, at: usize, page: u16) -> Frame {
        let frame = self.frames[at];
        self.pages.copy_within(..at, 1);
        self.frames.copy_within(..at, 1);
        (self.pages[0], self.frames[0]) = (page, frame);
        Frame(frame)
    }
}

impl<const FRAMES: usize> Default for Lru<FRAMES> {
    /// An empty cache.
    fn default() -> Self {
        const { assert!(FRAMES > 0 && FRAMES <= 256, "1 to 256 frames") };
        Lru { pages: [NONE; FRAMES], frames: core::array::from_fn(|at| at as u8) }
    }
}

impl<const FRAMES: usize> Policy for Lru<FRAMES> {
    #[inline]
    fn request(&mut self, page: CachePage) -> LookUp {
        match self.pages.iter().position(|&other| other == page.0) {
            Some(at) => LookUp { frame: Some(self.move_to_front(at, page.0)), comparisons: at as u16 + 1 },
            None => LookUp { frame: None, comparisons: FRAMES as u16 },
        }
    }

    fn admit(&mut self, page: CachePage, _cost: Cost) -> Frame {
        self.move_to_front(FRAMES - 1, page.0)
    }

    /// Takes the place of the page whose last request is longest ago, and keeps its rank.
    fn admit_early(&mut self, page: CachePage) -> Frame {
        self.pages[FRAMES - 1] = page.0;
        Frame(self.frames[FRAMES - 1])
    }

    fn holds(&self, page: CachePage) -> bool {
        self.pages.contains(&page.0)
    }

    /// Never: it keeps nothing of pages that are gone.
    fn remembers(&self, _page: CachePage) -> bool {
        false
    }

    fn bypass(&mut self, _page: CachePage) {}

    fn abandon(&mut self, frame: Frame) {
        for (page, _) in self.pages.iter_mut().zip(self.frames).filter(|(_, other)| *other == frame.0) {
            *page = NONE;
        }
    }
}
