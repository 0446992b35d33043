//! The JSON document of a heap, and what can be wrong with one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fmt, fs};

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::report::digits_of;

/// All of a heap.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "an object with error_detection, classes, objects and roots")]
pub struct Document {
    /// Whether the heap notices flipped bits.
    #[serde(default)]
    pub error_detection: bool,
    /// The classes of objects.
    #[serde(default)]
    pub classes: Vec<Class>,
    /// Objects and arrays by name.
    #[serde(default)]
    pub objects: Map<String, Value>,
    /// Names of objects, by the roots' names.
    #[serde(default)]
    pub roots: BTreeMap<String, String>,
}

/// A class of objects: those with fields of these widths, and with this header, if one is given.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a class: an object with name and fields")]
pub struct Class {
    /// Its name.
    pub name: String,
    /// The header of its objects in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Its fields in order.
    pub fields: Vec<Field>,
}

/// A field of a class.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a field: an object with name and type")]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
}

/// An object of a class.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "an object with class and fields")]
pub struct ObjectEntry {
    /// The class's name.
    pub class: String,
    /// The header, if it is not the class's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Values by the fields' names; zeros where there is none.
    #[serde(default)]
    pub fields: Map<String, Value>,
}

/// An array.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "an object with array and elements")]
pub struct ArrayEntry {
    /// The type of its elements.
    pub array: String,
    /// The header, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The elements; of bytes a text of hexadecimal digits.
    pub elements: Value,
}

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

    /// The same with the place, within which it was found.
    pub fn within(self, place: &str) -> Self {
        let separator = if self.place.is_empty() { ": " } else { ", " };
        DataError { place: format!("{place}{separator}{}", self.place), ..self }
    }
}

impl Document {
    /// The document in a file.
    ///
    /// # Errors
    /// When it cannot be read, or is none; with line and column.
    pub fn read(file: &Path) -> Result<Document, DataError> {
        let text = fs::read_to_string(file).map_err(DataError::new)?;
        serde_json::from_str::<WithoutRepeats>(&text).map_err(DataError::new)?;
        serde_json::from_str(&text).map_err(DataError::new)
    }
}

/// Any JSON value in which no object has a member twice: of two, one would be lost.
struct WithoutRepeats;

impl<'de> Deserialize<'de> for WithoutRepeats {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WithoutRepeats)
    }
}

impl<'de> Visitor<'de> for WithoutRepeats {
    type Value = WithoutRepeats;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self, A::Error> {
        while elements.next_element::<WithoutRepeats>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if names.contains(&name) {
                return Err(A::Error::custom(format!("{name:?} is there twice")));
            }
            members.next_value::<WithoutRepeats>()?;
            names.insert(name);
        }
        Ok(self)
    }
}

/// Bytes of hexadecimal digits.
pub fn bytes_of(digits: &str) -> Result<Vec<u8>, DataError> {
    let pair = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok().filter(|text| text.len() == 2)?;
        u8::from_str_radix(text, 16).ok().filter(|_| text.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(pair).collect();
    bytes.ok_or_else(|| DataError::new(format!("{digits:?} is not hexadecimal digits of whole bytes")))
}

const HEXADECIMAL: &str = "hex:";

/// The text of a root's name, which may be any bytes: `hex:` and digits, where they are no text.
pub fn root_text(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(text) if !text.starts_with(HEXADECIMAL) => text.to_owned(),
        _ => format!("{HEXADECIMAL}{}", digits_of(name)),
    }
}

/// The name of a root of its text.
pub fn root_name(text: &str) -> Result<Vec<u8>, DataError> {
    text.strip_prefix(HEXADECIMAL).map_or(Ok(text.as_bytes().to_vec()), bytes_of)
}
