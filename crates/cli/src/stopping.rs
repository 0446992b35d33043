//! The signals that end a command. One that goes on until it is stopped then ends what it does, and its exit code is 0.
//! Any other ends at once, as the signal says, and leaves nothing of a file that it was making.

use std::{fs, io, thread};

use norn_flash_sim::remove_unfinished;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// From here on SIGINT and SIGTERM are kept until they are queried.
///
/// # Errors
/// When the host refuses.
pub fn stop_signals() -> io::Result<Signals> {
    Signals::new([SIGINT, SIGTERM])
}

/// From here on SIGINT, SIGTERM and SIGHUP remove what is being made before they end the process. What the process
/// ignored from its start, as below `nohup` and in the background of a script, it ignores.
///
/// # Errors
/// When the host refuses.
pub fn clean_up_at_signals() -> io::Result<()> {
    let ignored = ignored();
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0))?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // It does not return: each of them ends a process.
            remove_unfinished(|| drop(emulate_default_handler(signal)));
        }
    });
    Ok(())
}

/// The signals that this process ignores, the first in the lowest bit; none where the host does not say.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let digits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    digits.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0)
}
