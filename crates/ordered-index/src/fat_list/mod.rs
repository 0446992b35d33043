//! Fat lists: skip lists of objects with many keys each, whose soft pointers outlive the moving of blocks.

mod audit;
mod bounds;
mod cells;
pub mod format;
mod layout;
mod list;
mod mount;
mod recognition;
mod recover;
mod replace;
mod search;
mod turnstile;

pub use bounds::CallBound;
pub use layout::{ENTRY_BYTES_MAX, SLOTS_MAX, Settings};
pub use list::{FatList, Probes};
pub use recognition::recognise;
