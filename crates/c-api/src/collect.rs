//! Garbage collection: the caller's function says what an object refers to.

use core::ffi::{c_int, c_void};
use core::{ptr, slice};

use norn_log_heap::{AccessError, Ref, StoreError, TracerIn};

use crate::device::Device;
use crate::error::Failure;
use crate::error::norn_error::*;
use crate::handle::on;
use crate::heap::norn_heap;
use crate::memory::{self, Out, Rows};
use crate::object::{named, norn_info, norn_ref};

/// What a tracing function uses: it is valid until that function returns.
pub struct norn_tracer(());

/// Says with `norn_tracer_reached` what an object or array refers to, which it reads with the other `norn_tracer_`
/// functions. It may not use the heap. Returns 0; or another number, which ends the collection.
pub type norn_trace =
    Option<unsafe extern "C" fn(context: *mut c_void, tracer: *mut norn_tracer, reference: norn_ref) -> c_int>;

/// What a collection has done.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_collected {
    /// Objects and arrays that roots reach.
    pub live: u32,
    /// Objects and arrays that were deleted.
    pub deleted: u32,
}

/// The engine's tracer, without its lifetime.
type Tracer = TracerIn<'static, Device, Rows>;

/// Deletes every object and array that neither the named roots nor the `root_count` references at `roots` reach.
/// `trace` is called once for each that is reached; where there are more than 4,096 references, once for each 4,096.
/// `collected` may be NULL.
///
/// RAM is constant. Works on a full part. Cost: for each object three look-ups, and what `trace` reads; for each
/// deleted one a program unit of the log and a map change, or less. Beyond 4,096 references up to 8 program units
/// for each object.
///
/// Errors: `NORN_ERROR_STALE` if 0 is among `roots`; `NORN_ERROR_TRANSACTION_OPEN`, `NORN_ERROR_TOO_MANY_OBJECTS`;
/// what `trace` returned; the device's. Nothing reachable has been deleted then; some garbage may have been.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_collect(
    heap: *mut norn_heap,
    roots: *const norn_ref,
    root_count: u32,
    trace: norn_trace,
    context: *mut c_void,
    collected: *mut norn_collected,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let trace = trace.ok_or(NORN_ERROR_NULL)?;
            let collected = Out::optional(collected)?;
            let roots = references(roots, root_count)?;
            let mut stopped = 0;
            let result = engine.collect(roots, |tracer, reference| {
                stopped = trace(context, ptr::from_mut(tracer).cast(), reference.bits());
                // Any error ends the collection; this one changes nothing in the engine.
                if stopped == 0 { Ok(()) } else { Err(AccessError::Store(StoreError::Halted)) }
            });
            if stopped != 0 {
                return Err(Failure::returned(stopped, 0));
            }
            let done = result?;
            collected.set(norn_collected { live: done.live, deleted: done.deleted });
            Ok(())
        })
    }
}

/// The references at a pointer, each of which names something or once did.
///
/// # Safety
/// There are so many at the pointer if it is not null and is aligned, and they do not change for `'a`.
unsafe fn references<'a>(roots: *const norn_ref, count: u32) -> Result<&'a [Ref], Failure> {
    // SAFETY: the caller's promise.
    let numbers = unsafe { memory::values(roots, count) }?;
    for &number in numbers {
        named(number)?;
    }
    // SAFETY: a `Ref` is transparent over its number, and each of these can be one.
    Ok(unsafe { slice::from_raw_parts(numbers.as_ptr().cast(), numbers.len()) })
}

/// Calls the engine's tracer.
///
/// # Safety
/// The pointer is null, or that which a tracing function was given, which has not returned.
unsafe fn on_tracer(tracer: *mut norn_tracer, call: impl FnOnce(&mut Tracer) -> Result<(), Failure>) -> c_int {
    // SAFETY: the caller's promise: it was made of a reference to the engine's tracer, which waits for the function.
    let result = match unsafe { tracer.cast::<Tracer>().as_mut() } {
        Some(tracer) => call(tracer),
        None => Err(NORN_ERROR_NULL.into()),
    };
    result.map_or_else(Failure::number, |()| NORN_OK as c_int)
}

/// Says that the object that is traced refers to `reference`. 0 and stale references are passed over.
///
/// Cost: a look-up.
///
/// Errors: `NORN_ERROR_FULL`; the device's. The tracing function returns them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_tracer_reached(tracer: *mut norn_tracer, reference: norn_ref) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on_tracer(tracer, |tracer| match Ref::from_bits(reference) {
            Some(reference) => Ok(tracer.reached(reference)?),
            None => Ok(()),
        })
    }
}

/// As `norn_heap_info`, in a tracing function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_tracer_info(
    tracer: *mut norn_tracer,
    reference: norn_ref,
    info: *mut norn_info,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on_tracer(tracer, |tracer| {
            let info = Out::new(info)?;
            info.set(tracer.heap().info(named(reference)?)?.into());
            Ok(())
        })
    }
}

/// As `norn_heap_get_field`, in a tracing function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_tracer_get_field(
    tracer: *mut norn_tracer,
    reference: norn_ref,
    index: u32,
    buffer: *mut c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on_tracer(tracer, |tracer| {
            let buffer = memory::lent_mut(buffer, bytes)?;
            Ok(tracer.heap().get_field(named(reference)?, index as usize, buffer)?)
        })
    }
}

/// As `norn_heap_array_read`, in a tracing function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_tracer_array_read(
    tracer: *mut norn_tracer,
    array: norn_ref,
    first: u32,
    buffer: *mut c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on_tracer(tracer, |tracer| {
            let buffer = memory::lent_mut(buffer, bytes)?;
            Ok(tracer.heap().array_read(named(array)?, first as usize, buffer)?)
        })
    }
}
