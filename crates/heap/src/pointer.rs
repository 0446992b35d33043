//! Physical pointers, and who is notified when they are no longer valid.

use norn_flash::Address;

use crate::reference::Ref;

/// Where bytes of an object or array are on the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysicalPointer {
    /// The first byte.
    pub address: Address,
    /// Contiguous bytes from there on: to the end of the object, the array's section or the header.
    pub len: usize,
}

/// Hears which pointers with notification are no longer valid, during the call that makes them so.
///
/// A client's rule: when it is notified of an object, it forgets all addresses of that object. Then all addresses that
/// it keeps are right between any two calls. It may be notified of objects of which it keeps no address. `()` is for
/// programs that keep no pointers.
pub trait Listener {
    /// Whether pointers are given out at all. Where not, the code that keeps account of them is left out of the
    /// program.
    const LISTENS: bool = true;

    /// No pointer to a value or the header of this object or array is valid any more.
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
