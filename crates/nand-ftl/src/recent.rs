//! What sets of tasks took that were admitted a short time ago: a window may begin with one set and end with another.

use crate::admission::Load;

/// The most of it since the departures that still count, and until when they do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recent {
    /// Programs.
    pub load: Load,
    /// A meta-period of the checkpoint after the last departure.
    pub load_until_us: u64,
    /// The part of the processor.
    pub used: u128,
    /// When the last departure's share is given up.
    pub used_until_us: u64,
}
