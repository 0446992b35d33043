//! A damaged heap on EEPROM is refused or used: never a panic, a loop, or an access outside the part.
//!
//! Run it with `tools/fuzz eeprom_image SECONDS`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use norn_fuzz_inputs::eeprom_image::try_damaged;

fuzz_target!(|bytes: &[u8]| try_damaged(bytes));
