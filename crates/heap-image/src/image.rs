//! Making and mounting heaps in image files.

use std::path::Path;

use norn_flash::{EraseUnit, Nor, Reprogramming};
use norn_flash_sim::{NorSim, PartSpec};
use norn_heap::StoreError;
use norn_log_heap::LogHeapIn;
use norn_nor_remap::{Remap, RemapConfig};
use norn_object_heap::{ErrorDetection, HeapIn};

use crate::engine::{Engine, Format};
use crate::failure::{HeapFailure, HeapImageError};
use crate::heap::ImageHeap;
use crate::part::Part;

/// Makes an image file with an empty heap; below it a `Remap` with `spares` spare units. By default there is one spare
/// where the engine is TinyStore's and the part's words may be programmed a limited number of times, and else no
/// `Remap`. The file appears when the heap is in it.
///
/// # Errors
/// When the file exists, cannot be made, or its part is not suitable for a heap.
pub fn create(
    image: &Path,
    part: PartSpec,
    format: impl Into<Format>,
    spares: Option<u16>,
) -> Result<NorSim, HeapImageError> {
    NorSim::create_image_with(image, part, |device| {
        formatted(device, format.into(), spares).map(drop).map_err(|failure| failure.in_image(image))
    })
}

/// An empty heap on a device, as of [`create`].
pub(crate) fn formatted(
    device: &mut NorSim,
    format: Format,
    spares: Option<u16>,
) -> Result<ImageHeap<'_>, HeapFailure> {
    let needs_remap =
        format.engine() == Engine::TinyStore && device.spec().part.reprogramming != Reprogramming::Unlimited;
    let part = match spares.unwrap_or(u16::from(needs_remap)) {
        0 if !needs_remap => Part::Direct(device),
        spare_units => {
            let remap = Remap::format(device, RemapConfig { spare_units }).map_err(HeapFailure::RemapFormat)?;
            Part::Remapped(Box::new(remap))
        }
    };
    format_part(part, format)
}

/// Mounts the heap of a device, which completes or undoes what a power cut interrupted.
///
/// # Errors
/// What is wrong with the heap.
pub fn mount(device: &mut NorSim) -> Result<ImageHeap<'_>, HeapFailure> {
    mount_part(Part::mount(device).map_err(HeapFailure::Remap)?)
}

fn format_part(part: Part<'_>, format: Format) -> Result<ImageHeap<'_>, HeapFailure> {
    let count = usize::from(part.part().unit_count);
    Ok(match format {
        Format::Log(detection) => {
            let rows = vec![norn_log_heap::UnitRow::UNUSED; count];
            let detection = match detection {
                ErrorDetection::Off => norn_log_heap::ErrorDetection::Off,
                ErrorDetection::On => norn_log_heap::ErrorDetection::On,
            };
            ImageHeap::Log(Box::new(LogHeapIn::format_with_in(part, rows, detection).map_err(HeapFailure::LogFormat)?))
        }
        Format::TinyStore(config) => {
            let rows = vec![norn_object_heap::UnitRow::UNUSED; count];
            ImageHeap::TinyStore(Box::new(HeapIn::format_in(part, rows, config).map_err(HeapFailure::Format)?))
        }
    })
}

/// Mounts the heap of a part, of whichever engine it is.
fn mount_part(mut part: Part<'_>) -> Result<ImageHeap<'_>, HeapFailure> {
    let count = usize::from(part.part().unit_count);
    part.freeze_counters();
    let engine = Engine::of(&mut part);
    part.thaw_counters();
    Ok(match engine.map_err(StoreError::Device)? {
        Engine::Log => {
            let rows = vec![norn_log_heap::UnitRow::UNUSED; count];
            ImageHeap::Log(Box::new(LogHeapIn::mount_in(part, rows).map_err(HeapFailure::LogMount)?))
        }
        Engine::TinyStore => {
            let rows = vec![norn_object_heap::UnitRow::UNUSED; count];
            ImageHeap::TinyStore(Box::new(HeapIn::mount_in(part, rows).map_err(HeapFailure::Mount)?))
        }
    })
}

/// The erase units of the part that the heap sees.
pub fn units(heap: &ImageHeap<'_>) -> impl Iterator<Item = EraseUnit> + use<> {
    (0..heap.device().part().unit_count).map(EraseUnit)
}
