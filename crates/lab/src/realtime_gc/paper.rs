//! The paper on real-time garbage collection.

use crate::exhibit::{Basis, Exhibit};
use crate::experiment::Paper;

/// The paper.
pub const PAPER: Paper = Paper {
    id: "realtime-gc",
    title: "Real-time garbage collection: Chang, Kuo and Lo, Real-Time Garbage Collection for Flash-Memory Storage \
            Systems of Real-Time Embedded Systems, ACM TECS 3(4), 2004",
    exhibits: &[
        Exhibit::drawing("Figure 1", "the system"),
        Exhibit { name: "Table I", shows: "a part's times", basis: Basis::Nothing(TABLE1) },
        Exhibit::drawing("Figure 2", "a task"),
        Exhibit::drawing("Figure 3", "two tasks and their collectors, whose periods Table IV has"),
        Exhibit::drawing("Table II", "symbols"),
        Exhibit::drawing("Figure 4", "replenishment of free pages"),
        Exhibit::drawing("Figure 5", "its algorithm"),
        Exhibit::drawing("Figure 6", "the most tokens there can be"),
        Exhibit::compared("Table III", "the basic workload"),
        Exhibit::compared("Table IV", "the workload with collectors"),
        Exhibit::compared("Table V", "parameters by use of the part"),
        Exhibit::compared("Figure 7", "blocking by collections on demand"),
        Exhibit::compared("Figure 8", "waits for tokens"),
        Exhibit::compared("Figure 9", "deviation of erase counts"),
        Exhibit::compared("Figure 10", "worn-out blocks"),
        Exhibit::compared("Figure 11", "write throughput"),
        Exhibit::compared("Figure 12", "late jobs without admission"),
    ],
};

const TABLE1: &str = "the simulated part takes these times, and so they are ours";
