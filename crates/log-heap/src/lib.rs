//! A log-structured heap of persistent objects on NOR flash, for parts whose program units may be programmed once.
//!
//! An object is a number of fields of fixed widths, an array elements of one width; each is named by a [`Ref`]. Every
//! call is atomic, but for those that say `non_atomic`: after a loss of power at any operation of the device,
//! [`LogHeap::mount`] finds what was acknowledged, and what was in flight whole or absent, and the same at every boot
//! after that. No program unit is programmed twice between two erases, so that flash with error-correcting codes
//! (STM32) serves as well as classic NOR. `docs/design/log-heap.md` says how and why.
//!
//! [`begin`](LogHeapIn::begin) and [`commit`](LogHeapIn::commit) make any number of calls one.
//!
//! With [`ErrorDetection::On`] a flipped bit of what is read is an error that names the place.
//!
//! A heap that was [formatted](LogHeap::format_with) or mounted with a [`Listener`] gives
//! [pointers](LogHeapIn::field_pointer) to values, which can be read without a call until the listener is notified.
//!
//! ```
//! use norn_flash_sim::{NorSim, catalogue};
//! use norn_log_heap::{Layout, LogHeap};
//!
//! let device = NorSim::new(catalogue::stm32l4()); // 256 units of 2 KB; 8 bytes are programmed once
//! let mut heap: LogHeap<_, 256> = LogHeap::format(device).unwrap();
//! let purse = heap.create(Layout::uniform(3, 4)).unwrap(); // three fields of four bytes
//! heap.put_field(purse, 0, &250u32.to_le_bytes()).unwrap();
//! heap.set_root(b"purse", Some(purse)).unwrap(); // found again by name
//!
//! let mut heap: LogHeap<_, 256> = LogHeap::mount(heap.into_device()).unwrap();
//! let purse = heap.root(b"purse").unwrap().unwrap();
//! let mut balance = [0; 4];
//! heap.get_field(purse, 0, &mut balance).unwrap();
//! assert_eq!(u32::from_le_bytes(balance), 250);
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod array;
mod audit;
mod collect;
mod elements;
pub mod format;
mod geometry;
mod heap;
pub mod inspection;
mod log;
mod log_record;
mod map;
mod marks;
mod medium;
mod merging;
mod mount;
mod notes;
mod object;
mod placed;
mod pointer;
mod reclaim;
mod recognition;
mod root;
mod shape;
mod slots;
mod space;
mod tail;
mod transaction;
mod units;

pub use collect::{Tracer, TracerIn};
pub use format::ErrorDetection;
pub use heap::{LogHeap, LogHeapIn, SectorInfo};
pub use norn_flash::MountError;
pub use norn_heap::{
    AccessError, CollectError, Collected, CreateError, Elements, Info, Kind, Layout, Listener, NAME_BYTES_MAX,
    ObjectHeap, PhysicalPointer, PhysicalPointers, PlacementError, PointerError, Ref, StoreError, TransactionError,
    Violation, Widths,
};
pub use recognition::recognise;
pub use units::{UnitRow, UnitRows};
