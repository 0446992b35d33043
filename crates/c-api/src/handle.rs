//! The handle: the engine's state in the caller's structure, and who may use it now.
//!
//! A handle is zeros, or what a program has left there, before it is mounted. A *seal* tells that it is mounted: a
//! number made of its own address, so that a copy elsewhere has none. It is *busy* within a call; a function of the
//! caller's that a call calls, or an interrupt, may find it so. The *mark* in the memory that the handle was given
//! says whose that is: another handle that is mounted on the same memory takes it over, and every call of the first
//! is refused then.
//!
//! Invariant: where the seal says `MOUNTED`, `engine` is initialised. A reference to the engine exists only while
//! `is_busy`, in the call that has set it.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};

use norn_flash::MountError;
use norn_log_heap::LogHeapIn;

use crate::device::Device;
use crate::error::norn_error::*;
use crate::error::{Failure, LEADS_OUTSIDE, norn_failure};
use crate::memory::{self, Rows};

/// The engine, on functions and in memory of the caller's.
pub(crate) type Engine = LogHeapIn<Device, Rows>;

/// Pointers that fit into `struct norn_heap`, beside its words.
pub const NORN_HEAP_POINTERS: usize = 20;
/// Words that fit into `struct norn_heap`, beside its pointers.
pub const NORN_HEAP_WORDS: usize = 76;

/// The handle of a heap: the caller's memory for its state, beside the unit table. Zero it before it is mounted for
/// the first time, as a static variable is. It must not be moved or copied while it is mounted. 384 bytes where
/// pointers have 32 bits.
#[repr(C)]
pub struct norn_heap {
    /// The library's.
    pub opaque_pointers: [*mut c_void; NORN_HEAP_POINTERS],
    /// The library's.
    pub opaque_words: [u32; NORN_HEAP_WORDS],
}

/// What is in a [`norn_heap`].
struct State {
    seal: usize,
    /// 1 within a call.
    is_busy: AtomicU32,
    /// Where the caller's memory says whose it is.
    mark: *mut u32,
    failure: norn_failure,
    engine: MaybeUninit<Engine>,
}

const _: () = assert!(size_of::<State>() <= size_of::<norn_heap>() && align_of::<State>() <= align_of::<norn_heap>());

/// In the seal, beside the handle's address: mounted.
const MOUNTED: usize = 0x4E6F_726E;
/// In the seal: not mounted, but it knows why.
const UNMOUNTED: usize = 0x6661_696C;

/// A handle that is neither null nor misaligned. Its fields are reached one by one: while a call is in the engine,
/// nothing may refer to the whole.
///
/// Invariant: the pointer leads to a handle, by the promise of whoever made this value.
#[derive(Clone, Copy)]
pub(crate) struct Handle(*mut State);

impl Handle {
    /// # Safety
    /// The pointer leads to a `norn_heap` if it is not null and is aligned, and does so as long as the value is used.
    pub(crate) unsafe fn new(heap: *const norn_heap) -> Result<Handle, Failure> {
        memory::expect_aligned(heap)?;
        Ok(Handle(heap.cast_mut().cast()))
    }

    /// Whether some bytes lie in the handle.
    pub(crate) fn overlaps(self, memory: *const c_void, bytes: usize) -> bool {
        let (start, from) = (self.0.addr(), memory.addr());
        from < start.saturating_add(size_of::<norn_heap>()) && start < from.saturating_add(bytes)
    }

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

    /// What is known of the last failure.
    pub(crate) fn failure(self) -> Result<norn_failure, Failure> {
        if !self.has_seal(MOUNTED) && !self.has_seal(UNMOUNTED) {
            return Err(NORN_ERROR_NOT_MOUNTED.into());
        }
        // SAFETY: the invariant; where there is a seal, it was written.
        Ok(unsafe { (&raw const (*self.0).failure).read() })
    }

    fn set_failure(self, failure: norn_failure) {
        // SAFETY: the invariant.
        unsafe { (&raw mut (*self.0).failure).write(failure) }
    }

    /// That the handle may be mounted.
    pub(crate) fn expect_unmounted(self) -> Result<(), Failure> {
        match self.has_seal(MOUNTED) {
            false => Ok(()),
            true if self.busy().load(Ordering::Acquire) != 0 => Err(NORN_ERROR_BUSY.into()),
            true => Err(NORN_ERROR_MOUNTED.into()),
        }
    }

