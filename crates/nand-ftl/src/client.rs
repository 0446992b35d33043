//! Another client of the part, such as a code pager: its loads take the part, and the processor, from everybody.

use crate::wide::{plus, quotient_up, times};

/// Loads of a client that shares the part with the block device and is not scheduled: a code pager loads a page when an
/// instruction is missing, whoever executes it.
///
/// For a code pager: `load_us` is its longest miss, from the trap to the return, with all repeats of its code; `loads`
/// and `period_us` come from a recorded trace (the most misses in any window of that length), or from the longest path
/// through the code if the trace does not cover it. Where several clients share the part, take the longest load and the
/// sum of the loads in a common period.
///
/// The rate is a promise of the client, which the block device does not see. Deadlines hold while it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartClient {
    /// How long a load takes at most, in microseconds.
    pub load_us: u64,
    /// Loads that begin in any window of `period_us` at most.
    pub loads: u32,
    /// Length of that window, in microseconds; at least 1.
    pub period_us: u64,
}

impl PartClient {
    /// No other client.
    pub const NONE: PartClient = PartClient { load_us: 0, loads: 0, period_us: 1 };

    /// Most loads that take time in a window: those that begin in it, and one that is under way at its start.
    pub(crate) fn loads_in(&self, window_us: u128) -> u128 {
        let windows = quotient_up(window_us, u128::from(self.period_us.max(1)));
        if self.loads == 0 { 0 } else { plus(times(windows, u128::from(self.loads)), 1) }
    }
}
