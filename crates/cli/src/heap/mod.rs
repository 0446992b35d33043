//! `norn heap`: makes, checks and shows heaps in image files.
//!
//! [`audit`] checks; [`listing`] shows what a heap has, [`dump`] how that is stored on the part: its units
//! ([`raw_unit`], [`unit_detail`]), the log's entries ([`entry_text`]), and the layer for limited parts
//! ([`remap_dump`]).

pub mod audit;
pub mod dump;
mod entry_text;
pub mod listing;
mod raw_unit;
mod remap_dump;
mod unit_detail;

use norn_flash::Nor;

use crate::arguments::CreateArguments;
use crate::error::Error;

/// Makes an image file with an empty heap, and says what it is.
///
/// # Errors
/// When the file exists or cannot be made, or its part is not suitable for a heap.
pub fn create(arguments: &CreateArguments) -> Result<String, Error> {
    let (image, config) = (&arguments.image, arguments.config());
    let device = norn_heap_image::create(image, arguments.part.clone(), config, arguments.spares)?;
    let (name, part) = (&device.spec().name, device.part());
    let (bytes, units) = (part.size_bytes(), part.unit_count);
    Ok(format!("{}: an empty heap on {name}, {bytes} bytes in {units} units\n", image.display()))
}
