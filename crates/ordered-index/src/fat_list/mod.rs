//! Fat lists: skip lists of objects with many keys each, whose soft pointers outlive the moving of blocks.

mod audit;
mod batch;
mod bounds;
mod bytes;
mod count;
mod cursor;
pub mod format;
mod ground;
pub mod inspection;
mod layout;
mod list;
mod merge;
mod mount;
mod recognition;
mod recover;
mod replace;
mod ring;
mod room;
mod search;
mod shape;
mod slices;
mod typed;
mod varying;
mod widths;

pub use batch::Change;
pub use bounds::CallBound;
pub use bytes::{ByteFatList, ByteIndexError};
pub use layout::{ENTRY_BYTES_MAX, SLOTS_MAX, Settings};
pub use list::FatListOf;
pub use recognition::recognise;
pub use search::Probes;
pub use slices::{ByteRange, RunTimeWidths};
pub use typed::FatList;
pub use varying::VaryingList;
pub use widths::{AtMost, Bytes, Fixed, IfVaried, Kept, Nothing, UpTo, UpToVaried, Varying, Widths, without};
