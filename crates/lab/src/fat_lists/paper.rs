//! The paper on fat lists.

use crate::experiment::Paper;

/// The paper.
pub const PAPER: Paper =
    Paper { id: "fat-lists", title: "Fat Lists: an index structure for NOR flash in small embedded devices, 2011" };
