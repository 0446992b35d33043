//! A running `norn nbd serve`, and a client that says whatever a test wants to a server.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use norn_desk::Desk;

pub const READ: u16 = 0;
pub const WRITE: u16 = 1;
pub const DISCONNECT: u16 = 2;
pub const FLUSH: u16 = 3;
pub const TRIM: u16 = 4;
pub const WRITE_ZEROES: u16 = 6;
pub const FUA: u16 = 1;
pub const NO_HOLE: u16 = 2;
pub const EINVAL: u32 = 22;
pub const ENOSPC: u32 = 28;

/// A server on a socket in a desk's directory. It is killed with the test.
pub struct Served {
    process: Child,
    output: BufReader<ChildStdout>,
    pub socket: PathBuf,
    /// What it said until clients could connect.
    pub greeting: String,
}

impl Served {
    pub fn start(desk: &Desk, image: &str) -> Served {
        Self::listening(desk, image, "unix:norn.sock")
    }

    pub fn listening(desk: &Desk, image: &str, listen: &str) -> Served {
        Self::spawn(desk, Command::new(env!("CARGO_BIN_EXE_norn")).args(["nbd", "serve", image, "--listen", listen]))
    }

    /// As [`start`](Self::start), with the calls by which it writes, and waits for the disk, in the file `trace`.
    pub fn traced(desk: &Desk, image: &str, trace: &str) -> Served {
        // As a grandchild of its own, strace leaves the server the child that signals reach.
        let words = ["-D", "-f", "-y", "-xx", "-s", "1000000", "-o", trace, "-e", "trace=lseek,write,fdatasync,sendto"];
        let server = [env!("CARGO_BIN_EXE_norn"), "nbd", "serve", image, "--listen", "unix:norn.sock"];
        attempt(&desk.path(""), &["strace", "-V"]);
        Self::spawn(desk, Command::new("strace").args(words).args(server))
    }

    fn spawn(desk: &Desk, command: &mut Command) -> Served {
        let mut process = command.current_dir(desk.path("")).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut greeting = String::new();
        while !greeting.lines().any(|line| line.starts_with("listening on ")) {
            assert_ne!(output.read_line(&mut greeting).unwrap(), 0, "the server ended: {greeting}");
        }
        Served { process, output, socket: desk.path("norn.sock"), greeting }
    }

    /// The address as clients write it.
    pub fn uri(&self) -> String {
        format!("nbd+unix:///?socket={}", self.socket.display())
    }

    pub fn client(&self) -> Client {
        let stream = UnixStream::connect(&self.socket).unwrap();
        // A server that wrongly stays silent fails a test by this; when it says something is not asserted.
        stream.set_read_timeout(Some(Duration::from_secs(600))).unwrap();
        Client { stream, cookie: 7 }
    }

    /// The most memory that it ever had, in KiB.
    pub fn peak_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Sends a signal and waits for the end: exit code, and what was said last.
    pub fn signal(mut self, signal: &str) -> (Option<i32>, String) {
        let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", self.process.id())]).status().unwrap();
        assert!(sent.success());
        let mut last = String::new();
        self.output.read_to_string(&mut last).unwrap();
        (self.process.wait().unwrap().code(), last)
    }

    /// Stops it as an operator does, and returns what it said.
    pub fn stop(self) -> String {
        let (code, last) = self.signal("TERM");
        assert_eq!(code, Some(0), "{last}");
        assert!(last.contains("stopped"), "{last}");
        last
    }

    /// Kills it at once.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It has ended already, as a rule.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The number in the line of what a server said last that starts with `title`.
pub fn number_after(text: &str, title: &str) -> u64 {
    let rest = text.split_once(title).unwrap_or_else(|| panic!("no {title:?} in {text}")).1;
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number behind {title:?} in {text}"))
}

/// One end of a connection.
pub struct Client {
    pub stream: UnixStream,
    /// Of the last request.
    pub cookie: u64,
}

impl Client {
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    pub fn receive(&mut self, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Asserts that the server closes the connection, and says nothing before.
    pub fn expect_hang_up(&mut self) {
        match self.stream.read_exact(&mut [0]) {
            Ok(()) => panic!("the server said something"),
            Err(error) => {
                let ended = matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset);
                assert!(ended, "{error}");
            }
        }
    }

    pub fn greeted(mut self) -> Client {
        assert_eq!(self.receive(18).unwrap(), b"NBDMAGICIHAVEOPT\0\x03");
        self.send(&3u32.to_be_bytes()).unwrap();
        self
    }

    pub fn option(&mut self, option: u32, data: &[u8]) {
        self.send(&[b"IHAVEOPT", &option.to_be_bytes()[..], &(data.len() as u32).to_be_bytes(), data].concat())
            .unwrap();
    }

    /// A reply to an option: its type and data.
    pub fn option_reply(&mut self, option: u32) -> (u32, Vec<u8>) {
        let header = self.receive(20).unwrap();
        assert_eq!(header[..8], 0x0003_E889_0455_65A9_u64.to_be_bytes());
        let number = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().unwrap());
        assert_eq!(number(8), option);
        (number(12), self.receive(number(16) as usize).unwrap())
    }

    /// Takes the export by GO; its size.
    pub fn go(mut self) -> (Client, u64) {
        self.option(7, &[0; 6]);
        let (kind, data) = self.option_reply(7);
        assert_eq!((kind, &data[..2]), (3, &[0, 0][..]));
        assert_eq!(self.option_reply(7).0, 1);
        (self, u64::from_be_bytes(data[2..10].try_into().unwrap()))
    }

    pub fn request(&mut self, command: u16, flags: u16, at: u64, len: u32, data: &[u8]) -> io::Result<()> {
        self.cookie += 1;
        let numbers = [&flags.to_be_bytes()[..], &command.to_be_bytes(), &self.cookie.to_be_bytes(), &at.to_be_bytes()];
        self.send(&[&0x2560_9513_u32.to_be_bytes()[..], &numbers.concat(), &len.to_be_bytes(), data].concat())
    }

    /// A reply's error, to the last request.
    pub fn reply(&mut self) -> io::Result<u32> {
        let header = self.receive(16)?;
        assert_eq!(header[..4], 0x6744_6698_u32.to_be_bytes());
        assert_eq!(header[8..], self.cookie.to_be_bytes());
        Ok(u32::from_be_bytes(header[4..8].try_into().unwrap()))
    }

    /// A request without data, and its reply's error.
    pub fn ask(&mut self, command: u16, flags: u16, at: u64, len: u32) -> io::Result<u32> {
        self.request(command, flags, at, len, &[])?;
        self.reply()
    }

    pub fn write(&mut self, flags: u16, at: u64, data: &[u8]) -> io::Result<u32> {
        self.request(WRITE, flags, at, data.len() as u32, data)?;
        self.reply()
    }

    pub fn read(&mut self, at: u64, len: usize) -> Vec<u8> {
        assert_eq!(self.ask(READ, 0, at, len as u32).unwrap(), 0);
        self.receive(len).unwrap()
    }
}

/// Runs a program that a package of Debian brings, and returns what it printed.
pub fn run(directory: &Path, words: &[&str]) -> String {
    let (succeeded, said) = attempt(directory, words);
    assert!(succeeded, "{words:?}: {said}");
    said
}

/// As [`run`], and whether it succeeded.
pub fn attempt(directory: &Path, words: &[&str]) -> (bool, String) {
    let output = Command::new(words[0]).args(&words[1..]).current_dir(directory).output();
    let output = output
        .unwrap_or_else(|error| panic!("{}: {error}; tools/ensure-test-programs installs what tests need", words[0]));
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), said)
}
