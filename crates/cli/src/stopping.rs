//! The signals that end a command. One that goes on until it is stopped then ends what it does, and its exit code is 0.
//! Any other ends at once, as the signal says, and leaves nothing of a file that it was making.

use std::{io, thread};

use norn_flash_sim::remove_unfinished;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// From here on SIGINT and SIGTERM are kept until they are queried.
///
/// # Errors
/// When the host refuses.
pub fn stop_signals() -> io::Result<Signals> {
    Signals::new([SIGINT, SIGTERM])
}

/// From here on SIGINT and SIGTERM remove what is being made before they end the process.
///
/// # Errors
/// When the host refuses.
pub fn clean_up_at_signals() -> io::Result<()> {
    let mut signals = stop_signals()?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // It does not return: both signals end a process.
            remove_unfinished(|| drop(emulate_default_handler(signal)));
        }
    });
    Ok(())
}
