//! The ordered index as a whole: format, mount, unmount, housekeeping, its check, and what the last failure was.

use core::ffi::{c_char, c_int, c_void};

use norn_flash::{Auditor, Violation};
use norn_ordered_index::{AtMost, ByteFatList, Reclaimed, Settings};

use crate::check::norn_report;
use crate::device::{Device, norn_nor, part_of};
use crate::error::norn_error::*;
use crate::error::{Failure, norn_failure};
use crate::foreign::explained_on_nor;
use crate::handle::{self, Handle, Opaque, on};
use crate::memory::{self, Out};

/// Most bytes of a key of an index.
pub const NORN_INDEX_KEY_BYTES_MAX: usize = 32;
/// Most bytes of a value of an index.
pub const NORN_INDEX_VALUE_BYTES_MAX: usize = 94;

/// For `order` of `struct norn_index_config`: keys come in any order.
pub const NORN_ORDER_ANY: u32 = 0;
/// For `order` of `struct norn_index_config`: most keys come in ascending order, as those of a log.
pub const NORN_ORDER_ASCENDING: u32 = 1;

/// Pointers that fit into `struct norn_index`, beside its words.
pub const NORN_INDEX_POINTERS: usize = 16;
/// Words that fit into `struct norn_index`, beside its pointers.
pub const NORN_INDEX_WORDS: usize = 18;

/// The handle of an index: the caller's memory for all its state. Zero it before it is mounted for the first time, as a
/// static variable is. It must not be moved or copied while it is mounted. 208 bytes where pointers have 32 bits.
#[repr(C)]
pub struct norn_index {
    /// The library's.
    pub opaque_pointers: [*mut c_void; NORN_INDEX_POINTERS],
    /// The library's.
    pub opaque_words: [u64; NORN_INDEX_WORDS],
}

/// What an index is mounted or formatted with. The structure is copied.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_index_config {
    /// The part: one whose program units may be programmed any number of times, `NORN_REPROGRAMMING_UNLIMITED`.
    pub nor: *const norn_nor,
    /// Bytes of a key, from 1 to `NORN_INDEX_KEY_BYTES_MAX`.
    pub key_bytes: u32,
    /// Bytes of a value, up to `NORN_INDEX_VALUE_BYTES_MAX`; 0 for a set of keys.
    pub value_bytes: u32,
    /// For a format, what the index is laid out for: `NORN_ORDER_ANY` or `NORN_ORDER_ASCENDING`. Both work with keys in
    /// any order.
    pub order: u32,
}

type Widths = AtMost<NORN_INDEX_KEY_BYTES_MAX, NORN_INDEX_VALUE_BYTES_MAX>;
type List = ByteFatList<Device, NORN_INDEX_KEY_BYTES_MAX, NORN_INDEX_VALUE_BYTES_MAX>;

/// The engine, with what its calls have to know.
pub(crate) struct Index {
    pub list: List,
    pub key_bytes: usize,
    pub value_bytes: usize,
    /// The mount of the handle, by which a cursor is known to be of it.
    pub mount: u32,
}

impl Opaque for norn_index {
    type Engine = Index;
}

const _: () = assert!(norn_index::FITS);

impl handle::Engine for Index {
    fn corruption(&self) -> Option<(u32, &'static str)> {
        self.list.corruption().map(|violation| (violation.address.0, violation.what))
    }
}

/// Erases the part and begins an index on it, which then has to be mounted. If the power is cut, the part holds no
/// index, or the new one.
///
/// Cost: an erase and some 25 program units for each erase unit.
///
/// Errors: `NORN_ERROR_PART`; `NORN_ERROR_WIDTH` of a key or a value; `NORN_ERROR_UNSUITABLE` for a part whose program
/// units are programmed once or a few times, or whose erase units have no room for an object;
/// `NORN_ERROR_MOUNTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_format(index: *mut norn_index, config: *const norn_index_config) -> c_int {
    // SAFETY: the header's rules on pointers; an index works in no memory but its handle.
    unsafe {
        start(index, config, |handle, device, widths, settings| {
            handle.format(core::ptr::null_mut(), || match List::format(device, widths, settings) {
                Ok(_) => norn_failure::NONE,
                Err(error) => error.into(),
            })
        })
    }
}

