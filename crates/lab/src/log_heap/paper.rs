//! What the experiments are filed under.

use crate::experiment::Paper;

/// No paper has the figures: the bars are this project's.
pub const PAPER: Paper = Paper {
    id: "log-heap",
    title: "The heaps in steady state (docs/design/log-heap.md), and this project's bars",
    exhibits: &[],
};
