//! A damaged heap image is refused, noticed or harmless: never a panic, a loop, or an access outside the part.
//!
//! Run it with `tools/fuzz heap_image SECONDS`.
#![no_main]

#[path = "../../crates/object-heap/tests/damage/mod.rs"]
mod damage;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    damage::try_damaged(bytes);
});
