//! Memory that C lends: checked for null, alignment and size, then seen as Rust sees it.
//!
//! What cannot be checked is the caller's promise, and each function's `# Safety`: there are so many bytes at a
//! pointer, and for the time of the call, or of the mount, nothing else changes them.

use core::ffi::{c_char, c_void};
use core::slice;

use norn_log_heap::{NAME_BYTES_MAX, UnitRow};

use crate::error::{Failure, norn_error};

/// Bytes that are read.
///
/// # Safety
/// There are so many bytes at the pointer if it is not null, and they do not change for `'a`.
pub(crate) unsafe fn lent<'a>(data: *const c_void, bytes: usize) -> Result<&'a [u8], Failure> {
    match (data.is_null(), bytes) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(norn_error::NORN_ERROR_NULL.into()),
        // SAFETY: the caller's promise; bytes have no alignment.
        (false, _) => Ok(unsafe { slice::from_raw_parts(data.cast(), bytes) }),
    }
}

/// Bytes that are written.
///
/// # Safety
/// As of [`lent`], and nothing else reads them for `'a`.
pub(crate) unsafe fn lent_mut<'a>(data: *mut c_void, bytes: usize) -> Result<&'a mut [u8], Failure> {
    match (data.is_null(), bytes) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(norn_error::NORN_ERROR_NULL.into()),
        // SAFETY: the caller's promise; bytes have no alignment.
        (false, _) => Ok(unsafe { slice::from_raw_parts_mut(data.cast(), bytes) }),
    }
}

/// One value that is read.
///
/// # Safety
/// There is a `T` at the pointer if it is not null and is aligned, and it does not change for `'a`.
pub(crate) unsafe fn value<'a, T>(data: *const T) -> Result<&'a T, Failure> {
    expect_aligned(data)?;
    // SAFETY: the caller's promise; it is aligned and not null.
    Ok(unsafe { &*data })
}

/// Values that are read.
///
/// # Safety
/// There are `count` of them at the pointer if it is not null and is aligned, and they do not change for `'a`.
pub(crate) unsafe fn values<'a, T>(data: *const T, count: u32) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    expect_aligned(data)?;
    // SAFETY: the caller's promise; they are aligned and not null.
    Ok(unsafe { slice::from_raw_parts(data, count as usize) })
}

/// The bytes of a C string that may be a root's name, without the zero.
///
/// # Safety
/// As of [`lent`], up to the first zero.
pub(crate) unsafe fn name<'a>(name: *const c_char) -> Result<&'a [u8], Failure> {
    if name.is_null() {
        return Err(norn_error::NORN_ERROR_NULL.into());
    }
    // A name without an end is not read further than this.
    for length in 0..=NAME_BYTES_MAX {
        // SAFETY: no zero was found yet, so that there is a byte more.
        if unsafe { *name.add(length) } == 0 {
            // SAFETY: these bytes were just read.
            return unsafe { lent(name.cast(), length) };
        }
    }
    Err(norn_error::NORN_ERROR_NAME.into())
}

/// Where a call puts a result: checked before the call has an effect.
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// # Safety
    /// There is room for a `T` at the pointer if it is not null and is aligned.
    pub(crate) unsafe fn new(place: *mut T) -> Result<Out<T>, Failure> {
        expect_aligned(place)?;
        Ok(Out(place))
    }

    /// A place that may be NULL, where nothing is put.
    ///
    /// # Safety
    /// As of [`new`](Self::new).
    pub(crate) unsafe fn optional(place: *mut T) -> Result<Out<T>, Failure> {
        // SAFETY: the caller's promise.
        if place.is_null() { Ok(Out(place)) } else { unsafe { Out::new(place) } }
    }

    pub(crate) fn set(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: it was checked and promised when the value was made.
            unsafe { self.0.write(value) }
        }
    }
}

pub(crate) fn expect_aligned<T>(place: *const T) -> Result<(), Failure> {
    if place.is_null() {
        return Err(norn_error::NORN_ERROR_NULL.into());
    }
    if place.is_aligned() { Ok(()) } else { Err(norn_error::NORN_ERROR_ALIGNMENT.into()) }
}

