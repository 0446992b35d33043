//! The heap as a whole: format, mount, unmount, housekeeping, and what the last failure was.

use core::ffi::{c_int, c_void};

use norn_log_heap::LogHeapIn;

use crate::device::{Device, bitmap_bytes, norn_nor, part_of};
use crate::error::norn_error::*;
use crate::error::{Failure, norn_failure};
use crate::foreign::explained_on_nor;
use crate::handle::{self, Handle, Opaque, on};
use crate::memory::{self, Out, Rows};

/// The engine, on functions and in memory of the caller's.
pub(crate) type Heap = LogHeapIn<Device, Rows>;

/// Pointers that fit into `struct norn_heap`, beside its words.
pub const NORN_HEAP_POINTERS: usize = 20;
/// Words that fit into `struct norn_heap`, beside its pointers.
pub const NORN_HEAP_WORDS: usize = 38;

/// The handle of a heap: caller-provided memory for its state; the unit table is separate. Zero it before the first
/// mount, as a static variable is. Do not move or copy it while it is mounted. It has 384 bytes where pointers have
/// 32 bits.
#[repr(C)]
pub struct norn_heap {
    /// The library's.
    pub opaque_pointers: [*mut c_void; NORN_HEAP_POINTERS],
    /// The library's.
    pub opaque_words: [u64; NORN_HEAP_WORDS],
}

impl Opaque for norn_heap {
    type Engine = Heap;
}

const _: () = assert!(norn_heap::FITS);

impl handle::Engine for Heap {
    fn corruption(&self) -> Option<(u32, &'static str)> {
        Heap::corruption(self).map(|violation| (violation.address.0, violation.what))
    }
}

/// What a heap is mounted or formatted with. The structure is copied.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_heap_config {
    /// The part.
    pub nor: *const norn_nor,
    /// Memory for the unit table, aligned to four bytes, which is the heap's until it is unmounted.
    pub memory: *mut c_void,
    /// Its bytes: `NORN_HEAP_BYTES(unit_count)` or more.
    pub memory_bytes: usize,
}

/// Bytes of memory that a heap needs in addition to its handle, on a part of this many erase units. It is
/// `NORN_HEAP_BYTES` as a function.
#[unsafe(no_mangle)]
pub extern "C" fn norn_heap_bytes(unit_count: u32) -> u32 {
    memory::table_bytes(unit_count)
}

/// Formats the part with an empty heap. Mount it afterwards. If the power is cut, the part holds the old heap, the new
/// one, or none.
///
/// Cost: erases every unit that a heap had used, and one; where there is a heap, mounts it, and erases two more.
///
/// Errors: `NORN_ERROR_PART`; `NORN_ERROR_UNSUITABLE` for fewer than 12 erase units, or units of less than 64 program
/// units of four bytes or more; `NORN_ERROR_MEMORY`, `NORN_ERROR_MOUNTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_format(heap: *mut norn_heap, config: *const norn_heap_config) -> c_int {
    // SAFETY: the header's rules on pointers; the mark and the rows are from one call of `Rows::new`.
    unsafe {
        start(heap, config, |handle, device, mark, rows| {
            handle.format(mark, || match Heap::format_in(device, rows) {
                Ok(_) => norn_failure::NONE,
                Err(error) => error.into(),
            })
        })
    }
}

/// Mounts the heap on the part: finds what was acknowledged before a loss of power, and undoes the rest.
///
/// Cost: reads the head of each unit, a log unit, every entry of the map and every object's header. After an unclean
/// stop also two erases, and programs of a log's head, an object, and a map node for each level; it undoes an open
/// transaction. After a long session that was cut, a program unit for each object.
///
/// Errors: `NORN_ERROR_NOT_FORMATTED` without a heap, `NORN_ERROR_OTHER_FORMAT` where something else of Norn's is,
/// `NORN_ERROR_GEOMETRY` where a heap of another number or size of units is, `NORN_ERROR_CORRUPTED`, `NORN_ERROR_PART`,
/// `NORN_ERROR_UNSUITABLE`, `NORN_ERROR_MEMORY`, `NORN_ERROR_MOUNTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_mount(heap: *mut norn_heap, config: *const norn_heap_config) -> c_int {
    // SAFETY: the header's rules on pointers; the mark and the rows are from one call of `Rows::new`.
    unsafe {
        start(heap, config, |handle, device, mark, rows| {
            let begin = |heap: &mut Heap| {
                heap.remount().map_err(|error| explained_on_nor(error.into(), device, "a log-structured heap"))
            };
            handle.mount(mark, || Ok(Heap::unmounted_in(device, rows)), begin)
        })
    }
}

