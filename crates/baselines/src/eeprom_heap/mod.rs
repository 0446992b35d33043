//! The heap that TinyStore was compared with (LCTES 2006, section 6.1): objects on EEPROM, overwritten in place.
//!
//! An object has one place for all its life. An update writes the old value into the commit log, then the new one over
//! it; a transaction is many of these, undone from the log unless it commits. There is no wear levelling: a field wears
//! where it is.
//!
//! 1. `format`: every bit;
//! 2. `medium`: the device, which refuses every call after its first error;
//! 3. `allocator`: blocks and the free list, with a log of its own;
//! 4. `log`: the commit log;
//! 5. `heap`: state, mounting, transactions;
//! 6. `object`, `access`: what there is, and what it holds; `audit`: the checker.

mod access;
mod allocator;
mod audit;
mod error;
mod format;
mod heap;
mod log;
mod medium;
mod object;

pub use error::EepromMountError;
pub use heap::EepromHeap;
