//! The bytes of an image file with what a source has.

use std::fs;
use std::path::Path;

use norn_flash_sim::{ImageBytes, ImageError, ImageKind, NorSim};

use super::failure::ExploreError;
use crate::error::Error;
use crate::opening::{Opened, Source};

/// The kind of image that is in a file; none if it is another file. A pipe, which would be waited for, is refused.
///
/// # Errors
/// When it is no file, or cannot be read.
pub fn kind_of(image: &Path) -> Result<Option<ImageKind>, Error> {
    let failed = |source| ImageError::Io { path: image.to_owned(), source };
    let found = fs::metadata(image).map_err(failed)?;
    if !found.is_file() && !found.is_dir() {
        return Err(ExploreError::NoFile(image.to_owned()).into());
    }
    Ok(ImageKind::of(image).map_err(failed)?)
}

/// The same of an image file that another program may have open: its lock is not asked for.
///
/// # Errors
/// When it cannot be read.
pub fn bytes_in_use(source: &Source) -> Result<ImageBytes, Error> {
    let image = &source.image;
    match kind_of(image)? {
        Some(ImageKind::Nand) if source.region.is_some() => image_bytes(source),
        Some(kind) => {
            let bytes = fs::read(image).map_err(|error| ImageError::Io { path: image.clone(), source: error })?;
            if kind == ImageKind::Nand || source.region.is_none() && source.part.is_none() {
                return Ok(ImageBytes::from(&*bytes));
            }
            Ok(source.with_region(NorSim::from_image_bytes(ImageBytes::from(&*bytes))?)?.image_bytes())
        }
        None => image_bytes(source),
    }
}

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
