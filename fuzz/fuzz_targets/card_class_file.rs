//! A class file of arbitrary bytes is refused, or verified and linked into an image that the card's checker takes.
//!
//! Run it with `tools/fuzz card_class_file SECONDS`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use norn_fuzz_inputs::card_class_file::try_class;

fuzz_target!(|bytes: &[u8]| try_class(bytes));
