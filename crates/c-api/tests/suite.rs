//! The tests of this crate as one program: what they share is compiled once.

mod c_programs;
mod header;
