//! The signals that end a command which goes on until it is stopped. It then ends what it does, and its exit code is 0.

use std::io;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// From here on SIGINT and SIGTERM are kept until they are queried.
///
/// # Errors
/// When the host refuses.
pub fn stop_signals() -> io::Result<Signals> {
    Signals::new([SIGINT, SIGTERM])
}
