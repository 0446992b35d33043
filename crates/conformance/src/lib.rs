//! Checks that both sides of the contracts of flash parts can be held to.
//!
//! - **Ports**: [`check_nor`] and [`check_nand`] try a driver for a part of your own, and report of each rule of the
//!   contract whether the driver keeps it. They need no `std` and no allocation, so that they run on the board that has
//!   the part.
//! - **Simulators**, with the feature `std`: [`check_nor_cuts`] tries what a simulated part does when the power fails.
//! - **Formats**, with the feature `std`: [`Sweep`] cuts the power at every operation of a call, in every shape that a
//!   cut may leave, again during recovery, and once more before the next boot; [`seeds`] gives random tests their
//!   seeds, and the words that replay them.
//!
//! ```
//! use norn_conformance::{Defences, check_nor};
//! use norn_flash_sim::{NorSim, catalogue};
//!
//! // On the board: the part's driver, and a buffer. What the part held is lost.
//! let mut part = NorSim::new(catalogue::test_part(8, 512));
//! let counts = check_nor(&mut part, &mut [0; 64], Defences::Try, |finding| println!("{finding}")).unwrap();
//! assert!(counts.all_kept());
//! ```
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

mod nand;
mod nor;
mod outcome;
#[cfg(feature = "std")]
mod seeds;
#[cfg(feature = "std")]
mod sweep;

pub use nand::{NandRule, NandSummary, check_nand};
#[cfg(feature = "std")]
pub use nor::{CutRule, check_nor_cuts};
pub use nor::{NOR_BUFFER_BYTES_MIN, NorRule, check_left_in_nor, check_nor, leave_in_nor};
pub use outcome::{BufferTooSmall, Defences, Finding, Outcome, RuleCounts};
#[cfg(feature = "std")]
pub use seeds::{Run, from_environment, seeds};
#[cfg(feature = "std")]
pub use sweep::{
    Context, GoOn, PowerLost, Powered, Subject, Survey, Sweep, Tally, Trial, one_of_each, one_of_each_on_nand,
};
