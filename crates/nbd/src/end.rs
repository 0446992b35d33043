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
