//! Fat lists: skip lists of objects with many keys each, whose soft pointers outlive the moving of blocks.

mod audit;
mod bounds;
mod cursor;
pub mod format;
mod ground;
mod layout;
mod list;
mod mount;
mod recognition;
mod recover;
mod replace;
mod room;
mod search;
mod shape;

pub use bounds::CallBound;
pub use layout::{ENTRY_BYTES_MAX, SLOTS_MAX, Settings};
pub use list::FatList;
pub use recognition::recognise;
pub use search::Probes;
