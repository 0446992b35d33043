//! Cursors: the entries of a range of keys, one after the other from either end.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ops::Bound;

use norn_ordered_index::{Direction, HINT_WORDS, Hint};

use crate::error::Failure;
use crate::error::norn_error::*;
use crate::handle::on;
use crate::index::{Index, NORN_INDEX_KEY_BYTES_MAX, norn_index};
use crate::memory;

/// Words that fit into `struct norn_index_cursor`.
pub const NORN_CURSOR_WORDS: usize = 18;

/// What is left of a range of keys: the caller's memory, which `norn_index_range` fills. It may be copied, and needs no
/// end. A change of the index does not disturb it. It is of the mount in which it was made. Bytes of it that the
/// program overwrites are found by a checksum. 144 bytes.
#[repr(C)]
pub struct norn_index_cursor {
    /// The library's.
    pub opaque_words: [u64; NORN_CURSOR_WORDS],
}

/// What is in a [`norn_index_cursor`]: numbers only, so that whatever bytes a program has left there are such a state,
/// and the seal says whether they are one that a call has written.
#[repr(C)]
struct State {
    seal: u32,
    front: End,
    back: End,
    reserved: [u32; 5],
}

/// Words of a state.
const STATE_WORDS: usize = size_of::<State>() / size_of::<u32>();

const _: () = assert!(
    size_of::<State>() == size_of::<norn_index_cursor>()
        && align_of::<State>() <= align_of::<norn_index_cursor>()
        && size_of::<State>() == 4 * (1 + 2 * (NORN_INDEX_KEY_BYTES_MAX / 4 + 1 + HINT_WORDS) + 5)
);

/// An end of what is left.
#[repr(C)]
#[derive(Clone, Copy)]
struct End {
    key: [u8; NORN_INDEX_KEY_BYTES_MAX],
    /// Whether the key bounds what is left, and belongs to it: [`OPEN`], [`INCLUDED`] or [`EXCLUDED`].
    kind: u32,
    hint: [u32; HINT_WORDS],
}

const OPEN: u32 = 0;
const INCLUDED: u32 = 1;
const EXCLUDED: u32 = 2;

impl End {
    fn at(bound: Bound<&[u8]>) -> End {
        let (kind, key) = match bound {
            Bound::Unbounded => (OPEN, &[][..]),
            Bound::Included(key) => (INCLUDED, key),
            Bound::Excluded(key) => (EXCLUDED, key),
        };
        End { key: stored(key), kind, hint: Hint::default().to_words() }
    }

    fn bound(&self, key_bytes: usize) -> Result<Bound<&[u8]>, Failure> {
        let key = &self.key[..key_bytes];
        match self.kind {
            OPEN => Ok(Bound::Unbounded),
            INCLUDED => Ok(Bound::Included(key)),
            EXCLUDED => Ok(Bound::Excluded(key)),
            _ => Err(NORN_ERROR_CURSOR.into()),
        }
    }
}

/// A key in a cursor.
fn stored(key: &[u8]) -> [u8; NORN_INDEX_KEY_BYTES_MAX] {
    let mut stored = [0; NORN_INDEX_KEY_BYTES_MAX];
    stored[..key.len()].copy_from_slice(key);
    stored
}

/// In the seal, beside the index's address and its mount, and all else that is in the cursor.
const BEGUN: u32 = 0x6375_7273;

impl State {
    /// The seal of what is in the cursor, in the mount of this number: another one if any bit of it is another, and for
    /// all but one in four thousand million changes of several.
    fn sealed_for(&self, mount: u32) -> u32 {
        // SAFETY: a state consists of so many words without a gap, which the assertion above has counted.
        let words: &[u32; STATE_WORDS] = unsafe { &*core::ptr::from_ref(self).cast() };
        words[1..].iter().fold(mount, |sum, word| (sum.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B1))
    }
}

impl Index {
    /// What the seals of this mount's cursors begin with.
    fn seal(&self) -> u32 {
        (core::ptr::from_ref(self).addr() as u32).wrapping_add(self.mount) ^ BEGUN
    }

    /// A cursor that was begun on this index in this mount, and has not been changed by others.
    ///
    /// # Safety
    /// The header's rules on pointers.
    unsafe fn cursor<'a>(&self, cursor: *mut norn_index_cursor) -> Result<&'a mut State, Failure> {
        memory::expect_aligned(cursor)?;
        // SAFETY: the caller's promise; a cursor has the size of a state, and any bytes are one.
        let state: &mut State = unsafe { &mut *cursor.cast() };
        match state.seal == state.sealed_for(self.seal()) {
            true => Ok(state),
            false => Err(NORN_ERROR_CURSOR.into()),
        }
    }

