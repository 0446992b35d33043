//! What the card asks of a heap on flash, and TinyStore's heap as one.

use norn_flash::Nor;
use norn_nor_store::{Features, StoreError, UnitRows};
use norn_object_heap::{
    AccessError, CollectError, CreateError, Elements, HeapIn, Layout, Listener, Ref, Representation, TracerIn,
    TransactionError,
};

use crate::end::Failure;

/// Bytes of the header of each object and array.
pub const HEADER_BYTES: usize = 4;

/// Steps of a reclamation for each erase unit, so that even those for even wear end it.
const STEPS_A_UNIT: u32 = 8;

/// A heap whose objects have fields of 1, 2 or 4 bytes, whose single changes are atomic and become one by a
/// transaction. Where a change fails within a transaction, the whole transaction has to be aborted before the next
/// call.
pub trait PersistentHeap {
    /// Names an object or array.
    type Reference: Copy + core::fmt::Debug;
    /// Why the heap fails.
    type Error;

    /// The reference of a number; none for a number that no reference has, as all below 65,536 are.
    fn reference(bits: u32) -> Option<Self::Reference>;

    /// A reference as a number.
    fn bits(reference: Self::Reference) -> u32;

    /// An object with a field of each width, at least one, all zero.
    ///
    /// # Errors
    ///
    /// [`Failure::NoRoom`] where it does not fit.
    fn create(&mut self, widths: &[u8], header: [u8; HEADER_BYTES]) -> Result<Self::Reference, Failure<Self::Error>>;

    /// An array of at least one element, all zero.
    ///
    /// # Errors
    ///
    /// As [`PersistentHeap::create`].
    fn create_array(
        &mut self,
        count: u16,
        width: u8,
        header: [u8; HEADER_BYTES],
    ) -> Result<Self::Reference, Failure<Self::Error>>;

    /// The header of an object or array.
    ///
    /// # Errors
    ///
    /// If there is no such object.
    fn header(&mut self, reference: Self::Reference) -> Result<[u8; HEADER_BYTES], Self::Error>;

    /// How many fields or elements there are.
    ///
    /// # Errors
    ///
    /// If there is no such object.
    fn count(&mut self, reference: Self::Reference) -> Result<usize, Self::Error>;

    /// Reads a field; the buffer has its width.
    ///
    /// # Errors
    ///
    /// If there is no such field, or it has another width.
    fn read_field(&mut self, object: Self::Reference, index: u8, value: &mut [u8]) -> Result<(), Self::Error>;

    /// Changes a field.
    ///
    /// # Errors
    ///
    /// As [`PersistentHeap::read_field`], and [`Failure::NoRoom`].
    fn write_field(&mut self, object: Self::Reference, index: u8, value: &[u8]) -> Result<(), Failure<Self::Error>>;

    /// Reads an element; the buffer has its width.
    ///
    /// # Errors
    ///
    /// If there is no such element, or it has another width.
    fn read_element(&mut self, array: Self::Reference, index: u16, value: &mut [u8]) -> Result<(), Self::Error>;

    /// Changes an element.
    ///
    /// # Errors
    ///
    /// As [`PersistentHeap::read_element`], and [`Failure::NoRoom`].
    fn write_element(&mut self, array: Self::Reference, index: u16, value: &[u8]) -> Result<(), Failure<Self::Error>>;

    /// Reads elements from an index on into a buffer of some whole elements.
    ///
    /// # Errors
    ///
    /// If there is no such array, or it ends before.
    fn read_elements(&mut self, array: Self::Reference, first: u16, into: &mut [u8]) -> Result<(), Self::Error>;

    /// Changes elements from an index on: all of them or none.
    ///
    /// # Errors
    ///
    /// As [`PersistentHeap::read_elements`], and [`Failure::NoRoom`].
    fn write_elements(&mut self, array: Self::Reference, first: u16, from: &[u8]) -> Result<(), Failure<Self::Error>>;

    /// Changes bytes of an array of bytes, at once: also where a transaction is open, which does not take them back. A
    /// power cut leaves any of up to 32 bytes each changed or not. A heap without a [`Journaled`](crate::Journaled)
    /// around it has no room for that in a transaction.
    ///
    /// # Errors
    ///
    /// As [`PersistentHeap::write_elements`].
    fn write_outside(&mut self, array: Self::Reference, first: u16, from: &[u8]) -> Result<(), Failure<Self::Error>> {
        if self.in_transaction() { Err(Failure::NoRoom) } else { self.write_elements(array, first, from) }
    }

