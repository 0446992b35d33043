//! What purses fail with. Each message names the file that is concerned.

use std::io;
use std::path::{Path, PathBuf};

use norn_flash_sim::ImageError;
use norn_heap::{AccessError, CreateError, TransactionError};
use norn_heap_image::{HeapFailure, HeapImageError, ImageHeap, PartError};

use crate::script::ScriptError;

/// Why a script could not be run on an image.
#[derive(Debug, thiserror::Error)]
pub enum PurseError {
    /// The heap in the image could not be made or mounted.
    #[error(transparent)]
    Heap(#[from] HeapImageError),
    /// The image file could not be opened.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The bank in the image failed.
    #[error("{}: {failure}", image.display())]
    Bank {
        /// The image file.
        image: PathBuf,
        /// What failed.
        failure: BankFailure,
    },
    /// The bank failed while the power was being cut.
    #[error("{}: {failure}, after {cuts} power cuts of seed {seed}; replay: {replay}", image.display())]
    UnderCuts {
        /// The image file.
        image: PathBuf,
        /// What failed.
        failure: BankFailure,
        /// Cuts so far.
        cuts: u64,
        /// The seed that they derive from.
        seed: u64,
        /// The command that does the same again.
        replay: String,
    },
    /// The heap is damaged, and purses found the damage.
    #[error(
        "{}: {failure}: the heap in the image is damaged; `norn heap check {}` shows where",
        image.display(),
        image.display()
    )]
    Damaged {
        /// The image file.
        image: PathBuf,
        /// What the purses found.
        failure: HeapFailure,
    },
    /// An empty bank finds no room on the image's part.
    #[error("{}: purses need a part with larger erase units: {failure}", image.display())]
    SmallUnits {
        /// The image file.
        image: PathBuf,
        /// What did not fit.
        failure: BankFailure,
    },
    /// The image exists and is of another part than requested.
    #[error("{}: a {found}, not a {wanted}: leave out --part, or take another image", image.display())]
    OtherPart {
        /// The image file.
        image: PathBuf,
        /// Its part.
        found: String,
        /// The requested part.
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
}

/// What a bank failed with, whatever it was doing.
#[derive(Debug, thiserror::Error)]
pub enum BankFailure {
    /// The heap that it is in.
    #[error(transparent)]
    Heap(#[from] HeapFailure),
    /// The heap is sound, but not one of purses.
    #[error("holds no purses: {0}")]
    NoBank(String),
}

impl BankFailure {
    /// Whether the cause is that the power was cut.
    pub(crate) fn is_power_loss(&self) -> bool {
        matches!(self, BankFailure::Heap(failure) if failure.is_power_loss())
    }

    /// Whether the part has no room for what was to be created.
    pub(crate) fn is_lack_of_room(&self) -> bool {
        matches!(self, BankFailure::Heap(failure) if failure.is_lack_of_room())
    }

    /// The same with the place, where `heap` is corrupted.
    pub(crate) fn placed(self, heap: &ImageHeap<'_>) -> BankFailure {
        match self {
            BankFailure::Heap(failure) => BankFailure::Heap(failure.placed(heap)),
            failure => failure,
        }
    }

    /// The same with the image that it happened in, and what damage means for purses.
    pub(crate) fn in_image(self, image: &Path) -> PurseError {
        let image = image.to_owned();
        match self {
            BankFailure::Heap(failure) if failure.is_refusal() => HeapImageError::Heap { image, failure }.into(),
            BankFailure::Heap(failure) if failure.is_damage() => PurseError::Damaged { image, failure },
            failure => PurseError::Bank { image, failure },
        }
    }
}

/// The heap's errors, as `?` meets them.
macro_rules! from_heap {
    ($($error:ident),+) => {
        $(impl From<$error<PartError>> for BankFailure {
            fn from(error: $error<PartError>) -> Self {
                BankFailure::Heap(error.into())
            }
        })+
    };
}

from_heap!(AccessError, CreateError, TransactionError);
