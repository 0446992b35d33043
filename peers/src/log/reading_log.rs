//! What the comparison asks of a log, and what a log says of itself.
//!
//! A reading is 4 bytes of time and 2 of value. Readings come in the order of time. A call that appends is durable when
//! it returns, and takes [`Log::batch`] readings. A log that is full forgets its oldest readings by itself, in whatever
//! way its interface has.

use crate::device::Device;

/// Seconds of a day.
pub const DAY_SECONDS: u32 = 86_400;
/// Bytes of a reading: what it takes if nothing is added.
pub const READING_BYTES: usize = 6;

/// A reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// When it was taken, in seconds.
    pub at: u32,
    /// What was measured.
    pub value: u16,
}

impl Reading {
    /// The reading of this number: one a minute, at any second of it, from the second day on.
    pub fn numbered(number: u32) -> Reading {
        let mixed = number.wrapping_mul(0x9E37_79B1) ^ number.wrapping_mul(0x85EB_CA6B) >> 13;
        Reading { at: DAY_SECONDS + 60 * number + (mixed >> 8) % 60, value: mixed as u16 }
    }

    /// The number of a reading of this time.
    pub fn number_at(at: u32) -> u32 {
        at.saturating_sub(DAY_SECONDS) / 60
    }

    /// Its bytes, which sort by time.
    pub fn to_bytes(self) -> [u8; READING_BYTES] {
        let ([a, b, c, d], [low, high]) = (self.at.to_be_bytes(), self.value.to_le_bytes());
        [a, b, c, d, low, high]
    }

    /// The reading of these bytes.
    pub fn from_bytes(bytes: [u8; READING_BYTES]) -> Reading {
        let [a, b, c, d, low, high] = bytes;
        Reading { at: u32::from_be_bytes([a, b, c, d]), value: u16::from_le_bytes([low, high]) }
    }
}

/// Why a log did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// There is no room, and none can be made.
    #[error("full, and it cannot forget: {0}")]
    Full(String),
    /// The log does not run on such a part.
    #[error("{0}")]
    Unsupported(&'static str),
    /// Something else, in the log's words.
    #[error("{0}")]
    Failed(String),
}

impl Failure {
    /// What a log's own error says.
    pub fn of(error: impl std::fmt::Debug) -> Failure {
        Failure::Failed(format!("{error:?}"))
    }
}

/// Whether a query goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// With the next reading.
    GoesOn,
    /// It has seen enough.
    Ends,
}

/// What is done with each reading of a query.
pub type Show<'a> = dyn FnMut(Reading) -> Query + Send + 'a;

/// A log on a [`Device`].
pub trait Log {
    /// Readings of a call that appends.
    fn batch(&self) -> usize {
        1
    }

    /// Appends readings, forgetting the oldest where there is no room.
    fn append(&mut self, readings: &[Reading]) -> Result<(), Failure>;

    /// Shows the readings from `from` until before `to`, in order of time, until `show` has seen enough.
    fn range(&mut self, from: u32, to: u32, show: &mut Show<'_>) -> Result<(), Failure>;

    /// Makes the next mount fast, where there is a way.
    fn stop(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// RAM that the log keeps between calls, with the buffers that its interface wants, without the device: bytes on
    /// this machine.
    fn ram_bytes(&self) -> usize;
}

/// Whether a log is to be laid out or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Lay out an empty log.
    Format,
    /// Mount the one that is there.
    Mount,
}

/// How a log is opened.
pub type Open = Box<dyn Fn(Device, Opening) -> Result<Box<dyn Log>, Failure>>;

/// A log in one configuration.
pub struct Contender {
    /// Name and configuration, short.
    pub name: &'static str,
    /// Version of its crate.
    pub version: &'static str,
    /// Its configuration and what had to be chosen.
    pub notes: &'static str,
    /// Opens it.
    pub open: Open,
    /// Opens a configuration that leaves the same on flash and fills faster, where filling is not measured.
    pub fill: Option<Open>,
}

/// The oldest reading of a log.
///
/// # Errors
/// The log's.
pub fn oldest(log: &mut dyn Log) -> Result<Option<Reading>, Failure> {
    let mut oldest = None;
    log.range(0, u32::MAX, &mut |reading| {
        oldest = Some(reading);
        Query::Ends
    })?;
    Ok(oldest)
}

/// A call with a batch of one.
///
/// # Errors
/// With another number of readings: a mistake of this program.
pub fn single(readings: &[Reading]) -> Result<Reading, Failure> {
    match readings {
        [one] => Ok(*one),
        _ => Err(Failure::Failed(format!("{} readings in a call that takes one", readings.len()))),
    }
}
