//! Whatever a reader says to a card, the conversation ends or each message gets an answer.
//!
//! Run it with `tools/fuzz card_conversation SECONDS`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use norn_fuzz_inputs::card_conversation::play;

fuzz_target!(|bytes: &[u8]| play(bytes));
