//! What the commands fail with. Each message names the file that is concerned.

use std::io;
use std::path::{Path, PathBuf};

use norn_flash_sim::{ImageError, SimError};
use norn_nor_remap::RemapMountError;
use norn_object_heap::{AccessError, CreateError, MountError, MountRefusal, StoreError, TransactionError, Violation};

use crate::image::ImageHeap;
use crate::nbd::NbdFailure;
use crate::part::PartError;
use crate::purse::script::ScriptError;

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An experiment could not be run or reported.
    #[error(transparent)]
    Lab(#[from] norn_lab::LabError),
    /// A trace could not be recorded or replayed.
    #[error(transparent)]
    Trace(#[from] crate::trace::failure::TraceError),
    /// A sensor log failed.
    #[error(transparent)]
    Log(#[from] crate::log::failure::LogError),
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
    /// The block device in the image failed.
    #[error("{}: {failure}", image.display())]
    Nbd {
        /// The image file.
        image: PathBuf,
        /// What failed.
        failure: NbdFailure,
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
    /// The heap in the image could not be mounted, which a look at the cells may explain.
    #[error("{}: {failure}; `norn heap dump {} --raw` shows the image as it is", image.display(), image.display())]
    NotMounted {
        /// The image file.
        image: PathBuf,
        /// Why not.
        failure: HeapFailure,
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
    /// A file of the name of a new image exists.
    #[error("{}: {source}: an image is never overwritten, choose another name", image.display())]
    Exists {
        /// The file.
        image: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// The heap is damaged, and purses came upon it.
    #[error(
        "{}: {failure}: the heap in the image is damaged; `norn heap check {}` tells more",
        image.display(),
        image.display()
    )]
    Damaged {
        /// The image file.
        image: PathBuf,
        /// What the purses came upon.
        failure: HeapFailure,
    },
    /// An empty bank finds no room on the image's part.
    #[error("{}: purses need a part with larger erase units: {failure}", image.display())]
    SmallUnits {
        /// The image file.
        image: PathBuf,
        /// What did not fit.
        failure: HeapFailure,
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
    Format(MountError<PartError>),
    /// Mounting.
    #[error("cannot be mounted: {0}")]
    Mount(MountError<PartError>),
    /// Formatting a `Remap`.
    #[error("cannot be formatted: {0}")]
    RemapFormat(RemapMountError<SimError>),
    /// Mounting a `Remap`.
    #[error("cannot be mounted: {0}")]
    Remap(RemapMountError<SimError>),
    /// Creating an object.
    #[error(transparent)]
    Create(#[from] CreateError<PartError>),
    /// Reading or writing an object.
    #[error(transparent)]
    Access(#[from] AccessError<PartError>),
    /// Beginning or committing a transaction.
    #[error(transparent)]
    Transaction(#[from] TransactionError<PartError>),
    /// Reading the store below the heap.
    #[error(transparent)]
    Store(#[from] StoreError<PartError>),
    /// Something impossible on flash, and where.
    #[error("corrupted: {0}")]
    Corrupted(Violation),
    /// The heap is sound, but not one of purses.
    #[error("holds no purses: {0}")]
    NoBank(String),
}

impl HeapFailure {
    /// Whether the cause is that the power was cut.
    pub fn is_power_loss(&self) -> bool {
        match self {
            HeapFailure::Format(error) | HeapFailure::Mount(error) => {
                *error == MountError::Device(PartError::Device(SimError::PowerLost))
            }
            HeapFailure::Remap(error) => *error == RemapMountError::Device(SimError::PowerLost),
            failure => failure.store_error() == Some(&StoreError::Device(PartError::Device(SimError::PowerLost))),
        }
    }

    /// Whether the cause is something on flash that no operation of purses leaves there.
    pub fn is_damage(&self) -> bool {
        match self {
            HeapFailure::Mount(error) => {
                matches!(error, MountError::Corrupted(_) | MountError::Refused(MountRefusal::Unrecoverable))
            }
            HeapFailure::Remap(error) => matches!(error, RemapMountError::Corrupted(_)),
            HeapFailure::Access(AccessError::Stale(_) | AccessError::WrongKind(_)) => true,
            HeapFailure::Access(AccessError::OutOfRange { .. } | AccessError::WrongWidth { .. }) => true,
            HeapFailure::Corrupted(_) => true,
            failure => failure.store_error() == Some(&StoreError::Corrupted),
        }
    }

    /// Whether the part has no room for what was to be created.
    pub fn is_lack_of_room(&self) -> bool {
        matches!(self, HeapFailure::Create(CreateError::TooLarge { .. }))
            || matches!(self.store_error(), Some(StoreError::Full | StoreError::TransactionTooLarge))
    }

    fn store_error(&self) -> Option<&StoreError<PartError>> {
        match self {
            HeapFailure::Create(CreateError::Store(error))
            | HeapFailure::Access(AccessError::Store(error))
            | HeapFailure::Transaction(TransactionError::Store(error))
            | HeapFailure::Store(error) => Some(error),
            _ => None,
        }
    }

    /// The same with the place, where `heap` is corrupted.
    pub fn placed(self, heap: &ImageHeap<'_>) -> HeapFailure {
        match heap.corruption() {
            Some(corruption) if self.store_error() == Some(&StoreError::Corrupted) => {
                HeapFailure::Corrupted(corruption)
            }
            _ => self,
        }
    }

    /// The same with the image that it happened in, and what damage means for purses.
    pub fn in_purses(self, image: &Path) -> Error {
        let image = image.to_owned();
        match self {
            HeapFailure::Mount(_) | HeapFailure::Remap(_) if self.is_damage() => {
                Error::NotMounted { image, failure: self }
            }
            failure if failure.is_damage() => Error::Damaged { image, failure },
            failure => Error::Heap { image, failure },
        }
    }

    /// The same with the image that it happened in.
    pub fn in_image(self, image: &Path) -> Error {
        Error::Heap { image: image.to_owned(), failure: self }
    }
}
