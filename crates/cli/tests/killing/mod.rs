//! Kills the command in its system calls: `strace` counts those of a kind, and the kill comes instead of the
//! n-th.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use norn_desk::Desk;

/// How a process ends that was killed.
const SIGKILL: i32 = 9;

/// Runs a command that is killed instead of call `number` of these; whether it was.
pub fn killed(desk: &Desk, words: &str, calls: &str, number: u32) -> bool {
    let inject = format!("inject={calls}:signal=KILL:when={number}");
    let (trace, filter) = (format!("trace={calls}"), "/dev/null");
    let mut command = Command::new("strace");
    command.args(["-f", "-o", filter, "-e", &trace, "-e", &inject, env!("CARGO_BIN_EXE_norn")]);
    command.args(words.split_whitespace()).current_dir(desk.path("")).stdout(Stdio::null());
    let status = command.status().expect("strace runs: `make` installs it");
    match status.signal() {
        Some(signal) => signal == SIGKILL || panic!("{words}: signal {signal}"),
        None => {
            assert!(status.success(), "{words}: {status}");
            false
        }
    }
}
