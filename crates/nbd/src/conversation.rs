//! One client's conversation, over any reader and writer.

use std::io::{Read, Write};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use crate::end::{Broken, End};
use crate::handshake::{Outcome, shake_hands};
use crate::store::BlockStore;
use crate::transmission::serve_requests;

/// Shakes hands with a client and serves its requests, until it leaves or `stopping` is set. Memory: a request, at most
/// [`REQUEST_BYTES_MAX`](crate::wire::REQUEST_BYTES_MAX), as far as it has arrived.
///
/// # Errors
/// [`Broken`]: the connection is to be closed.
pub fn converse<S: BlockStore>(
    reader: &mut impl Read,
    writer: &mut impl Write,
    store: &Mutex<S>,
    stopping: &AtomicBool,
) -> Result<End, Broken> {
    match shake_hands(reader, writer, store)? {
        Outcome::Taken => serve_requests(reader, writer, store, stopping),
        Outcome::Ended(end) => Ok(end),
    }
}
