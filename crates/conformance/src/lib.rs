//! Checks that both sides of the contracts of flash parts can be held to.
//!
//! - **Ports**: [`check_nor`] and [`check_nand`] try a driver for a part of your own and say which promise it breaks.
//!   They need no `std` and no allocation, so that they run on the board that has the part.
//! - **Formats**, with the feature `std`: [`Sweep`] cuts the power at every operation of a call, in every shape that a
//!   cut may leave, again during recovery, and once more before the next boot; [`seeds`] gives random tests their
//!   seeds, and the words that replay them.
//!
//! ```
//! use norn_conformance::check_nor;
//! use norn_flash_sim::{NorSim, catalogue};
//!
//! // On the board: the part's driver, and a buffer of any size. What the part held is lost.
//! let mut part = NorSim::new(catalogue::test_part(8, 512));
//! check_nor(&mut part, &mut [0; 64]).unwrap();
//! ```
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

mod nand_port;
mod nor_port;
#[cfg(feature = "std")]
mod seeds;
#[cfg(feature = "std")]
mod sweep;

pub use nand_port::{NandBreach, NandPromise, check_nand};
pub use nor_port::{NorBreach, NorPromise, check_nor};
#[cfg(feature = "std")]
pub use seeds::{Run, from_environment, seeds};
#[cfg(feature = "std")]
pub use sweep::{
    Context, GoOn, PowerLost, Powered, Subject, Survey, Sweep, Tally, Trial, one_of_each, one_of_each_on_nand,
};
