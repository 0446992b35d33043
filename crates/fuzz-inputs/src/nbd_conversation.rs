//! A conversation made from arbitrary bytes, and what has to come of it.
//!
//! The bytes are read as a script: options and requests, sensible or not, and now and then bytes that are no NBD at
//! all. Up to those, every answer is known: errors follow from the protocol, data from a store that is a plain row of
//! bytes.

use norn_nbd::wire::{OPTION_BYTES_MAX, TRANSMISSION_FLAGS};
use norn_nbd::{Export, RamStore, Unsupervised, converse};

const SIZE: usize = 6000;
const EINVAL: u32 = 22;
const ENOSPC: u32 = 28;

/// What a client sends, and the expected answer.
struct Script<'a> {
    bytes: &'a [u8],
    sent: Vec<u8>,
    expected: Vec<u8>,
    store: Vec<u8>,
    flushes: u64,
}

/// Plays a script.
///
/// # Panics
/// If an answer is wrong.
pub fn play(bytes: &[u8]) {
    let Some((&kind, rest)) = bytes.split_first() else { return };
    let export = Export::new(RamStore::new(SIZE));
    let mut told = Vec::new();
    if kind == 0 {
        // Anything at all: it ends, and says no more than it was asked for.
        let _ = converse(rest, &mut told, &export, &Unsupervised);
        assert!(told.len() <= 18 + rest.len() * SIZE, "{} bytes", told.len());
        return;
    }
    let mut script = Script { bytes: rest, sent: Vec::new(), expected: Vec::new(), store: vec![0; SIZE], flushes: 0 };
    script.shake_hands();
    script.ask();
    let _ = converse(&script.sent[..], &mut told, &export, &Unsupervised);
    assert!(
        told.starts_with(&script.expected),
        "told {told:x?}\nexpected {:x?}\nsent {:x?}",
        script.expected,
        script.sent
    );
    let store = export.into_store();
    let same = store.bytes() == script.store && store.flushes() == script.flushes;
    assert!(!script.is_sound() || (same && told.len() == script.expected.len()), "{:x?}", script.sent);
}

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&byte, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        byte
    }

    fn number(&mut self) -> u64 {
        match self.byte() {
            0 => u64::MAX,
            1 => u64::from(u32::MAX),
            2 => SIZE as u64,
            few @ 3..=99 => u64::from(few) - 3,
            high => u64::from(high) << 8 | u64::from(self.byte()),
        }
    }

    /// Whether all of it was NBD: what is not ends with a byte that a disconnect does not end with.
    fn is_sound(&self) -> bool {
        self.sent.last() == Some(&0)
    }

    fn reply(&mut self, option: u32, kind: u32, data: &[u8]) {
        let header = [&0x0003_E889_0455_65A9_u64.to_be_bytes()[..], &option.to_be_bytes(), &kind.to_be_bytes()];
        self.expected.extend([&header.concat(), &(data.len() as u32).to_be_bytes()[..], data].concat());
    }

    /// Greeting, flags, some options, and GO.
    fn shake_hands(&mut self) {
        self.expected.extend(b"NBDMAGICIHAVEOPT\0\x03");
        self.sent.extend(3u32.to_be_bytes());
        for _ in 0..self.byte() % 8 {
            let number = u32::from(self.byte()).max(4);
            let len = if self.byte() == 0 { OPTION_BYTES_MAX as usize + 1 } else { usize::from(self.byte()) };
            self.sent.extend([b"IHAVEOPT", &number.to_be_bytes()[..], &(len as u32).to_be_bytes()].concat());
            self.sent.extend(std::iter::repeat_n(0xFF, len));
            match (number, len) {
                (_, len) if len > OPTION_BYTES_MAX as usize => {
                    self.reply(number, (1 << 31) + 9, b"the option is too long")
                }
                (6 | 7, _) => self.reply(number, (1 << 31) + 3, b"lengths do not add up"),
                _ => self.reply(number, (1 << 31) + 1, b"not supported"),
            }
        }
        self.sent.extend(b"IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0");
        let export = [&[0, 0], &(SIZE as u64).to_be_bytes()[..], &TRANSMISSION_FLAGS.to_be_bytes()].concat();
        self.reply(7, 3, &export);
        self.reply(7, 1, b"");
    }

    /// Requests, until the script ends or leaves the protocol.
    fn ask(&mut self) {
        while !self.bytes.is_empty() {
            let (command, flags) = (u16::from(self.byte() % 9), u16::from(self.byte() % 4));
            if command == 2 {
                let garbage: Vec<u8> = self.bytes.iter().copied().take(40).chain([0xEE]).collect();
                self.sent.extend(garbage);
                return;
            }
            let (at, len) = (self.number(), self.number() as u32);
            let len = if command == 1 { len % 9000 } else { len };
            let (fill, cookie) = (self.byte(), self.sent.len() as u64);
            let numbers = [&flags.to_be_bytes()[..], &command.to_be_bytes(), &cookie.to_be_bytes(), &at.to_be_bytes()];
            self.sent.extend([&0x2560_9513_u32.to_be_bytes()[..], &numbers.concat(), &len.to_be_bytes()].concat());
            if command == 1 {
                self.sent.extend(std::iter::repeat_n(fill, len as usize));
            }
            let answer = self.answer(command, flags, at, len, fill);
            let (error, data) = answer.map_or_else(|error| (error, Vec::new()), |data| (0, data));
            let header = [&0x6744_6698_u32.to_be_bytes()[..], &error.to_be_bytes(), &cookie.to_be_bytes()].concat();
            self.expected.extend([header, data].concat());
        }
        // A disconnect without an answer.
        self.sent.extend([&0x2560_9513_u32.to_be_bytes()[..], &[0, 0, 0, 2], &[0; 20]].concat());
    }

    /// What a request does to the row of bytes, and the data or error that it returns.
    fn answer(&mut self, command: u16, flags: u16, at: u64, len: u32, fill: u8) -> Result<Vec<u8>, u32> {
        if command != 6 && flags & 2 != 0 {
            return Err(EINVAL);
        }
        let within = u128::from(at) + u128::from(len) <= SIZE as u128;
        let range = if within { at as usize..at as usize + len as usize } else { 0..0 };
        match command {
            0 if within => return Ok(self.store[range].to_vec()),
            1 if within => self.store[range].fill(fill),
            6 if within => self.store[range].fill(0),
            4 if within => {}
            3 if at == 0 && len == 0 => {}
            1 | 6 => return Err(ENOSPC),
            _ => return Err(EINVAL),
        }
        self.flushes += u64::from(command == 3 || flags & 1 != 0);
        Ok(Vec::new())
    }
}
