//! What the example boards keep on their flash, the same on all of them: a boot counter and settings.
//!
//! - [`Store`] finds both on the part, or makes them on a part that holds nothing.
//! - [`start`] is what a board does with them when it starts.
//! - [`places`] says of each board which range of its flash that is, and what the maker allows there.
//!
//! The programs of the boards have the rest: the chip's start, the HAL's driver, and the log. So what could lose data is
//! tested on the host, with the power cut at every operation: see `tests/boards.rs`.
#![no_std]
#![forbid(unsafe_code)]

pub mod places;
mod start;
mod store;

pub use start::{Start, start};
pub use store::{Settings, Store, StoreError};
