//! A file that a command makes: never one that is there, since a trace may have taken long to record.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

use super::failure::TraceError;

/// A new file of this name.
pub fn create(path: &Path) -> Result<File, TraceError> {
    OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => TraceError::Exists { path: path.to_owned() },
        _ => TraceError::file(path)(error),
    })
}