/// The unit table in the caller's memory. Before it is a word that says whose it is.
///
/// Invariant: `first` leads to `count` rows, which only this value reaches.
#[derive(Debug)]
pub(crate) struct Rows {
    first: *mut UnitRow,
    count: usize,
}

// A row is a word, so that memory for the mark and the rows is counted in words.
const _: () = assert!(size_of::<UnitRow>() == size_of::<u32>() && align_of::<UnitRow>() <= align_of::<u32>());

/// Bytes for the table of a part of so many units, and the mark before it.
pub(crate) const fn table_bytes(unit_count: u32) -> u32 {
    unit_count.saturating_add(1).saturating_mul(size_of::<UnitRow>() as u32)
}

impl Rows {
    /// Makes all rows unused. Returns them, and where the mark is.
    ///
    /// # Safety
    /// There are so many bytes at `memory` if it is not null and aligned, which nobody else uses while there are rows.
    pub(crate) unsafe fn new(memory: *mut c_void, bytes: usize, count: u16) -> Result<(*mut u32, Rows), Failure> {
        let mark: *mut u32 = memory.cast();
        expect_aligned(mark)?;
        let needed = table_bytes(u32::from(count));
        if bytes < needed as usize {
            return Err(Failure::limited(norn_error::NORN_ERROR_MEMORY, needed));
        }
        let count = usize::from(count);
        // SAFETY: the first row follows the mark within the bytes that there are.
        let first = unsafe { mark.add(1) }.cast::<UnitRow>();
        for row in 0..count {
            // SAFETY: the mark and so many rows were found to fit; a row needs no more alignment than the mark.
            unsafe { first.add(row).write(UnitRow::UNUSED) };
        }
        Ok((mark, Rows { first, count }))
    }
}

impl AsRef<[UnitRow]> for Rows {
    fn as_ref(&self) -> &[UnitRow] {
        // SAFETY: the invariant; `new` has written every row.
        unsafe { slice::from_raw_parts(self.first, self.count) }
    }
}

impl AsMut<[UnitRow]> for Rows {
    fn as_mut(&mut self) -> &mut [UnitRow] {
        // SAFETY: as of `as_ref`; the value is borrowed mutably, and it alone reaches the rows.
        unsafe { slice::from_raw_parts_mut(self.first, self.count) }
    }
}

/// Bytes of the caller's memory, behind the word that says whose it is.
///
/// Invariant: `first` leads to `count` bytes, which only this value reaches.
#[derive(Debug)]
pub(crate) struct Bytes {
    first: *mut u8,
    count: usize,
}

/// Bytes of the mark before [`Bytes`].
pub(crate) const MARK_BYTES: u32 = size_of::<u32>() as u32;

impl Bytes {
    /// The bytes, and where the mark is. What is in them does not matter to an engine.
    ///
    /// # Safety
    /// There are so many bytes at `memory` if it is not null and aligned, which nobody else uses while the value is
    /// there.
    pub(crate) unsafe fn new(memory: *mut c_void, bytes: usize, needed: u32) -> Result<(*mut u32, Bytes), Failure> {
        let mark: *mut u32 = memory.cast();
        expect_aligned(mark)?;
        let Some(count) = bytes.checked_sub(MARK_BYTES as usize).filter(|_| bytes >= needed as usize) else {
            return Err(Failure::limited(norn_error::NORN_ERROR_MEMORY, needed));
        };
        // SAFETY: the bytes follow the mark within those that there are.
        let first = unsafe { mark.add(1) }.cast::<u8>();
        Ok((mark, Bytes { first, count }))
    }

    /// The bytes, for as long as a handle is mounted.
    pub(crate) fn lent(self) -> &'static mut [u8] {
        // SAFETY: the invariant; whoever made the value has promised that nobody else uses them, and it ends here.
        unsafe { slice::from_raw_parts_mut(self.first, self.count) }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the invariant; bytes of the caller's memory have values, whatever these are.
        unsafe { slice::from_raw_parts(self.first, self.count) }
    }
}

impl AsMut<[u8]> for Bytes {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as of `as_ref`; the value is borrowed mutably, and it alone reaches the bytes.
        unsafe { slice::from_raw_parts_mut(self.first, self.count) }
    }
}
