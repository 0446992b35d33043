//! What Norn's structures are compared with: the designs that the papers measure themselves against, built with the
//! same care.
//!
//! They are a crate of their own because only the lab and the comparison with other stores use them. Like the crates
//! that firmware links they need no `std`, allocate nothing, and survive a loss of power at any device operation.
//!
//! - [`eeprom_heap`]: TinyStore's baseline, objects on EEPROM that are overwritten in place. It has
//!   the interface of the heaps on flash, [`ObjectHeap`](norn_heap::ObjectHeap), so that one workload runs on all.
//! - [`mu_tree`]: the fat list's baselines, a µ-tree, and a B⁺-tree with logged leaves.
#![no_std]
#![forbid(unsafe_code)]

pub mod eeprom_heap;
pub mod mu_tree;

pub use eeprom_heap::{EepromHeap, EepromMountError};
pub use mu_tree::MuTree;
