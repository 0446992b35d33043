//! Roots: where the trees begin, in the log and in RAM.

use crate::entry::Entry;
use crate::pointer::SectorPtr;

/// Number of trees that a store keeps.
pub(crate) const TREES: usize = 3;
/// Largest height of a tree: keys below 16⁵.
pub(crate) const HEIGHT_MAX: u8 = 5;

/// Which of the store's trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeId {
    /// References to objects and arrays.
    Ref = 0,
    /// Named roots.
    Name = 1,
    /// What physical pointers a running program holds into each unit, by its physical number. A mount empties it.
    Notify = 2,
}

/// A tree's root node and height; height 0 is the empty tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeRoot {
    /// The root node.
    pub node: Option<SectorPtr>,
    /// Levels of nodes, at most 5.
    pub height: u8,
}

impl TreeRoot {
    pub(crate) fn entry(self, tree: usize) -> Entry {
        Entry::Root { tree: tree as u8, height: self.height, node: self.node }
    }

    pub(crate) fn holds(self, key: u32) -> bool {
        key >> (4 * u32::from(self.height)) == 0
    }
}

/// The two versions of a tree.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TreeRoots {
    pub committed: TreeRoot,
    pub open: TreeRoot,
}
