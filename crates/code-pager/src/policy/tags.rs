//! Which page is in which frame, by frame.

use super::contract::{Frame, LookUp};
use crate::address::CachePage;

/// No page: images have fewer.
const NONE: u16 = u16::MAX;

/// The pages in the frames, two bytes a frame.
#[derive(Clone, Debug)]
pub(crate) struct Tags<const FRAMES: usize>([u16; FRAMES]);

impl<const FRAMES: usize> Tags<FRAMES> {
    pub const fn new() -> Self {
        Tags([NONE; FRAMES])
    }

    pub fn look_up(&self, page: CachePage) -> LookUp {
        match self.0.iter().position(|&tag| tag == page.0) {
            Some(at) => LookUp::hit(Frame(at as u8), at as u16 + 1),
            None => LookUp::miss(FRAMES as u16),
        }
    }

    pub fn holds(&self, page: CachePage) -> bool {
        self.0.contains(&page.0)
    }

    pub fn page(&self, frame: Frame) -> Option<CachePage> {
        let tag = self.0[usize::from(frame.0)];
        (tag != NONE).then_some(CachePage(tag))
    }

    pub fn set(&mut self, frame: Frame, page: CachePage) {
        self.0[usize::from(frame.0)] = page.0;
    }

    pub fn clear(&mut self, frame: Frame) {
        self.0[usize::from(frame.0)] = NONE;
    }
}
