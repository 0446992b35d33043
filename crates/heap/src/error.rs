//! What can go wrong, a family per kind of operation: creating, accessing, transactions, collections, pointers.
//! Formatting and mounting differ from engine to engine.
//!
//! Errors are small, at most a word besides their kind, since every call passes them on. Where a heap is corrupted,
//! [`corruption`](crate::ObjectHeap::corruption) returns it. Some errors are of one engine alone; each call of an
//! engine lists its own.

use core::fmt;

use norn_flash::StoreError;

use crate::reference::Ref;

/// Why an object or array was not created. Nothing was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateError<E> {
    /// No fields or elements.
    NoFields,
    /// More fields or elements than an object or small array can have.
    TooManyFields {
        /// Requested fields.
        count: usize,
    },
    /// A field of no bytes.
    ZeroWidth {
        /// Index of the field.
        field: usize,
    },
    /// An object, record or header of this size exceeds the largest sector, or an array the part.
    TooLarge {
        /// Bytes of the largest sector on this part, or of elements that no array on it exceeds.
        max: u32,
    },
    /// A header that no object can have.
    HeaderTooLarge {
        /// Bytes of the largest header.
        max: u32,
    },
    /// All references are in use.
    NoReferences,
    /// An earlier failure has aborted the open transaction: call `abort`.
    TransactionAborted,
    /// The store failed; `Full` among others.
    Store(StoreError<E>),
}

impl<E: fmt::Debug> fmt::Display for CreateError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CreateError::NoFields => f.write_str("an object or array needs at least one field or element"),
            CreateError::TooManyFields { count } => write!(f, "{count} fields: at most 255"),
            CreateError::ZeroWidth { field } => write!(f, "field or element {field} has no bytes"),
            CreateError::TooLarge { max } => {
                write!(f, "an object, array or header of more than {max} bytes on this part")
            }
            CreateError::HeaderTooLarge { max } => write!(f, "a header of more than {max} bytes"),
            CreateError::NoReferences => f.write_str("all references are in use"),
            CreateError::TransactionAborted => {
                f.write_str("an earlier failure has aborted the transaction: call abort")
            }
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

/// Why nothing was created at a reference that the caller had chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementError<E> {
    /// This reference cannot be given: its slot, or one that an array would take after it, is in use, or the engine
    /// never gives such a reference.
    Unavailable(Ref),
    /// As of a creation.
    Create(CreateError<E>),
}

impl<E: fmt::Debug> fmt::Display for PlacementError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlacementError::Unavailable(reference) => write!(f, "{reference} cannot be given to anything here"),
            PlacementError::Create(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for PlacementError<E> {}

impl<E> From<CreateError<E>> for PlacementError<E> {
    fn from(error: CreateError<E>) -> Self {
        PlacementError::Create(error)
    }
}

impl<E> From<StoreError<E>> for PlacementError<E> {
    fn from(error: StoreError<E>) -> Self {
        PlacementError::Create(CreateError::Store(error))
    }
}

/// Why an access failed. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessError<E> {
    /// The reference names nothing: what it named was deleted, or its creation was aborted.
    Stale(Ref),
    /// A field or element index beyond the last.
    OutOfRange {
        /// The number of fields or elements.
        count: u32,
    },
    /// A buffer that is not of the field's width.
    WrongWidth {
        /// Bytes of the field.
        width: u32,
    },
    /// An object where an array is wanted, or the other way round.
    WrongKind(Ref),
    /// The part's bytes cannot be read in place.
    NotMapped,
    /// A header that this object cannot have.
    HeaderTooLarge {
        /// Bytes of the largest one on this part, where the engine counts them with the object's widths.
        max: u32,
    },
    /// A root's name is empty or longer than 32 bytes.
    NameLength(usize),
    /// No reference is left for what keeps roots.
    NoReferences,
    /// An earlier failure has aborted the open transaction: call `abort`.
    TransactionAborted,
    /// The store failed; `Full` among others.
    Store(StoreError<E>),
}

impl<E: fmt::Debug> fmt::Display for AccessError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessError::Stale(reference) => write!(f, "stale reference {reference}"),
            AccessError::OutOfRange { count } => write!(f, "an index beyond the last of {count} fields or elements"),
            AccessError::WrongWidth { width } => {
                write!(f, "a number of bytes that is not the {width} of a field or element")
            }
            AccessError::WrongKind(reference) => {
                write!(f, "{reference} is an object where an array is wanted, or the other way round")
            }
            AccessError::NotMapped => f.write_str("the part is not mapped into memory"),
            AccessError::HeaderTooLarge { max } => {
                write!(f, "a header of more than {max} bytes")
            }
            AccessError::NameLength(bytes) => write!(f, "a name of {bytes} bytes: from 1 to 32"),
            AccessError::NoReferences => f.write_str("all references are in use"),
            AccessError::TransactionAborted => {
                f.write_str("an earlier failure has aborted the transaction: call abort")
            }
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

/// Why a collection did not come to its end. Nothing reachable was deleted; some garbage may have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectError<E> {
    /// A transaction is open.
    TransactionOpen,
    /// There are not enough units that are free, or may be borrowed, for two bits a slot.
    TooManyObjects {
        /// Slots up to the last in use.
        slots: u32,
    },
    /// Reading an object or tracing failed.
    Access(AccessError<E>),
}

impl<E: fmt::Debug> fmt::Display for CollectError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CollectError::TransactionOpen => f.write_str("a transaction is open"),
            CollectError::TooManyObjects { slots } => write!(f, "no room for marks of {slots} slots"),
            CollectError::Access(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for CollectError<E> {}

impl<E> From<AccessError<E>> for CollectError<E> {
    fn from(error: AccessError<E>) -> Self {
        CollectError::Access(error)
    }
}

impl<E> From<StoreError<E>> for CollectError<E> {
    fn from(error: StoreError<E>) -> Self {
        CollectError::Access(AccessError::Store(error))
    }
}

/// Why there is no pointer with notification. Nothing was changed, but that the value may have been compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerError<E> {
    /// A transaction is open: until it ends the final place of values is unknown.
    TransactionOpen,
    /// The heap was mounted without a listener, so notifications are impossible.
    NoListener,
    /// There is no such value, or the store failed; `Full` where there is no room to note the pointer.
    Access(AccessError<E>),
}

impl<E: fmt::Debug> fmt::Display for PointerError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PointerError::TransactionOpen => f.write_str("a transaction is open"),
            PointerError::NoListener => f.write_str("the heap was mounted without a listener"),
            PointerError::Access(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for PointerError<E> {}

impl<E> From<AccessError<E>> for PointerError<E> {
    fn from(error: AccessError<E>) -> Self {
        PointerError::Access(error)
    }
}

impl<E> From<StoreError<E>> for PointerError<E> {
    fn from(error: StoreError<E>) -> Self {
        PointerError::Access(AccessError::Store(error))
    }
}

/// Why a transaction did not begin or commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionError<E> {
    /// One is open already; transactions do not nest.
    AlreadyOpen,
    /// None is open.
    NotOpen,
    /// A failure had aborted it: nothing of it takes effect. It is open until it is aborted: call `abort`.
    Aborted,
    /// The store failed.
    Store(StoreError<E>),
}

impl<E: fmt::Debug> fmt::Display for TransactionError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransactionError::AlreadyOpen => f.write_str("a transaction is open already"),
            TransactionError::NotOpen => f.write_str("no transaction is open"),
            TransactionError::Aborted => f.write_str("an earlier failure has aborted the transaction: call abort"),
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
