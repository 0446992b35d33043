//! The interface of persistent object heaps: what a program sees of them, whichever engine keeps the objects.
//!
//! An object is a number of fields of fixed widths; an array is elements of one width. Each has a [`Ref`], a number
//! that stays valid until it is deleted. An *engine* is a structure on flash, or another memory, that keeps them:
//!
//! | engine | crate | made for |
//! |---|---|---|
//! | log-structured | `norn-log-heap` | NOR flash whose program units are programmed once: STM32, nRF52, and all others |
//! | TinyStore's | `norn-object-heap` | NOR flash whose programmed words can lose further bits |
//! | overwriting | `norn-baselines` | EEPROM; a baseline for comparisons |
//!
//! [`ObjectHeap`] is the trait that they implement. A program, workload or test that is generic over it runs on each.
//! What is in this crate are values: it reaches no device, and takes no code where it is not used.
//!
//! ```
//! use norn_heap::{AccessError, ObjectHeap, Ref};
//!
//! /// Adds to an account: a field of four bytes.
//! fn deposit<H: ObjectHeap>(heap: &mut H, account: Ref, amount: u32) -> Result<(), AccessError<H::DeviceError>> {
//!     let mut balance = [0; 4];
//!     heap.get_field(account, 0, &mut balance)?;
//!     heap.put_field(account, 0, &(u32::from_le_bytes(balance) + amount).to_le_bytes())
//! }
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod by_methods;
mod collection;
mod error;
mod layout;
mod object_heap;
mod pointer;
mod reference;

pub use collection::{Collected, Collection, CollectionStep};
pub use error::{AccessError, CollectError, CreateError, PlacementError, PointerError, TransactionError};
pub use layout::{Elements, Info, Kind, Layout, Representation, Widths};
pub use norn_flash::{StoreError, Violation};
pub use object_heap::{NAME_BYTES_MAX, ObjectHeap};
pub use pointer::{Listener, PhysicalPointer, PhysicalPointers};
pub use reference::Ref;
