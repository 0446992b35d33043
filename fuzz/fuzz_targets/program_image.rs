//! A damaged part with programs in two rooms is refused or used: never a panic, a loop, or an access outside the part.
//!
//! Run it with `tools/fuzz program_image SECONDS`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use norn_fuzz_inputs::program_image::try_damaged;

fuzz_target!(|bytes: &[u8]| try_damaged(bytes));
