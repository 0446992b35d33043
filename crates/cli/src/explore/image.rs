//! The bytes of an image file with what a source has.

use std::fs;

use norn_flash_sim::{ImageError, ImageKind};

use super::failure::ExploreError;
use crate::error::Error;
use crate::opening::{Opened, Source};

/// The bytes of an image file with what the source has.
///
/// # Errors
/// When it cannot be read, or is a dump of a NAND part.
pub fn image_bytes(source: &Source) -> Result<Vec<u8>, Error> {
    match source.read()? {
        Opened::Nor(part) => Ok(part.image_bytes()),
        Opened::Nand(_) => {
            let failed = |error| ImageError::Io { path: source.image.clone(), source: error };
            match ImageKind::of(&source.image).map_err(failed)? {
                Some(_) => Ok(fs::read(&source.image).map_err(failed)?),
                None => Err(ExploreError::NandDump(source.image.clone()).into()),
            }
        }
    }
}
