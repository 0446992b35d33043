//! The paper on demand paging.

use crate::exhibit::{Basis, Exhibit};
use crate::experiment::Paper;

/// The paper.
pub const PAPER: Paper = Paper {
    id: "paging",
    title: "G. Cogniaux, G. Grimaud: Key-Study to Execute Code Using Demand Paging and NAND Flash at Smart Card Scale. \
            CARDIS 2010",
    exhibits: &[
        Exhibit::compared("Table 1", "parts on a bus of 33 MHz and 8 bits"),
        Exhibit::compared("Table 2", "parts on a bus of 54 MHz and 16 bits"),
        Exhibit::drawing("Figure 1", "what influences what"),
        Exhibit::drawing("Figure 2", "conventional demand paging"),
        Exhibit::drawing("Figure 3", "cache pages smaller than the part's"),
        Exhibit::compared("Figure 4", "conventional paging by page of the part and bus"),
        Exhibit { name: "Figure 5", shows: "smaller cache pages, Java", basis: Basis::Data(JAVA) },
        Exhibit { name: "Figure 6", shows: "conventional paging beside small pages, Java", basis: Basis::Data(JAVA) },
        Exhibit { name: "Figure 7", shows: "smaller cache pages, mad", basis: Basis::Data(MAD) },
        Exhibit::compared("Figure 8", "distances of misses, Java"),
    ],
};

const JAVA: &str = "the paper's Java trace is not public, and none of the applets that take its place was given in \
                    `--data` (`tools/record-card`)";
const MAD: &str = "needs a trace named mad in `--data`";
