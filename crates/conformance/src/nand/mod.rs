//! Whether a NAND part keeps its side of the contract: the rules, and what tries them.

mod bench;
mod rule;
mod suite;

pub use rule::NandRule;
pub use suite::{NandSummary, check_nand};
