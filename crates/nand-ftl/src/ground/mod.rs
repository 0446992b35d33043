//! The ground floor: everything that knows where on the part something is.
//!
//! From the bottom up, each layer owns the one below it and keeps its own state to itself:
//!
//! ```text
//! log      the open blocks and the numbers of programs; appending, erasing, retiring
//! replay   what flash holds, while mounting; it ends as a log
//! pages    pages of flash in the buffer; found: those that mounting finds
//! memory   map, journal, blocks and live pages, in the caller's memory
//! medium   the device with its guard, and the codes of its pages
//! ```
//!
//! Only these files can load, program or erase, and only they change what memory says of blocks and pages. What is
//! above reads memory, and appends and copies by the log's calls.

pub(crate) mod found;
pub(crate) mod log;
pub(crate) mod medium;
pub(crate) mod memory;
pub(crate) mod pages;
pub(crate) mod replay;
