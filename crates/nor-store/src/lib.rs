//! Sectors, a log and versioned trees on raw NOR flash.
//!
//! The layer under the object heap: it manages erase units, allocates [sectors](Store::allocate) of variable size inside
//! them, finds them through [logical pointers](SectorPtr) that survive reclamation, keeps two versions of
//! [search trees](Store::tree_set), and makes any sequence of changes one [transaction](Store::commit). Power may fail at
//! any device operation; [`Store::mount`] completes or undoes what was interrupted.
//!
//! After TinyStore (LCTES 2006), section 4; what TFFS's paper would tell is ours and described in `docs/papers.md`.
//!
//! ```
//! use norn_flash_sim::{NorSim, catalogue};
//! use norn_nor_store::{ErrorDetection, Room, SectorKind, SectorSpec, Settings, Store, TreeId};
//!
//! let device = NorSim::new(catalogue::tinystore());
//! let error_detection = ErrorDetection::Off;
//! let settings = Settings { wear_period: 64, error_detection, ..Settings::default() };
//! let mut store: Store<_, 64> = Store::format(device, settings).unwrap();
//!
//! let leaf = store.allocate(SectorSpec { bytes: 8, kind: SectorKind::Leaf }, Room::Ordinary).unwrap();
//! let sector = store.sector(leaf).unwrap();
//! store.program(&sector, 0, b"durable!").unwrap();
//! store.tree_put(TreeId::Name, 7, Some(leaf), Room::Ordinary).unwrap();
//! store.commit().unwrap();
//!
//! let mut store: Store<_, 64> = Store::mount(store.into_device()).unwrap();
//! let found = store.tree_get(store.tree(TreeId::Name), 7).unwrap().unwrap();
//! let sector = store.sector(found.pointer).unwrap();
//! let mut bytes = [0; 8];
//! store.read(&sector, 0, &mut bytes).unwrap();
//! assert_eq!(&bytes, b"durable!");
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod audit;
mod delta;
mod detection;
mod entry;
mod error;
mod features;
pub mod format;
mod log;
mod marks;
mod medium;
mod mount;
mod reclaim;
mod scratch;
mod sector;
mod store;
mod transaction;
mod tree;
mod tree_word;
mod units;

pub use delta::{Counting, DELTAS_OFFSET, Delta, DeltaRecords};
pub use detection::{ErrorDetection, crc_8, crc_16};
pub use error::{MountError, MountRefusal, StoreError};
pub use features::{AllFeatures, Features, LeastFeatures};
pub use format::{Link, LogicalUnit, SectorKind, SectorPtr};
pub use scratch::ScratchBits;
pub use sector::{Extension, Room, Sector, SectorSpec};
pub use store::{Settings, Store};
pub use tree::{Found, TreeId, TreeRoot};
pub use units::Role;
