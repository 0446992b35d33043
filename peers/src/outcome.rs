//! What came of a run: everything about each store, or why there is nothing.

use crate::capacity::Capacity;
use crate::cuts::Cuts;
use crate::measure::Case;
use crate::store::{Failure, Kind, Peer, Shape};

/// Everything about one store.
pub struct Outcome {
    /// Which it is.
    pub peer: Peer,
    /// At the numbers of objects asked for.
    pub cases: Vec<Case>,
    /// How many objects of each size it holds, and what it costs when it holds many.
    pub fills: Vec<Fill>,
    /// Its power cuts.
    pub cuts: Option<Result<Cuts, Failure>>,
}

/// Shares of a store's capacity that are measured, in hundredths.
pub const SHARES: [usize; 2] = [90, 97];

/// A store filled with objects of one size.
pub struct Fill {
    /// The objects.
    pub shape: Shape,
    /// How many of them it holds.
    pub capacity: Capacity,
    /// With each of [`SHARES`] of those with which updates go on.
    pub cases: Vec<Case>,
}

impl Outcome {
    /// Whether it is of one of our configurations.
    pub fn is_ours(&self) -> bool {
        self.peer.kind == Kind::Ours
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// No store has such a name.
    #[error("no store's name contains {0:?}")]
    NoSuchStore(String),
    /// The report could not be written.
    #[error("the report could not be written: {0}")]
    Io(#[from] std::io::Error),
    /// A table could not be written.
    #[error("a table could not be written: {0}")]
    Csv(#[from] csv::Error),
}
