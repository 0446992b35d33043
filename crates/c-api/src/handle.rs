//! Handles: an engine's state in the caller's structure, and who may use it now.
//!
//! A handle is zeros, or what a program has left there, before it is mounted. A *seal* tells that it is mounted: a
//! number made of its own address, so that a copy elsewhere has none. It is *busy* within a call; a function of the
//! caller's that a call calls, or an interrupt, may find it so. Where an engine works in memory that the caller gives,
//! a *mark* in it says whose that is: another handle that is mounted on the same memory takes it over, and every call
//! of the first is refused then.
//!
//! What all handles have in common, the [`Head`], is the same in each of them, and its code is there once.
//!
//! Behind the head is the engine, at the first place that it may be: one that is aligned more strictly than the handle,
//! as those with 128-bit numbers are on a host, is found at run time, since the handle does not move.
//!
//! Invariant: where the seal says `MOUNTED`, the engine is initialised. A reference to the engine exists only while
//! `is_busy`, in the call that has set it.

use core::ffi::{c_int, c_void};
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::error::norn_error::*;
use crate::error::{Failure, LEADS_OUTSIDE, norn_failure};
use crate::memory::{self, Out};

/// What a handle has in it.
pub(crate) trait Engine {
    /// Where the last call found flash corrupted, and what it found there, as far as the engine knows.
    fn corruption(&self) -> Option<(u32, &'static str)>;
}

/// A structure of the header's in which an engine's state is.
pub(crate) trait Opaque: Sized {
    /// The engine.
    type Engine: Engine;

    /// Where the engine is, from the start of a handle; at most so many bytes further if it is aligned more strictly.
    const ENGINE_OFFSET: (usize, usize) = match align_of::<Self::Engine>().checked_sub(align_of::<Self>()) {
        None | Some(0) => (size_of::<Head>().next_multiple_of(align_of::<Self::Engine>()), 0),
        Some(further) => (size_of::<Head>().next_multiple_of(align_of::<Self>()), further),
    };

    /// That the structure has room for the head and the engine; each handle asserts it.
    const FITS: bool = Self::ENGINE_OFFSET.0 + Self::ENGINE_OFFSET.1 + size_of::<Self::Engine>() <= size_of::<Self>()
        && align_of::<Head>() <= align_of::<Self>();
}

/// What is in every handle.
#[repr(C)]
struct Head {
    seal: usize,
    /// 1 within a call.
    is_busy: AtomicU32,
    /// How often it was mounted.
    mounts: u32,
    /// Where the caller's memory says whose it is; null where there is none.
    mark: *mut u32,
    failure: norn_failure,
}

/// In the seal, beside the handle's address: mounted.
const MOUNTED: usize = 0x4E6F_726E;
/// In the seal: not mounted, but it knows why.
const UNMOUNTED: usize = 0x6661_696C;

/// The head of a handle that is neither null nor misaligned. Its fields are reached one by one: while a call is in the
/// engine, nothing may refer to the whole.
///
/// Invariant: the pointer leads to a handle, by the promise of whoever made this value.
#[derive(Clone, Copy)]
struct Place(*mut Head);

impl Place {
    fn has_seal(self, what: usize) -> bool {
        // SAFETY: the invariant; what was never mounted has any number there.
        unsafe { (&raw const (*self.0).seal).read() == self.0.addr() ^ what }
    }

    fn set_seal(self, what: usize) {
        // SAFETY: the invariant.
        unsafe { (&raw mut (*self.0).seal).write(self.0.addr() ^ what) }
    }

    fn busy(&self) -> &AtomicU32 {
        // SAFETY: the invariant; every number is valid there, and it is never referred to mutably.
        unsafe { &(*self.0).is_busy }
    }

    /// The word with which a handle marks its memory.
    fn mark(self) -> u32 {
        self.0.addr() as u32 ^ MOUNTED as u32
    }

    /// Whether the memory that the handle was given is another's now.
    fn has_lost_memory(self) -> bool {
        // SAFETY: the invariant; the mark's place was written when the handle was sealed, and leads to the caller's
        // memory, or is null.
        unsafe {
            let mark = (&raw const (*self.0).mark).read();
            !mark.is_null() && mark.read() != self.mark()
        }
    }

    fn mounts(self) -> u32 {
        // SAFETY: the invariant; every number is valid there.
        unsafe { (&raw const (*self.0).mounts).read() }
    }

    /// What is known of the last failure, if the handle was mounted, or was to be.
    fn failure(self) -> Option<norn_failure> {
        let is_known = self.has_seal(MOUNTED) || self.has_seal(UNMOUNTED);
        // SAFETY: the invariant; where there is a seal, it was written.
        is_known.then(|| unsafe { (&raw const (*self.0).failure).read() })
    }

