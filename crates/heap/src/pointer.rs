//! Physical pointers, and who is notified when they are no longer valid.

use norn_flash::Address;

use crate::error::PointerError;
use crate::object_heap::ObjectHeap;
use crate::reference::Ref;

/// Where bytes of an object or array are on the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysicalPointer {
    /// The first byte.
    pub address: Address,
    /// Contiguous bytes from there on: to the end of the object, the array's section or the header.
    pub len: usize,
    /// Of what the listener is notified when the pointer ends: the object or array, or, where each section of an array
    /// has a reference, the section.
    pub notified: Ref,
}

/// Heaps on flash that say where values are, and notify a [`Listener`] when they are there no longer.
///
/// A program that reads a value often keeps its pointer: a read then is one of the device, on a mapped part a load,
/// without looking the object up. `norn-object-heap` and `norn-log-heap` have such pointers; each says what one costs.
/// An [`ObjectHeap`] need not have them.
///
/// *Errors.* `NoListener` where the heap was made without one; `TransactionOpen` within a transaction, because its end
/// may move values; those of a read, and of an update without effect, since a pointer may have to bring what is
/// scattered together. No value changes.
pub trait PhysicalPointers: ObjectHeap {
    /// Who is notified.
    type Listener: Listener;

    /// The listener, for example to store a new pointer in it.
    fn listener_mut(&mut self) -> &mut Self::Listener;

    /// Where the value of field `index` of an object is, with those of the fields after it.
    ///
    /// # Errors
    /// The trait's.
    fn field_pointer(&mut self, object: Ref, index: usize) -> Result<PhysicalPointer, PointerError<Self::DeviceError>>;

    /// Where the value of element `index` of an array is, with those after it in its section.
    ///
    /// # Errors
    /// The trait's.
    fn array_pointer(&mut self, array: Ref, index: usize) -> Result<PhysicalPointer, PointerError<Self::DeviceError>>;

    /// Where the header of an object or array is; `None` if there is none.
    ///
    /// # Errors
    /// The trait's.
    fn header_pointer(&mut self, of: Ref) -> Result<Option<PhysicalPointer>, PointerError<Self::DeviceError>>;
}

/// Hears which pointers with notification are no longer valid, during the call that makes them so.
///
/// A client's rule: when it is notified of a reference, it forgets all pointers that [name](PhysicalPointer::notified)
/// it. Then all that it keeps are right between any two calls. It may be notified of what it has no pointer to: of any
/// object that changes or moves. `()` is for programs that keep no pointers.
pub trait Listener {
    /// Whether pointers are given out at all. Where not, the code that keeps account of them is left out of the
    /// program.
    const LISTENS: bool = true;

    /// No pointer that names this reference is valid any more.
    fn invalidated(&mut self, reference: Ref);

    /// No pointer at all is valid any more: the device has failed in a call that changes something, or the part is
    /// damaged where it would say which ones.
    fn all_invalidated(&mut self);
}

impl Listener for () {
    const LISTENS: bool = false;

    fn invalidated(&mut self, _: Ref) {}

    fn all_invalidated(&mut self) {}
}
