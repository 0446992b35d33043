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
use super::table::{ByteLane, PageLane};
use crate::address::CachePage;

/// No page: an image's numbers are lower.
const NO_PAGE: u16 = u16::MAX;
/// No frame: caches have fewer.
const NO_FRAME: u8 = u8::MAX;
/// Lists, a power of two.
const LISTS: usize = 16;

/// The pages in the frames, with lists to find them by: 3 bytes a frame and 16; up to 255 frames.
#[derive(Clone, Debug)]
pub(crate) struct Index<P, B> {
    pages: P,
    next: B,
    heads: [u8; LISTS],
}

impl<P: PageLane, B: ByteLane> Index<P, B> {
    /// Frames without pages, as many as the lanes are long.
    pub fn over(mut pages: P, mut next: B) -> Self {
        let mut heads = [NO_FRAME; LISTS];
        heads[list(NO_PAGE)] = 0;
        pages.as_mut().fill(NO_PAGE);
        next.as_mut().iter_mut().enumerate().for_each(|(at, next)| *next = at as u8 + 1);
        if let Some(last) = next.as_mut().last_mut() {
            *last = NO_FRAME;
        }
        Index { pages, next, heads }
    }

    /// Looks at the frames of the page's list, up to the one that holds it.
    #[inline]
    pub fn look_up(&self, page: CachePage) -> LookUp {
        let mut at = self.heads[list(page.0)];
        let mut comparisons = 0;
        // A list ends with a number that no frame has. It is no longer than there are frames, each being in one list.
        while let Some(&held) = self.pages.as_ref().get(usize::from(at)) {
            comparisons += 1;
            if held == page.0 {
                return LookUp::hit(Frame(at), comparisons);
            }
            at = self.next.as_ref()[usize::from(at)];
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
        let held = core::mem::replace(&mut self.pages.as_mut()[at], page.0);
        self.leave_list(frame, held);
        self.next.as_mut()[at] = core::mem::replace(&mut self.heads[list(page.0)], frame.0);
    }

    /// The frame holds nothing any more.
    pub fn clear(&mut self, frame: Frame) {
        self.set(frame, CachePage(NO_PAGE));
    }

    /// Takes a frame out of the list of the page that it held.
    #[inline]
    fn leave_list(&mut self, frame: Frame, held: u16) {
        let behind = self.next.as_ref()[usize::from(frame.0)];
        let head = &mut self.heads[list(held)];
        let mut before = *head;
        if before == frame.0 {
            *head = behind;
            return;
        }
        while let Some(next) = self.next.as_mut().get_mut(usize::from(before)) {
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
