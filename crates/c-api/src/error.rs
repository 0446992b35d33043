//! Errors: numbers for C, and what is known beside the number.

use core::ffi::{c_char, c_int};
use core::num::NonZero;

use norn_flash::{MountError, StoreError};
use norn_log_heap::{AccessError, CollectError, CreateError, TransactionError};
use norn_ordered_index::IndexError;

/// What calls return: 0, or one of these, all of which are negative. A call that fails has had no effect, except where
/// it is said.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum norn_error {
    /// Done.
    NORN_OK = 0,
    /// The device failed: a function of `struct norn_nor` or `struct norn_nand` did not return 0. What is mounted is
    /// halted: unmount and mount it.
    NORN_ERROR_DEVICE = -1,
    /// The flash holds something that no sequence of calls and power cuts leaves there. It may be halted.
    NORN_ERROR_CORRUPTED = -2,
    /// No room. Of a heap, `norn_heap_create` says how much has to be deleted before there is.
    NORN_ERROR_FULL = -3,
    /// An earlier call failed on the device: unmount and mount again.
    NORN_ERROR_HALTED = -4,
    /// The part holds no heap, index, block device or code: it is blank or of no format of Norn's, or formatting was
    /// cut short.
    NORN_ERROR_NOT_FORMATTED = -5,
    /// What is on the part is of another version of the format.
    NORN_ERROR_VERSION = -6,
    /// What is on the part was made for another geometry, or an index for other widths.
    NORN_ERROR_GEOMETRY = -7,
    /// `struct norn_nor` or `struct norn_nand` describes no possible part.
    NORN_ERROR_PART = -8,
    /// A possible part that cannot be used so: too few units or blocks, units or pages that are too small, or words
    /// that are programmed once where an index needs more.
    NORN_ERROR_UNSUITABLE = -9,
    /// The memory given is too small; `limit` of the failure is the bytes needed.
    NORN_ERROR_MEMORY = -10,
    /// A null pointer.
    NORN_ERROR_NULL = -11,
    /// A pointer that is not aligned.
    NORN_ERROR_ALIGNMENT = -12,
    /// The handle is not mounted, or was copied from where it was mounted.
    NORN_ERROR_NOT_MOUNTED = -13,
    /// The handle is mounted already.
    NORN_ERROR_MOUNTED = -14,
    /// The handle is in a call: it was used by a function that a call called, or in an interrupt.
    NORN_ERROR_BUSY = -15,
    /// The memory given is used by another handle as well, or is a part of the handle.
    NORN_ERROR_MEMORY_TAKEN = -16,
    /// The reference names nothing: what it named was deleted, its creation was undone, or it is 0.
    NORN_ERROR_STALE = -17,
    /// A number past the last one of a field, an element, a page, a byte of code, or a choice; `limit` is how many
    /// there are.
    NORN_ERROR_RANGE = -18,
    /// A number of bytes that is not the width of the field or element, or whole pages, which is `limit`; or of a key
    /// or value that is none or more than `limit`.
    NORN_ERROR_WIDTH = -19,
    /// An object where an array is needed, or the other way round.
    NORN_ERROR_KIND = -20,
    /// A header that is too long; `limit` is the bytes of the longest.
    NORN_ERROR_HEADER = -21,
    /// A root's name that is empty or longer than `NORN_NAME_BYTES_MAX`.
    NORN_ERROR_NAME = -22,
    /// No fields, more than 255, one of no bytes, or more bytes than fit; `limit` is the most where there is one.
    NORN_ERROR_LAYOUT = -23,
    /// All references are in use.
    NORN_ERROR_NO_REFERENCES = -24,
    /// A transaction is open.
    NORN_ERROR_TRANSACTION_OPEN = -25,
    /// No transaction is open.
    NORN_ERROR_NO_TRANSACTION = -26,
    /// An earlier failure has aborted the transaction, which is still open: call `norn_heap_abort`.
    NORN_ERROR_ABORTED = -27,
    /// The transaction is larger than the heap can note, or there are more changes than `limit`.
    NORN_ERROR_TRANSACTION_TOO_LARGE = -28,
    /// The free units have no room for a collection's marks; `limit` is the number of references that it has to mark.
    NORN_ERROR_TOO_MANY_OBJECTS = -29,
    /// A check has found something, and reported it.
    NORN_ERROR_VIOLATION = -30,
    /// The key to insert is there already.
    NORN_ERROR_KEY_EXISTS = -31,
    /// The key is not there.
    NORN_ERROR_KEY_ABSENT = -32,
    /// A ring is full, and the key would be the first one to drop.
    NORN_ERROR_BELOW_RING = -33,
    /// The cursor was not begun on this index, or in an earlier mount, or its bytes were overwritten.
    NORN_ERROR_CURSOR = -34,
    /// A page has more wrong bits than its code corrects; `address` of the failure is the logical page, or the code
    /// address.
    NORN_ERROR_UNREADABLE = -35,
    /// The task, or what has no deadline, has no token left: it writes more than it declared, or the guarantee was
    /// lost.
    NORN_ERROR_NO_TOKEN = -36,
    /// No task has this number, or it has left.
    NORN_ERROR_NO_TASK = -37,
    /// Not admitted: the task has no period, or costs more than one.
    NORN_ERROR_TASK = -38,
    /// Not admitted: its collector needs more than its period. A larger `alpha`, or a longer period of the task.
    NORN_ERROR_COLLECTOR = -39,
    /// Not admitted: as many tasks as can be are there, and the shares of some that have left may be kept for a time.
    NORN_ERROR_TASKS = -40,
    /// Not admitted: it takes `limit` tokens, and fewer are free. Start with more.
    NORN_ERROR_TOKENS = -41,
    /// Not admitted: more tokens than `limit` could come together, so that a recycling may not yield `alpha` pages. A
    /// smaller `alpha`, fewer tokens or fewer logical pages.
    NORN_ERROR_RECYCLING = -42,
    /// Not admitted: the period of the checkpoint is too long for what is written.
    NORN_ERROR_CHECKPOINT = -43,
    /// Not admitted: the processor and the part do not suffice. Longer periods, or a larger `alpha`.
    NORN_ERROR_UTILIZATION = -44,
    /// The part holds another format of Norn's, which `what` of the failure names: that of another program, or of
    /// another version of this one. A format would erase it.
    NORN_ERROR_OTHER_FORMAT = -45,
}

