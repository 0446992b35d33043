//! Runs a program under valgrind's tool lackey, and makes runs of its output: a line for each instruction, `I
//! 04001090,3` with its address and length, between lines for data and valgrind's own.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use norn_lab::paging::trace::Run;

use super::failure::TraceError;

/// The shell connects lackey's log with our pipe, and the program's own output with standard error. What a child of the
/// program executes is another trace.
const SCRIPT: &str =
    "exec valgrind --tool=lackey --trace-mem=yes --child-silent-after-fork=yes --log-fd=9 -- \"$@\" 9>&1 1>&2";

/// The runs of a program in its code section, and how it ended; nothing if it was stopped after the given number of
/// instructions.
pub fn runs(
    program: &Path,
    arguments: &[OsString],
    code: &Range<u64>,
    instructions_max: u64,
) -> Result<(Vec<Run>, Option<ExitStatus>), TraceError> {
    match Command::new("valgrind").arg("--version").stdout(Stdio::null()).status() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(TraceError::NoValgrind),
        Err(error) => return Err(TraceError::Valgrind(error)),
        Ok(_) => {}
    }
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT, "sh"]).arg(program).args(arguments).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(TraceError::Valgrind)?;
    let log = child.stdout.take().expect("it is piped");
    let mut runs = Runs { code: code.clone(), left: instructions_max, runs: Vec::new() };
    let whole = runs.read(BufReader::with_capacity(1 << 20, log));
    if !matches!(whole, Ok(true)) {
        let _ = child.kill();
    }
    let status = child.wait().map_err(TraceError::Valgrind)?;
    let is_whole = whole.map_err(TraceError::Valgrind)?;
    Ok((runs.runs, is_whole.then_some(status)))
}

/// What becomes runs.
struct Runs {
    code: Range<u64>,
    /// Instructions that are still taken.
    left: u64,
    runs: Vec<Run>,
}

impl Runs {
    /// Takes a log in, and says whether it was all of it.
    fn read(&mut self, mut log: impl BufRead) -> io::Result<bool> {
        let mut line = Vec::new();
        while self.left > 0 {
            line.clear();
            if log.read_until(b'\n', &mut line)? == 0 {
                return Ok(true);
            }
            if let Some((address, bytes)) = instruction(&line).filter(|(address, _)| self.code.contains(address)) {
                self.add((address - self.code.start) as u32, bytes);
            }
        }
        Ok(false)
    }

    fn add(&mut self, address: u32, bytes: u16) {
        self.left -= 1;
        let follows = |run: &&mut Run| run.end() == address && run.bytes < u16::MAX - bytes;
        match self.runs.last_mut().filter(follows) {
            Some(run) => (run.bytes, run.instructions) = (run.bytes + bytes, run.instructions + 1),
            None => self.runs.push(Run { address, bytes, instructions: 1 }),
        }
    }
}

/// Address and length of the instruction in a line.
fn instruction(line: &[u8]) -> Option<(u64, u16)> {
    let text = str::from_utf8(line.strip_prefix(b"I ")?).ok()?;
    let (address, bytes) = text.trim().split_once(',')?;
    Some((u64::from_str_radix(address, 16).ok()?, bytes.parse().ok().filter(|&bytes| bytes > 0)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "==1== Lackey, an example Valgrind tool\nI  00401000,3\nI  00401003,5\n L 1ffefff, 8\nI  \
                       00401008,2\nI  04000000,4\nI  00401003,5\n S 2000,4\nI  garbage\nI  0040100a,4\n==1== \n";

    fn made(instructions_max: u64) -> (Vec<(u32, u16, u16)>, bool) {
        let mut runs = Runs { code: 0x40_1000..0x40_100C, left: instructions_max, runs: Vec::new() };
        let is_whole = runs.read(LOG.as_bytes()).unwrap();
        (runs.runs.iter().map(|run| (run.address, run.bytes, run.instructions)).collect(), is_whole)
    }

    #[test]
    fn instructions_that_follow_each_other_are_a_run() {
        assert_eq!(made(100), (vec![(0, 10, 3), (3, 5, 1), (10, 4, 1)], true));
    }

    #[test]
    fn a_limit_ends_the_trace() {
        assert_eq!(made(2), (vec![(0, 8, 2)], false));
    }

    #[test]
    fn a_run_is_cut_before_its_length_overflows() {
        let mut runs = Runs { code: 0..1 << 20, left: u64::MAX, runs: Vec::new() };
        (0..70_000).for_each(|at| runs.add(at, 1));
        assert_eq!(runs.runs.iter().map(|run| u32::from(run.bytes)).sum::<u32>(), 70_000);
        assert_eq!(runs.runs.len(), 2);
    }
}
