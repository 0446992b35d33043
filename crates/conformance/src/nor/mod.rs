//! Whether a NOR part keeps its side of the contract: the rules, and what tries them.

mod bench;
#[cfg(feature = "std")]
mod cuts;
mod rule;
mod suite;

#[cfg(feature = "std")]
pub use cuts::{CutRule, check_nor_cuts};
pub use rule::NorRule;
pub use suite::{NOR_BUFFER_BYTES_MIN, check_left_in_nor, check_nor, leave_in_nor};
