//! A damaged image of a block device on NAND is refused or used: never a panic, a loop, or an access outside the part.
//!
//! Run it with `tools/fuzz disk_image SECONDS`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use norn_fuzz_inputs::disk_image::try_damaged;

fuzz_target!(|bytes: &[u8]| try_damaged(bytes));
