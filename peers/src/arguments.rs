//! What the command is asked.

use std::path::PathBuf;

use clap::Parser;

/// Runs other stores for flash and Norn's object heap under one workload on one simulated part, and compares what they
/// cost.
#[derive(Parser)]
#[command(version)]
pub struct Arguments {
    /// A short run that shows whether everything works, with figures too rough to keep.
    #[arg(long)]
    pub quick: bool,
    /// Numbers of objects to measure at, besides the most that each store can hold.
    #[arg(long, value_delimiter = ',', num_args = 1.., default_values_t = [500, 1000, 1400])]
    pub objects: Vec<usize>,
    /// Seed of all that is random.
    #[arg(long, default_value_t = 2006)]
    pub seed: u64,
    /// Only stores whose name contains this.
    #[arg(long, default_value = "")]
    pub only: String,
    /// Stores measured at a time; as many as there are processors by default.
    #[arg(long)]
    pub jobs: Option<usize>,
    /// A directory for the report (`peers.md`) and the counts (`costs.csv`, `causes.csv`, `cuts.csv`).
    #[arg(long)]
    pub out: Option<PathBuf>,
}
