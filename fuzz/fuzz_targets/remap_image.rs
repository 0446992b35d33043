//! A damaged image of a part below a `Remap` is refused or gives a part: never a panic, a loop, or an access outside
//! the part.
//!
//! Run it with `tools/fuzz remap_image SECONDS`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use norn_fuzz_inputs::remap_image::try_damaged;

fuzz_target!(|bytes: &[u8]| try_damaged(bytes));