/// Checks what a mount is given, and begins it.
///
/// # Safety
/// The header's rules on pointers.
unsafe fn start(
    heap: *mut norn_heap,
    config: *const norn_heap_config,
    begin: impl FnOnce(Handle<norn_heap>, Device, *mut u32, Rows) -> c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let handle = match unsafe { Handle::unmounted(heap) } {
        Ok(handle) => handle,
        Err(number) => return number,
    };
    // SAFETY: the caller's promise.
    match unsafe { parts_of(handle, config) } {
        Ok((device, mark, rows)) => begin(handle, device, mark, rows),
        Err(failure) => handle.release(&failure.shown()),
    }
}

/// The device, the place of the mark and the rows that a configuration says.
///
/// # Safety
/// The header's rules on pointers.
unsafe fn parts_of(
    handle: Handle<norn_heap>,
    config: *const norn_heap_config,
) -> Result<(Device, *mut u32, Rows), Failure> {
    // SAFETY: the caller's promise.
    let config = unsafe { memory::value(config) }?;
    // SAFETY: the same.
    let nor = unsafe { memory::value(config.nor) }?;
    if handle.overlaps(config.memory, config.memory_bytes) {
        return Err(NORN_ERROR_MEMORY_TAKEN.into());
    }
    // SAFETY: the same, of the functions.
    let device = unsafe { Device::new(nor) }?;
    // SAFETY: the same, of the memory; no handle uses it, or finds by its mark that it has lost it.
    let (mark, rows) = unsafe { Rows::new(config.memory, config.memory_bytes, nor.unit_count as u16) }?;
    Ok((device, mark, rows))
}

/// Unmounts the heap: undoes an open transaction, and records on the part that nothing is in progress. The next mount
/// has nothing to settle then. The handle is unmounted also after an error. Power may be cut without this call.
///
/// Cost: a program unit; as `norn_heap_abort` where a transaction is open.
///
/// Errors: the device's. Of a halted heap, and of one whose memory another took, nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_unmount(heap: *mut norn_heap) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { handle::unmount(heap, undo_and_rest) }
}

fn undo_and_rest(engine: &mut Heap) -> Result<(), Failure> {
    if engine.in_transaction() {
        engine.abort()?;
    }
    Ok(engine.rest()?)
}

/// Records on the part that nothing is in progress: a mount after a loss of power has nothing to settle then. Does
/// nothing while a transaction is open. Call it before you turn off the power on purpose, or the processor sleeps.
///
/// Cost: a program unit, none if nothing has changed.
///
/// Errors: the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_rest(heap: *mut norn_heap) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(heap, |engine| Ok(engine.rest()?)) }
}

/// Does housekeeping ahead of time that other calls would do when they need room: begins a new log, opens a unit, or
/// reclaims one if that frees `least_bytes` or more. Returns 1 if there was something to do, else 0. Does nothing
/// while a transaction is open.
///
/// Call it when there is time, until it returns 0. While `norn_heap_ready_bytes` and half a log unit last, no call
/// erases or reclaims.
///
/// Cost: an erase and a program; or what is in use in a unit is copied, with a map change for each object.
///
/// Errors: `NORN_ERROR_FULL`, `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_reclaim_step(heap: *mut norn_heap, least_bytes: u32) -> c_int {
    let mut was_needed = false;
    let call = |engine: &mut Heap| {
        was_needed = engine.reclaim_step(least_bytes)?;
        Ok(())
    };
    // SAFETY: the header's rules on pointers.
    match unsafe { on(heap, call) } {
        0 => c_int::from(was_needed),
        number => number,
    }
}

/// Bytes that can be allocated before a call has to erase or reclaim a unit: what objects take together, with their
/// part of the map.
///
/// Cost: RAM only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_ready_bytes(heap: *mut norn_heap, bytes: *mut u32) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let bytes = Out::new(bytes)?;
            bytes.set(u32::try_from(engine.ready_bytes()).unwrap_or(u32::MAX));
            Ok(())
        })
    }
}

/// What is known of the last call that failed on this handle, also if that was its mount or unmount; an `error` of 0
/// if none has failed since it was mounted. Calls that were refused because of the handle itself do not count.
///
/// Cost: RAM only.
///
/// Errors: `NORN_ERROR_NOT_MOUNTED` if no mount was attempted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_failure(heap: *const norn_heap, failure: *mut norn_failure) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { handle::tell_failure(heap, failure) }
}

/// Bytes of memory that `norn_heap_check` needs on a part: a bit for each program unit, or each four bytes where those
/// are smaller. 0 for an impossible part.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_check_bytes(nor: *const norn_nor) -> u32 {
    // SAFETY: the header's rules on pointers.
    match unsafe { memory::value(nor) }.ok().and_then(part_of) {
        Some(part) => bitmap_bytes(&part),
        None => 0,
    }
}