    /// Copies elements between arrays of the same width, which may be one: all of them or none.
    ///
    /// # Errors
    ///
    /// As [`PersistentHeap::write_elements`].
    fn copy_elements(
        &mut self,
        from: (Self::Reference, u16),
        to: (Self::Reference, u16),
        count: u16,
    ) -> Result<(), Failure<Self::Error>>;

    /// Writes an object or array anew, with the values that it has: what it had before is used by nobody then. No
    /// transaction is open.
    ///
    /// # Errors
    ///
    /// If there is no such object, and [`Failure::NoRoom`].
    fn rewrite(&mut self, reference: Self::Reference) -> Result<(), Failure<Self::Error>>;

    /// Erases what nobody uses: no byte of it can be read from the memory any more. No transaction is open.
    ///
    /// # Errors
    ///
    /// [`Failure::NoRoom`] where that needs more room than there is, or if the heap fails.
    fn erase_unused(&mut self) -> Result<(), Failure<Self::Error>>;

    /// Deletes an object or array.
    ///
    /// # Errors
    ///
    /// If there is no such object.
    fn delete(&mut self, reference: Self::Reference) -> Result<(), Failure<Self::Error>>;

    /// The object or array that follows another in an order of the heap's own; the first one after none.
    ///
    /// # Errors
    ///
    /// If the heap fails.
    fn next_object(&mut self, after: Option<Self::Reference>) -> Result<Option<Self::Reference>, Self::Error>;

    /// Deletes what no root reaches, and returns how many objects that were. `tracer` is asked what each object that is
    /// reached refers to; where it does not know, nothing is deleted, and the result is none. No transaction is open.
    ///
    /// # Errors
    ///
    /// [`Failure::NoRoom`] for the marks; what `tracer` returns, or if the heap fails.
    fn collect(
        &mut self,
        tracer: &mut impl Tracer<Self::Reference, Self::Error>,
    ) -> Result<Option<u32>, Failure<Self::Error>>;

    /// Whether an error says that a reference leads nowhere.
    fn is_missing(error: &Self::Error) -> bool;

    /// Whether an error says that there is no such field or element, as hostile code may ask for: the memory is well.
    fn is_misuse(error: &Self::Error) -> bool;

    /// Bytes that new objects may take, about.
    fn free_bytes(&self) -> u32;

    /// The object that a root leads to.
    ///
    /// # Errors
    ///
    /// If the heap fails.
    fn root(&mut self, name: [u8; 2]) -> Result<Option<Self::Reference>, Self::Error>;

    /// Makes a root lead to an object, or to none.
    ///
    /// # Errors
    ///
    /// [`Failure::NoRoom`], or if the heap fails.
    fn set_root(&mut self, name: [u8; 2], object: Option<Self::Reference>) -> Result<(), Failure<Self::Error>>;

    /// Whether a transaction is open.
    fn in_transaction(&self) -> bool;

    /// Opens a transaction; none is open.
    ///
    /// # Errors
    ///
    /// If the heap fails.
    fn begin(&mut self) -> Result<(), Self::Error>;

    /// Makes the changes of the open transaction permanent.
    ///
    /// # Errors
    ///
    /// [`Failure::NoRoom`] where it is too large: it is undone and closed then.
    fn commit(&mut self) -> Result<(), Failure<Self::Error>>;

    /// Undoes the open transaction.
    ///
    /// # Errors
    ///
    /// If the heap fails.
    fn abort(&mut self) -> Result<(), Self::Error>;
}

/// Who knows what an object refers to.
pub trait Tracer<R, E> {
    /// Says what an object refers to, by [`Tracing::reached`]; false where that is not known.
    ///
    /// # Errors
    ///
    /// If the heap fails.
    fn trace(&mut self, heap: &mut impl Tracing<R, E>, object: R) -> Result<bool, E>;
}

/// A heap whose garbage is collected: objects are read, and said to be reached.
pub trait Tracing<R, E> {
    /// [`PersistentHeap::header`].
    ///
    /// # Errors
    ///
    /// As there.
    fn header(&mut self, reference: R) -> Result<[u8; HEADER_BYTES], E>;

    /// [`PersistentHeap::count`].
    ///
    /// # Errors
    ///
    /// As there.
    fn count(&mut self, reference: R) -> Result<usize, E>;