    #[inline(never)]
    fn set_failure(self, failure: &norn_failure) {
        // SAFETY: the invariant.
        unsafe { (&raw mut (*self.0).failure).write(*failure) }
    }

    /// Why the handle may not be mounted, or 0.
    #[inline(never)]
    fn expect_unmounted(self) -> c_int {
        match self.has_seal(MOUNTED) {
            false => 0,
            true if self.busy().load(Ordering::Acquire) != 0 => NORN_ERROR_BUSY as c_int,
            true => NORN_ERROR_MOUNTED as c_int,
        }
    }

    /// Makes the handle mounted and busy, and the memory its own.
    #[inline(never)]
    fn seize(self, mark: *mut u32) {
        // SAFETY: the invariant; `mark` leads to a word of the caller's or is null, by the promise of whoever calls.
        unsafe {
            if !mark.is_null() {
                mark.write(self.mark());
            }
            (&raw mut (*self.0).mark).write(mark);
            (&raw mut (*self.0).mounts).write(self.mounts().wrapping_add(1));
        }
        self.set_failure(&norn_failure::NONE);
        self.busy().store(1, Ordering::Release);
        self.set_seal(MOUNTED);
    }

    /// Makes the handle unmounted, for this reason, whose number it returns.
    #[inline(never)]
    fn release(self, failure: &norn_failure) -> c_int {
        self.set_failure(failure);
        self.set_seal(UNMOUNTED);
        failure.error
    }
}

/// Enters a handle, once for all calls of all engines: a copy in each would be larger than all else that they do.
/// Returns 0, after which the handle is busy, or the number to return.
///
/// # Safety
/// The pointer leads to a handle if it is not null and is aligned.
#[inline(never)]
unsafe fn enter(head: *mut Head, alignment: usize) -> c_int {
    if head.is_null() {
        return NORN_ERROR_NULL as c_int;
    }
    if head.addr() & (alignment - 1) != 0 {
        return NORN_ERROR_ALIGNMENT as c_int;
    }
    let place = Place(head);
    if !place.has_seal(MOUNTED) {
        return NORN_ERROR_NOT_MOUNTED as c_int;
    }
    if place.busy().load(Ordering::Acquire) != 0 {
        return NORN_ERROR_BUSY as c_int;
    }
    if place.has_lost_memory() {
        return NORN_ERROR_MEMORY_TAKEN as c_int;
    }
    place.busy().store(1, Ordering::Release);
    0
}

/// A handle that is neither null nor misaligned.
///
/// Invariant: the pointer leads to a `T`, by the promise of whoever made this value.
pub(crate) struct Handle<T>(Place, PhantomData<*mut T>);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T: Opaque> Handle<T> {
    /// # Safety
    /// The pointer leads to a `T` if it is not null and is aligned, and does so as long as the value is used.
    pub(crate) unsafe fn new(handle: *const T) -> Result<Handle<T>, Failure> {
        memory::expect_aligned(handle)?;
        Ok(Handle(Place(handle.cast_mut().cast()), PhantomData))
    }

    /// A handle that may be mounted, or the number to return.
    ///
    /// # Safety
    /// As of [`new`](Self::new).
    pub(crate) unsafe fn unmounted(handle: *mut T) -> Result<Handle<T>, c_int> {
        // SAFETY: the caller's promise.
        let handle = unsafe { Handle::new(handle) }.map_err(Failure::number)?;
        match handle.0.expect_unmounted() {
            0 => Ok(handle),
            number => Err(number),
        }
    }

    /// Whether some bytes lie in the handle.
    pub(crate) fn overlaps(self, memory: *const c_void, bytes: usize) -> bool {
        let (start, from) = (self.0.0.addr(), memory.addr());
        from < start.saturating_add(size_of::<T>()) && start < from.saturating_add(bytes)
    }

    /// How often the handle was mounted.
    pub(crate) fn mounts(self) -> u32 {
        self.0.mounts()
    }

    /// Where the engine is, or is to be: within the handle, which has room for it.
    fn place(self) -> *mut T::Engine {
        const { assert!(T::FITS) };
        let (offset, further) = T::ENGINE_OFFSET;
        let first = self.0.0.cast::<u8>().wrapping_add(offset);
        let skipped = if further == 0 { 0 } else { first.addr().wrapping_neg() & (align_of::<T::Engine>() - 1) };
        first.wrapping_add(skipped).cast()
    }

    /// The engine.
    ///
    /// # Safety
    /// The engine was written, `is_busy` was set by the call that calls this, and there is no other such reference.
    unsafe fn engine<'a>(self) -> &'a mut T::Engine {
        // SAFETY: the invariant, and the caller's promise.
        unsafe { &mut *self.place() }
    }

