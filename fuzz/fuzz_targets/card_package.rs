//! A package image of arbitrary bytes is refused by the checker, or installed and run without harm.
//!
//! Run it with `tools/fuzz card_package SECONDS`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use norn_fuzz_inputs::card_package::try_package;

fuzz_target!(|bytes: &[u8]| try_package(bytes));