    /// [`PersistentHeap::read_field`].
    ///
    /// # Errors
    ///
    /// As there.
    fn read_field(&mut self, object: R, index: u8, value: &mut [u8]) -> Result<(), E>;

    /// [`PersistentHeap::read_element`].
    ///
    /// # Errors
    ///
    /// As there.
    fn read_element(&mut self, array: R, index: u16, value: &mut [u8]) -> Result<(), E>;

    /// The object that is traced refers to another one.
    ///
    /// # Errors
    ///
    /// If the heap fails.
    fn reached(&mut self, reference: R) -> Result<(), E>;
}

fn has_no_room<E>(error: &StoreError<E>) -> bool {
    matches!(error, StoreError::Full | StoreError::TransactionTooLarge)
}

fn creation<E>(error: CreateError<E>) -> Failure<AccessError<E>> {
    match error {
        CreateError::Store(error) if !has_no_room(&error) => Failure::Error(AccessError::Store(error)),
        CreateError::TransactionAborted => Failure::Error(AccessError::TransactionAborted),
        // Counts and widths are a card's; what remains is too large for the part.
        _ => Failure::NoRoom,
    }
}

fn change<E>(error: AccessError<E>) -> Failure<AccessError<E>> {
    match error {
        AccessError::Store(error) if has_no_room(&error) => Failure::NoRoom,
        error => Failure::Error(error),
    }
}

