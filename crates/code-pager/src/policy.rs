//! Which cache page stays in which frame: the directory of a cache and its replacement policy, in one.
//!
//! LRU and CLOCK find a page's frame through lists (`index.rs`); the others need the byte a frame that these take, and
//! compare one frame's page after the other (`tags.rs`).

mod clock;
mod contract;
mod greedy;
mod index;
mod lru;
mod s3_fifo;
mod sieve;
mod tags;

pub use clock::Clock;
pub use contract::{Cost, Frame, LookUp, Policy};
pub use greedy::Greedy;
pub use lru::Lru;
pub use s3_fifo::S3Fifo;
pub use sieve::Sieve;
