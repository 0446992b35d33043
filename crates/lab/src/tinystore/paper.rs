//! The paper on TinyStore.

use crate::exhibit::Exhibit;
use crate::experiment::Paper;

/// The paper.
pub const PAPER: Paper = Paper {
    id: "tinystore",
    title: "TinyStore: Spivak and Toledo, Storing a Persistent Transactional Object Heap on Flash Memory, LCTES 2006",
    exhibits: &[
        Exhibit::drawing("Figure 1", "an object on flash"),
        Exhibit::drawing("Figure 2", "a large array on flash"),
        Exhibit::drawing("Figure 3", "the collector's erase unit"),
        Exhibit::compared("Figure 4", "words written an update"),
        Exhibit::compared("Figure 5", "time of an update"),
        Exhibit::compared("Table 1", "updates by list length"),
        Exhibit::compared("Figure 6", "updates until the part is worn out"),
        Exhibit::compared("Figure 7", "share of the part that arrays fill"),
        Exhibit::compared("Figure 8", "ArrayCopy beside ArrayFillNonAtomic"),
    ],
};
