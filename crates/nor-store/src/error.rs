//! What can go wrong while a part is laid out or mounted. What may go wrong later is [`StoreError`].

use core::fmt;

pub use norn_flash::StoreError;
use norn_flash::Violation;

/// Why a device could not be formatted or mounted. The device is as it was, except that a recovery may have begun.
pub type MountError<E> = norn_flash::MountError<E, MountRefusal>;

/// Why a store or heap refuses an image, besides the errors of all formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountRefusal {
    /// The image was made with settings that this program does not know.
    UnknownSettings,
    /// The image has what is named, or is to have it, and this program has no [code](crate::Features) for it.
    MissingFeature(&'static str),
    /// Recovery found no room or log space for its own records: the image is damaged.
    Unrecoverable,
}

impl fmt::Display for MountRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MountRefusal::UnknownSettings => f.write_str("the image's settings are not known to this program"),
            MountRefusal::MissingFeature(feature) => {
                write!(f, "the image has {feature}, or is to have it, and this program's `Features` leave it out")
            }
            MountRefusal::Unrecoverable => {
                f.write_str("recovery has no room for its own records: the image is damaged")
            }
        }
    }
}

/// Why a mount fails, while the store is still available for details.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MountFault<E> {
    /// What is known already.
    Found(MountError<E>),
    /// An operation of the store failed.
    Store(StoreError<E>),
}

impl<E> From<StoreError<E>> for MountFault<E> {
    fn from(error: StoreError<E>) -> Self {
        MountFault::Store(error)
    }
}

impl<E> From<MountError<E>> for MountFault<E> {
    fn from(error: MountError<E>) -> Self {
        MountFault::Found(error)
    }
}

impl<E> MountFault<E> {
    /// The error that the client sees; `corruption` is what was found impossible.
    pub fn explained(self, corruption: Option<Violation>) -> MountError<E> {
        match (self, corruption) {
            (MountFault::Found(error), _) => error,
            (MountFault::Store(StoreError::Device(error)), _) => MountError::Device(error),
            (MountFault::Store(StoreError::Corrupted), Some(corruption)) => MountError::Corrupted(corruption),
            (MountFault::Store(_), _) => MountError::Refused(MountRefusal::Unrecoverable),
        }
    }
}
