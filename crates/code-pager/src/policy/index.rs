//! Which frame holds a page, without a look at all of them: lists of frames by the last bits of their pages' numbers.
//!
//! ```text
//! heads:  the first frame of each list      page 0x0123 ─► list 3 ─► frame 7 ─► frame 2 ─► none
//! next:   for each frame, the next one of its list
//! pages:  for each frame, the page in it
//! ```
//!
//! Pages that follow each other are in lists that do, so that code that runs straight on spreads over all of them.
//!
//! Invariant: each frame is in the list of its page and in no other. One that holds none is in the last list, as if it
//! held a page that no image has.

use super::contract::{Frame, LookUp};
use crate::address::CachePage;

/// No page: an image's numbers are lower.
const NO_PAGE: u16 = u16::MAX;
/// No frame: caches have fewer.
const NO_FRAME: u8 = u8::MAX;
/// Lists, a power of two.
const LISTS: usize = 16;

/// The pages in the frames, with lists to find them by: 3 bytes a frame and 16; up to 255 frames.
#[derive(Clone, Debug)]
pub(crate) struct Index<const FRAMES: usize> {
    pages: [u16; FRAMES],
    next: [u8; FRAMES],
    heads: [u8; LISTS],
}

impl<const FRAMES: usize> Index<FRAMES> {
    pub const fn new() -> Self {
        const { assert!(FRAMES > 0 && FRAMES <= LookUp::FRAMES_MAX, "1 to 255 frames") };
        let mut new = Index { pages: [NO_PAGE; FRAMES], next: [NO_FRAME; FRAMES], heads: [NO_FRAME; LISTS] };
        new.heads[list(NO_PAGE)] = 0;
        let mut at = 0;
        while at + 1 < FRAMES {
            new.next[at] = at as u8 + 1;
            at += 1;
        }
        new
    }

    /// Looks at the frames of the page's list, up to the one that holds it.
    #[inline]
    pub fn look_up(&self, page: CachePage) -> LookUp {
        let mut at = self.heads[list(page.0)];
        let mut comparisons = 0;
        // A list ends with a number that no frame has. It is no longer than there are frames, each being in one list.
        while let Some(&held) = self.pages.get(usize::from(at)) {
            comparisons += 1;
            if held == page.0 {
                return LookUp::hit(Frame(at), comparisons);
            }
            at = self.next[usize::from(at)];
        }
        LookUp::miss(comparisons)
    }

    pub fn holds(&self, page: CachePage) -> bool {
        self.look_up(page).frame().is_some()
    }

    /// Puts a page into a frame, in place of what it holds.
    #[inline]
    pub fn set(&mut self, frame: Frame, page: CachePage) {
        let at = usize::from(frame.0);
        let held = core::mem::replace(&mut self.pages[at], page.0);
        self.leave_list(frame, held);
        self.next[at] = core::mem::replace(&mut self.heads[list(page.0)], frame.0);
    }

    /// The frame holds nothing any more.
    pub fn clear(&mut self, frame: Frame) {
        self.set(frame, CachePage(NO_PAGE));
    }

    /// Takes a frame out of the list of the page that it held.
    #[inline]
    fn leave_list(&mut self, frame: Frame, held: u16) {
        let behind = self.next[usize::from(frame.0)];
        let head = &mut self.heads[list(held)];
        let mut before = *head;
        if before == frame.0 {
            *head = behind;
            return;
        }
        while let Some(next) = self.next.get_mut(usize::from(before)) {
            if *next == frame.0 {
                *next = behind;
                return;
            }
            before = *next;
        }
    }
}

const fn list(page: u16) -> usize {
    page as usize % LISTS
}
