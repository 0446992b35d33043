//! What the commands fail with. Each message names the file that is concerned.

use std::io;
use std::path::PathBuf;

use norn_flash_sim::{ImageError, SimError};
use norn_heap_image::HeapImageError;
use norn_purse::PurseError;

use crate::nbd::failure::NbdFailure;

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A sensor log failed.
    #[error(transparent)]
    Log(#[from] crate::log::failure::LogError),
    /// The image file could not be made or opened.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The heap in an image failed.
    #[error(transparent)]
    Heap(#[from] HeapImageError),
    /// The purses in an image failed.
    #[error(transparent)]
    Purse(#[from] PurseError),
    /// The block device in the image failed.
    #[error("{}: {failure}", image.display())]
    Nbd {
        /// The image file.
        image: PathBuf,
        /// What failed.
        failure: NbdFailure,
    },
    /// A unit was asked for that the part does not have.
    #[error("{}: {source}", image.display())]
    NoSuchUnit {
        /// The image file.
        image: PathBuf,
        /// Which unit, and how many there are.
        source: SimError,
    },
    /// The units have no room for a header.
    #[error("{}: units of {unit_size_bytes} bytes have no room for the header of a heap's unit", image.display())]
    TinyUnits {
        /// The image file.
        image: PathBuf,
        /// Their size.
        unit_size_bytes: u32,
    },
    /// The answer could not be printed.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}
