//! What the programs for the BBC micro:bit share: the drivers of the chip's flash and of its serial line.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

pub mod nvmc;
pub mod uart;