use norn_error::*;

/// What a failed call knows beside its number.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct norn_failure {
    /// The error, one of `enum norn_error`; 0 if no call has failed since the handle was mounted.
    pub error: c_int,
    /// For `NORN_ERROR_DEVICE`, what the device's function returned.
    pub device_error: c_int,
    /// The bound that the call has not kept, where the error names one; else 0.
    pub limit: u32,
    /// For `NORN_ERROR_CORRUPTED`, the address on the part, of NAND the page; for `NORN_ERROR_UNREADABLE` as it says.
    pub address: u32,
    /// In words, what was found or is unsuitable: `what_bytes` bytes, without a zero at the end (`%.*s`), or NULL.
    pub what: *const c_char,
    /// The bytes of `what`.
    pub what_bytes: usize,
}

impl norn_failure {
    /// No failure.
    pub(crate) const NONE: norn_failure =
        norn_failure { error: 0, device_error: 0, limit: 0, address: 0, what: core::ptr::null(), what_bytes: 0 };

    /// The same with words.
    pub(crate) const fn saying(mut self, what: &'static str) -> norn_failure {
        self.what = what.as_ptr().cast();
        self.what_bytes = what.len();
        self
    }
}

/// Why a call failed, small, since every call passes it on: the number to return, and for `NORN_ERROR_DEVICE` what the
/// device returned, for `NORN_ERROR_UNREADABLE` the address, for others the limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    error: NonZero<c_int>,
    detail: u32,
}

impl Failure {
    pub(crate) const fn new(error: norn_error) -> Failure {
        Failure::limited(error, 0)
    }

    pub(crate) const fn limited(error: norn_error, limit: u32) -> Failure {
        Failure::returned(error as c_int, limit)
    }

    /// A number to return, which is not 0.
    pub(crate) const fn returned(number: c_int, detail: u32) -> Failure {
        match NonZero::new(number) {
            Some(error) => Failure { error, detail },
            None => Failure { error: NonZero::<c_int>::MIN, detail },
        }
    }

    pub(crate) const fn number(self) -> c_int {
        self.error.get()
    }

    /// As the caller sees it.
    pub(crate) const fn shown(self) -> norn_failure {
        const DEVICE: c_int = NORN_ERROR_DEVICE as c_int;
        const UNREADABLE: c_int = NORN_ERROR_UNREADABLE as c_int;
        let mut shown = norn_failure { error: self.number(), ..norn_failure::NONE };
        match self.number() {
            DEVICE => shown.device_error = self.detail as c_int,
            UNREADABLE => shown.address = self.detail,
            _ => shown.limit = self.detail,
        }
        shown
    }
}

