//! How the bytes of an erase unit are divided: areas, and pieces of them that a line of the format describes.

use norn_flash::Address;
use norn_heap::Ref;
use serde_json::{Value, json};

/// What an area holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All ones.
    Erased,
    /// The head of a unit.
    Head,
    /// An object.
    Object,
    /// An array, or a section of one.
    Array,
    /// Named roots.
    Roots,
    /// A node of the map.
    Node,
    /// A record of the log.
    Record,
    /// Used places of a tail: changes of what is before them.
    Changes,
    /// Places that are still erased.
    Free,
    /// What no decoder knows.
    Unknown,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 10] = [
        Kind::Erased,
        Kind::Head,
        Kind::Object,
        Kind::Array,
        Kind::Roots,
        Kind::Node,
        Kind::Record,
        Kind::Changes,
        Kind::Free,
        Kind::Unknown,
    ];

    /// Its name, which style sheets use.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Erased => "erased",
            Kind::Head => "head",
            Kind::Object => "object",
            Kind::Array => "array",
            Kind::Roots => "roots",
            Kind::Node => "map",
            Kind::Record => "log",
            Kind::Changes => "changes",
            Kind::Free => "free",
            Kind::Unknown => "unknown",
        }
    }

    /// Its letter in a strip: small where the area is in use.
    const fn letter(self) -> u8 {
        match self {
            Kind::Erased => b'e',
            Kind::Head => b'h',
            Kind::Object => b'o',
            Kind::Array => b'a',
            Kind::Roots => b'r',
            Kind::Node => b'm',
            Kind::Record => b'l',
            Kind::Changes => b'c',
            Kind::Free => b'f',
            Kind::Unknown => b'u',
        }
    }
}

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
        json!({ "at": self.at.0, "bytes": self.bytes, "kind": self.kind.name(), "state": state, "text": self.text })
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
        let letter = area.kind.letter();
        char::from(if area.state == State::Live { letter } else { letter.to_ascii_uppercase() })
    };
    (0..columns).map(letter).collect()
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
            area(100, 10, Kind::Head, State::Live),
            area(110, 30, Kind::Object, State::Obsolete),
            area(140, 60, Kind::Erased, State::Live),
        ];
        assert_eq!(strip(&areas, 100, 10), "hOOOeeeeee");
        assert_eq!(strip(&areas, 100, 2), "Oe");
    }

    #[test]
    fn kinds_have_letters_and_names_of_their_own() {
        for (number, kind) in Kind::ALL.iter().enumerate() {
            for other in &Kind::ALL[number + 1..] {
                assert!(kind.letter() != other.letter() && kind.name() != other.name(), "{kind:?} {other:?}");
            }
        }
    }
}
