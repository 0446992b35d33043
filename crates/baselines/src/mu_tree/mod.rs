//! The µ-tree in NOR flash (section 0.6.2): a B+-tree whose change of a leaf writes the whole path to the root into one
//! page.
//!
//! What the fat list is compared with. No pointer of it is ever changed in place, so that it needs no spare pointers
//! and survives power cuts by nature: the newest whole page with a root is the tree. With a log in each page it is a
//! B+-tree with logged leaves.

mod bounds;
pub mod format;
mod leaf;
mod medium;
mod nodes;
mod space;
mod tree;

pub use nodes::MuTree;
