//! What came of a run: everything about each store, or why there is nothing.

use crate::cuts::Cuts;
use crate::measure::{Capacity, Case};
use crate::store::{Failure, Kind, Peer};

/// Everything about one store.
pub struct Outcome {
    /// Which it is.
    pub peer: Peer,
    /// How many objects it holds.
    pub capacity: Option<Capacity>,
    /// At the numbers of objects asked for.
    pub cases: Vec<Case>,
    /// At the most that it can hold.
    pub most: Option<Case>,
    /// Its power cuts.
    pub cuts: Result<Cuts, Failure>,
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
