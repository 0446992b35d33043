//! How conversations end, as they may or not.

use std::io;

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
    /// The server ended it: it stops, the client was too slow, or another client needs the place.
    Dismissed,
}

/// How a conversation broke off.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The connection failed, or ended within a message.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The client does not speak the protocol.
    #[error(transparent)]
    Violation(#[from] Violation),
}
