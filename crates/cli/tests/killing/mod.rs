//! Kills the command in its system calls: `strace` counts those of a kind, and a signal comes at the
//! n-th.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use norn_desk::Desk;

/// How a process ends that was killed.
const SIGKILL: i32 = 9;

/// Runs a command that is killed instead of call `number` of these; whether it was.
pub fn killed(desk: &Desk, words: &str, calls: &str, number: u32) -> bool {
    match run(desk, words, DEFAULT, &[format!("inject={calls}:signal=KILL:when={number}")]) {
        Some(signal) => signal == SIGKILL || panic!("{words}: signal {signal}"),
        None => false,
    }
}

/// Runs a command that gets a signal at the first of these calls, and has 300 ms for it before it gives a file its
/// name; the signal that ended it.
pub fn interrupted(desk: &Desk, words: &str, calls: &str, signal: &str) -> Option<i32> {
    let delay = "inject=link,linkat,rename:delay_enter=300000".to_owned();
    run(desk, words, DEFAULT, &[format!("inject={calls}:signal={signal}:when=1"), delay])
}

/// The same of a command that ignores the signal from its start.
pub fn interrupted_though_ignored(desk: &Desk, words: &str, calls: &str, signal: &str) -> Option<i32> {
    run(desk, words, &format!("--ignore-signal={signal}"), &[format!("inject={calls}:signal={signal}:when=1")])
}

/// What runs in the background of a script ignores SIGINT, and so would the command.
const DEFAULT: &str = "--default-signal=INT,TERM";

/// Runs a command with these things done to its calls; the signal that ended it, or none where it succeeded.
fn run(desk: &Desk, words: &str, signals: &str, injected: &[String]) -> Option<i32> {
    let mut command = Command::new("env");
    command.args([signals, "strace", "-f", "-o", "/dev/null"]);
    command.args(injected.iter().flat_map(|injected| ["-e", injected]));
    command.arg(env!("CARGO_BIN_EXE_norn")).args(words.split_whitespace());
    command.current_dir(desk.path("")).stdout(Stdio::null());
    let status = command.status().expect("strace runs: `make` installs it");
    assert!(status.signal().is_some() || status.success(), "{words}: {status}");
    status.signal()
}
