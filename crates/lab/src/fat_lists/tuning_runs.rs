//! Runs of the micro-benchmark by maximum level and turnstile size, and finding them among what was measured.

use serde::{Deserialize, Serialize};

use super::micro_benchmark::{Benchmark, Phase, Row};
use crate::experiment::Outcome;

/// A run of the benchmark on a fat list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    /// Levels.
    pub levels: u8,
    /// Blocks of a turnstile.
    pub turnstile_blocks: u8,
    /// Entries of a pointer pool.
    pub pool: u8,
    /// Megabytes of the part.
    pub megabytes: u16,
    /// What is done.
    #[serde(flatten)]
    pub benchmark: Benchmark,
}

/// A row of one list's run.
pub type Measured = Outcome<Parameters, Row>;

/// Levels and turnstile size that the others are varied from.
pub const DEFAULT: (u8, u8) = (5, 8);
/// The levels of Figures 16 and 17.
pub const LEVELS: [u8; 7] = [1, 2, 3, 4, 5, 6, 7];
/// The turnstile sizes of Figures 18 and 19.
pub const TURNSTILES: [u8; 5] = [2, 4, 8, 16, 32];
/// The row of a list's phase.
pub fn row(outcomes: &[Measured], (levels, turnstile_blocks): (u8, u8), phase: Phase) -> Option<&Row> {
    let is_it = |outcome: &&Measured| {
        (outcome.parameters.levels, outcome.parameters.turnstile_blocks) == (levels, turnstile_blocks)
            && outcome.row.phase == phase
    };
    outcomes.iter().find(is_it).map(|outcome| &outcome.row)
}

/// Seconds of the paper's four phases.
pub fn total(outcomes: &[Measured], list: (u8, u8)) -> Option<f64> {
    Phase::PUBLISHED.into_iter().map(|phase| Some(row(outcomes, list, phase)?.costs.seconds)).sum()
}

/// The lists of Figures 16 and 17 that were measured.
pub fn by_level(outcomes: &[Measured]) -> Vec<(u8, u8)> {
    let lists = LEVELS.into_iter().map(|levels| (levels, DEFAULT.1));
    lists.filter(|&list| total(outcomes, list).is_some()).collect()
}

/// The lists of Figures 18 and 19 that were measured.
pub fn by_turnstile(outcomes: &[Measured]) -> Vec<(u8, u8)> {
    let lists = TURNSTILES.into_iter().map(|blocks| (DEFAULT.0, blocks));
    lists.filter(|&list| total(outcomes, list).is_some()).collect()
}
