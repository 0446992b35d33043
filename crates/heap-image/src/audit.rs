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

/// All that the checker reports. Damage at which it stops is the last violation. The device counts nothing meanwhile.
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
    let (ended, mut violations, notices) = match heap {
        ImageHeap::Log(heap) => {
            let mut collected = Collected::default();
            (heap.audit(&mut collected).map(drop).map_err(HeapFailure::from), collected.violations, collected.notices)
        }
        ImageHeap::TinyStore(heap) => {
            let mut collected = Collected::<SectorPtr>::default();
            (heap.audit(&mut collected).map(drop).map_err(HeapFailure::from), collected.violations, collected.notices)
        }
    };
    match ended.map_err(|failure| failure.placed(heap)) {
        Err(HeapFailure::Corrupted(found)) if violations.contains(&found) => {}
        Err(HeapFailure::Corrupted(found)) => violations.push(found),
        ended => ended?,
    }
    Ok(Audited { violations, notices })
}

/// Every violation in the heap. The device counts nothing meanwhile.
///
/// # Errors
/// When the heap cannot be read.
pub fn violations(heap: &mut ImageHeap<'_>) -> Result<Vec<Violation>, HeapFailure> {
    Ok(audit(heap)?.violations)
}
