//! Text that a terminal, a page and a picture can show. Names of files have any characters, also those that a terminal
//! takes for orders and XML refuses.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};
use std::io;

/// Whether a character orders a terminal about, or turns the direction in which text is written.
fn is_order(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, is_kept: fn(char) -> bool) -> Cow<'_, str> {
    let is_escaped = |letter: char| is_order(letter) && !is_kept(letter);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match is_escaped(letter) {
            true => shown += &code(letter),
            false => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// Such a character as JSON has it in its texts, `\u001b`, so that a document means the same: all are of the first
/// plane.
fn code(letter: char) -> String {
    match letter {
        '\n' | '\r' | '\t' => letter.escape_default().to_string(),
        _ => format!("\\u{:04x}", u32::from(letter)),
    }
}

/// A name or message on one line: such characters are escaped, `\u001b`.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// The same of several lines: ends of lines and tabs stay.
fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| matches!(letter, '\n' | '\t'))
}

/// Where lines are printed.
pub struct Output<W> {
    to: W,
    failed: Option<io::Error>,
}

impl<W: io::Write> Output<W> {
    /// Prints to this.
    pub fn new(to: W) -> Output<W> {
        Output { to, failed: None }
    }

    /// Prints lines, and brings them to whoever reads.
    ///
    /// # Errors
    /// The output's.
    pub fn print(&mut self, text: &impl Display) -> io::Result<()> {
        let printed = write!(self, "{text}");
        match (printed, self.failed.take()) {
            (_, Some(error)) => Err(error),
            (Err(error), None) => Err(io::Error::other(error)),
            (Ok(()), None) => self.to.flush(),
        }
    }
}

impl<W: io::Write> fmt::Write for Output<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.to.write_all(lines(text).as_bytes()).map_err(|error| {
            self.failed = Some(error);
            fmt::Error
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_to_a_terminal_are_escaped_and_other_text_stays() {
        assert_eq!(line("a\x1b[31mb\n\u{202e}é\u{7f}"), "a\\u001b[31mb\\n\\u202eé\\u007f");
        assert!(matches!(line("größe \"q\" 日本"), Cow::Borrowed(_)));
        let mut printed = Vec::new();
        Output::new(&mut printed).print(&"one\ttwo\n\x07three\r\n").unwrap();
        assert_eq!(String::from_utf8(printed).unwrap(), "one\ttwo\n\\u0007three\\r\n");
    }
}
