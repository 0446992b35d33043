//! Lines of text with a check, as NMEA 0183 has them: `$`, text, `*`, and the exclusive or of the text's bytes in two
//! hexadecimal digits.
//!
//! A reset may cut a line. What is left of it has no `$`, or not the right check, and is passed over.

use core::fmt::{self, Write};
use core::str;

use crate::uart::Uart;

/// Most bytes of a line's text.
pub const LINE_BYTES_MAX: usize = 96;

/// The text of a line.
#[derive(Clone)]
pub struct Line {
    bytes: [u8; LINE_BYTES_MAX],
    len: usize,
}

impl Line {
    /// No text.
    pub const fn new() -> Self {
        Line { bytes: [0; LINE_BYTES_MAX], len: 0 }
    }

    /// Waits for a line that is whole.
    pub fn receive(uart: &mut Uart) -> Self {
        loop {
            while uart.receive() != b'$' {}
            if let Some(line) = Line::receive_text(uart) {
                return line;
            }
        }
    }

    /// What comes after `$`, unless it is too long or its check is wrong.
    fn receive_text(uart: &mut Uart) -> Option<Self> {
        let mut line = Line::new();
        loop {
            match uart.receive() {
                b'*' => break,
                byte => line.push(byte).ok()?,
            }
        }
        let check = [uart.receive(), uart.receive()];
        (check == line.check()).then_some(line)
    }

    /// Sends the line.
    pub fn send(&self, uart: &mut Uart) {
        uart.send(b'$');
        self.bytes[..self.len].iter().for_each(|byte| uart.send(*byte));
        uart.send(b'*');
        self.check().into_iter().chain(*b"\r\n").for_each(|byte| uart.send(byte));
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

impl Default for Line {
    fn default() -> Self {
        Line::new()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().try_for_each(|byte| self.push(byte))
    }
}

/// Sends what `format_args!` makes; too long a line is cut.
pub fn send(uart: &mut Uart, text: fmt::Arguments<'_>) {
    let mut line = Line::new();
    let _ = line.write_fmt(text);
    line.send(uart);
}
