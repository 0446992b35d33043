//! `norn heap`: makes, checks and shows heaps in image files.
//!
//! [`audit`] checks; [`convert`] copies a heap to an image of the other engine; [`data`]
//! exports it as JSON and imports it; [`listing`] shows what a heap has,
//! [`dump`] how that is stored on the part: of TinyStore's structure its units ([`raw_unit`], [`unit_detail`]) and the
//! log's entries ([`entry_text`]), of a log-structured heap units, sectors and records ([`log_units`]); and the layer
//! for limited parts ([`remap_dump`]).

pub mod arguments;
pub mod audit;
pub mod convert;
pub mod data;
pub mod dump;
mod entry_text;
mod extent;
pub mod listing;
mod log_units;
mod raw_unit;
mod remap_dump;
mod unit_detail;

use norn_flash::Nor;
use norn_heap_image::ErrorDetection;

use crate::error::Error;
use arguments::CreateArguments;

/// Makes an image file with an empty heap, and says what it is.
///
/// # Errors
/// When the file exists or cannot be made, or its part is not suitable for a heap.
pub fn create(arguments: &CreateArguments) -> Result<String, Error> {
    let (image, format) = (&arguments.image, arguments.format(ErrorDetection::Off)?);
    let device = norn_heap_image::create(image, arguments.part.clone(), format, arguments.spares)?;
    let (name, part) = (&device.spec().name, device.part());
    let (bytes, units) = (part.size_bytes(), part.unit_count);
    Ok(format!("{}: an empty heap on {name}, {bytes} bytes in {units} units, engine {format}\n", image.display()))
}
