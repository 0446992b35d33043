//! One client's conversation, over any reader and writer.

use std::io::{BufReader, Read, Write};

use crate::end::{Broken, End};
use crate::export::Export;
use crate::handshake::{Outcome, shake_hands};
use crate::store::BlockStore;
use crate::supervisor::Supervisor;
use crate::transmission::serve_requests;

/// Bytes that are read ahead, so that short requests take one call of the system for several.
const READ_AHEAD_BYTES: usize = 64 << 10;

/// Shakes hands with a client and serves its requests, until it leaves or the supervisor dismisses it. Memory: 64 KiB
/// that are read ahead; a request or reply, at most [`REQUEST_BYTES_MAX`](crate::wire::REQUEST_BYTES_MAX), as far as it
/// has arrived; between requests, at most 256 KiB of that.
///
/// # Errors
/// [`Broken`]: the connection is to be closed.
pub fn converse<S: BlockStore>(
    reader: impl Read,
    mut writer: impl Write,
    export: &Export<S>,
    supervisor: &impl Supervisor,
) -> Result<End, Broken> {
    let mut reader = BufReader::with_capacity(READ_AHEAD_BYTES, reader);
    match shake_hands(&mut reader, &mut writer, export)? {
        Outcome::Taken => serve_requests(&mut reader, &mut writer, export, supervisor),
        Outcome::Ended(end) => Ok(end),
    }
}
