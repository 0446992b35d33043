//! What is wrong with a document, and where.
//!
//! Messages show what a document calls its objects, and its values. Those may have any length and any characters, also
//! such as a terminal obeys.

use crate::printable;

/// What is wrong with a document, and where.
#[derive(Debug, thiserror::Error)]
#[error("{place}{problem}")]
pub struct DataError {
    place: String,
    problem: String,
}

impl DataError {
    /// Something wrong with the whole.
    pub fn new(problem: impl ToString) -> Self {
        DataError { place: String::new(), problem: problem.to_string() }
    }

    /// The same with more words at its end.
    pub fn with(self, more: &str) -> Self {
        DataError { problem: self.problem + more, ..self }
    }

    /// The same with the place, within which it was found.
    pub fn within(self, place: &str) -> Self {
        let separator = if self.place.is_empty() { ": " } else { ", " };
        DataError { place: format!("{}{separator}{}", shown(place), self.place), ..self }
    }
}

/// Characters of a text that messages show.
const CHARACTERS_MAX: usize = 80;

/// A text of a document as messages show it: its beginning, without characters that are not seen.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => printable::line(&text[..end]).into_owned() + "…",
        None => printable::line(text).into_owned(),
    }
}

/// The same between quotation marks.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", shown(text))
}

/// What something is and what it is called, as a place.
pub fn named(what: &str, name: &str) -> String {
    let name = if name.is_empty() { "\"\"" } else { name };
    format!("{what} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_and_characters_are_shown() {
        assert_eq!(shown("an \"é\" \\ 名"), "an \"é\" \\ 名");
        assert_eq!(shown("a\u{1b}[31m\nb\u{202e}"), "a\\u001b[31m\\nb\\u202e");
        assert_eq!(quoted(&"x".repeat(100_000)), format!("\"{}…\"", "x".repeat(80)));
        let error = DataError::new("wrong").within(&named("field", "a\nb")).within(&named("object", ""));
        assert_eq!(error.to_string(), "object \"\", field a\\nb: wrong");
    }
}
