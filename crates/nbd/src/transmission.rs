//! Requests and replies, one after the other in the order of arrival.
//!
//! Invariants: a request is carried out only when all of it has arrived; each is answered exactly once, except a
//! disconnect; the buffer is as long as what has arrived, and is given back when it was large.

use std::io::{self, Read, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::end::{Broken, End};
use crate::store::{BlockStore, Holes, StoreError};
use crate::wire::{Command, Errno, REPLY_HEADER_BYTES, REQUEST_HEADER_BYTES, Request, reply_header};

/// A buffer up to this length is kept for the next request.
const KEPT_BYTES: usize = 1 << 20;

/// Serves requests until the client leaves.
pub(crate) fn serve_requests<S: BlockStore>(
    reader: &mut impl Read,
    writer: &mut impl Write,
    store: &Mutex<S>,
    stopping: &AtomicBool,
) -> Result<End, Broken> {
    // Room for a reply's header precedes the data, so that both are sent by one call.
    let mut buffer = Vec::new();
    loop {
        let Some(header) = read_header(reader, stopping)? else {
            return Ok(if stopping.load(Ordering::Acquire) { End::Stopped } else { End::Gone });
        };
        let request = Request::decode(&header)?;
        buffer.clear();
        buffer.resize(REPLY_HEADER_BYTES, 0);
        if request.command == Command::Write {
            read_payload(reader, request.len, &mut buffer)?;
        }
        let outcome = match request.command {
            Command::Disconnect => return Ok(End::Disconnected),
            _ => carry_out(store, &request, &mut buffer),
        };
        if outcome.is_err() || request.command != Command::Read {
            buffer.truncate(REPLY_HEADER_BYTES);
        }
        buffer[..REPLY_HEADER_BYTES].copy_from_slice(&reply_header(outcome, request.cookie));
        writer.write_all(&buffer)?;
        if buffer.capacity() > KEPT_BYTES {
            buffer = Vec::new();
        }
    }
}

/// The next request's header; `None` if the client is gone or the server stops. A reader that gives up waiting is asked
/// again while nothing has come: a client may be silent as long as it likes between requests.
fn read_header(reader: &mut impl Read, stopping: &AtomicBool) -> io::Result<Option<[u8; REQUEST_HEADER_BYTES]>> {
    let mut header = [0; REQUEST_HEADER_BYTES];
    loop {
        if stopping.load(Ordering::Acquire) {
            return Ok(None);
        }
        match reader.read(&mut header) {
            Ok(0) => return Ok(None),
            Ok(len) => return reader.read_exact(&mut header[len..]).map(|()| Some(header)),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Appends the given number of bytes; the buffer grows as they arrive.
fn read_payload(reader: &mut impl Read, len: u32, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.reserve(KEPT_BYTES.min(len as usize));
    let read = reader.take(u64::from(len)).read_to_end(buffer)?;
    if read == len as usize { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Does what a request wants; the buffer has the data of a write, or gets that of a read, after a reply's header.
fn carry_out<S: BlockStore>(store: &Mutex<S>, request: &Request, buffer: &mut Vec<u8>) -> Result<(), Errno> {
    let Request { at, len, .. } = *request;
    let mut store = store.lock().map_err(|_| Errno::Io)?;
    request.check(store.size_bytes())?;
    let done = match request.command {
        Command::Read => {
            buffer.resize(REPLY_HEADER_BYTES + len as usize, 0);
            store.read(at, &mut buffer[REPLY_HEADER_BYTES..])
        }
        Command::Write => store.write(at, &buffer[REPLY_HEADER_BYTES..]),
        Command::Trim => store.trim(at, len),
        Command::WriteZeroes => {
            store.write_zeroes(at, len, if request.allows_holes() { Holes::Allowed } else { Holes::Unwanted })
        }
        Command::Flush => store.flush(),
        Command::Disconnect | Command::Other(_) => return Err(Errno::Invalid),
    };
    let changes = matches!(request.command, Command::Write | Command::Trim | Command::WriteZeroes);
    let forced = done.and_then(|()| if request.is_forced() && changes { store.flush() } else { Ok(()) });
    forced.map_err(|error| match error {
        StoreError::Io => Errno::Io,
        StoreError::NoSpace => Errno::NoSpace,
    })
}
