//! Making and mounting heaps in image files.

use std::path::Path;

use norn_flash::{EraseUnit, Nor, Reprogramming};
use norn_flash_sim::{NorSim, PartSpec};
use norn_nor_remap::{Remap, RemapConfig};
use norn_object_heap::Config;

use crate::failure::{HeapFailure, HeapImageError};
use crate::part::{ImageHeap, Part};

/// Makes an image file with an empty heap; below it a `Remap` with `spares` spare units, by default one where the
/// part's words may be programmed a limited number of times, and none elsewhere. The file appears when the heap is in
/// it.
///
/// # Errors
/// When the file exists, cannot be made, or its part is not suitable for a heap.
pub fn create(image: &Path, part: PartSpec, config: Config, spares: Option<u16>) -> Result<NorSim, HeapImageError> {
    let fill = |device: &mut NorSim| format(device, config, spares).map_err(|failure| failure.in_image(image));
    NorSim::create_image_with(image, part, fill)
}

fn format(device: &mut NorSim, config: Config, spares: Option<u16>) -> Result<(), HeapFailure> {
    let limited = device.spec().part.reprogramming != Reprogramming::Unlimited;
    let part = match spares.unwrap_or(u16::from(limited)) {
        0 if !limited => Part::Direct(device),
        spare_units => {
            let remap = Remap::format(device, RemapConfig { spare_units }).map_err(HeapFailure::RemapFormat)?;
            Part::Remapped(Box::new(remap))
        }
    };
    ImageHeap::format(part, config).map(|_| ()).map_err(HeapFailure::Format)
}

/// Mounts the heap of a device, which completes or undoes what a power cut interrupted.
///
/// # Errors
/// What is wrong with the heap.
pub fn mount(device: &mut NorSim) -> Result<ImageHeap<'_>, HeapFailure> {
    ImageHeap::mount(Part::mount(device).map_err(HeapFailure::Remap)?).map_err(HeapFailure::Mount)
}

/// The erase units of the part that the heap sees.
pub fn units(heap: &ImageHeap<'_>) -> impl Iterator<Item = EraseUnit> + use<> {
    (0..heap.device().part().unit_count).map(EraseUnit)
}
