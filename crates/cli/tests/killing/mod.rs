//! Kills the command in its system calls: `strace` counts those of a kind, and a signal comes at the
//! n-th.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use norn_desk::Desk;

/// How a process ends that was killed.
const SIGKILL: i32 = 9;

/// Runs a command that is killed instead of call `number` of these; whether it was.
pub fn killed(desk: &Desk, words: &str, calls: &str, number: u32) -> bool {
    match run(desk, words, calls, &format!("signal=KILL:when={number}")) {
        Some(signal) => signal == SIGKILL || panic!("{words}: signal {signal}"),
        None => false,
    }
}

/// Runs a command that gets a signal at the first of these calls, and 300 ms before it makes that; the signal that
/// ended it.
pub fn interrupted(desk: &Desk, words: &str, calls: &str, signal: &str) -> Option<i32> {
    run(desk, words, calls, &format!("signal={signal}:delay_enter=300000:when=1"))
}

/// Runs a command with something done to these calls; the signal that ended it, or none where it succeeded.
fn run(desk: &Desk, words: &str, calls: &str, injected: &str) -> Option<i32> {
    let inject = format!("inject={calls}:{injected}");
    let (trace, filter) = (format!("trace={calls}"), "/dev/null");
    let mut command = Command::new("strace");
    command.args(["-f", "-o", filter, "-e", &trace, "-e", &inject, env!("CARGO_BIN_EXE_norn")]);
    command.args(words.split_whitespace()).current_dir(desk.path("")).stdout(Stdio::null());
    let status = command.status().expect("strace runs: `make` installs it");
    assert!(status.signal().is_some() || status.success(), "{words}: {status}");
    status.signal()
}
