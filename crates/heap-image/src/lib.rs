//! Heaps in image files of simulated parts: what commands and applications on the host open.
//!
//! A heap may be of either [`Engine`], and on the part itself or on the layer for limited parts; [`mount`] finds out
//! which. [`ImageHeap`] is a heap and [`Part`] a part either way. [`convert`](mod@convert) copies a heap to an image of
//! the other engine.
//!
//! ```
//! use norn_flash_sim::catalogue;
//! use norn_heap::{Layout, ObjectHeap};
//! use norn_heap_image::{Engine, create, mount};
//!
//! let directory = tempfile::tempdir().unwrap();
//! let image = directory.path().join("cards.img");
//! let mut device = create(&image, catalogue::stm32l4(), Engine::Log, None).unwrap();
//! let mut heap = mount(&mut device).unwrap();
//! heap.create(Layout::uniform(2, 4)).unwrap(); // in the file when the call returns
//! assert_eq!(heap.engine(), Engine::Log);
//!
//! let again = create(&image, catalogue::stm32l4(), Engine::Log, None).unwrap_err();
//! assert!(again.to_string().contains("never overwritten"));
//! ```
#![forbid(unsafe_code)]

mod audit;
mod contents;
pub mod convert;
mod engine;
mod failure;
mod filled;
mod heap;
mod image;
mod part;
mod part_name;

pub use audit::{Audited, audit, violations};
pub use contents::{Content, Contents};
pub use engine::{Engine, Format};
pub use failure::{HeapFailure, HeapImageError};
pub use filled::{FillError, create_filled};
pub use heap::{ImageHeap, LogStructuredHeap, TinyStoreHeap};
pub use image::{create, mount, units};
pub use norn_object_heap::ErrorDetection;
pub use part::{Part, PartError, Remapped, UNITS_MAX, is_remapped};
pub use part_name::{part_by_name, unit_count};
