//! The paper on demand paging.

use crate::experiment::Paper;

/// The paper.
pub const PAPER: Paper = Paper {
    id: "paging",
    title: "G. Cogniaux, G. Grimaud: Key-Study to Execute Code Using Demand Paging and NAND Flash at Smart Card Scale. CARDIS 2010",
};
