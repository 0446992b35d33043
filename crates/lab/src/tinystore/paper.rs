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
        Exhibit::compared("Figure 4", "words written an update", FIGURE4),
        Exhibit::compared("Figure 5", "time of an update", FIGURE5),
        Exhibit::compared("Table 1", "updates by list length", TABLE1),
        Exhibit::compared("Figure 6", "updates until the part is worn out", FIGURE6),
        Exhibit::compared("Figure 7", "share of the part that arrays fill", FIGURE7),
        Exhibit::compared("Figure 8", "ArrayCopy beside ArrayFillNonAtomic", FIGURE8),
    ],
};

const FIGURE4: &str = "on EEPROM a transaction ends by one byte of its last record: 5 words where the paper counts 11. On flash, the \
                       next table has the words of small and large objects by what they are for";
const FIGURE5: &str = "the flash heap writes fewer words than the published one (Table 1), so that it erases less, and erases are most of \
                       its time (share in the next table)";
const TABLE1: &str = "fewer words are written in every row, by what they are for in the next table, so that there are fewer erases and \
                      longer lives. Reads are not the tree's alone: a look-up takes 28 to 67 words where keys are compared \
                      (tinystore-key-trees), and what else the paper's reads look at it does not say";
const FIGURE6: &str = "EEPROM's log of 8 KB is the first to wear out. Without its bytes (second set of lines) the statements hold, but \
                       for the ends of TotallyRandom and how much longer flash lasts. Least updates of one object: within a tenth";
const FIGURE7: &str = "within 2% of the published range but for units of 64 KB, seven of which are the whole part: log and free unit take \
                       whole ones (by unit in tinystore-capacity)";
const FIGURE8: &str = "a log record holds eight elements at once, so that an atomic copy costs EEPROM three times the words and not seven";
