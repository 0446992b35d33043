//! The tests of this crate as one program: what they share is compiled once.

mod collection;
mod engines;
mod model;
mod pointers;
mod references;
