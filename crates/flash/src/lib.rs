//! Device contracts: what Norn asks of a flash part and what it may rely on.
//!
//! A part is described by a value ([`NorPart`]), not by types or cargo features, so that one binary can serve parts of
//! any geometry and the lab can sweep erase-unit sizes. The contract itself is the documentation of [`Nor`]: it has two
//! sides, and the larger one is about power loss.
//!
//! ```
//! use norn_flash::{Address, NorPart, Reprogramming};
//!
//! let part = NorPart {
//!     unit_count: 56,
//!     unit_size_bytes: 8192,
//!     program_unit_bytes: 1,
//!     reprogramming: Reprogramming::Unlimited,
//!     mapped: true,
//!     endurance_erases: Some(100_000),
//! };
//! assert_eq!(part.size_bytes(), 448 * 1024);
//! assert_eq!(part.unit_of(Address(8192)).0, 1);
//! assert_eq!(part.validate(), Ok(()));
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod embedded;
mod nor;

pub use embedded::{AdapterError, EmbeddedNor};
pub use nor::{Address, EraseUnit, Nor, NorPart, PartError, Reprogramming};
