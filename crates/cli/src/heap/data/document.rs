//! The JSON document of a heap, and what can be wrong with one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

pub use super::failure::DataError;
use super::failure::{named, quoted};
use super::members::{Members, array, boolean, object, text};
use super::syntax::parsed;
use crate::report::digits_of;

/// All of a heap.
#[derive(Debug, Default, Serialize)]
pub struct Document {
    /// Whether the heap notices flipped bits.
    pub error_detection: bool,
    /// The classes of objects.
    pub classes: Vec<Class>,
    /// Objects and arrays by name.
    pub objects: Map<String, Value>,
    /// Names of objects, by the roots' names.
    pub roots: BTreeMap<String, String>,
}

/// A class of objects: those with fields of these widths, and with this header, if one is given.
#[derive(Clone, Debug, Serialize)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// The header of its objects in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Its fields in order.
    pub fields: Vec<Field>,
}

/// A field of a class.
#[derive(Clone, Debug, Serialize)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
}

/// An object of a class.
#[derive(Debug, Serialize)]
pub struct ObjectEntry {
    /// The class's name.
    pub class: String,
    /// The header, if it is not the class's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Values by the fields' names; zeros where there is none.
    pub fields: Map<String, Value>,
}

/// An array.
#[derive(Debug, Serialize)]
pub struct ArrayEntry {
    /// The type of its elements.
    pub array: String,
    /// The header, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The elements; of bytes a text of hexadecimal digits.
    pub elements: Value,
}

impl Document {
    /// The document in a file. `pack` has each of its objects as soon as it is read, and may make it smaller.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn read(file: &Path, pack: impl FnMut(&str, &mut Value)) -> Result<Document, DataError> {
        let bytes = fs::read(file).map_err(DataError::new)?;
        let text = std::str::from_utf8(&bytes).map_err(|error| no_text(&bytes, error.valid_up_to()))?;
        // Some editors put a byte order mark before every text.
        Document::of(parsed(text.strip_prefix('\u{feff}').unwrap_or(text), pack)?)
    }

    fn of(value: Value) -> Result<Document, DataError> {
        let mut members = Members::of(value, &["error_detection", "classes", "objects", "roots"])?;
        let root = |(name, object): (String, Value)| {
            let object = text(object).map_err(|error| error.within(&named("root", &name)))?;
            Ok((name, object))
        };
        Ok(Document {
            error_detection: members.optional("error_detection", boolean)?.unwrap_or_default(),
            classes: each("classes", members.optional("classes", array)?.unwrap_or_default(), Class::of)?,
            objects: members.optional("objects", object)?.unwrap_or_default(),
            roots: members.optional("roots", object)?.into_iter().flatten().map(root).collect::<Result<_, _>>()?,
        })
    }
}

/// That a file is no UTF-8 from this byte on.
fn no_text(bytes: &[u8], at: usize) -> DataError {
    let (before, wrong) = (&bytes[..at], bytes[at]);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
    let is_wide = matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]);
    let advice = if is_wide { ": the file is UTF-16, save it as UTF-8" } else { "" };
    DataError::new(format!("byte {wrong:#04x} at line {line} column {column} is not UTF-8{advice}"))
}

/// What each element of an array is.
fn each<T>(
    name: &str,
    elements: Vec<Value>,
    read: impl Fn(Value) -> Result<T, DataError>,
) -> Result<Vec<T>, DataError> {
    let read = |(index, value)| read(value).map_err(|error| error.within(&format!("{name}[{index}]")));
    elements.into_iter().enumerate().map(read).collect()
}

impl Class {
    fn of(value: Value) -> Result<Class, DataError> {
        let mut members = Members::of(value, &["name", "header", "fields"])?;
        Ok(Class {
            name: members.required("name", text)?,
            header: members.optional("header", text)?,
            fields: each("fields", members.required("fields", array)?, Field::of)?,
        })
    }
}

impl Field {
    fn of(value: Value) -> Result<Field, DataError> {
        let mut members = Members::of(value, &["name", "type"])?;
        Ok(Field { name: members.required("name", text)?, kind: members.required("type", text)? })
    }
}

impl ObjectEntry {
    /// The object that a member of `objects` is.
    ///
    /// # Errors
    /// When it is none.
    pub fn of(value: Value) -> Result<ObjectEntry, DataError> {
        let mut members = Members::of(value, &["class", "header", "fields"])?;
        Ok(ObjectEntry {
            class: members.required("class", text)?,
            header: members.optional("header", text)?,
            fields: members.optional("fields", object)?.unwrap_or_default(),
        })
    }
}

impl ArrayEntry {
    /// The array that a member of `objects` is.
    ///
    /// # Errors
    /// When it is none.
    pub fn of(value: Value) -> Result<ArrayEntry, DataError> {
        let mut members = Members::of(value, &["array", "header", "elements"])?;
        Ok(ArrayEntry {
            array: members.required("array", text)?,
            header: members.optional("header", text)?,
            elements: members.required("elements", Ok)?,
        })
    }
}

/// Bytes of hexadecimal digits.
pub fn bytes_of(digits: &str) -> Result<Vec<u8>, DataError> {
    let pair = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok().filter(|text| text.len() == 2)?;
        u8::from_str_radix(text, 16).ok().filter(|_| text.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(pair).collect();
    bytes.ok_or_else(|| DataError::new(format!("{} is not hexadecimal digits of whole bytes", quoted(digits))))
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
