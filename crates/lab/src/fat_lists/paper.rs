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
        Exhibit::compared("parameters", "the part's geometry and timing", PARAMETERS),
        Exhibit::compared("Figure 14", "the micro-benchmark by size of the part", FIGURE14),
        Exhibit::compared("Figure 15", "its total time", ""),
        Exhibit::compared("Figure 16", "the micro-benchmark by maximum level", FIGURE16),
        Exhibit::compared("Figure 17", "its total time", FIGURE17),
        Exhibit::compared("Figure 18", "the micro-benchmark by turnstile size", FIGURE18),
        Exhibit::compared("Figure 19", "its total time", FIGURE19),
        Exhibit::drawing("Figure 20", "kinds of probes"),
        Exhibit::compared("probe table", "probes of queries", PROBES),
        Exhibit::compared("initialisation table", "time to boot", BOOTS),
        Exhibit::compared("Figure 21", "readings of sensors, and ranges", ""),
    ],
};

const PARAMETERS: &str =
    "an object has codes, a stamp, a low key and ten pointers, which a power cut at any operation asks for";
const FIGURE14: &str = "a µ-tree writes a page an insertion and so reclaims at every size, a fat list on 1 MB alone; to choose a block the µ-tree \
                        looks its pages up from the root, so that its reads grow with the part while its erases become fewer \
                        (fat-lists-sizes)";
const FIGURE16: &str = "with 2 to 4 levels pools of two pointers a level are used up, and blocks are moved for them (erases in \
                        fat-lists-tuning; without a pool: fat-lists-tactics). Five levels are best for queries, 3 to 6 within 6%";
const FIGURE17: &str = "five levels are best, 6 and 4 within 1.5%; four levels pay for the moves of Figure 16";
const FIGURE18: &str = "turnstiles of 8 and of 16 blocks take the same time for updates, to a tenth of a percent";
const FIGURE19: &str = "eight blocks are best, 4 and 16 within 1.5%; probes of free and dead cells (probe table) make large turnstiles dearer";
const PROBES: &str = "a null probe is as likely as a cell is free or dead: the table tells how full its part was. Placed by level, objects \
                      have .05 low probes a pointer, and null probes fall to 1.74 without the spare block; both cost more than they \
                      save (docs/results/2026-11-27-fat-lists.md). Where the paper's searches begin, on which pointers visited depend, it \
                      does not say";
const BOOTS: &str = "the spare block and the check that nothing is under way are read, too; on few levels fewer pointers are followed than \
                     published, as in the probe table";
