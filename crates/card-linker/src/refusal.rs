//! Why a class is refused: the class, the method and the line, and where possible what to write instead.

use std::error::Error;
use std::fmt;

/// What is wrong with a class, without the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The file is not a class file, or not one of a version that is read. Says what is wrong.
    Malformed(String),
    /// The bytecode does not verify: it breaks a rule of chapter 4.10 of the Java virtual machine's specification.
    Unverifiable(String),
    /// The class is correct Java, but a card has no such thing.
    NotOnCards {
        /// What a card lacks.
        what: String,
        /// What to write instead.
        instead: &'static str,
    },
    /// A class, field or method that is named is in none of the packages, or may not be used from here.
    Unresolved(String),
}

/// A class that is refused, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The class by its name in Java; the path, where the file is so broken that it has no name.
    pub class: String,
    /// The method's or field's name and descriptor, where the reason lies in one.
    pub member: Option<String>,
    /// The line of the source, where the class file has line numbers.
    pub line: Option<u16>,
    /// What is wrong.
    pub reason: Reason,
}

impl Refusal {
    /// A refusal of a class as a whole, by its internal name.
    pub(crate) fn of_class(class: &str, reason: Reason) -> Refusal {
        Refusal { class: class.replace('/', "."), member: None, line: None, reason }
    }

    /// A refusal of a member of a class.
    pub(crate) fn of_member(class: &str, member: String, reason: Reason) -> Refusal {
        Refusal { member: Some(member), ..Refusal::of_class(class, reason) }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Malformed(what) => write!(out, "malformed class file: {what}"),
            Reason::Unverifiable(what) => write!(out, "bytecode that does not verify: {what}"),
            Reason::NotOnCards { what, instead } => write!(out, "a card has no {what}; {instead}"),
            Reason::Unresolved(what) => out.write_str(what),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.class)?;
        if let Some(member) = &self.member {
            write!(out, ".{member}")?;
        }
        if let Some(line) = self.line {
            write!(out, ", line {line}")?;
        }
        write!(out, ": {}", self.reason)
    }
}

impl Error for Reason {}

impl Error for Refusal {}