/// Mounts the index on the part: finds what was acknowledged before a loss of power, and completes or undoes the rest.
/// Keys and values need the widths that the index was formatted with.
///
/// Cost after `norn_index_unmount` or `norn_index_rest`: some tens of reads. After a loss of power all that is in use
/// is read; at most one unit is moved and two are erased.
///
/// Errors: `NORN_ERROR_NOT_FORMATTED` without an index, `NORN_ERROR_OTHER_FORMAT` where something else of Norn's is,
/// `NORN_ERROR_GEOMETRY` for other widths or another part, `NORN_ERROR_VERSION`, `NORN_ERROR_CORRUPTED`, and those of
/// `norn_index_format`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_mount(index: *mut norn_index, config: *const norn_index_config) -> c_int {
    // SAFETY: the header's rules on pointers; an index works in no memory but its handle.
    unsafe {
        start(index, config, |handle, device, widths, _| {
            let make = || {
                let list = List::mount(device, widths)
                    .map_err(|error| explained_on_nor(error.into(), device, "a sorted map"))?;
                let (key_bytes, value_bytes) = (widths.key_bytes.into(), widths.value_bytes.into());
                Ok(Index { list, key_bytes, value_bytes, mount: handle.mounts() })
            };
            handle.mount(core::ptr::null_mut(), make, |_| Ok(()))
        })
    }
}

/// Checks what a mount is given, and begins it.
///
/// # Safety
/// The header's rules on pointers.
unsafe fn start(
    index: *mut norn_index,
    config: *const norn_index_config,
    begin: impl FnOnce(Handle<norn_index>, Device, Widths, Settings) -> c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let handle = match unsafe { Handle::unmounted(index) } {
        Ok(handle) => handle,
        Err(number) => return number,
    };
    // SAFETY: the caller's promise.
    match unsafe { parts_of(config) } {
        Ok((device, widths, settings)) => begin(handle, device, widths, settings),
        Err(failure) => handle.release(&failure.shown()),
    }
}

/// The device, the widths, and what a list is made like, that a configuration says.
///
/// # Safety
/// The header's rules on pointers.
unsafe fn parts_of(config: *const norn_index_config) -> Result<(Device, Widths, Settings), Failure> {
    // SAFETY: the caller's promise.
    let config = unsafe { memory::value(config) }?;
    // SAFETY: the same.
    let nor = unsafe { memory::value(config.nor) }?;
    // SAFETY: the same, of the functions.
    let device = unsafe { Device::new(nor) }?;
    let within = |bytes: u32, max: usize| match bytes {
        bytes if bytes as usize <= max => Ok(bytes as u8),
        _ => Err(Failure::limited(NORN_ERROR_WIDTH, max as u32)),
    };
    let key_bytes = within(config.key_bytes, NORN_INDEX_KEY_BYTES_MAX)?;
    let value_bytes = within(config.value_bytes, NORN_INDEX_VALUE_BYTES_MAX)?;
    if key_bytes == 0 {
        return Err(Failure::limited(NORN_ERROR_WIDTH, NORN_INDEX_KEY_BYTES_MAX as u32));
    }
    let settings = settings(nor, config)?;
    Ok((device, AtMost { key_bytes, value_bytes }, settings))
}

/// What a list on a part is made like.
fn settings(nor: &norn_nor, config: &norn_index_config) -> Result<Settings, Failure> {
    let part = part_of(nor).ok_or(NORN_ERROR_PART)?;
    let made_like = match config.order {
        NORN_ORDER_ANY => Settings::paper_2011(),
        NORN_ORDER_ASCENDING => Settings::log(),
        _ => return Err(Failure::limited(NORN_ERROR_RANGE, 2)),
    };
    let turnstile_blocks = part.unit_count.clamp(2, made_like.turnstile_blocks.into()) as u8;
    let made_like = Settings { turnstile_blocks, ..made_like };
    Ok(made_like.fitted_to(&part, config.key_bytes as usize, config.value_bytes as usize))
}

/// Unmounts the index: records on the part that nothing is in progress. The next mount is fast then. The handle is
/// unmounted also after an error. Power may be cut without this call.
///
/// Cost: as `norn_index_rest`.
///
/// Errors: the device's. Of a halted index nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_unmount(index: *mut norn_index) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { handle::unmount(index, |index| Ok(index.list.stop()?)) }
}