    /// A bound that the caller names by a key, or leaves open.
    ///
    /// # Safety
    /// As of [`memory::lent`].
    unsafe fn bound<'a>(
        &self,
        key: *const c_void,
        closed: impl FnOnce(&'a [u8]) -> Bound<&'a [u8]>,
    ) -> Result<Bound<&'a [u8]>, Failure> {
        if key.is_null() {
            return Ok(Bound::Unbounded);
        }
        // SAFETY: the caller's promise.
        Ok(closed(unsafe { memory::lent(key, self.key_bytes) }?))
    }
}

/// Begins a cursor over the keys from `from` on, up to `to` and without it. NULL for `from` is the least key, for `to`
/// what follows the greatest.
///
/// Cost: RAM only.
///
/// Errors: those of the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_range(
    index: *mut norn_index,
    cursor: *mut norn_index_cursor,
    from: *const c_void,
    to: *const c_void,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(index, |index| {
            memory::expect_aligned(cursor)?;
            let front = End::at(index.bound(from, Bound::Included)?);
            let back = End::at(index.bound(to, Bound::Excluded)?);
            let mut state = State { seal: 0, front, back, reserved: [0; 5] };
            state.seal = state.sealed_for(index.seal());
            cursor.cast::<MaybeUninit<State>>().write(MaybeUninit::new(state));
            Ok(())
        })
    }
}

/// Takes the entry with the least key out of what is left of a cursor's range. Returns 1, with the entry in `key` and
/// `value`; or 0 if nothing is left, and what is in these then is of no meaning. The index may have changed since the
/// step before: what there is now is found.
///
/// Cost: a word or two, and the entry; of the first step, of each object, and after a change, a search.
///
/// Errors: `NORN_ERROR_CURSOR`, `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_next(
    index: *mut norn_index,
    cursor: *mut norn_index_cursor,
    key: *mut c_void,
    value: *mut c_void,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { take(index, cursor, Direction::Forwards, (key, value)) }
}

/// Takes the entry with the greatest key out of what is left of a cursor's range: as `norn_index_next`, from the other
/// end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_index_previous(
    index: *mut norn_index,
    cursor: *mut norn_index_cursor,
    key: *mut c_void,
    value: *mut c_void,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { take(index, cursor, Direction::Backwards, (key, value)) }
}

/// # Safety
/// The header's rules on pointers.
#[inline(never)]
unsafe fn take(
    index: *mut norn_index,
    cursor: *mut norn_index_cursor,
    direction: Direction,
    (key, value): (*mut c_void, *mut c_void),
) -> c_int {
    let mut was_found = false;
    let call = |index: &mut Index| {
        // SAFETY: the header's rules on pointers.
        let (state, key, value) = unsafe {
            let key = memory::lent_mut(key, index.key_bytes)?;
            (index.cursor(cursor)?, key, memory::lent_mut(value, index.value_bytes)?)
        };
        was_found = state.take(index, direction, (key, value))?;
        Ok(())
    };
    // SAFETY: the header's rules on pointers.
    match unsafe { on(index, call) } {
        0 => c_int::from(was_found),
        number => number,
    }
}

impl State {
    /// Copies the next entry at one end, if one is left, and whether one was.
    fn take(
        &mut self,
        index: &mut Index,
        direction: Direction,
        (key, value): (&mut [u8], &mut [u8]),
    ) -> Result<bool, Failure> {
        let mount = index.seal();
        let (near, far) = match direction {
            Direction::Forwards => (&mut self.front, &self.back),
            Direction::Backwards => (&mut self.back, &self.front),
        };
        let mut hint = Hint::from_words(near.hint).ok_or(NORN_ERROR_CURSOR)?;
        let (bound, far) = (near.bound(index.key_bytes)?, far.bound(index.key_bytes)?);
        if !index.list.neighbour(bound, direction, &mut hint, (&mut *key, value))? {
            return Ok(false);
        }
        let is_left = match (far, direction) {
            (Bound::Unbounded, _) => true,
            (Bound::Included(end), Direction::Forwards) => *key <= *end,
            (Bound::Excluded(end), Direction::Forwards) => *key < *end,
            (Bound::Included(end), Direction::Backwards) => *key >= *end,
            (Bound::Excluded(end), Direction::Backwards) => *key > *end,
        };
        if is_left {
            *near = End { hint: hint.to_words(), ..End::at(Bound::Excluded(key)) };
            self.seal = self.sealed_for(mount);
        }
        Ok(is_left)
    }
}
