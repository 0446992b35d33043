//! Requests and replies, one after the other in the order of arrival.
//!
//! Invariants: a request is carried out only when all of it has arrived; each is answered exactly once, except a
//! disconnect; the supervisor hears of each stage once, whatever pieces a message arrives in; the buffer is as long as
//! what has arrived, and is given back when it was large.

use std::io::{self, BufRead, BufReader, Read, Write};

use crate::end::{Broken, End};
use crate::export::Export;
use crate::store::{BlockStore, Holes, StoreError};
use crate::supervisor::{Stage, Supervisor};
use crate::wire::{Command, Errno, REPLY_HEADER_BYTES, REQUEST_HEADER_BYTES, Request, reply_header};

/// A buffer up to this length is kept for the next request.
const KEPT_BYTES: usize = 256 << 10;

/// Serves requests until the client leaves or the supervisor dismisses it.
pub(crate) fn serve_requests<S: BlockStore>(
    reader: &mut BufReader<impl Read>,
    writer: &mut impl Write,
    export: &Export<S>,
    supervisor: &impl Supervisor,
) -> Result<End, Broken> {
    // Room for a reply's header precedes the data, so that both are sent by one call.
    let mut buffer = Vec::new();
    let dismissed = Ok(End::Dismissed);
    loop {
        // What was read ahead has arrived: the client is not idle.
        if reader.buffer().is_empty() {
            let Ok(()) = supervisor.enter(Stage::Idle) else { return dismissed };
            if is_at_end(reader)? {
                return Ok(End::Gone);
            }
        }
        let Ok(()) = supervisor.enter(Stage::Receiving) else { return dismissed };
        let request = receive(reader, &mut buffer)?;
        let Ok(()) = supervisor.enter(Stage::Serving) else { return dismissed };
        if request.command == Command::Disconnect {
            return Ok(End::Disconnected);
        }
        let outcome = carry_out(export, &request, &mut buffer);
        let Ok(()) = supervisor.enter(Stage::Sending) else { return dismissed };
        if outcome.is_err() || request.command != Command::Read {
            buffer.truncate(REPLY_HEADER_BYTES);
        }
        buffer[..REPLY_HEADER_BYTES].copy_from_slice(&reply_header(outcome, request.cookie));
        writer.write_all(&buffer)?;
        if buffer.capacity() > KEPT_BYTES + REPLY_HEADER_BYTES {
            buffer = Vec::new();
        }
    }
}

/// Waits for a byte; whether there is none because the connection ended.
fn is_at_end(reader: &mut impl BufRead) -> io::Result<bool> {
    loop {
        match reader.fill_buf() {
            Ok(bytes) => return Ok(bytes.is_empty()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A request; the buffer gets room for a reply's header and the data of a write.
fn receive(reader: &mut impl Read, buffer: &mut Vec<u8>) -> Result<Request, Broken> {
    let mut header = [0; REQUEST_HEADER_BYTES];
    reader.read_exact(&mut header)?;
    let request = Request::decode(&header)?;
    buffer.clear();
    buffer.resize(REPLY_HEADER_BYTES, 0);
    if request.command == Command::Write {
        read_payload(reader, request.len as usize, buffer)?;
    }
    Ok(request)
}

/// Appends the given number of bytes. The buffer doubles as they arrive, and never becomes longer than they are.
fn read_payload(reader: &mut impl Read, len: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    let end = buffer.len() + len;
    while buffer.len() < end {
        let step = (end - buffer.len()).min(buffer.len().max(KEPT_BYTES));
        buffer.reserve_exact(step);
        if reader.take(step as u64).read_to_end(buffer)? < step {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

/// Does what a request wants; the buffer has the data of a write, or gets that of a read, after a reply's header.
fn carry_out<S: BlockStore>(export: &Export<S>, request: &Request, buffer: &mut Vec<u8>) -> Result<(), Errno> {
    let Request { at, len, .. } = *request;
    let mut store = export.store().map_err(|_| Errno::Io)?;
    request.check(export.size_bytes)?;
    let done = match request.command {
        Command::Read => {
            buffer.reserve_exact(len as usize);
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