fn end<E>(error: TransactionError<E>) -> AccessError<E> {
    match error {
        TransactionError::Store(error) => AccessError::Store(error),
        // The card begins no second transaction, and ends none twice.
        _ => AccessError::TransactionAborted,
    }
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> Tracing<Ref, AccessError<D::Error>> for TracerIn<'_, D, M, L, F> {
    fn header(&mut self, reference: Ref) -> Result<[u8; HEADER_BYTES], AccessError<D::Error>> {
        PersistentHeap::header(self.heap(), reference)
    }

    fn count(&mut self, reference: Ref) -> Result<usize, AccessError<D::Error>> {
        PersistentHeap::count(self.heap(), reference)
    }

    fn read_field(&mut self, object: Ref, index: u8, value: &mut [u8]) -> Result<(), AccessError<D::Error>> {
        PersistentHeap::read_field(self.heap(), object, index, value)
    }

    fn read_element(&mut self, array: Ref, index: u16, value: &mut [u8]) -> Result<(), AccessError<D::Error>> {
        PersistentHeap::read_element(self.heap(), array, index, value)
    }

    fn reached(&mut self, reference: Ref) -> Result<(), AccessError<D::Error>> {
        TracerIn::reached(self, reference)
    }
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> PersistentHeap for HeapIn<D, M, L, F> {
    type Reference = Ref;
    type Error = AccessError<D::Error>;

    fn reference(bits: u32) -> Option<Ref> {
        Ref::from_bits(bits)
    }

    fn bits(reference: Ref) -> u32 {
        reference.bits()
    }

    fn create(&mut self, widths: &[u8], header: [u8; HEADER_BYTES]) -> Result<Ref, Failure<Self::Error>> {
        HeapIn::create(self, Layout::fields(widths).with_header(&header)).map_err(creation)
    }

    fn create_array(&mut self, count: u16, width: u8, header: [u8; HEADER_BYTES]) -> Result<Ref, Failure<Self::Error>> {
        HeapIn::create_array(self, usize::from(count), width, &header).map_err(creation)
    }

    fn header(&mut self, reference: Ref) -> Result<[u8; HEADER_BYTES], Self::Error> {
        let mut header = [0; HEADER_BYTES];
        self.read_header(reference, &mut header)?;
        Ok(header)
    }

    fn count(&mut self, reference: Ref) -> Result<usize, Self::Error> {
        Ok(self.info(reference)?.count)
    }

    fn read_field(&mut self, object: Ref, index: u8, value: &mut [u8]) -> Result<(), Self::Error> {
        self.get_field(object, usize::from(index), value)
    }

    fn write_field(&mut self, object: Ref, index: u8, value: &[u8]) -> Result<(), Failure<Self::Error>> {
        self.put_field(object, usize::from(index), value).map_err(change)
    }

    fn read_element(&mut self, array: Ref, index: u16, value: &mut [u8]) -> Result<(), Self::Error> {
        self.array_load(array, usize::from(index), value)
    }

    fn write_element(&mut self, array: Ref, index: u16, value: &[u8]) -> Result<(), Failure<Self::Error>> {
        self.array_store(array, usize::from(index), value).map_err(change)
    }

    fn read_elements(&mut self, array: Ref, first: u16, into: &mut [u8]) -> Result<(), Self::Error> {
        self.array_read(array, usize::from(first), into)
    }

    fn write_elements(&mut self, array: Ref, first: u16, from: &[u8]) -> Result<(), Failure<Self::Error>> {
        self.array_write(array, usize::from(first), from).map_err(change)
    }

    fn copy_elements(
        &mut self,
        (array, first): (Ref, u16),
        (to, at): (Ref, u16),
        count: u16,
    ) -> Result<(), Failure<Self::Error>> {
        let from = Elements { array, first: usize::from(first), count: usize::from(count) };
        self.array_copy(from, (to, usize::from(at))).map_err(change)
    }

    fn rewrite(&mut self, reference: Ref) -> Result<(), Failure<Self::Error>> {
        // A change of the representation writes all values into one record.
        self.set_representation(reference, Representation::ModifyOptimized).map_err(change)?;
        self.set_representation(reference, Representation::ReadOptimized).map_err(change)
    }

    fn erase_unused(&mut self) -> Result<(), Failure<Self::Error>> {
        // Each step erases a unit that has such bytes, or a random one for the sake of even wear, or the log.
        let steps = STEPS_A_UNIT * u32::from(self.store().part().unit_count);
        for _ in 0..steps {
            let worked = self.reclaim_step(1).map_err(AccessError::Store).map_err(change)?;
            if !worked {
                return Ok(());
            }
        }
        Err(Failure::NoRoom)
    }

    fn delete(&mut self, reference: Ref) -> Result<(), Failure<Self::Error>> {
        HeapIn::delete(self, reference).map_err(change)
    }

    fn next_object(&mut self, after: Option<Ref>) -> Result<Option<Ref>, Self::Error> {
        HeapIn::next_object(self, after)
    }

    fn collect(&mut self, tracer: &mut impl Tracer<Ref, Self::Error>) -> Result<Option<u32>, Failure<Self::Error>> {
        let mut is_stopped = false;
        let collected = HeapIn::collect(self, &[], |heap, reference| match tracer.trace(heap, reference)? {
            true => Ok(()),
            false => {
                is_stopped = true;
                Err(AccessError::Stale(reference))
            }
        });
        match collected {
            Ok(collected) => Ok(Some(collected.deleted)),
            Err(_) if is_stopped => Ok(None),
            Err(CollectError::Access(error)) => Err(change(error)),
            Err(CollectError::TooManyObjects { .. }) => Err(Failure::NoRoom),
            Err(CollectError::TransactionOpen) => Err(Failure::Error(AccessError::TransactionAborted)),
        }
    }

    fn is_missing(error: &Self::Error) -> bool {
        matches!(error, AccessError::Stale(_))
    }

    fn is_misuse(error: &Self::Error) -> bool {
        matches!(error, AccessError::OutOfRange { .. } | AccessError::WrongWidth { .. } | AccessError::WrongKind(_))
    }

    fn free_bytes(&self) -> u32 {
        u32::try_from(self.ready_bytes()).unwrap_or(u32::MAX)
    }

    fn root(&mut self, name: [u8; 2]) -> Result<Option<Ref>, Self::Error> {
        HeapIn::root(self, &name)
    }

    fn set_root(&mut self, name: [u8; 2], object: Option<Ref>) -> Result<(), Failure<Self::Error>> {
        HeapIn::set_root(self, &name, object).map_err(change)
    }

    fn in_transaction(&self) -> bool {
        HeapIn::in_transaction(self)
    }

    fn begin(&mut self) -> Result<(), Self::Error> {
        HeapIn::begin(self).map_err(end)
    }

    fn commit(&mut self) -> Result<(), Failure<Self::Error>> {
        match HeapIn::commit(self) {
            Ok(()) => Ok(()),
            Err(TransactionError::Store(error)) if !has_no_room(&error) => Err(Failure::Error(error.into())),
            Err(error) => {
                HeapIn::abort(self).map_err(|error| Failure::Error(end(error)))?;
                Err(change(end(error)))
            }
        }
    }

    fn abort(&mut self) -> Result<(), Self::Error> {
        HeapIn::abort(self).map_err(end)
    }
}
