//! Norn for devices: all crates that a device links, in one dependency.
//!
//! Each module is one crate, and each crate one feature. A crate whose feature is off is not compiled. Nothing here
//! needs `std`, allocates, recurses, or has `unsafe` code. [`recognise_nor`] and [`recognise_nand`] report what a part
//! holds.
//!
//! | module | feature | what it does | on |
//! |---|---|---|---|
//! | [`flash`] | always there | the contracts that a driver implements: `Nor`, `Nand`, `Eeprom` | |
//! | [`heap`] | `heap`, default | transactional objects and arrays | NOR |
//! | [`tinystore`] | `tinystore` | the same interface on TinyStore's structure, which programs words more than once | NOR |
//! | [`index`] | `index`, default | sorted maps in about a hundred bytes of RAM | NOR |
//! | [`remap`] | `remap` | the layer for parts whose words are programmed once or twice, and spare units | NOR |
//! | [`disk`] | `disk` | a block device, with tasks that never wait for its garbage collection | NAND |
//! | [`code`] | `code` | code executed through a cache of small pages | NAND |
//!
//! ```
//! use norn_embedded::heap::{Layout, LogHeap};
//! use norn_flash_sim::{NorSim, catalogue}; // on a board, its driver
//!
//! let mut heap: LogHeap<_, 64> = LogHeap::format(NorSim::new(catalogue::tinystore())).unwrap();
//! let purse = heap.create(Layout::uniform(3, 4)).unwrap(); // three fields of four bytes
//! heap.put_field(purse, 0, &250u32.to_le_bytes()).unwrap(); // durable when it returns
//!
//! let mut heap: LogHeap<_, 64> = LogHeap::mount(heap.into_device()).unwrap(); // after a power cut at any place
//! let mut balance = [0; 4];
//! heap.get_field(purse, 0, &mut balance).unwrap();
//! assert_eq!(u32::from_le_bytes(balance), 250);
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod recognition;

#[cfg(feature = "code")]
pub use norn_code_pager as code;
pub use norn_flash as flash;
#[cfg(feature = "heap")]
pub use norn_log_heap as heap;
#[cfg(feature = "disk")]
pub use norn_nand_ftl as disk;
#[cfg(feature = "remap")]
pub use norn_nor_remap as remap;
#[cfg(feature = "tinystore")]
pub use norn_object_heap as tinystore;
#[cfg(feature = "index")]
pub use norn_ordered_index as index;
pub use recognition::{PartContent, recognise_nand, recognise_nor};

/// README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The porting guide's examples, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/porting.md")]
struct Porting;

/// The guide's examples, as tests.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../../docs/guide/firmware.md")]
    struct Firmware;

    #[doc = include_str!("../../../docs/guide/sorted-map.md")]
    struct SortedMap;

    #[doc = include_str!("../../../docs/guide/code-from-nand.md")]
    struct CodeFromNand;
}
