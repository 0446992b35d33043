//! The tests of this crate as one program: what they share is compiled once.

mod arrays;
mod bounded_work;
mod collection;
mod damaged_images;
mod error_detection;
mod flipped_bits;
mod full_deletions;
mod full_forks;
mod full_transactions;
mod model;
mod opened_units;
mod power_cuts;
mod random_operations;
mod zeros_in_order;
