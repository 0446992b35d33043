//! A damaged heap image is refused, noticed or harmless: never a panic, a loop, or an access outside the part.
//!
//! Run it with `tools/fuzz heap_image SECONDS`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use norn_fuzz_inputs::heap_image::try_damaged;

fuzz_target!(|bytes: &[u8]| {
    try_damaged(bytes);
});
