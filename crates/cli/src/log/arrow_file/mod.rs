//! Files of readings in Arrow's IPC format, where the command is built with the feature `arrow`.

#[cfg(not(feature = "arrow"))]
mod absent;
#[cfg(feature = "arrow")]
mod columns;
#[cfg(feature = "arrow")]
mod file;

#[cfg(not(feature = "arrow"))]
pub use absent::{read, write};
#[cfg(feature = "arrow")]
pub use file::{read, write};

/// What such a file begins with.
pub const MAGIC: &[u8] = b"ARROW1";
