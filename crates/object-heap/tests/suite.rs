//! The tests of this crate as one program: what they share is compiled once.

mod bad_input;
mod bounded_work;
mod collection;
mod costs;
mod damaged_images;
mod error_detection;
mod failing_units;
mod format_example;
mod full_device;
mod least_features;
mod lent_memory;
mod model;
mod notification;
mod pointers;
mod power_cuts;
mod random_operations;
mod several_fields;
mod transactions_on_limited_parts;
mod transactions_on_test_parts;
