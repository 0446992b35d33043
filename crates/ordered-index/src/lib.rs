//! Sorted maps on raw NOR flash, in constant RAM: about a hundred bytes, without a map of the flash.
//!
//! [`FatList`] is the one to use: a skip list of objects with many keys, whose *soft pointers* outlive the moving of
//! blocks, so that neither a mapping table nor a scan at boot is needed. With [`Settings::soft_list`] its objects have
//! one key. They implement one trait, [`OrderedIndex`], and survive a loss of power at any device operation. [`Map`] is
//! a fat list whose keys and values have types. What they are compared with is in `norn-baselines`: a µ-tree, and a
//! B⁺-tree with logged leaves.
//!
//! [`LeafMap`] is the one for parts whose words are programmed once, as those of flash with error-correcting codes.
//!
//! After *Fat Lists* (2011); `docs/papers.md` says what differs, `docs/design/ordered-index.md` why.
//!
//! ```
//! use std::ops::Bound;
//!
//! use norn_flash_sim::{NorSim, catalogue};
//! use norn_ordered_index::{FatList, OrderedIndex, Settings};
//!
//! // Readings of a sensor by the minute. Big-endian keys sort as numbers.
//! let part = NorSim::new(catalogue::w25q());
//! let settings = Settings { turnstile_blocks: 16, ..Settings::paper_2011() };
//! let mut readings: FatList<_, 4, 2> = FatList::format(part, settings).unwrap();
//! for minute in 0..300_u32 {
//!     readings.insert(&minute.to_be_bytes(), &(200 + minute as u16 % 50).to_le_bytes()).unwrap(); // durable
//! }
//! readings.update(&7_u32.to_be_bytes(), &999_u16.to_le_bytes()).unwrap();
//! readings.remove(&8_u32.to_be_bytes()).unwrap();
//!
//! // After a power cut at any place:
//! let mut readings: FatList<_, 4, 2> = FatList::mount(readings.into_device()).unwrap();
//! let mut hour = readings.range(Bound::Included(60_u32.to_be_bytes()), Bound::Excluded(120_u32.to_be_bytes()));
//! let (mut sum, mut count) = (0, 0);
//! while let Some((_, value)) = hour.next_entry().unwrap() {
//!     (sum, count) = (sum + u32::from(u16::from_le_bytes(value)), count + 1);
//! }
//! assert_eq!((sum / count, count), (222, 60));
//! readings.stop().unwrap(); // makes the next mount fast
//! ```
#![no_std]
#![forbid(unsafe_code)]

pub mod codes;
mod error;
pub mod fat_list;
mod index;
pub mod leaf_map;
mod map;
mod step;

pub use error::{IndexError, MountError};
pub use fat_list::{
    AtMost, ByteFatList, ByteIndexError, ByteRange, CallBound, Change, FatList, FatListOf, Fixed, Probes,
    RunTimeWidths, Settings, UpTo, UpToVaried, Varying, VaryingList, Widths, recognise,
};
pub use index::{Entry, ErrorOf, IndexStats, OrderedIndex, Range, Reclaimed};
pub use leaf_map::LeafMap;
#[cfg(feature = "zerocopy")]
pub use map::Plain;
#[cfg(feature = "postcard")]
pub use map::Postcard;
pub use map::{Blob, Key, Map, MapError, MapRange, MapWidths, Text, TooLong, Value, VaryingMap};
pub use step::{Direction, HINT_WORDS, Hint};
