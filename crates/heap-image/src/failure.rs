//! What a heap in an image file fails with. Each message names the file that is concerned.

use std::path::{Path, PathBuf};

use norn_flash_sim::{ImageError, SimError};
use norn_heap::{AccessError, CreateError, ObjectHeap, StoreError, TransactionError, Violation};
use norn_nor_remap::RemapMountError;
use norn_object_heap::{MountError, MountRefusal};

use crate::heap::ImageHeap;
use crate::part::PartError;

/// Why a heap in an image file could not be made or used.
#[derive(Debug, thiserror::Error)]
pub enum HeapImageError {
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
    /// Formatting a log-structured heap.
    #[error("cannot be formatted: {0}")]
    LogFormat(norn_log_heap::MountError<PartError>),
    /// Mounting a log-structured heap.
    #[error("cannot be mounted: {0}")]
    LogMount(norn_log_heap::MountError<PartError>),
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
}

impl HeapImageError {
    /// Whether the file is no image of a heap, or of one that cannot be mounted.
    pub fn is_refusal(&self) -> bool {
        match self {
            HeapImageError::Image(error) => error.is_refusal(),
            HeapImageError::Heap { failure, .. } => failure.is_refusal(),
        }
    }
}

impl HeapFailure {
    /// Whether mounting failed for what the part holds, and not because the device failed.
    pub fn is_refusal(&self) -> bool {
        match self {
            HeapFailure::Mount(error) => !matches!(error, MountError::Device(_)),
            HeapFailure::LogMount(error) => !matches!(error, norn_log_heap::MountError::Device(_)),
            HeapFailure::Remap(error) => !matches!(error, RemapMountError::Device(_)),
            _ => false,
        }
    }

    /// Whether mounting failed because the heap was not made for this part.
    pub fn is_of_other_part(&self) -> bool {
        match self {
            HeapFailure::Mount(error) => matches!(error, MountError::WrongGeometry { .. } | MountError::Unsuitable(_)),
            HeapFailure::LogMount(error) => matches!(
                error,
                norn_log_heap::MountError::WrongGeometry { .. } | norn_log_heap::MountError::Unsuitable(_)
            ),
            HeapFailure::Remap(error) => {
                matches!(error, RemapMountError::WrongGeometry { .. } | RemapMountError::Unsuitable(_))
            }
            _ => false,
        }
    }

    /// Whether the cause is that the power was cut.
    pub fn is_power_loss(&self) -> bool {
        match self {
            HeapFailure::Format(error) | HeapFailure::Mount(error) => {
                *error == MountError::Device(PartError::Device(SimError::PowerLost))
            }
            HeapFailure::LogFormat(error) | HeapFailure::LogMount(error) => {
                *error == norn_log_heap::MountError::Device(PartError::Device(SimError::PowerLost))
            }
            HeapFailure::Remap(error) => *error == RemapMountError::Device(SimError::PowerLost),
            failure => failure.store_error() == Some(&StoreError::Device(PartError::Device(SimError::PowerLost))),
        }
    }

    /// Whether the cause is something on flash that no operation and no power cut leaves there.
    pub fn is_damage(&self) -> bool {
        match self {
            HeapFailure::Mount(error) => {
                matches!(error, MountError::Corrupted(_) | MountError::Refused(MountRefusal::Unrecoverable))
            }
            HeapFailure::LogMount(error) => matches!(error, norn_log_heap::MountError::Corrupted(_)),
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

    /// The same with the image that it happened in.
    pub fn in_image(self, image: &Path) -> HeapImageError {
        HeapImageError::Heap { image: image.to_owned(), failure: self }
    }
}