    /// Notes the result of a call, which ends here, and returns its number.
    #[inline(never)]
    fn leave(self, result: Result<(), Failure>) -> c_int {
        let number = match result {
            Ok(()) => NORN_OK as c_int,
            Err(failure) => {
                self.0.set_failure(&self.explained(failure));
                failure.number()
            }
        };
        self.0.busy().store(0, Ordering::Release);
        number
    }

    /// A failure, with what the engine knows of it.
    fn explained(self, failure: Failure) -> norn_failure {
        let shown = failure.shown();
        if failure.number() != NORN_ERROR_CORRUPTED as c_int {
            return shown;
        }
        // SAFETY: the call that calls this has set `is_busy`, and its reference to the engine has ended.
        match unsafe { self.engine() }.corruption() {
            Some((address, what)) => norn_failure { address, ..shown }.saying(what),
            None => shown.saying(LEADS_OUTSIDE),
        }
    }

    /// Mounts a handle that is not mounted, which is busy meanwhile: `make` makes the engine, and `begin` has it begin
    /// to work where it is.
    ///
    /// # Safety
    /// `mark` leads to a word of the memory that the engine works in, or is null.
    pub(crate) unsafe fn mount(
        self,
        mark: *mut u32,
        make: impl FnOnce() -> Result<T::Engine, norn_failure>,
        begin: impl FnOnce(&mut T::Engine) -> Result<(), norn_failure>,
    ) -> c_int {
        self.0.seize(mark);
        let mounted = make().and_then(|engine| {
            // SAFETY: the invariant; nothing refers to the engine, since none was mounted.
            unsafe { self.place().write(engine) };
            // SAFETY: it was just written, and `seize` has set `is_busy`.
            begin(unsafe { self.engine() })
        });
        match mounted {
            Ok(()) => self.leave(Ok(())),
            Err(failure) => self.0.release(&failure),
        }
    }

    /// Has a part formatted with the handle busy meanwhile.
    ///
    /// # Safety
    /// As of [`mount`](Self::mount).
    pub(crate) unsafe fn format(self, mark: *mut u32, format: impl FnOnce() -> norn_failure) -> c_int {
        self.0.seize(mark);
        self.0.release(&format())
    }

    /// Makes the handle unmounted, for this reason, whose number it returns.
    pub(crate) fn release(self, failure: &norn_failure) -> c_int {
        self.0.release(failure)
    }
}

/// Makes a call on what a handle has mounted.
///
/// # Safety
/// As of [`Handle::new`].
pub(crate) unsafe fn on<T: Opaque>(handle: *mut T, call: impl FnOnce(&mut T::Engine) -> Result<(), Failure>) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { enter(handle.cast(), align_of::<T>()) } {
        0 => {
            let handle: Handle<T> = Handle(Place(handle.cast()), PhantomData);
            // SAFETY: `enter` found the engine mounted, and has set `is_busy`.
            handle.leave(call(unsafe { handle.engine() }))
        }
        number => number,
    }
}

/// Ends what a handle has mounted, after `last`. It is unmounted in any case; one whose memory is another's now is left
/// without a call of the engine, and so is one that has halted.
///
/// # Safety
/// As of [`Handle::new`].
pub(crate) unsafe fn unmount<T: Opaque>(
    handle: *mut T,
    last: impl FnOnce(&mut T::Engine) -> Result<(), Failure>,
) -> c_int {
    // SAFETY: the caller's promise.
    let number = unsafe { enter(handle.cast(), align_of::<T>()) };
    let handle: Handle<T> = Handle(Place(handle.cast()), PhantomData);
    if number == NORN_ERROR_MEMORY_TAKEN as c_int {
        return handle.release(&Failure::returned(number, 0).shown());
    }
    if number != 0 {
        return number;
    }
    // SAFETY: `enter` found the engine mounted, and has set `is_busy`.
    let ended = match last(unsafe { handle.engine() }) {
        Err(failure) if failure.number() != NORN_ERROR_HALTED as c_int => handle.explained(failure),
        _ => norn_failure::NONE,
    };
    handle.release(&ended)
}

/// Tells what is known of the last call that failed on a handle.
///
/// # Safety
/// As of [`Handle::new`], and the header's rules on `failure`.
pub(crate) unsafe fn tell_failure<T: Opaque>(handle: *const T, failure: *mut norn_failure) -> c_int {
    // SAFETY: the caller's promise.
    let known = unsafe { Handle::new(handle).and_then(|handle| Ok((handle, Out::new(failure)?))) };
    match known.map(|(handle, out)| (handle.0.failure(), out)) {
        Ok((Some(known), out)) => {
            out.set(known);
            0
        }
        Ok((None, _)) => NORN_ERROR_NOT_MOUNTED as c_int,
        Err(refused) => refused.number(),
    }
}
