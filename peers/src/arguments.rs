//! What the command is asked.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::measure::Bounds;

/// Erases a unit of a run whose figures are kept, and of a quick one.
const ERASES: [u64; 2] = [200, 5];

/// Runs other stores for flash and Norn's object heaps under one workload on one simulated part, and compares what they
/// cost in steady state.
#[derive(Parser)]
#[command(version)]
pub struct Arguments {
    /// A short run that shows whether everything works, with figures too rough to keep.
    #[arg(long)]
    pub quick: bool,
    /// Mean erases a unit before a run may end: 200, or 5 if it is quick.
    #[arg(long)]
    pub erases: Option<u64>,
    /// Words read, in millions, after which a row ends in any case: 3,000, or 18 if it is quick. Rows at a share of the
    /// capacity end after a sixth of it, attempts to find the capacity after a sixtieth.
    #[arg(long)]
    pub words_read: Option<u64>,
    /// Numbers of objects of 100 bytes to measure all kinds of updates at.
    #[arg(long, value_delimiter = ',', num_args = 1.., default_values_t = [1400])]
    pub objects: Vec<usize>,
    /// Sizes of objects to find the capacity for, and to measure updates at 90% and 97% of it.
    #[arg(long, value_delimiter = ',', num_args = 1.., default_values_t = [8, 32, 100, 1000])]
    pub bytes: Vec<usize>,
    /// What to measure.
    #[arg(long, value_enum, value_delimiter = ',', num_args = 1..)]
    #[arg(default_values_t = [Part::Rows, Part::Fill, Part::Cuts])]
    pub parts: Vec<Part>,
    /// Seed of all that is random.
    #[arg(long, default_value_t = 2006)]
    pub seed: u64,
    /// Only the store of this name, or those whose name contains this.
    #[arg(long, default_value = "")]
    pub only: String,
    /// Stores measured at a time; as many as there are processors by default.
    #[arg(long)]
    pub jobs: Option<usize>,
    /// A directory for the report (`peers.md`) and the counts (`costs.csv`, `causes.csv`, `cuts.csv`).
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// What can be measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Each kind of update at the numbers of objects given.
    Rows,
    /// Capacity, and updates at 90% and 97% of it, for each size of objects.
    Fill,
    /// Power cuts.
    Cuts,
}

impl Arguments {
    /// How much is counted.
    pub fn bounds(&self) -> Bounds {
        let erases = self.erases.unwrap_or(ERASES[usize::from(self.quick)]);
        let bounds = if self.quick { Bounds::quick(erases) } else { Bounds::full(erases) };
        self.words_read.map_or(bounds, |millions| bounds.with_words_read(1_000_000 * millions))
    }
}
