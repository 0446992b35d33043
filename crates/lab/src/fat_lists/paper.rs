//! The paper on fat lists.

use crate::exhibit::Exhibit;
use crate::experiment::Paper;

/// The paper.
pub const PAPER: Paper = Paper {
    id: "fat-lists",
    title: "Fat Lists: an index structure for NOR flash in small embedded devices, 2011",
    exhibits: &[
        Exhibit::drawing("Figure 1", "an update that spreads through a list"),
        Exhibit::drawing("Figure 2", "what collection does to references"),
        Exhibit::drawing("Figure 3", "a turnstile"),
        Exhibit::drawing("Figure 4", "a soft list"),
        Exhibit::drawing("Figure 5", "a multilevel soft list"),
        Exhibit::drawing("Figure 6", "an initialisation"),
        Exhibit::drawing("Figure 7", "states of a probe"),
        Exhibit::drawing("Figure 8", "a flow chart of probes"),
        Exhibit::drawing("Figure 9", "a delayed split"),
        Exhibit::drawing("Figure 10", "a delayed merge"),
        Exhibit::drawing("Figure 11", "a shift merge"),
        Exhibit::drawing("Figure 12", "a flow chart of range queries"),
        Exhibit::drawing("Figure 13", "a µ-tree's page"),
        Exhibit::compared("parameters", "the part's geometry and timing"),
        Exhibit::compared("Figure 14", "the micro-benchmark by size of the part"),
        Exhibit::compared("Figure 15", "its total time"),
        Exhibit::compared("Figure 16", "the micro-benchmark by maximum level"),
        Exhibit::compared("Figure 17", "its total time"),
        Exhibit::compared("Figure 18", "the micro-benchmark by turnstile size"),
        Exhibit::compared("Figure 19", "its total time"),
        Exhibit::drawing("Figure 20", "kinds of probes"),
        Exhibit::compared("probe table", "probes of queries"),
        Exhibit::compared("initialisation table", "time to boot"),
        Exhibit::compared("Figure 21", "readings of sensors, and ranges"),
    ],
};
