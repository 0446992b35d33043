//! How the bytes of an erase unit are divided: areas, and pieces of them that a line of the format describes.

use norn_flash::Address;
use norn_heap::Ref;
use serde_json::{Value, json};

/// What an area holds: each format has kinds of its own beside these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its letter in a strip, a small one: small where the area is in use.
    pub letter: u8,
    /// Its name, which style sheets use.
    pub name: &'static str,
    /// The same in the legend.
    pub text: &'static str,
}

impl Kind {
    /// A kind of this letter.
    pub const fn new(letter: u8, name: &'static str, text: &'static str) -> Kind {
        Kind { letter, name, text }
    }
}

/// The head of a unit.
pub const HEAD: Kind = Kind::new(b'h', "head", "head of a unit");
/// Places that are still erased.
pub const FREE: Kind = Kind::new(b'f', "free", "free places");
/// What no decoder knows.
pub const UNKNOWN: Kind = Kind::new(b'u', "unknown", "torn or unknown");
/// All ones.
pub const ERASED: Kind = Kind::new(b'e', "erased", "erased");

/// Whether an area is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The map leads to it, or it is of the newest log.
    Live,
    /// Nothing leads to it.
    Obsolete,
}

/// Bytes of a unit that belong together.
#[derive(Clone, Debug)]
pub struct Area {
    /// Its first byte.
    pub at: Address,
    /// Its bytes.
    pub bytes: u32,
    /// What it holds.
    pub kind: Kind,
    /// Whether it is in use.
    pub state: State,
    /// The same in words.
    pub text: String,
}

impl Area {
    /// The area as JSON.
    pub fn to_json(&self) -> Value {
        let state = if self.state == State::Live { "live" } else { "obsolete" };
        json!({ "at": self.at.0, "bytes": self.bytes, "kind": self.kind.name, "state": state, "text": self.text })
    }
}

/// Bytes that one line of a format's document describes.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The first of them.
    pub at: Address,
    /// How many there are.
    pub bytes: u32,
    /// The format's name for them.
    pub name: String,
    /// What they say.
    pub value: String,
    /// The section of the document, and how the line begins: `2:0..16`.
    pub line: &'static str,
    /// Where they lead to.
    pub to: Option<Address>,
    /// The object that they name.
    pub names: Option<Ref>,
}

impl Piece {
    /// A piece that leads nowhere.
    pub fn new(
        (at, bytes): (Address, u32),
        name: impl Into<String>,
        value: impl ToString,
        line: &'static str,
    ) -> Piece {
        Piece { at, bytes, name: name.into(), value: value.to_string(), line, to: None, names: None }
    }

    /// The piece as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "at": self.at.0, "bytes": self.bytes, "name": self.name, "value": self.value, "line": self.line,
            "to": self.to.map(|to| to.0), "names": self.names.map(|names| names.to_string()),
        })
    }
}

/// What is at an address: its name, its extent and its pieces.
#[derive(Clone, Debug)]
pub struct Found {
    /// In words.
    pub title: String,
    /// The first byte.
    pub at: Address,
    /// How many there are.
    pub bytes: u32,
    /// The object, if it is one's.
    pub object: Option<String>,
    /// What the bytes say.
    pub pieces: Vec<Piece>,
}

impl Found {
    /// An area of which nothing more is known.
    pub fn of(area: &Area) -> Found {
        Found { title: area.text.clone(), at: area.at, bytes: area.bytes, object: None, pieces: Vec::new() }
    }

    /// The piece at an address.
    pub fn piece_at(&self, address: Address) -> Option<&Piece> {
        self.pieces.iter().find(|piece| (piece.at.0..piece.at.0 + piece.bytes).contains(&address.0))
    }
}

/// A row of letters for the areas of a unit: what is in the middle of each of `columns` equal parts of it; small
/// letters for what is in use.
pub fn strip(areas: &[Area], unit_bytes: u32, columns: u32) -> String {
    let Some(first) = areas.first() else { return String::new() };
    let (start, mut number) = (first.at.0, 0);
    let letter = |column: u32| {
        let middle = start + (u64::from(2 * column + 1) * u64::from(unit_bytes) / u64::from(2 * columns)) as u32;
        while number + 1 < areas.len() && areas[number + 1].at.0 <= middle {
            number += 1;
        }
        let area = &areas[number];
        let letter = area.kind.letter;
        char::from(if area.state == State::Live { letter } else { letter.to_ascii_uppercase() })
    };
    (0..columns).map(letter).collect()
}

/// A number of things in words: `1 byte`, `2 bytes`.
pub fn counted(number: usize, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// How often something was done, in words: `once`, `2 times`.
pub fn times(number: u32) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}

/// Bytes as hexadecimal digits, in the order of their addresses.
pub fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_shows_what_is_in_the_middle_of_each_part() {
        let area = |at, bytes, kind, state| Area { at: Address(at), bytes, kind, state, text: String::new() };
        let areas = [
            area(100, 10, HEAD, State::Live),
            area(110, 30, Kind::new(b'o', "object", "an object"), State::Obsolete),
            area(140, 60, ERASED, State::Live),
        ];
        assert_eq!(strip(&areas, 100, 10), "hOOOeeeeee");
        assert_eq!(strip(&areas, 100, 2), "Oe");
    }
}
