//! The paper on real-time garbage collection.

use crate::experiment::Paper;

/// The paper.
pub const PAPER: Paper = Paper {
    id: "realtime-gc",
    title: "Real-time garbage collection: Chang, Kuo and Lo, Real-Time Garbage Collection for Flash-Memory Storage Systems of \
            Real-Time Embedded Systems, ACM TECS 3(4), 2004",
};
