//! The ground floor: everything that knows where on the part something is.
//!
//! From the bottom up, each layer owns the one below it and keeps its own state to itself:
//!
//! ```text
//! turnstile  where a cell is free, which block is moved next; moving blocks
//! block      the head of each block: identity, whether it counts, what is moved there
//! cells      cells: stamps and headers, slots, pointer pools, drafts
//! medium     the device: refuses every call after its first failure
//! ```
//!
//! Only these files can read, program or erase: the calls of `Medium` that do are visible in here and nowhere else.
//! What is above works on cells.

pub(crate) mod audit;
pub(crate) mod block;
pub(crate) mod cells;
pub(crate) mod chance;
pub(crate) mod medium;
mod recover;
pub(crate) mod turnstile;