/// Records on the part that nothing is in progress: a mount after a loss of power is fast then. The index can still be
/// used. Call it before you turn off the power on purpose, or the processor sleeps.
///
/// Cost: a program unit or two, none if nothing has changed; now and then an object of up to some hundred bytes.
///
/// Errors: the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_rest(index: *mut norn_index) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(index, |index| Ok(index.list.stop()?)) }
}

/// Does housekeeping ahead of time that other calls would do when they need room: reclaims a unit if that frees much,
/// or merges what is sparse. Returns 1 if there was something to do, else 0. Call it when there is time, until it
/// returns 0: the next change then moves one unit at most.
///
/// Cost: one unit is moved and erased at most. Where no unit frees much, all that is in use is read, to look for what
/// is sparse: call it after some changes, not after each.
///
/// Errors: `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_reclaim_step(index: *mut norn_index) -> c_int {
    let mut was_needed = false;
    let call = |index: &mut Index| {
        was_needed = index.list.reclaim_step()? == Reclaimed::Block;
        Ok(())
    };
    // SAFETY: the header's rules on pointers.
    match unsafe { on(index, call) } {
        0 => c_int::from(was_needed),
        number => number,
    }
}

/// Counts the keys.
///
/// Cost: none where the number is known, as it is after a format, after a mount of an index that was unmounted, and
/// once they were counted; else all objects are read.
///
/// Errors: `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_count(index: *mut norn_index, keys: *mut u32) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(index, |index| {
            let keys = Out::new(keys)?;
            keys.set(index.list.len()?);
            Ok(())
        })
    }
}

/// Keys that fit whatever was inserted and removed before: as long as there are fewer, no call but `norn_index_apply`
/// says `NORN_ERROR_FULL`, for which `norn_index_guaranteed_keys_with_changes` has the number. Keys that come in
/// ascending order fit about twice as often.
///
/// Cost: RAM only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_guaranteed_keys(index: *mut norn_index, keys: *mut u32) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(index, |index| {
            let keys = Out::new(keys)?;
            keys.set(index.list.guaranteed_keys());
            Ok(())
        })
    }
}

/// Keys with which `norn_index_apply` of changes that put `puts` keys always finds room, whatever was inserted and
/// removed before: as long as there are fewer, it does not say `NORN_ERROR_FULL`. For each key to put that is about the
/// keys of one object less than `norn_index_guaranteed_keys`; 0 where the part is too small for such changes.
///
/// Cost: RAM only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_guaranteed_keys_with_changes(
    index: *mut norn_index,
    puts: u32,
    keys: *mut u32,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(index, |index| {
            let keys = Out::new(keys)?;
            keys.set(index.list.guaranteed_keys_with_batch(puts));
            Ok(())
        })
    }
}

/// Where violations go.
struct Reports<R> {
    report: R,
    count: u32,
}

impl<R: FnMut(Violation)> Auditor for Reports<R> {
    fn violation(&mut self, violation: Violation) {
        self.count += 1;
        (self.report)(violation);
    }
}

/// Checks every invariant of the index on the part, and calls `report`, which may be NULL, for each violation.
/// `report` may not use the index.
///
/// Cost: reads all that is in use, and each level's list.
///
/// Errors: `NORN_ERROR_VIOLATION` if there was one; `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_check(index: *mut norn_index, report: norn_report, context: *mut c_void) -> c_int {
    let report = |violation: Violation| {
        if let Some(report) = report {
            let (what, bytes) = (violation.what.as_ptr().cast::<c_char>(), violation.what.len());
            // SAFETY: the header's rules on pointers, which the caller's function is called with.
            unsafe { report(context, violation.address.0, what, bytes) };
        }
    };
    let mut reports = Reports { report, count: 0 };
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(index, |index| {
            index.list.audit(&mut reports)?;
            if reports.count == 0 { Ok(()) } else { Err(NORN_ERROR_VIOLATION.into()) }
        })
    }
}

/// What is known of the last call that failed on this handle: as `norn_heap_failure`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_failure(index: *const norn_index, failure: *mut norn_failure) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { handle::tell_failure(index, failure) }
}
