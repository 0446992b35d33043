//! Files that commands make: under a temporary name until they are complete, and never over another file.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::error::{Error, NewFileError};

/// A file that is being made; without [`publish`](NewFile::publish) nothing stays of it.
#[derive(Debug)]
pub struct NewFile {
    file: PathBuf,
    temporary: NamedTempFile,
}

impl NewFile {
    /// Begins a file.
    ///
    /// # Errors
    /// When there is such a file, none can be made beside it, or it is called `-`.
    pub fn begin(file: &Path) -> Result<NewFile, Error> {
        let failed = |source: io::Error| Error::NewFile { file: file.to_owned(), source: source.into() };
        if file.as_os_str() == "-" {
            return Err(Error::NewFile { file: file.to_owned(), source: NewFileError::Dash });
        }
        if file.try_exists().map_err(failed)? {
            return Err(failed(ErrorKind::AlreadyExists.into()));
        }
        let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The directory is asked for first, since an error of the temporary file would name that.
        fs::metadata(directory).map_err(failed)?;
        let mut builder = Builder::new();
        let temporary = builder.prefix(".norn-").suffix(".new").permissions(Permissions::from_mode(0o666));
        let temporary = temporary.tempfile_in(directory).map_err(|error| failed(error.kind().into()))?;
        Ok(NewFile { temporary, file: file.to_owned() })
    }

    /// Makes a file of these bytes.
    ///
    /// # Errors
    /// As [`begin`](NewFile::begin), or when they cannot be written.
    pub fn write(file: &Path, bytes: &[u8]) -> Result<(), Error> {
        let made = NewFile::begin(file)?;
        let written = made.file().write_all(bytes);
        written.map_err(|source| Error::NewFile { file: file.to_owned(), source: source.into() })?;
        made.publish()
    }

    /// Its name so far.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// The file, which is written from its start.
    pub fn file(&self) -> &File {
        self.temporary.as_file()
    }

    /// Gives the file its name, once it is on the host's disk.
    ///
    /// # Errors
    /// When the host cannot, or there is such a file now.
    pub fn publish(self) -> Result<(), Error> {
        let NewFile { file, temporary } = self;
        let published = temporary.as_file().sync_all();
        let published = published.and_then(|()| temporary.persist_noclobber(&file).map_err(|error| error.error));
        published.map(drop).map_err(|source| Error::NewFile { file, source: source.into() })
    }
}
