//! Files that commands make: under a temporary name until they are complete, and never over another file.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use norn_flash_sim::Unfinished;

use crate::error::Error;

/// A file that is being made; without [`publish`](NewFile::publish) nothing stays of it.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    unfinished: Unfinished,
    file: File,
}

impl NewFile {
    /// Begins a file.
    ///
    /// # Errors
    /// When there is such a file, none can be made beside it, or it is called `-`.
    pub fn begin(path: &Path) -> Result<NewFile, Error> {
        let (unfinished, file) = Unfinished::file(path).map_err(|source| failed(path, source))?;
        Ok(NewFile { path: path.to_owned(), unfinished, file })
    }

    /// Makes a file of these bytes.
    ///
    /// # Errors
    /// As [`begin`](NewFile::begin), or when they cannot be written.
    pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let made = NewFile::begin(path)?;
        made.file().write_all(bytes).map_err(|source| failed(path, source))?;
        made.publish()
    }

    /// The file, which is written from its start.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name, once it is on the host's disk.
    ///
    /// # Errors
    /// When the host cannot, or there is such a file now.
    pub fn publish(self) -> Result<(), Error> {
        let NewFile { path, unfinished, file } = self;
        file.sync_all().and_then(|()| unfinished.publish()).map_err(|source| failed(&path, source))
    }
}

fn failed(file: &Path, source: io::Error) -> Error {
    Error::NewFile { file: file.to_owned(), source: source.into() }
}
