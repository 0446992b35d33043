//! The bytes of an image file with what a source has.

use norn_flash_sim::ImageBytes;

use crate::error::Error;
use crate::opening::{Opened, Source};

/// An image file with what the source has.
///
/// # Errors
/// When it cannot be read.
pub fn image_bytes(source: &Source) -> Result<ImageBytes, Error> {
    Ok(match source.read()? {
        Opened::Nor(part) => part.image_bytes(),
        Opened::Nand(part) => part.image_bytes(),
    })
}
