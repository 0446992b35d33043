//! The tests of this crate as one program: what they share is compiled once.

mod api;
mod bytecode;
mod javac;
mod linker;
mod persistent;
mod verifier;
