//! Whatever an NBD client says, in the handshake or after it, gets the protocol's answer or ends the conversation;
//! what it reads is what was written.
//!
//! Run it with `tools/fuzz nbd_conversation SECONDS`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use norn_fuzz_inputs::nbd_conversation::play;

fuzz_target!(|bytes: &[u8]| play(bytes));
