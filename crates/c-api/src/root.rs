//! Named roots: how a program finds its objects after a start.

use core::ffi::{c_char, c_int, c_void};

use norn_log_heap::Ref;

use crate::error::norn_error::*;
use crate::handle::on;
use crate::heap::norn_heap;
use crate::memory::{self, Out};
use crate::object::{named, norn_ref};

/// Longest name of a root in bytes, without the zero at its end.
pub const NORN_NAME_BYTES_MAX: usize = 32;

const _: () = assert!(NORN_NAME_BYTES_MAX == norn_log_heap::NAME_BYTES_MAX);

/// Takes a root: its name, with a zero at the end, the bytes of the name without it, and what it leads to.
pub type norn_root_visitor =
    Option<unsafe extern "C" fn(context: *mut c_void, name: *const c_char, name_bytes: usize, reference: norn_ref)>;

/// Makes a name lead to an object or an array, or with 0 to nothing. A name has from 1 to `NORN_NAME_BYTES_MAX` bytes.
///
/// Cost: looks through all roots, and writes up to 255 bytes of them anew, with a map change.
///
/// Errors: `NORN_ERROR_NAME`, `NORN_ERROR_STALE`, `NORN_ERROR_NO_REFERENCES`, `NORN_ERROR_FULL`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_set_root(heap: *mut norn_heap, name: *const c_char, reference: norn_ref) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let reference = if reference == 0 { None } else { Some(named(reference)?) };
            Ok(engine.set_root(memory::name(name)?, reference)?)
        })
    }
}

/// Finds what a name leads to: 0 if it was never set, or to nothing. What it leads to may have been deleted.
///
/// Cost: looks through all roots.
///
/// Errors: `NORN_ERROR_NAME`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_root(heap: *mut norn_heap, name: *const c_char, reference: *mut norn_ref) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let reference = Out::new(reference)?;
            reference.set(engine.root(memory::name(name)?)?.map_or(0, Ref::bits));
            Ok(())
        })
    }
}

/// Calls `visit` with each root, in no particular order. It may not use the heap.
///
/// Cost: reads all roots.
///
/// Errors: the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_visit_roots(
    heap: *mut norn_heap,
    visit: norn_root_visitor,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let visit = visit.ok_or(NORN_ERROR_NULL)?;
            engine.visit_roots(|name, reference| {
                let mut ended = [0u8; NORN_NAME_BYTES_MAX + 1];
                // A longer name is on no part that was not damaged.
                let bytes = name.len().min(NORN_NAME_BYTES_MAX);
                ended[..bytes].copy_from_slice(&name[..bytes]);
                visit(context, ended.as_ptr().cast(), bytes, reference.bits());
            })?;
            Ok(())
        })
    }
}
