//! That a command is at work, on a terminal, when it has taken more than a second; and how far it is, where it knows
//! how much there is to do.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(120);
const WITHOUT_TOTAL: &str = "{spinner} {msg} {elapsed}";
const WITH_TOTAL: &str = "{spinner} {msg} {elapsed} [{bar:20}] {pos} of {len}, {eta} left";

/// The line that is shown, or will be: whoever prints something [ends](end) it first.
static SHOWN: Mutex<Option<Progress>> = Mutex::new(None);
/// Steps that are done.
static DONE: AtomicU64 = AtomicU64::new(0);
/// Steps in all; 0 if that is not known.
static TOTAL: AtomicU64 = AtomicU64::new(0);

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
        if is_done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            show(what, &is_done);
        }
    });
    if let Ok(mut shown) = SHOWN.lock() {
        *shown = Some(Progress { done, shower });
    }
}

/// Begins to count steps, of which there are `total`.
pub fn count(total: usize) {
    DONE.store(0, Ordering::Relaxed);
    TOTAL.store(total as u64, Ordering::Relaxed);
}

/// Counts a step.
pub fn step() {
    DONE.fetch_add(1, Ordering::Relaxed);
}

/// Clears the line.
pub fn end() {
    let Some(Progress { done, shower }) = SHOWN.lock().ok().and_then(|mut shown| shown.take()) else { return };
    drop(done);
    let _ = shower.join();
}

/// Shows the line until the command is done.
fn show(what: String, is_done: &Receiver<()>) {
    let bar = ProgressBar::new_spinner().with_message(what).with_elapsed(PATIENCE);
    let mut has_total = None;
    loop {
        let total = TOTAL.load(Ordering::Relaxed);
        if has_total != Some(total > 0) {
            has_total = Some(total > 0);
            let template = if total > 0 { WITH_TOTAL } else { WITHOUT_TOTAL };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
        }
        if total > 0 {
            bar.set_length(total);
            bar.set_position(DONE.load(Ordering::Relaxed));
        }
        bar.tick();
        if is_done.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
            bar.finish_and_clear();
            return;
        }
    }
}
