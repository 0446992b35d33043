//! Lines of text with a check, as NMEA 0183 has them: `$`, text, `*`, and the exclusive or of the text's bytes in two
//! hexadecimal digits.
//!
//! A reset may cut a line. What is left of it has no `$`, or not the right check, and is passed over.

use core::fmt::{self, Write};
use core::str;

use crate::Serial;

/// The text of a line, of `BYTES` at most.
#[derive(Clone)]
pub struct Line<const BYTES: usize = 96> {
    bytes: [u8; BYTES],
    len: usize,
}

impl<const BYTES: usize> Line<BYTES> {
    /// No text.
    pub const fn new() -> Self {
        Line { bytes: [0; BYTES], len: 0 }
    }

    /// Waits for a line that is whole.
    pub fn receive(serial: &mut impl Serial) -> Self {
        loop {
            while serial.receive() != b'$' {}
            if let Some(line) = Line::receive_text(serial) {
                return line;
            }
        }
    }

    /// What comes after `$`, unless it is too long or its check is wrong.
    fn receive_text(serial: &mut impl Serial) -> Option<Self> {
        let mut line = Line::new();
        loop {
            match serial.receive() {
                b'*' => break,
                byte => line.push(byte).ok()?,
            }
        }
        let check = [serial.receive(), serial.receive()];
        (check == line.check()).then_some(line)
    }

    /// Sends the line.
    pub fn send(&self, serial: &mut impl Serial) {
        serial.send(b'$');
        self.bytes[..self.len].iter().for_each(|byte| serial.send(*byte));
        serial.send(b'*');
        self.check().into_iter().chain(*b"\r\n").for_each(|byte| serial.send(byte));
    }

    /// Its words, the empty ones included.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        str::from_utf8(&self.bytes[..self.len]).unwrap_or_default().split(' ')
    }

    fn push(&mut self, byte: u8) -> fmt::Result {
        *self.bytes.get_mut(self.len).ok_or(fmt::Error)? = byte;
        self.len += 1;
        Ok(())
    }

    fn check(&self) -> [u8; 2] {
        let check = self.bytes[..self.len].iter().fold(0, |sum, byte| sum ^ byte);
        [check >> 4, check & 15].map(|digit| b"0123456789ABCDEF"[usize::from(digit)])
    }
}

impl<const BYTES: usize> Default for Line<BYTES> {
    fn default() -> Self {
        Line::new()
    }
}

impl<const BYTES: usize> Write for Line<BYTES> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().try_for_each(|byte| self.push(byte))
    }
}

/// Sends what `format_args!` makes; too long a line is cut.
pub fn send(serial: &mut impl Serial, text: fmt::Arguments<'_>) {
    let mut line = Line::<96>::new();
    let _ = line.write_fmt(text);
    line.send(serial);
}

/// Answers each line that is whole, for ever.
pub fn serve<const BYTES: usize>(
    serial: &mut impl Serial,
    mut answer: impl FnMut(&Line<BYTES>) -> Line<BYTES>,
) -> ! {
    loop {
        let line = Line::receive(serial);
        answer(&line).send(serial);
    }
}

/// Says why the program does not go on, and waits for a reset.
pub fn stop(serial: &mut impl Serial, why: fmt::Arguments<'_>) -> ! {
    send(serial, why);
    loop {
        serial.receive();
    }
}
