//! What the programs for emulated boards share: registers of peripherals, and lines with a check over a serial line.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

pub mod line;
mod register;

pub use register::Register;

/// A serial line.
pub trait Serial {
    /// Waits for a byte.
    fn receive(&mut self) -> u8;

    /// Sends a byte, and returns when it is sent.
    fn send(&mut self, byte: u8);
}
