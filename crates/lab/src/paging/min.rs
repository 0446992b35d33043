//! MIN (Belady, 1966): replaces the page whose next request is furthest away. It knows the future, so that it is a
//! bound for policies that fill a frame on each miss, and nothing that a device could do.
//!
//! Invariant: `at` is the number of the request that was looked up last.

use norn_code_pager::CachePage;
use norn_code_pager::policy::{Cost, Frame, LookUp, Policy};

/// Never again.
const NEVER: u32 = u32::MAX;

/// MIN over a known sequence of requests.
#[derive(Clone, Debug)]
pub struct Min<'a> {
    /// For each request, the number of the next one of the same page.
    next: &'a [u32],
    at: usize,
    /// The frame of each page.
    frame_of: Vec<Option<u8>>,
    /// The page in each frame and its next request; at first no page, and never.
    frames: Vec<(u16, u32)>,
}

/// For each request, the number of the next one of the same page.
pub fn next_requests(requests: &[CachePage]) -> Vec<u32> {
    let mut seen = vec![NEVER; usize::from(u16::MAX) + 1];
    let mut next = vec![NEVER; requests.len()];
    for (number, page) in requests.iter().enumerate().rev() {
        next[number] = std::mem::replace(&mut seen[usize::from(page.0)], number as u32);
    }
    next
}

impl<'a> Min<'a> {
    /// An empty cache of `frames` frames, for a sequence of requests of which [`next_requests`] are given.
    pub fn new(next: &'a [u32], frames: usize) -> Self {
        let frame_of = vec![None; usize::from(u16::MAX) + 1];
        Min { next, at: usize::MAX, frame_of, frames: vec![(u16::MAX, NEVER); frames] }
    }
}

impl Policy for Min<'_> {
    const ONLINE: bool = false;

    fn request(&mut self, page: CachePage) -> LookUp {
        self.at = self.at.wrapping_add(1);
        let frame = self.frame_of[usize::from(page.0)];
        if let Some(frame) = frame {
            self.frames[usize::from(frame)].1 = self.next[self.at];
        }
        frame.map_or(LookUp::miss(1), |frame| LookUp::hit(Frame(frame), 1))
    }

    fn admit(&mut self, page: CachePage, _cost: Cost) -> Frame {
        let furthest = |(at, &(_, next)): (usize, &(u16, u32))| (next, at);
        let (_, victim) = self.frames.iter().enumerate().map(furthest).max().expect("at least one frame");
        self.frame_of[usize::from(self.frames[victim].0)] = None;
        self.frames[victim] = (page.0, self.next[self.at]);
        self.frame_of[usize::from(page.0)] = Some(victim as u8);
        Frame(victim as u8)
    }

    /// A page that comes along is not part of MIN.
    fn admit_early(&mut self, page: CachePage) -> Frame {
        self.admit(page, Cost(1))
    }

    fn holds(&self, page: CachePage) -> bool {
        self.frame_of[usize::from(page.0)].is_some()
    }

    fn remembers(&self, _page: CachePage) -> bool {
        false
    }

    fn bypass(&mut self, _page: CachePage) {}

    fn abandon(&mut self, frame: Frame) {
        let (page, _) = std::mem::replace(&mut self.frames[usize::from(frame.0)], (u16::MAX, NEVER));
        self.frame_of[usize::from(page)] = None;
    }
}
