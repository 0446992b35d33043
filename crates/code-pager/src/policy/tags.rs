//! Which page is in which frame, by frame.

use super::contract::{Frame, LookUp};
use super::table::PageLane;
use crate::address::CachePage;

/// No page: images have fewer.
const NONE: u16 = u16::MAX;

/// The pages in the frames, two bytes a frame.
#[derive(Clone, Debug)]
pub(crate) struct Tags<P>(P);

impl<P: PageLane> Tags<P> {
    /// Frames without pages.
    pub fn over(mut pages: P) -> Self {
        pages.as_mut().fill(NONE);
        Tags(pages)
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.0.as_ref().len()
    }

    pub fn look_up(&self, page: CachePage) -> LookUp {
        match self.0.as_ref().iter().position(|&tag| tag == page.0) {
            Some(at) => LookUp::hit(Frame(at as u8), at as u16 + 1),
            None => LookUp::miss(self.frames() as u16),
        }
    }

    pub fn holds(&self, page: CachePage) -> bool {
        self.0.as_ref().contains(&page.0)
    }

    pub fn page(&self, frame: Frame) -> Option<CachePage> {
        let tag = self.0.as_ref()[usize::from(frame.0)];
        (tag != NONE).then_some(CachePage(tag))
    }

    pub fn set(&mut self, frame: Frame, page: CachePage) {
        self.0.as_mut()[usize::from(frame.0)] = page.0;
    }

    pub fn clear(&mut self, frame: Frame) {
        self.0.as_mut()[usize::from(frame.0)] = NONE;
    }
}
