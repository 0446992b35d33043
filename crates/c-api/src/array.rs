//! Arrays: create them, read and change elements.

use core::cmp::Ordering;
use core::ffi::{c_int, c_void};

use norn_log_heap::{Elements, Ref};

use crate::error::Failure;
use crate::handle::on;
use crate::heap::norn_heap;
use crate::memory::{self, Out};
use crate::object::{named, norn_ref};

/// A range of elements of an array.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_elements {
    /// The array.
    pub array: norn_ref,
    /// Index of the first element.
    pub first: u32,
    /// Number of elements; 0 is allowed.
    pub count: u32,
}

impl norn_elements {
    fn lent(self) -> Result<Elements, Failure> {
        Ok(Elements { array: named(self.array)?, first: self.first as usize, count: self.count as usize })
    }
}

/// Creates an array of `count` elements of `width` bytes each, which are zero. One of more than 255 bytes has sections
/// of at most 255 bytes, and takes a reference for each and one more, all in a row: without these it says
/// `NORN_ERROR_NO_REFERENCES`. After `NORN_ERROR_FULL` as `norn_heap_create`.
///
/// Cost: the array's bytes, and a map change; where it has sections the same for each.
///
/// Errors: `NORN_ERROR_LAYOUT`, also where the part never has room for so many: `limit` is then the bytes of elements
/// that no array exceeds. `NORN_ERROR_NO_REFERENCES`, `NORN_ERROR_FULL`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_create_array(
    heap: *mut norn_heap,
    count: u32,
    width: u8,
    reference: *mut norn_ref,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let reference = Out::new(reference)?;
            reference.set(engine.create_array(count as usize, width, &[])?.bits());
            Ok(())
        })
    }
}

/// Reads elements from `first` on into `buffer`, which holds some whole elements: one, or more.
///
/// Cost: a look-up for each section, its deltas, and the values.
///
/// Errors: `NORN_ERROR_STALE`, `NORN_ERROR_KIND`, `NORN_ERROR_RANGE`; `NORN_ERROR_WIDTH` if the buffer ends within an
/// element; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_array_read(
    heap: *mut norn_heap,
    array: norn_ref,
    first: u32,
    buffer: *mut c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| Ok(engine.array_read(named(array)?, first as usize, memory::lent_mut(buffer, bytes)?)?))
    }
}

/// Sets element `index`, atomically; `bytes` are the width of an element. Cheaper than `norn_heap_array_write` of one.
///
/// Cost: as `norn_heap_put_field`.
///
/// Errors: `NORN_ERROR_STALE`, `NORN_ERROR_KIND`, `NORN_ERROR_RANGE`, `NORN_ERROR_WIDTH`, `NORN_ERROR_FULL`; the
/// device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_array_store(
    heap: *mut norn_heap,
    array: norn_ref,
    index: u32,
    value: *const c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(heap, |engine| Ok(engine.array_store(named(array)?, index as usize, memory::lent(value, bytes)?)?)) }
}

/// Sets the elements from `first` on to the values that follow each other in `values`: all or none.
///
/// Cost: for each section a program unit of the log, its bytes and a map change.
///
/// Errors: as `norn_heap_array_store`; `NORN_ERROR_WIDTH` if the values end within an element. A failure may abort an
/// open transaction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_array_write(
    heap: *mut norn_heap,
    array: norn_ref,
    first: u32,
    values: *const c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(heap, |engine| Ok(engine.array_write(named(array)?, first as usize, memory::lent(values, bytes)?)?)) }
}

/// Gives every element of a range the same value, of `bytes` bytes. Each element changes atomically, the range does
/// not, except within a transaction.
///
/// Cost: for each section as `norn_heap_array_write`.
///
/// Errors: as `norn_heap_array_store`. After `NORN_ERROR_FULL` and the device's errors a part may have been changed, or
/// an open transaction is aborted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_array_fill_non_atomic(
    heap: *mut norn_heap,
    to: norn_elements,
    value: *const c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(heap, |engine| Ok(engine.array_fill_non_atomic(to.lent()?, memory::lent(value, bytes)?)?)) }
}

/// Copies elements to an array from its element `to_first` on: all or none. The arrays may be the same, and the ranges
/// overlap.
///
/// Cost: for each section as `norn_heap_array_write`.
///
/// Errors: as `norn_heap_array_store`; `NORN_ERROR_WIDTH` if the elements differ in width. A failure may abort an open
/// transaction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_array_copy(
    heap: *mut norn_heap,
    from: norn_elements,
    to: norn_ref,
    to_first: u32,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(heap, |engine| Ok(engine.array_copy(from.lent()?, place(to, to_first)?)?)) }
}

/// Compares elements with those of an array from its element `to_first` on, byte by byte without sign, as `memcmp`
/// does: `order` is -1, 0 or 1.
///
/// Cost: as reading both.
///
/// Errors: as `norn_heap_array_read`; `NORN_ERROR_WIDTH` if the elements differ in width.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_array_compare(
    heap: *mut norn_heap,
    from: norn_elements,
    to: norn_ref,
    to_first: u32,
    order: *mut c_int,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let order = Out::new(order)?;
            order.set(match engine.array_compare(from.lent()?, place(to, to_first)?)? {
                Ordering::Less => -1,
                Ordering::Equal => 0,
                Ordering::Greater => 1,
            });
            Ok(())
        })
    }
}

fn place(array: norn_ref, first: u32) -> Result<(Ref, usize), Failure> {
    Ok((named(array)?, first as usize))
}
