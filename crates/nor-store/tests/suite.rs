//! The tests of this crate as one program: what they share is compiled once.

mod lent_memory;
mod model;
mod power_cuts;
mod reclamation;
mod scratch_bits;
mod transactions;
mod versioned_trees;
mod wear;
