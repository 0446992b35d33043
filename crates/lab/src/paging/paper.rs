//! The paper on demand paging.

use crate::exhibit::{Basis, Exhibit};
use crate::experiment::Paper;

/// The paper.
pub const PAPER: Paper = Paper {
    id: "paging",
    title: "G. Cogniaux, G. Grimaud: Key-Study to Execute Code Using Demand Paging and NAND Flash at Smart Card Scale. CARDIS 2010",
    exhibits: &[
        Exhibit::compared("Table 1", "parts on a bus of 33 MHz and 8 bits", ""),
        Exhibit::compared("Table 2", "parts on a bus of 54 MHz and 16 bits", ""),
        Exhibit::drawing("Figure 1", "what influences what"),
        Exhibit::drawing("Figure 2", "conventional demand paging"),
        Exhibit::drawing("Figure 3", "cache pages smaller than the part's"),
        Exhibit::compared("Figure 4", "conventional paging by page of the part and bus", FIGURE4),
        Exhibit { name: "Figure 5", shows: "smaller cache pages, Java", basis: Basis::Data(JAVA) },
        Exhibit { name: "Figure 6", shows: "conventional paging beside small pages, Java", basis: Basis::Data(JAVA) },
        Exhibit { name: "Figure 7", shows: "smaller cache pages, mad", basis: Basis::Data(MAD) },
        Exhibit::compared("Figure 8", "distances of misses, Java", FIGURE8),
    ],
};

const FIGURE4: &str = "holds for lout, the paper's program (MiBench's typeset). A program that nearly fits the cache loads each page a few \
                       times, and large ones faster";
const JAVA: &str = "the paper's Java trace is not public, and its mean basic block has 60 bytes: that of the applets that take its place \
                    (`tools/record-card`, `--data`) has 7.5, so that pages half as large are best for them \
                    (docs/results/2026-11-26-java-trace.md)";
const MAD: &str = "needs a trace named mad in `--data`; its mean basic block there has 35 bytes counted once, 62 as executed and 129 as \
                   runs, where the paper has 220";
const FIGURE8: &str =
    "another program than the paper's, whose trace is not public: how far code runs on in sequence is the program's";
