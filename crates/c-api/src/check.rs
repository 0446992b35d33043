//! The check of a whole heap, which reports each place that must not be as it is.

use core::ffi::{c_char, c_int, c_void};

use norn_flash::{Address, Auditor, Marks, Nor, Violation};

use crate::device::bitmap_bytes;
use crate::error::Failure;
use crate::error::norn_error::*;
use crate::handle::on;
use crate::heap::norn_heap;
use crate::memory;

/// Takes what a check found: an address on the part, and words, `what_bytes` bytes without a zero at the end.
pub type norn_report =
    Option<unsafe extern "C" fn(context: *mut c_void, address: u32, what: *const c_char, what_bytes: usize)>;

/// A bit for each granule of the part, and where violations go.
struct Bitmap<'a, R> {
    bits: &'a mut [u8],
    granule_bytes: u32,
    report: R,
    count: u32,
}

impl<R> Bitmap<'_, R> {
    fn place(&self, address: Address) -> (usize, u8) {
        let granule = address.0 / self.granule_bytes;
        ((granule / 8) as usize, 1 << (granule % 8))
    }
}

impl<R: FnMut(Violation)> Auditor for Bitmap<'_, R> {
    fn violation(&mut self, violation: Violation) {
        self.count += 1;
        (self.report)(violation);
    }
}

impl<R> Marks<Address> for Bitmap<'_, R> {
    fn mark(&mut self, address: Address) -> bool {
        let (place, bit) = self.place(address);
        // What lies beyond the part overlaps what is there: it must not be.
        let Some(bits) = self.bits.get_mut(place) else { return true };
        let was_marked = *bits & bit != 0;
        *bits |= bit;
        was_marked
    }

    fn is_marked(&self, address: Address) -> bool {
        let (place, bit) = self.place(address);
        self.bits.get(place).is_some_and(|bits| bits & bit != 0)
    }
}

/// Checks every invariant of the heap on the part, and calls `report`, which may be NULL, for each violation. `memory`
/// has `memory_bytes` bytes of any alignment, which the call overwrites: as many as `norn_heap_check_bytes` returns.
/// `report` may not use the heap.
///
/// Cost: reads all that is in use.
///
/// Errors: `NORN_ERROR_VIOLATION` if there was one; `NORN_ERROR_MEMORY`, `NORN_ERROR_CORRUPTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_heap_check(
    heap: *mut norn_heap,
    memory: *mut c_void,
    memory_bytes: usize,
    report: norn_report,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(heap, |engine| {
            let bits = memory::lent_mut(memory, memory_bytes)?;
            let needed = bitmap_bytes(&engine.device().part());
            if bits.len() < needed as usize {
                return Err(Failure::limited(NORN_ERROR_MEMORY, needed));
            }
            bits.fill(0);
            let report = |violation: Violation| {
                if let Some(report) = report {
                    report(context, violation.address.0, violation.what.as_ptr().cast(), violation.what.len());
                }
            };
            let granule_bytes = engine.device().granule_bytes();
            let mut bitmap = Bitmap { bits, granule_bytes, report, count: 0 };
            engine.audit(&mut bitmap)?;
            if bitmap.count == 0 { Ok(()) } else { Err(NORN_ERROR_VIOLATION.into()) }
        })
    }
}
