//! What is wrong with a document, and where.

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
        DataError { place: format!("{place}{separator}{}", self.place), ..self }
    }
}
