//! The members of a JSON object, and values of the kinds that the format has; else an error that names both kinds.

use serde_json::{Map, Value};

use super::failure::{DataError, quoted};

/// Members that are still to be read.
pub struct Members(Map<String, Value>);

impl Members {
    /// The members of an object, which has no others than these.
    ///
    /// # Errors
    /// When it is no object, or has others.
    pub fn of(value: Value, names: &[&str]) -> Result<Members, DataError> {
        let members = object(value).map_err(|error| error.with(&format!(" with {}", names.join(", "))))?;
        match members.keys().find(|name| !names.contains(&&***name)) {
            Some(unknown) => {
                Err(DataError::new(format!("a member {}: there are only {}", quoted(unknown), names.join(", "))))
            }
            None => Ok(Members(members)),
        }
    }

    /// The value of a member, if it is there.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn optional<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, DataError>,
    ) -> Result<Option<T>, DataError> {
        self.0.remove(name).map(read).transpose().map_err(|error| error.within(name))
    }

    /// The value of a member.
    ///
    /// # Errors
    /// When it is not there, and those of `read`.
    pub fn required<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, DataError>,
    ) -> Result<T, DataError> {
        self.optional(name, read)?.ok_or_else(|| DataError::new(format!("the member {name:?} is missing")))
    }
}

/// The members of an object.
pub fn object(value: Value) -> Result<Map<String, Value>, DataError> {
    match value {
        Value::Object(members) => Ok(members),
        other => Err(unexpected(&other, "an object")),
    }
}

/// The elements of an array.
pub fn array(value: Value) -> Result<Vec<Value>, DataError> {
    match value {
        Value::Array(elements) => Ok(elements),
        other => Err(unexpected(&other, "an array")),
    }
}

/// A string.
pub fn text(value: Value) -> Result<String, DataError> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(unexpected(&other, "a string")),
    }
}

/// Whether.
pub fn boolean(value: Value) -> Result<bool, DataError> {
    value.as_bool().ok_or_else(|| unexpected(&value, "true or false"))
}

fn unexpected(found: &Value, expected: &str) -> DataError {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    DataError::new(format!("{found} in place of {expected}"))
}
