//! A damaged image of a sorted map is refused or gives a map: never a panic, a loop, or an access outside the part.
//!
//! Run it with `tools/fuzz index_image SECONDS`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use norn_fuzz_inputs::index_image::try_damaged;

fuzz_target!(|bytes: &[u8]| try_damaged(bytes));
