//! Damaged images and hostile conversations made from arbitrary bytes, and what has to come of them.
//!
//! Each module has a function of bytes that panics if something is wrong. The fuzz targets of `fuzz/` call it with a
//! fuzzer's bytes, and tests here and in the crates concerned with bytes drawn from a seed.
#![forbid(unsafe_code)]

pub mod card_class_file;
pub mod card_conversation;
pub mod card_package;
pub mod disk_image;
pub mod eeprom_image;
mod either_list;
mod heap_calls;
pub mod heap_image;
pub mod index_image;
pub mod index_operations;
pub mod log_heap_image;
pub mod nbd_conversation;
pub mod program_image;
pub mod remap_image;
mod within;
