//! Transactions: calls that take effect together or not at all.

use core::ffi::c_int;

use crate::handle::on;
use crate::heap::norn_heap;

/// Begins a transaction: everything up to `norn_heap_commit` takes effect at once, or not at all. Calls see it before.
/// A loss of power undoes it. Transactions do not nest.
///
/// A call that fails within it has no effect, and the transaction goes on. But where a range of elements fails halfway,
/// it is aborted: then every call that changes or reads the heap's contents returns `NORN_ERROR_ABORTED`, the commit
/// too, and nothing of it counts, until `norn_heap_abort` is called.
///
/// Cost: none.
///
/// Errors: `NORN_ERROR_TRANSACTION_OPEN`, `NORN_ERROR_ABORTED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_begin(heap: *mut norn_heap) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(heap, |engine| Ok(engine.begin()?)) }
}

/// Makes the changes of the open transaction permanent. If the power goes within it, either they are, or none is.
///
/// Cost: a program unit of the log, none if there were no changes; reads the notes, and a look-up for each object that
/// was written anew. Where a large array was deleted, as its deletion.
///
/// Errors: `NORN_ERROR_NO_TRANSACTION`, `NORN_ERROR_ABORTED`; the device's. The transaction is still open then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_commit(heap: *mut norn_heap) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(heap, |engine| Ok(engine.commit()?)) }
}

/// Undoes the changes of the open transaction; what it created is gone.
///
/// Cost: for each object that was changed, a program unit of the log, and a change of the object or of the map.
///
/// Errors: `NORN_ERROR_NO_TRANSACTION`; the device's. On `NORN_ERROR_FULL` it may be called again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_abort(heap: *mut norn_heap) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(heap, |engine| Ok(engine.abort()?)) }
}

/// Returns 1 if a transaction is open, 0 if none is, or an error of the handle.
///
/// Cost: RAM only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_in_transaction(heap: *mut norn_heap) -> c_int {
    let mut is_open = false;
    // SAFETY: the header's rules on pointers.
    let number = unsafe {
        on(heap, |engine| {
            is_open = engine.in_transaction();
            Ok(())
        })
    };
    if number == 0 { c_int::from(is_open) } else { number }
}
