//! What the block device's writes are compared with.

use crate::experiment::Paper;

/// No paper has the figures: the bars are this project's, the others are measured beside ours.
pub const PAPER: Paper = Paper {
    id: "amplification",
    title: "Write amplification: the block device beside a greedy page map, and models of MQSim (Tavakkol et al., FAST \
            2018) and dhara (Beer)",
    exhibits: &[],
};
