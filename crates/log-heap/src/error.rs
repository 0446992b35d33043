//! What can go wrong, a family per kind of call.

use core::fmt;

use norn_flash::{GuardError, MountError as AnyMountError, Violation};

use crate::reference::Ref;

/// Why a part could not be formatted or mounted.
pub type MountError<E> = AnyMountError<E>;

/// What any call may meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError<E> {
    /// The device failed, in this call. The heap is halted: mount it again.
    Device(E),
    /// The device failed in an earlier call, or the heap was not mounted.
    Halted,
    /// No room: delete something.
    Full,
    /// The part holds something that no sequence of calls and power cuts leaves there.
    Corrupted(Violation),
}

impl<E: fmt::Debug> fmt::Display for StoreError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Device(error) => write!(f, "the device failed: {error:?}"),
            StoreError::Halted => f.write_str("halted after a failure of the device: mount again"),
            StoreError::Full => f.write_str("full: delete something"),
            StoreError::Corrupted(violation) => write!(f, "corrupted: {violation}"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for StoreError<E> {}

impl<E> From<GuardError<E>> for StoreError<E> {
    fn from(error: GuardError<E>) -> Self {
        match error {
            GuardError::Device(error) => StoreError::Device(error),
            GuardError::Halted => StoreError::Halted,
        }
    }
}

/// Why an object was not created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateError<E> {
    /// No fields.
    NoFields,
    /// More than 255 fields.
    TooManyFields {
        /// Requested fields.
        count: usize,
    },
    /// A field of no bytes.
    ZeroWidth {
        /// Index of the field.
        field: usize,
    },
    /// An object of this size exceeds the largest sector.
    TooLarge {
        /// Granules of the largest sector with such fields on this part.
        granules_max: u32,
    },
    /// A header of more than 255 bytes.
    HeaderTooLarge {
        /// Requested bytes.
        bytes: usize,
    },
    /// All 65,535 references are in use.
    NoReferences,
    /// The store failed; `Full` among others.
    Store(StoreError<E>),
}

impl<E: fmt::Debug> fmt::Display for CreateError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CreateError::NoFields => f.write_str("an object needs at least one field"),
            CreateError::TooManyFields { count } => write!(f, "{count} fields: at most 255"),
            CreateError::ZeroWidth { field } => write!(f, "field {field} has no bytes"),
            CreateError::TooLarge { granules_max } => {
                write!(f, "an object of more than {granules_max} granules, its header included")
            }
            CreateError::HeaderTooLarge { bytes } => write!(f, "a header of {bytes} bytes: at most 255"),
            CreateError::NoReferences => f.write_str("all 65535 references are in use"),
            CreateError::Store(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for CreateError<E> {}

impl<E> From<StoreError<E>> for CreateError<E> {
    fn from(error: StoreError<E>) -> Self {
        CreateError::Store(error)
    }
}

/// Why an access failed. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessError<E> {
    /// The reference names nothing: what it named was deleted.
    Stale(Ref),
    /// A call for objects of an array, or one for arrays of an object.
    WrongKind,
    /// A field or an element beyond the last.
    OutOfRange {
        /// The number of fields or elements.
        count: u32,
    },
    /// A buffer that is not of the width of the field or element, or not of whole ones.
    WrongWidth {
        /// Bytes of the field or element, or of the fields.
        width: u32,
    },
    /// A header that this object cannot have.
    HeaderTooLarge {
        /// Bytes of the largest header for such fields on this part.
        bytes_max: u32,
    },
    /// A root's name is empty or longer than 32 bytes.
    NameLength(usize),
    /// No slot is left for a directory of roots.
    NoReferences,
    /// The store failed; `Full` among others.
    Store(StoreError<E>),
}

impl<E: fmt::Debug> fmt::Display for AccessError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessError::Stale(reference) => write!(f, "stale reference {reference}"),
            AccessError::WrongKind => f.write_str("a call for arrays of an object, or one for objects of an array"),
            AccessError::OutOfRange { count } => write!(f, "an index beyond the last of {count} fields or elements"),
            AccessError::WrongWidth { width } => {
                write!(f, "a number of bytes that is not the {width} of the field or element")
            }
            AccessError::HeaderTooLarge { bytes_max } => write!(f, "a header of more than {bytes_max} bytes"),
            AccessError::NameLength(bytes) => write!(f, "a name of {bytes} bytes: from 1 to 32"),
            AccessError::NoReferences => f.write_str("all 65535 references are in use"),
            AccessError::Store(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for AccessError<E> {}

impl<E> From<StoreError<E>> for AccessError<E> {
    fn from(error: StoreError<E>) -> Self {
        AccessError::Store(error)
    }
}

/// Why a transaction did not begin or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionError<E> {
    /// One is open already; transactions do not nest.
    AlreadyOpen,
    /// None is open.
    NotOpen,
    /// The store failed.
    Store(StoreError<E>),
}

impl<E: fmt::Debug> fmt::Display for TransactionError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransactionError::AlreadyOpen => f.write_str("a transaction is open already"),
            TransactionError::NotOpen => f.write_str("no transaction is open"),
            TransactionError::Store(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for TransactionError<E> {}

impl<E> From<StoreError<E>> for TransactionError<E> {
    fn from(error: StoreError<E>) -> Self {
        TransactionError::Store(error)
    }
}
