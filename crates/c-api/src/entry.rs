//! Entries of an ordered index: insert, change, find and remove them, one by one or several at once.

use core::ffi::{c_int, c_void};

use norn_ordered_index::{ByteIndexError, Change};

use crate::error::Failure;
use crate::error::norn_error::*;
use crate::handle::on;
use crate::index::{Index, norn_index};
use crate::memory::{self, Out};

impl Index {
    /// The bytes of a key.
    ///
    /// # Safety
    /// As of [`memory::lent`].
    unsafe fn key<'a>(&self, key: *const c_void) -> Result<&'a [u8], Failure> {
        // SAFETY: the caller's promise.
        unsafe { memory::lent(key, self.key_bytes) }
    }

    /// The bytes of a key and of a value.
    ///
    /// # Safety
    /// As of [`memory::lent`].
    unsafe fn entry<'a>(&self, key: *const c_void, value: *const c_void) -> Result<(&'a [u8], &'a [u8]), Failure> {
        // SAFETY: the caller's promise.
        Ok(unsafe { (self.key(key)?, memory::lent(value, self.value_bytes)?) })
    }
}

/// Adds a key, with its value: `key_bytes` and `value_bytes` bytes, as the index was mounted with. Keys sort as bytes
/// without sign: write numbers with the most significant byte first.
///
/// Cost: a search, which reads some tens of program units, and one slot programmed. For each object that fills up
/// another is written; for each unit that fills up, one is erased, and what is in use in it copied before.
///
/// Errors: `NORN_ERROR_KEY_EXISTS`, `NORN_ERROR_FULL`, `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_insert(index: *mut norn_index, key: *const c_void, value: *const c_void) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(index, |index| {
            let (key, value) = index.entry(key, value)?;
            Ok(index.list.insert(key, value)?)
        })
    }
}

/// Changes the value of a key, atomically.
///
/// Cost: as `norn_index_insert`, and a word programmed.
///
/// Errors: `NORN_ERROR_KEY_ABSENT`, `NORN_ERROR_FULL`, `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_update(index: *mut norn_index, key: *const c_void, value: *const c_void) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(index, |index| {
            let (key, value) = index.entry(key, value)?;
            Ok(index.list.update(key, value)?)
        })
    }
}

/// Adds a key or changes its value, whichever it takes.
///
/// Cost: as `norn_index_update`; of a new key one more search.
///
/// Errors: `NORN_ERROR_FULL`, `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_put(index: *mut norn_index, key: *const c_void, value: *const c_void) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(index, |index| {
            let (key, value) = index.entry(key, value)?;
            Ok(index.list.put(key, value)?)
        })
    }
}

/// Copies the value of a key to `value`, which stays as it is where there is no such key.
///
/// Cost: a search.
///
/// Errors: `NORN_ERROR_KEY_ABSENT`, `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_get(index: *mut norn_index, key: *const c_void, value: *mut c_void) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(index, |index| {
            let value = memory::lent_mut(value, index.value_bytes)?;
            let key = index.key(key)?;
            if index.list.get(key, value)? { Ok(()) } else { Err(NORN_ERROR_KEY_ABSENT.into()) }
        })
    }
}

/// Takes a key away.
///
/// Cost: a search, and a word programmed; where it was the last one of an object, a few words for each level.
///
/// Errors: `NORN_ERROR_KEY_ABSENT`, `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_remove(index: *mut norn_index, key: *const c_void) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(index, |index| {
            let key = index.key(key)?;
            Ok(index.list.remove(key)?)
        })
    }
}

/// Adds a key to a ring: an index whose keys ascend, as those of a log do, and which drops its least keys before it is
/// full. Says in `dropped`, which may be NULL, how many it dropped. After a loss of power the new key is there or not;
/// if it is not, keys may have been dropped for it already.
///
/// Cost: a slot programmed; for each object some 25 words besides, and for each unit of objects an erase.
///
/// Errors: `NORN_ERROR_KEY_EXISTS`; `NORN_ERROR_BELOW_RING` if the ring is full, and the key would be the first one to
/// drop; `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_insert_in_ring(
    index: *mut norn_index,
    key: *const c_void,
    value: *const c_void,
    dropped: *mut u32,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(index, |index| {
            let dropped = Out::optional(dropped)?;
            let (key, value) = index.entry(key, value)?;
            dropped.set(index.list.insert_in_ring(key, value)?);
            Ok(())
        })
    }
}

/// Takes least keys away that are below `key`, as many as go at a time. Says in `removed`, which may be NULL, how many
/// went: 0 when none is left. A loss of power leaves some of them away, the least ones first.
///
/// Cost: up to an eighth of the objects of a unit, two words each and one of the head for each level.
///
/// Errors: `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_remove_below(
    index: *mut norn_index,
    key: *const c_void,
    removed: *mut u32,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(index, |index| {
            let removed = Out::optional(removed)?;
            let key = index.key(key)?;
            removed.set(index.list.remove_below(key)?);
            Ok(())
        })
    }
}

/// A change of an index among several.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_change {
    /// The key.
    pub key: *const c_void,
    /// Its new value, or NULL to take the key away if it is there. For values of 0 bytes any other pointer.
    pub value: *const c_void,
}

/// Makes several changes together: after a loss of power all are made, or none. Of several changes of one key the last
/// one counts.
///
/// Cost: an object written with a slot for each change, then that of each change; a word read for each object. A mount
/// after a loss of power makes the changes again that were not made yet.
///
/// Errors: `NORN_ERROR_TRANSACTION_TOO_LARGE` for more changes than an object has slots, which are the failure's
/// `limit`, 4 to 64; `NORN_ERROR_FULL`, without any effect, which does not happen while there are fewer keys than
/// `norn_index_guaranteed_keys_with_changes`: the changes take a place of their own until they are made;
/// `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_apply(index: *mut norn_index, changes: *const norn_change, count: u32) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(index, |index| apply(index, memory::values(changes, count)?)) }
}

/// # Safety
/// The header's rules on the pointers in the changes.
unsafe fn apply(index: &mut Index, changes: &[norn_change]) -> Result<(), Failure> {
    let limit = index.list.changes_max();
    if changes.len() > limit {
        return Err(Failure::limited(NORN_ERROR_TRANSACTION_TOO_LARGE, limit as u32));
    }
    if changes.iter().any(|change| change.key.is_null()) {
        return Err(NORN_ERROR_NULL.into());
    }
    let (key_bytes, value_bytes) = (index.key_bytes, index.value_bytes);
    let change_at = |at: usize| {
        let norn_change { key, value } = changes[at];
        // SAFETY: the caller's promise; the key is not null.
        let key = unsafe { core::slice::from_raw_parts(key.cast(), key_bytes) };
        match value.is_null() {
            true => Change::Remove(key),
            // SAFETY: the caller's promise; the value is not null.
            false => Change::Put(key, unsafe { core::slice::from_raw_parts(value.cast(), value_bytes) }),
        }
    };
    Ok(index.list.apply_each(changes.len(), change_at)?)
}

impl From<ByteIndexError<c_int>> for Failure {
    #[inline(never)]
    fn from(error: ByteIndexError<c_int>) -> Failure {
        match error {
            ByteIndexError::Width { needed, .. } => Failure::limited(NORN_ERROR_WIDTH, needed as u32),
            ByteIndexError::Index(error) => error.into(),
        }
    }
}
