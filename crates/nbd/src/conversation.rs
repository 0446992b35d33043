//! One client's conversation, over any reader and writer.

use std::io::{self, Read, Write};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use crate::handshake::{Outcome, shake_hands};
use crate::store::BlockStore;
use crate::transmission::serve_requests;
use crate::wire::Violation;

/// How a conversation ended as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client said that it leaves, before it took the export.
    Aborted,
    /// The client said that it leaves.
    Disconnected,
    /// The client was gone between two messages.
    Gone,
    /// The server stops.
    Stopped,
}

/// How a conversation broke off.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The connection failed, ended within a message, or was too slow.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The client does not speak the protocol.
    #[error(transparent)]
    Violation(#[from] Violation),
}

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
