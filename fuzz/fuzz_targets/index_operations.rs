//! Calls on a sorted map, batches among them, happen wholly or not at all, whatever their order and wherever they are
//! cut.
//!
//! Run it with `tools/fuzz index_operations SECONDS`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use norn_fuzz_inputs::index_operations::try_operations;

fuzz_target!(|bytes: &[u8]| try_operations(bytes));
