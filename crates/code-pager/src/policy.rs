//! Which cache page stays in which frame: the directory of a cache and its replacement policy, in one.
//!
//! LRU and CLOCK find a page's frame through lists (`index.rs`); the others need the byte a frame that these take, and
//! compare one frame's page after the other (`tags.rs`). Each is one type over memory of any kind (`table.rs`), say
//! [`LruIn`], and has an alias that holds the memory itself, [`Lru`].

mod clock;
mod contract;
mod greedy;
mod index;
mod lru;
mod s3_fifo;
mod sieve;
mod table;
mod tags;

pub use clock::{Clock, ClockIn};
pub use contract::{Cost, Frame, LookUp, Policy};
pub use greedy::{Greedy, GreedyIn};
pub use lru::{Lru, LruIn};
pub use s3_fifo::{S3Fifo, S3FifoIn};
pub use sieve::{Sieve, SieveIn};
pub use table::{ByteLane, FrameTable, PageLane, PolicyIn};
