//! The tests of this crate as one program: what they share is compiled once.

mod formats;
mod labels;
mod nand_port;
mod nor_port;
mod programs;
mod recognition;