    /// That the handle is mounted, free, and its memory its own. It is busy from here on, until
    /// [`leave`](Self::leave).
    fn enter(self) -> Result<(), Failure> {
        if !self.has_seal(MOUNTED) {
            return Err(NORN_ERROR_NOT_MOUNTED.into());
        }
        if self.busy().load(Ordering::Acquire) != 0 {
            return Err(NORN_ERROR_BUSY.into());
        }
        // SAFETY: the invariant; the mark's place was written when the handle was sealed, and leads to the caller's
        // memory.
        if unsafe { (&raw const (*self.0).mark).read().read() } != self.mark() {
            return Err(NORN_ERROR_MEMORY_TAKEN.into());
        }
        self.busy().store(1, Ordering::Release);
        Ok(())
    }

    /// Notes the result of a call, which ends here, and returns its number.
    #[inline(never)]
    fn leave(self, result: Result<(), Failure>) -> c_int {
        let number = match result {
            Ok(()) => NORN_OK as c_int,
            Err(failure) => {
                self.set_failure(self.explained(failure));
                failure.number()
            }
        };
        self.busy().store(0, Ordering::Release);
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
            Some(violation) => norn_failure { address: violation.address.0, ..shown }.saying(violation.what),
            None => shown.saying(LEADS_OUTSIDE),
        }
    }

    /// The engine.
    ///
    /// # Safety
    /// The engine was written, `is_busy` was set by the call that calls this, and there is no other such reference.
    unsafe fn engine<'a>(self) -> &'a mut Engine {
        // SAFETY: the invariant, and the caller's promise.
        unsafe { (*self.0).engine.assume_init_mut() }
    }

    /// Mounts a handle that is not mounted, or formats the part: `begin` gets the engine, which is not mounted yet.
    ///
    /// # Safety
    /// `mark` leads to the word before the engine's rows.
    pub(crate) unsafe fn mount(self, mark: *mut u32, engine: Engine) -> c_int {
        self.seize(mark);
        // SAFETY: the invariant; nothing refers to the engine, since `seize` found none mounted.
        unsafe { (&raw mut (*self.0).engine).write(MaybeUninit::new(engine)) };
        // SAFETY: it was just written, and `seize` has set `is_busy`.
        let mounted = unsafe { self.engine() }.remount();
        if let Err(error) = mounted {
            return self.release(error.into());
        }
        self.leave(Ok(()))
    }

    /// Has a part formatted with the handle busy meanwhile.
    ///
    /// # Safety
    /// `mark` leads to the word before the rows that `format` uses.
    pub(crate) unsafe fn format(
        self,
        mark: *mut u32,
        format: impl FnOnce() -> Result<Engine, MountError<c_int>>,
    ) -> c_int {
        self.seize(mark);
        self.release(format().map_or_else(norn_failure::from, |_| norn_failure::NONE))
    }

    /// Makes the handle mounted and busy, and the memory its own.
    fn seize(self, mark: *mut u32) {
        // SAFETY: the invariant; `mark` leads to a word of the caller's, by the promise of whoever calls.
        unsafe {
            mark.write(self.mark());
            (&raw mut (*self.0).mark).write(mark);
        }
        self.set_failure(norn_failure::NONE);
        self.busy().store(1, Ordering::Release);
        self.set_seal(MOUNTED);
    }

    /// Makes the handle unmounted, for this reason, whose number it returns.
    pub(crate) fn release(self, failure: norn_failure) -> c_int {
        self.set_failure(failure);
        self.set_seal(UNMOUNTED);
        failure.error
    }

    /// Ends what is mounted, after `last`. A handle without memory of its own is left without a call of the engine.
    pub(crate) fn unmount(self, last: impl FnOnce(&mut Engine) -> Result<(), Failure>) -> c_int {
        match self.enter() {
            Ok(()) => {
                // SAFETY: `enter` found the engine mounted, and has set `is_busy`.
                let result = last(unsafe { self.engine() });
                self.release(result.map_or_else(|failure| self.explained(failure), |()| norn_failure::NONE))
            }
            Err(failure) if failure.number() == NORN_ERROR_MEMORY_TAKEN as c_int => self.release(failure.shown()),
            Err(failure) => failure.number(),
        }
    }
}

/// Enters a handle, once for all calls: a copy in each would be larger than all else that they do.
///
/// # Safety
/// As of [`Handle::new`].
#[inline(never)]
unsafe fn enter(heap: *mut norn_heap) -> Result<Handle, Failure> {
    // SAFETY: the caller's promise.
    let handle = unsafe { Handle::new(heap) }?;
    handle.enter()?;
    Ok(handle)
}

/// Makes a call on a mounted heap.
///
/// # Safety
/// As of [`Handle::new`].
pub(crate) unsafe fn on_heap(heap: *mut norn_heap, call: impl FnOnce(&mut Engine) -> Result<(), Failure>) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { enter(heap) } {
        // SAFETY: `enter` found the engine mounted, and has set `is_busy`.
        Ok(handle) => handle.leave(call(unsafe { handle.engine() })),
        Err(failure) => failure.number(),
    }
}
