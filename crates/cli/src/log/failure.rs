//! What `norn log` fails with. Each message names the file that is concerned.

use std::io;
use std::path::PathBuf;

use norn_flash::Violation;
use norn_flash_sim::SimError;
use norn_ordered_index::{IndexError, MountError};

use crate::log::moment::{Moment, Timestamp};

/// Why a command on a log could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The log in an image failed, or has no answer.
    #[error("{}: {failure}", image.display())]
    Image {
        /// The image file.
        image: PathBuf,
        /// What failed.
        failure: LogFailure,
    },
    /// The log failed while the power was being cut.
    #[error("{}: {failure}, after {cuts} power cuts of seed {seed}; replay: {replay}", image.display())]
    UnderCuts {
        /// The image file.
        image: PathBuf,
        /// What failed.
        failure: LogFailure,
        /// Cuts so far.
        cuts: u64,
        /// The seed that they derive from.
        seed: u64,
        /// The command that does the same again.
        replay: String,
    },
    /// A file of readings could not be read.
    #[error("{}: {source}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of readings cannot be understood or made.
    #[error("{}: {problem}", file.display())]
    Contents {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A line of a file that is being followed is no reading.
    #[error("{problem}; the readings before it are appended ({readings} in all)")]
    Followed {
        /// Which line of which file, and what is wrong with it.
        problem: Box<LogError>,
        /// Readings that were appended.
        readings: u64,
    },
    /// A line of a file of readings is none.
    #[error("{}:{line}: {problem}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1 on.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
}

/// What a log failed with, whatever it was doing.
#[derive(Debug, thiserror::Error)]
pub enum LogFailure {
    /// Formatting.
    #[error("cannot be formatted: {0}")]
    Format(MountError<SimError>),
    /// Mounting.
    #[error("no log can be mounted: {0}")]
    Mount(MountError<SimError>),
    /// Reading or appending.
    #[error(transparent)]
    Index(#[from] IndexError<SimError>),
    /// Reading or appending found what nothing writes.
    #[error("corrupted: {0}")]
    Corrupted(Violation),
    /// A question about a log that is empty.
    #[error("the log has no readings yet")]
    NoReadings,
    /// A span in which there is nothing.
    #[error("no readings from {from} to {to}")]
    NoneThere {
        /// Its start.
        from: Timestamp,
        /// Its end.
        to: Timestamp,
    },
    /// A span that ends before it begins.
    #[error("the span from {from} to {to} is empty")]
    EmptySpan {
        /// Its start.
        from: Timestamp,
        /// Its end.
        to: Timestamp,
    },
    /// A moment before 1970 or beyond 2106.
    #[error("{0} is not between 1970 and 2106")]
    BeyondTime(Moment),
    /// What was acknowledged is not there.
    #[error("a reading that was acknowledged is lost or changed: {0}")]
    Lost(String),
    /// The checker found something.
    #[error("an invariant does not hold: {0}")]
    Violation(String),
}

impl LogFailure {
    /// The same with the place, where it is that the log is corrupted, and `corruption` what it found.
    pub fn placed(self, corruption: Option<Violation>) -> LogFailure {
        match (self, corruption) {
            (LogFailure::Index(IndexError::Corrupted), Some(corruption)) => LogFailure::Corrupted(corruption),
            (failure, _) => failure,
        }
    }

    /// Whether mounting failed for what the part holds, and not because the device failed.
    pub fn is_refusal(&self) -> bool {
        matches!(self, LogFailure::Mount(error) if !matches!(error, MountError::Device(_)))
    }

    /// Whether the cause is that the power was cut.
    pub fn is_power_loss(&self) -> bool {
        matches!(
            self,
            LogFailure::Mount(MountError::Device(SimError::PowerLost))
                | LogFailure::Index(IndexError::Device(SimError::PowerLost))
        )
    }
}
