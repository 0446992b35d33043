//! Heaps in image files of simulated parts: what commands and applications on the host open.
//!
//! A heap may lie on the part itself or on the layer for limited parts; [`mount`] finds out which, and [`Part`] is a
//! part either way.
//!
//! ```
//! use norn_flash_sim::catalogue;
//! use norn_heap_image::{create, mount};
//! use norn_object_heap::{Config, Layout};
//!
//! let directory = tempfile::tempdir().unwrap();
//! let image = directory.path().join("cards.img");
//! let mut device = create(&image, catalogue::tinystore(), Config::default(), None).unwrap();
//! let mut heap = mount(&mut device).unwrap();
//! heap.create(Layout::uniform(2, 4)).unwrap(); // in the file when the call returns
//!
//! let again = create(&image, catalogue::tinystore(), Config::default(), None).unwrap_err();
//! assert!(again.to_string().contains("never overwritten"));
//! ```
#![forbid(unsafe_code)]

mod audit;
mod failure;
mod image;
mod part;
mod part_name;

pub use audit::{audit, violations};
pub use failure::{HeapFailure, HeapImageError};
pub use image::{create, mount, units};
pub use part::{ImageHeap, Part, PartError, Remapped, UNITS_MAX, is_remapped};
pub use part_name::part_by_name;
