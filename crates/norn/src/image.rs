//! Image files of simulated parts, and the heaps in them.

use std::io;
use std::path::Path;

use norn_flash::EraseUnit;
use norn_flash_sim::{ImageError, NorSim, PartSpec};
use norn_object_heap::{Config, Heap};

use crate::error::{Error, HeapFailure};

/// Most erase units of a part: eight bytes each in the heap's unit table.
pub const UNITS_MAX: usize = 1024;

/// A heap whose image stays open when the heap is dropped, as after a power cut.
pub type ImageHeap<'a> = Heap<&'a mut NorSim, UNITS_MAX>;

/// Makes an image file with an empty heap. A file that cannot be formatted is not left behind.
///
/// # Errors
/// When the file exists, cannot be made, or its part is no use to a heap.
pub fn create(image: &Path, part: PartSpec, config: Config) -> Result<NorSim, Error> {
    let mut device = NorSim::create_image(image, part).map_err(refuse_overwriting)?;
    match ImageHeap::format(&mut device, config) {
        Ok(_) => Ok(device),
        Err(error) => {
            drop(device);
            // The failure to format is the news; a file that stays is refused by name the next time.
            let _ = std::fs::remove_file(image);
            Err(HeapFailure::Format(error).in_image(image))
        }
    }
}

/// Tells what to do about a file that exists.
fn refuse_overwriting(error: ImageError) -> Error {
    match error {
        ImageError::Io { path: image, source } if source.kind() == io::ErrorKind::AlreadyExists => {
            Error::Exists { image, source }
        }
        error => Error::Image(error),
    }
}

/// Mounts the heap of a device, which completes or undoes what a power cut interrupted.
///
/// # Errors
/// What is wrong with the heap.
pub fn mount(device: &mut NorSim) -> Result<ImageHeap<'_>, HeapFailure> {
    ImageHeap::mount(device).map_err(HeapFailure::Mount)
}

/// The erase units of the heap's part.
pub fn units(heap: &ImageHeap<'_>) -> impl Iterator<Item = EraseUnit> + use<> {
    (0..heap.device().spec().part.unit_count).map(EraseUnit)
}