impl From<norn_error> for Failure {
    fn from(error: norn_error) -> Failure {
        Failure::new(error)
    }
}

impl From<StoreError<c_int>> for Failure {
    #[inline(never)]
    fn from(error: StoreError<c_int>) -> Failure {
        match error {
            StoreError::Device(OUTSIDE) => NORN_ERROR_CORRUPTED.into(),
            StoreError::Device(number) => Failure::limited(NORN_ERROR_DEVICE, number as u32),
            StoreError::Corrupted => NORN_ERROR_CORRUPTED.into(),
            StoreError::Full => NORN_ERROR_FULL.into(),
            StoreError::TransactionTooLarge => NORN_ERROR_TRANSACTION_TOO_LARGE.into(),
            StoreError::Halted => NORN_ERROR_HALTED.into(),
        }
    }
}

impl From<AccessError<c_int>> for Failure {
    #[inline(never)]
    fn from(error: AccessError<c_int>) -> Failure {
        match error {
            AccessError::Stale(_) => NORN_ERROR_STALE.into(),
            AccessError::OutOfRange { count } => Failure::limited(NORN_ERROR_RANGE, count),
            AccessError::WrongWidth { width } => Failure::limited(NORN_ERROR_WIDTH, width),
            AccessError::WrongKind(_) => NORN_ERROR_KIND.into(),
            // No call asks for bytes in place.
            AccessError::NotMapped => NORN_ERROR_UNSUITABLE.into(),
            AccessError::HeaderTooLarge { max } => Failure::limited(NORN_ERROR_HEADER, max),
            AccessError::NameLength(_) => NORN_ERROR_NAME.into(),
            AccessError::NoReferences => NORN_ERROR_NO_REFERENCES.into(),
            AccessError::TransactionAborted => NORN_ERROR_ABORTED.into(),
            AccessError::Store(error) => error.into(),
        }
    }
}

impl From<CreateError<c_int>> for Failure {
    #[inline(never)]
    fn from(error: CreateError<c_int>) -> Failure {
        match error {
            CreateError::NoFields | CreateError::ZeroWidth { .. } => NORN_ERROR_LAYOUT.into(),
            CreateError::TooManyFields { .. } => Failure::limited(NORN_ERROR_LAYOUT, 255),
            CreateError::TooLarge { max } => Failure::limited(NORN_ERROR_LAYOUT, max),
            CreateError::HeaderTooLarge { max } => Failure::limited(NORN_ERROR_HEADER, max),
            CreateError::NoReferences => NORN_ERROR_NO_REFERENCES.into(),
            CreateError::TransactionAborted => NORN_ERROR_ABORTED.into(),
            CreateError::Store(error) => error.into(),
        }
    }
}

impl From<TransactionError<c_int>> for Failure {
    #[inline(never)]
    fn from(error: TransactionError<c_int>) -> Failure {
        match error {
            TransactionError::AlreadyOpen => NORN_ERROR_TRANSACTION_OPEN.into(),
            TransactionError::NotOpen => NORN_ERROR_NO_TRANSACTION.into(),
            TransactionError::Aborted => NORN_ERROR_ABORTED.into(),
            TransactionError::Store(error) => error.into(),
        }
    }
}

impl From<CollectError<c_int>> for Failure {
    fn from(error: CollectError<c_int>) -> Failure {
        match error {
            CollectError::TransactionOpen => NORN_ERROR_TRANSACTION_OPEN.into(),
            CollectError::TooManyObjects { slots } => Failure::limited(NORN_ERROR_TOO_MANY_OBJECTS, slots),
            CollectError::Access(error) => error.into(),
        }
    }
}

impl From<IndexError<c_int>> for Failure {
    #[inline(never)]
    fn from(error: IndexError<c_int>) -> Failure {
        match error {
            IndexError::Device(OUTSIDE) | IndexError::Corrupted => NORN_ERROR_CORRUPTED.into(),
            IndexError::Device(number) => Failure::limited(NORN_ERROR_DEVICE, number as u32),
            IndexError::Halted => NORN_ERROR_HALTED.into(),
            IndexError::Full => NORN_ERROR_FULL.into(),
            IndexError::BelowRing => NORN_ERROR_BELOW_RING.into(),
            IndexError::KeyExists => NORN_ERROR_KEY_EXISTS.into(),
            IndexError::KeyAbsent => NORN_ERROR_KEY_ABSENT.into(),
        }
    }
}

