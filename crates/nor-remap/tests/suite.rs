//! The tests of this crate as one program: what they share is compiled once.

mod damaged_images;
mod format_example;
mod lent_memory;
mod model;
mod power_cuts;
mod random_operations;
mod retirement;
mod stray_records;
