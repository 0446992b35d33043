//! The paper on TinyStore.

use crate::experiment::Paper;

/// The paper.
pub const PAPER: Paper = Paper {
    id: "tinystore",
    title: "TinyStore: Spivak and Toledo, Storing a Persistent Transactional Object Heap on Flash Memory, LCTES 2006",
};
