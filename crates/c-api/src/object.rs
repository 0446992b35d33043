//! Objects: create, read and change fields and headers, delete, enumerate.

use core::ffi::{c_int, c_void};

use norn_log_heap::{Info, Kind, Layout, Ref};

use crate::error::Failure;
use crate::error::norn_error::*;
use crate::handle::on;
use crate::heap::norn_heap;
use crate::memory::{self, Out};

/// Names an object or an array: a number that stays valid until that is deleted, over every mount. It may be kept in
/// a field. 0 names nothing. The reference of what was deleted is reported as stale, until 65,534 creations in its
/// place.
pub type norn_ref = u32;

/// What to create: fields of one width, or of a width each, and a header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_layout {
    /// Number of fields, from 1 to 255.
    pub count: u32,
    /// The width of each field in bytes, where `widths` is NULL.
    pub width: u8,
    /// The width of each of `count` fields in bytes, or NULL.
    pub widths: *const u8,
    /// Bytes that the heap does not interpret, such as a type: `header_bytes` of them, up to 255; or NULL.
    pub header: *const c_void,
    /// Bytes of the header.
    pub header_bytes: usize,
}

/// What a reference names.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_info {
    /// 1 for an array, 0 for an object.
    pub is_array: u32,
    /// Number of fields or elements.
    pub count: u32,
    /// Bytes of all fields or elements together.
    pub data_bytes: u32,
    /// Bytes of the header.
    pub header_bytes: u32,
}

impl From<Info> for norn_info {
    fn from(info: Info) -> norn_info {
        norn_info {
            is_array: u32::from(info.kind == Kind::Array),
            count: info.count as u32,
            data_bytes: info.data_bytes,
            header_bytes: info.header_bytes as u32,
        }
    }
}

/// The reference of a number of the caller's.
pub(crate) fn named(reference: norn_ref) -> Result<Ref, Failure> {
    Ref::from_bits(reference).ok_or(NORN_ERROR_STALE.into())
}

/// Creates an object of `count` fields of `width` bytes each, which are zero.
///
/// After `NORN_ERROR_FULL`, delete what two erase units hold before the next creation, where an object takes 8 bytes
/// and its fields, rounded up to whole program units. Trying again after each deletion takes as many, and each try
/// tries to reclaim.
///
/// Cost: a look-up for each reference that is tried, the object's bytes and a map change.
///
/// Errors: `NORN_ERROR_LAYOUT`, `NORN_ERROR_NO_REFERENCES`, `NORN_ERROR_FULL`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_create(
    heap: *mut norn_heap,
    count: u32,
    width: u8,
    reference: *mut norn_ref,
) -> c_int {
    let layout = Layout::uniform(count as usize, width);
    // SAFETY: the header's rules on pointers.
    unsafe { create(heap, |()| Ok(layout), reference) }
}

/// Creates an object with this layout. Its fields are zero. Fields are packed: order them by falling width.
///
/// Cost, errors: as `norn_heap_create`; `NORN_ERROR_HEADER`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_create_layout(
    heap: *mut norn_heap,
    layout: *const norn_layout,
    reference: *mut norn_ref,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { create(heap, |()| layout_of(memory::value(layout)?), reference) }
}

/// # Safety
/// The header's rules on pointers.
unsafe fn create<'a>(
    heap: *mut norn_heap,
    layout: impl FnOnce(()) -> Result<Layout<'a>, Failure>,
    reference: *mut norn_ref,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        on(heap, |engine| {
            let reference = Out::new(reference)?;
            reference.set(engine.create(layout(())?)?.bits());
            Ok(())
        })
    }
}

/// # Safety
/// The header's rules on the pointers in the layout.
unsafe fn layout_of<'a>(layout: &norn_layout) -> Result<Layout<'a>, Failure> {
    if layout.count > 255 {
        return Err(Failure::limited(NORN_ERROR_LAYOUT, 255));
    }
    let fields = if layout.widths.is_null() {
        Layout::uniform(layout.count as usize, layout.width)
    } else {
        // SAFETY: the caller's promise.
        Layout::fields(unsafe { memory::lent(layout.widths.cast(), layout.count as usize) }?)
    };
    // SAFETY: the caller's promise.
    Ok(fields.with_header(unsafe { memory::lent(layout.header, layout.header_bytes) }?))
}

