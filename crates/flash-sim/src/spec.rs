//! What a simulated part is: its geometry, the words in which it works, and how long that takes.

use norn_flash::NorPart;

/// A part that can be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartSpec {
    /// Its name, by which [`by_name`](crate::catalogue::by_name) finds it.
    pub name: String,
    /// Its geometry and limits.
    pub part: NorPart,
    /// Largest word that is read or programmed at once, in bytes; a power of two, not under the program unit.
    pub word_bytes: u8,
    /// How long operations take.
    pub timings: Timings,
    /// Where the figures are from, and which of them are unverified.
    pub source: &'static str,
}

/// How long operations take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timings {
    /// Reading.
    pub read: OperationTime,
    /// Programming.
    pub program: OperationTime,
    /// Erasing a unit.
    pub erase_ns: u64,
}

/// Time of one call: a part for the call, one for each word, one for each byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OperationTime {
    /// For the call: command and address of a serial part.
    pub call_ns: u64,
    /// For each word.
    pub word_ns: u64,
    /// For each byte.
    pub byte_ns: u64,
}

impl OperationTime {
    /// A time for each word and nothing else, as memory-mapped parts have it.
    pub const fn per_word(word_ns: u64) -> Self {
        OperationTime { call_ns: 0, word_ns, byte_ns: 0 }
    }
}
