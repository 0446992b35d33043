//! Sectors, a log and versioned trees on raw NOR flash.
//!
//! The layer under the object heap: it manages erase units, allocates [sectors](Space::allocate) of variable size
//! inside them, finds them through [logical pointers](SectorPtr) that survive reclamation, keeps two versions of
//! [search trees](Trees::set), and makes any sequence of changes one [transaction](Store::commit). Power may fail at
//! any device operation; [`Store::mount`] completes or undoes what was interrupted.
//!
//! After TinyStore (LCTES 2006), section 4; details that TFFS's paper has are our own design, described in
//! `docs/papers.md`.
//!
//! ```
//! use norn_flash_sim::{NorSim, catalogue};
//! use norn_nor_store::{ErrorDetection, Room, SectorKind, SectorSpec, Store, StoreConfig, TreeId};
//!
//! let device = NorSim::new(catalogue::tinystore());
//! let error_detection = ErrorDetection::Off;
//! let config = StoreConfig { wear_period: 64, error_detection, ..StoreConfig::default() };
//! let mut store: Store<_, 64> = Store::format(device, config).unwrap();
//!
//! let leaf = store.space().allocate(SectorSpec { bytes: 8, kind: SectorKind::Leaf }, Room::Ordinary).unwrap();
//! let sector = store.sectors().get(leaf).unwrap();
//! store.sectors().program(&sector, 0, b"durable!").unwrap();
//! store.trees().put(TreeId::Name, 7, Some(leaf), Room::Ordinary).unwrap();
//! store.commit().unwrap();
//!
//! let mut store: Store<_, 64> = Store::mount(store.into_device()).unwrap();
//! let root = store.tree(TreeId::Name);
//! let found = store.trees().get(root, 7).unwrap().unwrap();
//! let sector = store.sectors().get(found.pointer).unwrap();
//! let mut bytes = [0; 8];
//! store.sectors().read(&sector, 0, &mut bytes).unwrap();
//! assert_eq!(&bytes, b"durable!");
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod config;
mod delta;
mod detection;
mod entry;
mod error;
mod features;
pub mod format;
mod geometry;
mod ground;
pub mod inspection;
mod marks;
mod mount;
mod pointer;
mod recognition;
mod roots;
mod store;
mod transaction;
mod tree;
mod versions;

pub use config::{DeltaRecords, StoreConfig};
pub use delta::{Counting, DELTAS_OFFSET, Delta};
pub use detection::{ErrorDetection, crc_8, crc_16};
pub use error::{MountError, MountRefusal, StoreError};
pub use features::{AllFeatures, Features, LeastFeatures};
pub use format::{Link, LogicalUnit, SectorKind, SectorPtr};
pub use ground::scratch::{Scratch, ScratchBits};
pub use ground::sector::{Sector, Sectors};
pub use ground::space::{Extension, Room, SectorSpec, Space};
pub use ground::table::{Role, UnitRow, UnitRows};
pub use recognition::recognise;
pub use roots::{TreeId, TreeRoot};
pub use store::{Store, StoreIn};
pub use tree::{TreeHit, Trees};
pub use versions::Versions;
