//! What the commands fail with. Each message names the file that is concerned.

use std::io;
use std::path::PathBuf;

use norn_flash_sim::{ImageError, SimError};
use norn_object_heap::{AccessError, CreateError, MountError, StoreError, TransactionError};

use crate::purse::script::ScriptError;

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The image file could not be made or opened.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The heap in the image failed.
    #[error("{}: {failure}", image.display())]
    Heap {
        /// The image file.
        image: PathBuf,
        /// What failed.
        failure: HeapFailure,
    },
    /// The heap failed while the power was being cut.
    #[error("{}: {failure}, after {cuts} power cuts of seed {seed}; replay: {replay}", image.display())]
    HeapUnderCuts {
        /// The image file.
        image: PathBuf,
        /// What failed.
        failure: HeapFailure,
        /// Cuts so far.
        cuts: u64,
        /// The seed that they derive from.
        seed: u64,
        /// The command that does the same again.
        replay: String,
    },
    /// The image exists and is of another part than was asked for.
    #[error("{}: a {found}, not a {wanted}: leave out --part, or take another image", image.display())]
    OtherPart {
        /// The image file.
        image: PathBuf,
        /// Its part.
        found: String,
        /// The part asked for.
        wanted: String,
    },
    /// The script could not be read.
    #[error("{}: {source}", script.display())]
    ScriptFile {
        /// The script.
        script: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The script has a mistake.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The answer could not be printed.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

/// What a heap failed with, whatever it was doing.
#[derive(Debug, thiserror::Error)]
pub enum HeapFailure {
    /// Formatting.
    #[error("cannot be formatted: {0}")]
    Format(MountError<SimError>),
    /// Mounting.
    #[error("cannot be mounted: {0}")]
    Mount(MountError<SimError>),
    /// Creating an object.
    #[error(transparent)]
    Create(#[from] CreateError<SimError>),
    /// Reading or writing an object.
    #[error(transparent)]
    Access(#[from] AccessError<SimError>),
    /// Beginning or committing a transaction.
    #[error(transparent)]
    Transaction(#[from] TransactionError<SimError>),
    /// Reading the store below the heap.
    #[error(transparent)]
    Store(#[from] StoreError<SimError>),
    /// The heap is sound, but not one of purses.
    #[error("holds no purses: {0}")]
    NoBank(String),
}

impl HeapFailure {
    /// Whether the cause is that the power was cut.
    pub fn is_power_loss(&self) -> bool {
        let lost = |error: &StoreError<SimError>| *error == StoreError::Device(SimError::PowerLost);
        match self {
            HeapFailure::Format(error) | HeapFailure::Mount(error) => *error == MountError::Device(SimError::PowerLost),
            HeapFailure::Create(CreateError::Store(error))
            | HeapFailure::Access(AccessError::Store(error))
            | HeapFailure::Transaction(TransactionError::Store(error))
            | HeapFailure::Store(error) => lost(error),
            _ => false,
        }
    }

    /// The same with the image that it happened in.
    pub fn in_image(self, image: &std::path::Path) -> Error {
        Error::Heap { image: image.to_owned(), failure: self }
    }
}
