//! Exceptions: which of the crates' errors is which, and their messages, which name the image and the call.

use std::fmt::Display;

use norn_flash::{MountError, PartKind, StoreError};
use norn_heap::{AccessError, CreateError, TransactionError};
use norn_nand_ftl::FtlError;
use norn_ordered_index::IndexError;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyFileExistsError, PyIndexError, PyOSError, PyValueError};

create_exception!(
    norn_flash,
    NornError,
    PyException,
    "What Norn fails with. Its message names the image and the call."
);
create_exception!(
    norn_flash,
    ImageError,
    NornError,
    "A file is no image, or of another part; or it holds no such store."
);
create_exception!(
    norn_flash,
    CorruptedError,
    NornError,
    "Something on flash that no power cut leaves there; names it."
);
create_exception!(norn_flash, FullError, NornError, "The part has no room. Nothing was changed.");
create_exception!(norn_flash, StaleReferenceError, NornError, "A reference to something that was deleted.");

/// The exception for a kind of failure.
#[derive(Clone, Copy, Debug)]
pub enum Exception {
    /// [`NornError`] itself.
    Other,
    /// [`ImageError`].
    Image,
    /// [`CorruptedError`].
    Corrupted,
    /// [`FullError`].
    Full,
    /// [`StaleReferenceError`].
    Stale,
    /// Python's own, for an index.
    Index,
    /// Python's own, for an argument.
    Value,
}

impl Exception {
    /// The exception with a message.
    pub fn with(self, message: String) -> PyErr {
        match self {
            Exception::Other => NornError::new_err(message),
            Exception::Image => ImageError::new_err(message),
            Exception::Corrupted => CorruptedError::new_err(message),
            Exception::Full => FullError::new_err(message),
            Exception::Stale => StaleReferenceError::new_err(message),
            Exception::Index => PyIndexError::new_err(message),
            Exception::Value => PyValueError::new_err(message),
        }
    }
}

/// An error of a crate that becomes an exception.
pub trait Failure: Display {
    /// Which one.
    fn exception(&self) -> Exception;
}

impl<E> Failure for StoreError<E>
where
    StoreError<E>: Display,
{
    fn exception(&self) -> Exception {
        match self {
            StoreError::Corrupted => Exception::Corrupted,
            StoreError::Full | StoreError::TransactionTooLarge => Exception::Full,
            _ => Exception::Other,
        }
    }
}

impl<E> Failure for CreateError<E>
where
    CreateError<E>: Display,
    StoreError<E>: Failure,
{
    fn exception(&self) -> Exception {
        match self {
            CreateError::Store(error) => error.exception(),
            CreateError::NoReferences => Exception::Full,
            CreateError::TransactionAborted => Exception::Other,
            _ => Exception::Value,
        }
    }
}

impl<E> Failure for AccessError<E>
where
    AccessError<E>: Display,
    StoreError<E>: Failure,
{
    fn exception(&self) -> Exception {
        match self {
            AccessError::Store(error) => error.exception(),
            AccessError::Stale(_) => Exception::Stale,
            AccessError::OutOfRange { .. } => Exception::Index,
            AccessError::NoReferences => Exception::Full,
            AccessError::NotMapped | AccessError::TransactionAborted => Exception::Other,
            _ => Exception::Value,
        }
    }
}

impl<E> Failure for TransactionError<E>
where
    TransactionError<E>: Display,
    StoreError<E>: Failure,
{
    fn exception(&self) -> Exception {
        match self {
            TransactionError::Store(error) => error.exception(),
            _ => Exception::Other,
        }
    }
}

impl<E> Failure for IndexError<E>
where
    IndexError<E>: Display,
{
    fn exception(&self) -> Exception {
        match self {
            IndexError::Full | IndexError::BelowRing => Exception::Full,
            IndexError::Corrupted => Exception::Corrupted,
            _ => Exception::Other,
        }
    }
}

impl<E> Failure for FtlError<E>
where
    FtlError<E>: Display,
{
    fn exception(&self) -> Exception {
        match self {
            FtlError::OutOfRange { .. } => Exception::Index,
            FtlError::Length { .. } => Exception::Value,
            FtlError::NoSpace => Exception::Full,
            FtlError::Unreadable { .. } => Exception::Corrupted,
            _ => Exception::Other,
        }
    }
}

impl<E, R, K: PartKind> Failure for MountError<E, R, K>
where
    MountError<E, R, K>: Display,
{
    fn exception(&self) -> Exception {
        match self {
            MountError::Corrupted(_) => Exception::Corrupted,
            _ => Exception::Image,
        }
    }
}

/// Which image a store is in, for messages.
#[derive(Clone, Debug)]
pub struct Origin(pub String);

impl Origin {
    /// The exception for what failed in a call.
    pub fn failed(&self, call: impl Display, failure: impl Failure) -> PyErr {
        failure.exception().with(format!("{}: {call}: {failure}", self.0))
    }

    /// The exception for what a checker would call a violation.
    pub fn corrupted(&self, call: impl Display, violation: impl Display) -> PyErr {
        Exception::Corrupted.with(format!("{}: {call}: corrupted: {violation}", self.0))
    }
}

/// The exception for an image file, whose messages name the file.
pub fn of_image(error: norn_flash_sim::ImageError) -> PyErr {
    use norn_flash_sim::ImageError::{Exists, Io};
    match &error {
        Exists { .. } => PyFileExistsError::new_err(error.to_string()),
        Io { .. } => PyOSError::new_err(error.to_string()),
        _ => ImageError::new_err(error.to_string()),
    }
}
