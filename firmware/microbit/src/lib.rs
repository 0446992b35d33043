//! What the programs for the BBC micro:bit share: the drivers of the chip's flash and of its serial line, and lines
//! with a check.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

pub mod line;
pub mod nvmc;
mod register;
pub mod uart;