/// Deletes an object or an array. Roots that lead to it are left with a stale reference.
///
/// Cost: a look-up and a map change; the same for each section of a large array.
///
/// Errors: `NORN_ERROR_STALE`, `NORN_ERROR_FULL`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_delete(heap: *mut norn_heap, reference: norn_ref) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(heap, |engine| Ok(engine.delete(named(reference)?)?)) }
}

/// Finds the object or array after `after`, or the first one if that is 0, in an order of the heap's own; 0 after the
/// last one.
///
/// Cost: a look-up for each reference up to it; sixteen or more in a row that are free count as one.
///
/// Errors: the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_next_object(heap: *mut norn_heap, after: norn_ref, next: *mut norn_ref) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let next = Out::new(next)?;
            let after = if after == 0 { None } else { Some(named(after)?) };
            next.set(engine.next_object(after)?.map_or(0, Ref::bits));
            Ok(())
        })
    }
}

/// Says what a reference names.
///
/// Cost: a look-up, and two bytes of an object with a header.
///
/// Errors: `NORN_ERROR_STALE`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_info(heap: *mut norn_heap, reference: norn_ref, info: *mut norn_info) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let info = Out::new(info)?;
            info.set(engine.info(named(reference)?)?.into());
            Ok(())
        })
    }
}

/// The width of field `index` of an object in bytes.
///
/// Cost: a look-up, and the widths of the fields before it where they differ.
///
/// Errors: `NORN_ERROR_STALE`, `NORN_ERROR_KIND`, `NORN_ERROR_RANGE`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_field_width(
    heap: *mut norn_heap,
    reference: norn_ref,
    index: u32,
    width: *mut u32,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let width = Out::new(width)?;
            width.set(engine.field_width(named(reference)?, index as usize)? as u32);
            Ok(())
        })
    }
}

/// Reads field `index` of an object into `buffer`. `bytes` has to be the field's width.
///
/// Cost: a look-up, the deltas of the object, and the value.
///
/// Errors: `NORN_ERROR_STALE`, `NORN_ERROR_KIND`, `NORN_ERROR_RANGE`, `NORN_ERROR_WIDTH`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_get_field(
    heap: *mut norn_heap,
    reference: norn_ref,
    index: u32,
    buffer: *mut c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let buffer = memory::lent_mut(buffer, bytes)?;
            Ok(engine.get_field(named(reference)?, index as usize, buffer)?)
        })
    }
}

/// Sets field `index` of an object, atomically and durably; `bytes` are the field's width.
///
/// Cost: two look-ups, and a program unit or a few for the value. Often a program unit of the log; where the object
/// has no room for a change, it is written anew, with a map change.
///
/// Errors: as `norn_heap_get_field`; `NORN_ERROR_FULL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_put_field(
    heap: *mut norn_heap,
    reference: norn_ref,
    index: u32,
    value: *const c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let value = memory::lent(value, bytes)?;
            Ok(engine.put_field(named(reference)?, index as usize, value)?)
        })
    }
}

/// Sets the fields of an object from `first` on to the values that follow each other in `values`: all or none.
///
/// Cost: two look-ups, a program unit of the log, the object's bytes and a map change.
///
/// Errors: as `norn_heap_put_field`; `NORN_ERROR_WIDTH` if the values end within a field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_put_fields(
    heap: *mut norn_heap,
    reference: norn_ref,
    first: u32,
    values: *const c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let values = memory::lent(values, bytes)?;
            Ok(engine.put_fields(named(reference)?, first as usize, values)?)
        })
    }
}

/// Reads as much of the header of an object or an array as `buffer` holds, and says in `header_bytes` how long it is.
///
/// Cost: a look-up, and the bytes.
///
/// Errors: `NORN_ERROR_STALE`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_read_header(
    heap: *mut norn_heap,
    reference: norn_ref,
    buffer: *mut c_void,
    bytes: usize,
    header_bytes: *mut usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let header_bytes = Out::new(header_bytes)?;
            header_bytes.set(engine.read_header(named(reference)?, memory::lent_mut(buffer, bytes)?)?);
            Ok(())
        })
    }
}

/// Replaces the header of an object or an array, atomically.
///
/// Cost: three look-ups, a program unit of the log, the object's bytes and a map change.
///
/// Errors: `NORN_ERROR_STALE`, `NORN_ERROR_HEADER`, `NORN_ERROR_FULL`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_write_header(
    heap: *mut norn_heap,
    reference: norn_ref,
    header: *const c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(heap, |engine| Ok(engine.write_header(named(reference)?, memory::lent(header, bytes)?)?)) }
}
