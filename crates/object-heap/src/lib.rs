//! Transactional persistent objects and arrays on raw NOR flash.
//!
//! An object is a number of fields of fixed widths; an array is elements of one width. Each has a [`Ref`], a number
//! that stays valid across updates, reclamations and reboots until it is deleted. Every single access is atomic;
//! several become one with [`Heap::begin`] and [`Heap::commit`]. Power may fail at any device operation: after
//! [`Heap::mount`] everything that was acknowledged is there, and what was in flight is whole or absent. Programs find
//! their objects again by [named roots](Heap::root) or by [enumeration](Heap::next_object).
//!
//! After TinyStore (LCTES 2006): objects are lists of records that are filled in place and compacted now and then,
//! found through a versioned tree of references. `docs/papers.md` maps the paper's sections to the code and lists
//! deviations.
//!
//! ```
//! use norn_flash_sim::{NorSim, catalogue};
//! use norn_object_heap::{Config, Heap, Layout};
//!
//! let device = NorSim::new(catalogue::tinystore());
//! let mut heap: Heap<_, 64> = Heap::format(device, Config::tinystore_2006()).unwrap();
//!
//! let purse = heap.create(Layout::uniform(3, 4)).unwrap(); // three fields of four bytes
//! heap.put_field(purse, 0, &250u32.to_le_bytes()).unwrap();
//! heap.set_root(b"purse", Some(purse)).unwrap();
//!
//! let mut heap: Heap<_, 64> = Heap::mount(heap.into_device()).unwrap();
//! let purse = heap.root(b"purse").unwrap().unwrap();
//! let mut balance = [0; 4];
//! heap.get_field(purse, 0, &mut balance).unwrap();
//! assert_eq!(u32::from_le_bytes(balance), 250);
//! ```
//!
//! Several changes as one, arrays, and a collection:
//!
//! ```
//! # use norn_flash_sim::{NorSim, catalogue};
//! # use norn_object_heap::{Config, Elements, Heap};
//! # let mut heap: Heap<_, 64> = Heap::format(NorSim::new(catalogue::tinystore()), Config::default()).unwrap();
//! let samples = heap.create_array(20_000, 2, b"centidegrees").unwrap(); // larger than an erase unit
//! heap.set_root(b"samples", Some(samples)).unwrap();
//! heap.begin().unwrap();
//! heap.array_store(samples, 0, &2150i16.to_le_bytes()).unwrap();
//! heap.array_store(samples, 1, &2155i16.to_le_bytes()).unwrap();
//! heap.commit().unwrap(); // both, or after a power cut neither
//!
//! let first = Elements { array: samples, first: 0, count: 1000 };
//! heap.array_copy(first, (samples, 10_000)).unwrap(); // all of them or none
//! let mut block = [0; 4];
//! heap.array_read(samples, 10_000, &mut block).unwrap();
//! assert_eq!(block, [0x66, 0x08, 0x6B, 0x08]);
//!
//! heap.create_array(10, 1, b"").unwrap(); // nothing refers to it
//! let collected = heap.collect(&[], |_, _| Ok(())).unwrap(); // no object here holds references
//! assert_eq!((collected.live, collected.deleted), (1, 1));
//! ```
//!
//! A program that reads a value often may keep its address, until it is notified that the value is no longer there:
//!
//! ```
//! # use norn_flash::Nor;
//! # use norn_flash_sim::{NorSim, catalogue};
//! # use norn_object_heap::{Config, Heap, Layout, Listener, PhysicalPointer, Ref};
//! #[derive(Default)]
//! struct Tariff(Option<PhysicalPointer>);
//!
//! impl Listener for Tariff {
//!     fn invalidated(&mut self, _: Ref) {
//!         self.0 = None; // There is no other pointer.
//!     }
//!
//!     fn all_invalidated(&mut self) {
//!         self.0 = None;
//!     }
//! }
//!
//! let device = NorSim::new(catalogue::tinystore());
//! let mut heap: Heap<_, 64, Tariff> = Heap::format_with(device, Config::default(), Tariff::default()).unwrap();
//! let tariff = heap.create(Layout::uniform(10, 2)).unwrap();
//! heap.put_field(tariff, 4, &[120, 0]).unwrap();
//!
//! let pointer = heap.field_pointer(tariff, 4).unwrap(); // fields 4 to 9, one after the other
//! heap.listener_mut().0 = Some(pointer);
//! let mut price = [0; 2];
//! heap.device_mut().read(pointer.address, &mut price).unwrap(); // on mapped parts a load
//! assert_eq!((price, pointer.len), ([120, 0], 12));
//!
//! heap.put_field(tariff, 4, &[125, 0]).unwrap();
//! assert_eq!(heap.listener().0, None);
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod access;
mod array;
mod audit;
mod check;
mod collect;
mod compact;
mod config;
mod descriptor;
mod fixed;
mod form;
pub mod format;
mod header;
mod heap;
pub mod inspection;
mod list;
mod name;
mod notify;
mod object;
mod placed;
mod pointer;
mod range;
mod root;
mod write;

pub use collect::{Tracer, TracerIn};
pub use config::{Config, InitializationFlags};
pub use fixed::Heap;
pub use form::ListInfo;
pub use heap::HeapIn;
pub use norn_flash::{StoreError, Violation};
pub use norn_heap::{
    AccessError, CollectError, Collected, CreateError, Elements, Info, Kind, Layout, Listener, NAME_BYTES_MAX,
    ObjectHeap, PhysicalPointer, PhysicalPointers, PlacementError, PointerError, Ref, Representation, TransactionError,
    Widths,
};
pub use norn_nor_store::{
    AllFeatures, DeltaRecords, ErrorDetection, Features, LeastFeatures, MountError, MountRefusal, SectorPtr, UnitRow,
    UnitRows, recognise,
};
