//! The trait of heaps: of a flash heap of either engine, and of the EEPROM heap.

use core::cmp::Ordering;
use core::fmt;

use norn_flash::{StoreError, Violation};

use crate::error::{AccessError, CreateError, TransactionError};
use crate::layout::{Elements, Info, Kind, Layout};
use crate::reference::Ref;

/// Longest name of a root in bytes.
pub const NAME_BYTES_MAX: usize = 32;

/// Persistent objects and arrays on some device, mounted.
///
/// Each call is atomic, except where it is said: after a loss of power at any operation of the device, the engine's
/// mount finds what was acknowledged, and what was in flight whole or absent. Several calls become one with
/// [`begin`](Self::begin) and [`commit`](Self::commit).
///
/// *Costs* are those of the engine, which states them with its method of the same name, in the device's units.
///
/// *Errors.* A call that fails has no effect, except where it is said. After `Device` the heap is halted, and every
/// call returns `Halted` until it is mounted again. After `Corrupted`, [`corruption`](Self::corruption) returns what
/// was found.
///
/// *Within a transaction* a call that fails has no effect, or has *aborted* the transaction: then nothing of it will
/// count, and every call but [`abort`](Self::abort), [`in_transaction`](Self::in_transaction) and `corruption` returns
/// `TransactionAborted`, a [`begin`](Self::begin) or [`commit`](Self::commit) `Aborted`, until `abort` has closed it.
/// Wrong arguments never abort it. Nothing but a commit that succeeds, an abort that succeeds, and a mount ends a
/// transaction: so what a caller does before that is never a change of its own.
pub trait ObjectHeap {
    /// What goes wrong on the device.
    type DeviceError: fmt::Debug;

