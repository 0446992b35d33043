//! Observers of a pager: none on a device, a counter in tests and experiments.

use crate::address::CachePage;
use crate::policy::LookUp;

/// What a pager did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A page was looked up.
    LookUp(LookUp),
    /// A frame was filled.
    Filled {
        /// With this page.
        page: CachePage,
        /// Whether it was requested, or came along.
        requested: bool,
    },
    /// A request was served from the register, without a frame.
    Bypassed {
        /// The page.
        page: CachePage,
        /// Bytes delivered.
        bytes: u16,
    },
    /// Wrong bits were corrected.
    Corrected {
        /// The page.
        page: CachePage,
        /// How many.
        bits: u32,
    },
}

/// An observer. The unit type takes no room, and the compiler removes calls to it.
pub trait Observer {
    /// This happened.
    fn note(&mut self, event: Event);
}

impl Observer for () {
    #[inline]
    fn note(&mut self, _event: Event) {}
}

/// Counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Look-ups that found the page.
    pub hits: u64,
    /// Those that did not.
    pub misses: u64,
    /// Page numbers compared in all of them.
    pub comparisons: u64,
    /// Most of them in one.
    pub comparisons_max: u16,
    /// Frames filled with a page that was requested.
    pub filled: u64,
    /// Frames filled with a page that was not.
    pub filled_early: u64,
    /// Requests served without a frame.
    pub bypassed: u64,
    /// Wrong bits corrected.
    pub corrected_bits: u64,
}

impl Counts {
    /// Look-ups.
    pub fn look_ups(&self) -> u64 {
        self.hits + self.misses
    }
}

impl Observer for Counts {
    #[inline]
    fn note(&mut self, event: Event) {
        match event {
            Event::LookUp(found) => {
                match found.frame() {
                    Some(_) => self.hits += 1,
                    None => self.misses += 1,
                }
                self.comparisons += u64::from(found.comparisons());
                if found.comparisons() > self.comparisons_max {
                    self.comparisons_max = found.comparisons();
                }
            }
            Event::Filled { requested: true, .. } => self.filled += 1,
            Event::Filled { requested: false, .. } => self.filled_early += 1,
            Event::Bypassed { .. } => self.bypassed += 1,
            Event::Corrected { bits, .. } => self.corrected_bits += u64::from(bits),
        }
    }
}
