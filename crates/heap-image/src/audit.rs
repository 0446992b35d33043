//! The heap's own checker on a heap in an image file.

use norn_flash::{Collected, Violation};
use norn_object_heap::SectorPtr;

use crate::failure::HeapFailure;
use crate::part::ImageHeap;

/// All that the checker reports. The device counts nothing meanwhile.
///
/// # Errors
/// When the heap cannot be read.
pub fn audit(heap: &mut ImageHeap<'_>) -> Result<Collected<SectorPtr>, HeapFailure> {
    let mut collected = Collected::<SectorPtr>::default();
    heap.device_mut().freeze_counters();
    let audited = heap.audit(&mut collected);
    heap.device_mut().thaw_counters();
    audited?;
    Ok(collected)
}

/// Every violation in the heap. The device counts nothing meanwhile.
///
/// # Errors
/// When the heap cannot be read.
pub fn violations(heap: &mut ImageHeap<'_>) -> Result<Vec<Violation>, HeapFailure> {
    Ok(audit(heap)?.violations)
}