    /// Creates an object whose fields are zero.
    ///
    /// # Errors
    /// `NoFields`, `TooManyFields`, `ZeroWidth`, `TooLarge`, `HeaderTooLarge` name what is wrong with the layout;
    /// `NoReferences`; the store's, `Full` where there is no room.
    fn create(&mut self, layout: Layout<'_>) -> Result<Ref, CreateError<Self::DeviceError>>;

    /// Creates an array of `count` elements of `width` bytes, which are zero, with a header as an object's.
    ///
    /// # Errors
    /// As [`create`](Self::create); `TooLarge` also where the part, empty, has no room.
    fn create_array(&mut self, count: usize, width: u8, header: &[u8]) -> Result<Ref, CreateError<Self::DeviceError>>;

    /// Deletes an object or array. Roots that name it are left with a stale reference.
    ///
    /// # Errors
    /// `Stale`; the store's.
    fn delete(&mut self, reference: Ref) -> Result<(), AccessError<Self::DeviceError>>;

    /// The object or array with the smallest slot above that of `after`, or the first one; `None` after the last one.
    ///
    /// # Errors
    /// The store's.
    fn next_object(&mut self, after: Option<Ref>) -> Result<Option<Ref>, AccessError<Self::DeviceError>>;

    /// What `reference` names.
    ///
    /// # Errors
    /// `Stale`; the store's.
    fn info(&mut self, reference: Ref) -> Result<Info, AccessError<Self::DeviceError>>;

    /// Reads field `index` of an object into `buffer`, which has its width.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth`; the store's.
    fn get_field(
        &mut self,
        reference: Ref,
        index: usize,
        buffer: &mut [u8],
    ) -> Result<(), AccessError<Self::DeviceError>>;

    /// Sets field `index` of an object. `value` has its width.
    ///
    /// # Errors
    /// As [`get_field`](Self::get_field); `Full` among the store's.
    fn put_field(&mut self, reference: Ref, index: usize, value: &[u8]) -> Result<(), AccessError<Self::DeviceError>>;

    /// Sets the fields of an object from `first` on to the values that follow each other in `values`: all of them or
    /// none.
    ///
    /// # Errors
    /// As [`put_field`](Self::put_field); `WrongWidth` where the values end within a field.
    fn put_fields(&mut self, reference: Ref, first: usize, values: &[u8])
    -> Result<(), AccessError<Self::DeviceError>>;

    /// Reads element `index` of an array into `buffer`, which has its width.
    ///
    /// # Errors
    /// As [`get_field`](Self::get_field).
    fn array_load(
        &mut self,
        reference: Ref,
        index: usize,
        buffer: &mut [u8],
    ) -> Result<(), AccessError<Self::DeviceError>>;

    /// Sets element `index` of an array. `value` has its width.
    ///
    /// # Errors
    /// As [`put_field`](Self::put_field).
    fn array_store(&mut self, reference: Ref, index: usize, value: &[u8])
    -> Result<(), AccessError<Self::DeviceError>>;

    /// Reads elements from `first` on into a buffer of some whole elements.
    ///
    /// # Errors
    /// As [`get_field`](Self::get_field); `WrongWidth` where the buffer ends within an element.
    fn array_read(&mut self, array: Ref, first: usize, buffer: &mut [u8])
    -> Result<(), AccessError<Self::DeviceError>>;

    /// Sets the elements of an array from `first` on to the values that follow each other in `values`: all of them or
    /// none.
    ///
    /// # Errors
    /// As [`put_field`](Self::put_field); `WrongWidth` where the values end within an element.
    fn array_write(&mut self, array: Ref, first: usize, values: &[u8]) -> Result<(), AccessError<Self::DeviceError>>;

    /// Gives every element of a range the same value. Whether each element is changed atomically, the engine says; the
    /// range is not.
    ///
    /// # Errors
    /// As [`put_field`](Self::put_field). After the store's errors a part of the range may have been changed.
    fn array_fill_non_atomic(&mut self, to: Elements, value: &[u8]) -> Result<(), AccessError<Self::DeviceError>>;

    /// Copies elements of `from` to `to`, an array and the index of the first. The arrays may be the same, and the
    /// ranges overlap. Whether each element is changed atomically, the engine says; the range is not.
    ///
    /// # Errors
    /// As [`array_fill_non_atomic`](Self::array_fill_non_atomic); `WrongWidth` where the elements differ in width.
    fn array_copy_non_atomic(&mut self, from: Elements, to: (Ref, usize))
    -> Result<(), AccessError<Self::DeviceError>>;

    /// Copies as [`array_copy_non_atomic`](Self::array_copy_non_atomic) does: all of them or none.
    ///
    /// # Errors
    /// As [`put_field`](Self::put_field); `WrongWidth` where the elements differ in width.
    fn array_copy(&mut self, from: Elements, to: (Ref, usize)) -> Result<(), AccessError<Self::DeviceError>>;

    /// Compares elements of `from` with as many of `to`, an array and the index of the first: byte by byte without
    /// sign, as `Ord` does for slices.
    ///
    /// # Errors
    /// As [`get_field`](Self::get_field); `WrongWidth` where the elements differ in width.
    fn array_compare(&mut self, from: Elements, to: (Ref, usize)) -> Result<Ordering, AccessError<Self::DeviceError>>;

    /// Reads as much of the header of an object or array as `buffer` holds; returns the header's length.
    ///
    /// # Errors
    /// `Stale`; the store's.
    fn read_header(&mut self, reference: Ref, buffer: &mut [u8]) -> Result<usize, AccessError<Self::DeviceError>>;

    /// Replaces the header of an object or array.
    ///
    /// # Errors
    /// `Stale`, `HeaderTooLarge`; the store's, `Full` among them.
    fn write_header(&mut self, reference: Ref, header: &[u8]) -> Result<(), AccessError<Self::DeviceError>>;

    /// Makes a name lead to an object or array, or to nothing. The name has from 1 to [`NAME_BYTES_MAX`] bytes.
    ///
    /// # Errors
    /// `NameLength`; `Stale` for a reference that names nothing; `NoReferences`; the store's, `Full` among them.
    fn set_root(&mut self, name: &[u8], reference: Option<Ref>) -> Result<(), AccessError<Self::DeviceError>>;

    /// What a name leads to. It may have been deleted.
    ///
    /// # Errors
    /// `NameLength`; the store's.
    fn root(&mut self, name: &[u8]) -> Result<Option<Ref>, AccessError<Self::DeviceError>>;

    /// Calls `visit` with each name and what it leads to, in no particular order.
    ///
    /// # Errors
    /// The store's.
    fn visit_roots(&mut self, visit: impl FnMut(&[u8], Ref)) -> Result<(), AccessError<Self::DeviceError>>;

    /// Begins a transaction: everything up to [`commit`](Self::commit) takes effect at once, or not at all. Calls see it
    /// before. A loss of power undoes it.
    ///
    /// # Errors
    /// `AlreadyOpen`: transactions do not nest. `Aborted` where an aborted one is still open. The store's.
    fn begin(&mut self) -> Result<(), TransactionError<Self::DeviceError>>;

    /// Makes the changes of the open transaction permanent.
    ///
    /// # Errors
    /// `NotOpen`; `Aborted` where a failure has aborted it; the store's, `TransactionTooLarge` among them: it is still
    /// open. After `Corrupted` it may be halted; the next mount finds whether it was committed.
    fn commit(&mut self) -> Result<(), TransactionError<Self::DeviceError>>;

    /// Undoes the changes of the open transaction; what it created is gone.
    ///
    /// # Errors
    /// `NotOpen`; the store's: it is aborted, and still open.
    fn abort(&mut self) -> Result<(), TransactionError<Self::DeviceError>>;

    /// Whether a transaction is open.
    fn in_transaction(&self) -> bool;

    /// What the last call that failed with [`Corrupted`](StoreError::Corrupted) found, and where.
    fn corruption(&self) -> Option<Violation>;

    /// The width of a field or element in bytes.
    ///
    /// # Errors
    /// `Stale`, `OutOfRange`; the store's.
    fn width(&mut self, reference: Ref, index: usize) -> Result<usize, AccessError<Self::DeviceError>> {
        let asked = match self.info(reference)?.kind {
            Kind::Object => self.get_field(reference, index, &mut []),
            Kind::Array => self.array_load(reference, index, &mut []),
        };
        match asked {
            Err(AccessError::WrongWidth { width }) => Ok(width as usize),
            Err(error) => Err(error),
            // No field has no bytes.
            Ok(()) => Err(StoreError::Corrupted.into()),
        }
    }
}