impl From<MountError<c_int>> for norn_failure {
    fn from(error: MountError<c_int>) -> norn_failure {
        let shown = |error: norn_error| Failure::new(error).shown();
        match error {
            MountError::Device(OUTSIDE) => shown(NORN_ERROR_CORRUPTED).saying(LEADS_OUTSIDE),
            MountError::Device(number) => Failure::limited(NORN_ERROR_DEVICE, number as u32).shown(),
            MountError::Part(_) => shown(NORN_ERROR_PART),
            MountError::Unsuitable(what) => shown(NORN_ERROR_UNSUITABLE).saying(what),
            MountError::TooSmall { what, needed, .. } => {
                Failure::limited(NORN_ERROR_MEMORY, needed).shown().saying(what)
            }
            MountError::NotFormatted => shown(NORN_ERROR_NOT_FORMATTED),
            MountError::OtherVersion { found, .. } => Failure::limited(NORN_ERROR_VERSION, found).shown(),
            MountError::WrongGeometry { what, image, .. } => {
                Failure::limited(NORN_ERROR_GEOMETRY, image).shown().saying(what)
            }
            MountError::Corrupted(violation) => {
                norn_failure { address: violation.address.0, ..shown(NORN_ERROR_CORRUPTED) }.saying(violation.what)
            }
            MountError::Refused(never) => match never {},
        }
    }
}

/// What a device returns that was asked for an address outside of the part: damaged flash has led the engine there.
pub(crate) const OUTSIDE: c_int = c_int::MIN;

/// What is corrupted where damaged flash leads outside of the part.
pub(crate) const LEADS_OUTSIDE: &str = "an address outside of the part";

/// The text of an error in English, without a full stop; never NULL.
///
/// Cost: a table of some 2 KB of read-only memory where it is called.
#[unsafe(no_mangle)]
pub extern "C" fn norn_error_text(error: c_int) -> *const c_char {
    let place = error.checked_neg().and_then(|place| usize::try_from(place).ok());
    TEXTS.get(place.unwrap_or(usize::MAX)).unwrap_or(&c"not an error of Norn").as_ptr()
}

/// The texts, by the error without its sign.
const TEXTS: [&core::ffi::CStr; 46] = [
    c"done",
    c"the device failed: unmount and mount again",
    c"corrupted: the flash holds something impossible",
    c"full: no room for the new data",
    c"an earlier call failed on the device: unmount and mount again",
    c"not formatted: blank, of no format of Norn, or formatting was cut short",
    c"of another version of the format",
    c"made for another geometry",
    c"the description of the part is impossible",
    c"the part cannot be used",
    c"the memory given is too small",
    c"a null pointer",
    c"a pointer that is not aligned",
    c"the handle is not mounted, or was copied from where it was mounted",
    c"the handle is mounted already",
    c"the handle is in a call",
    c"the memory given is used by another handle, or is a part of the handle",
    c"a stale reference",
    c"a number past the last field, element, page or choice",
    c"a number of bytes that is not the width of the field or element, or whole pages",
    c"an object where an array is needed, or the other way round",
    c"the header is too long",
    c"a name that is empty or too long",
    c"no object can have this layout",
    c"all references are in use",
    c"a transaction is open",
    c"no transaction is open",
    c"an earlier failure has aborted the transaction: call abort",
    c"the transaction is too large",
    c"no room for the marks of a collection",
    c"the check has found something that must not be there",
    c"the key is there already",
    c"the key is not there",
    c"the ring is full, and the key would be the first one to drop",
    c"the cursor was not begun on this index, or in an earlier mount, or was overwritten",
    c"a page has more wrong bits than its code corrects",
    c"no token is left",
    c"no task has this number",
    c"not admitted: the task has no period, or costs more than one",
    c"not admitted: the collector needs more than its period: a larger alpha or a longer period",
    c"not admitted: no place for another task",
    c"not admitted: too few tokens: start with more",
    c"not admitted: too many tokens for alpha: a smaller alpha, fewer tokens or fewer logical pages",
    c"not admitted: the period of the checkpoint is too long",
    c"not admitted: the processor does not suffice: longer periods or a larger alpha",
    c"the part holds another format of Norn: a format would erase it",
];

const _: () = assert!(TEXTS.len() == 1 + (NORN_ERROR_OTHER_FORMAT as isize).unsigned_abs());
