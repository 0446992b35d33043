//! The heap's own checker on a heap in an image file.

use norn_flash::{Collected, Violation};
use norn_object_heap::SectorPtr;

use crate::failure::HeapFailure;
use crate::heap::ImageHeap;

/// What a checker reported.
#[derive(Clone, Debug)]
pub struct Audited {
    /// What is wrong, and where.
    pub violations: Vec<Violation>,
    /// What reads as it should, but may be a sign of damage.
    pub notices: Vec<Violation>,
}

/// All that the checker reports. The device counts nothing meanwhile.
///
/// # Errors
/// When the heap cannot be read.
pub fn audit(heap: &mut ImageHeap<'_>) -> Result<Audited, HeapFailure> {
    heap.device_mut().freeze_counters();
    let audited = audited(heap);
    heap.device_mut().thaw_counters();
    audited
}

fn audited(heap: &mut ImageHeap<'_>) -> Result<Audited, HeapFailure> {
    let (violations, notices) = match heap {
        ImageHeap::Log(heap) => {
            let mut collected = Collected::default();
            heap.audit(&mut collected)?;
            (collected.violations, collected.notices)
        }
        ImageHeap::TinyStore(heap) => {
            let mut collected = Collected::<SectorPtr>::default();
            heap.audit(&mut collected)?;
            (collected.violations, collected.notices)
        }
    };
    Ok(Audited { violations, notices })
}

/// Every violation in the heap. The device counts nothing meanwhile.
///
/// # Errors
/// When the heap cannot be read.
pub fn violations(heap: &mut ImageHeap<'_>) -> Result<Vec<Violation>, HeapFailure> {
    Ok(audit(heap)?.violations)
}
