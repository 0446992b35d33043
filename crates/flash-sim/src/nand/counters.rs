//! What a simulated NAND part has done.

use std::fmt;
use std::ops::Sub;

/// Operations that a part has carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NandCounters {
    /// Pages loaded into the register.
    pub loads: u64,
    /// Bytes fetched from the register.
    pub fetched_bytes: u64,
    /// Bytes that the register's position passed over, where that takes time.
    pub skipped_bytes: u64,
    /// Pages programmed from the caller's bytes.
    pub programs: u64,
    /// Pages programmed from the register as it was loaded.
    pub copies: u64,
    /// Bytes brought to the register for either.
    pub sent_bytes: u64,
    /// Blocks erased.
    pub erases: u64,
}

impl Sub for NandCounters {
    type Output = NandCounters;

    /// What happened between `earlier` and `self`.
    fn sub(self, earlier: NandCounters) -> NandCounters {
        NandCounters {
            loads: self.loads - earlier.loads,
            fetched_bytes: self.fetched_bytes - earlier.fetched_bytes,
            skipped_bytes: self.skipped_bytes - earlier.skipped_bytes,
            programs: self.programs - earlier.programs,
            copies: self.copies - earlier.copies,
            sent_bytes: self.sent_bytes - earlier.sent_bytes,
            erases: self.erases - earlier.erases,
        }
    }
}

impl fmt::Display for NandCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} pages loaded, {} bytes fetched, {} skipped, {} pages programmed, {} copied, {} blocks erased",
            self.loads, self.fetched_bytes, self.skipped_bytes, self.programs, self.copies, self.erases
        )
    }
}
