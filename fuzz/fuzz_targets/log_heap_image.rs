//! A damaged log-structured heap is refused or used: never a panic, a loop, or an access outside the part.
//!
//! Run it with `tools/fuzz log_heap_image SECONDS`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use norn_fuzz_inputs::log_heap_image::try_damaged;

fuzz_target!(|bytes: &[u8]| try_damaged(bytes));
