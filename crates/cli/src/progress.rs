//! That a command is at work, on a terminal, when it has taken more than a second.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(120);

/// The line that is shown, or will be: whoever prints something [ends](end) it first.
static SHOWN: Mutex<Option<Progress>> = Mutex::new(None);

struct Progress {
    done: Sender<()>,
    shower: JoinHandle<()>,
}

/// Says from a second on that `what` is at work, and for how long. On standard error, if that is a terminal.
pub fn start(what: String) {
    if !stderr().is_terminal() {
        return;
    }
    let (done, is_done) = channel();
    let shower = thread::spawn(move || {
        if is_done.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let bar = ProgressBar::new_spinner().with_message(what).with_elapsed(PATIENCE);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        let _ = is_done.recv();
        bar.finish_and_clear();
    });
    if let Ok(mut shown) = SHOWN.lock() {
        *shown = Some(Progress { done, shower });
    }
}

/// Clears the line.
pub fn end() {
    let Some(Progress { done, shower }) = SHOWN.lock().ok().and_then(|mut shown| shown.take()) else { return };
    drop(done);
    let _ = shower.join();
}
