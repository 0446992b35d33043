//! Sorted maps on raw NOR flash, in constant RAM and without a map of it in RAM.
#![no_std]
#![forbid(unsafe_code)]

mod error;
pub mod fat_list;
mod index;
mod medium;
pub mod mu_tree;

pub use error::{IndexError, MountError};
pub use fat_list::{FatList, Settings};
pub use index::{Direction, Entry, ErrorOf, Hint, IndexStats, OrderedIndex, Range, Reclaimed};
pub use mu_tree::MuTree;
