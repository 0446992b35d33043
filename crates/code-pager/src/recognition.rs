//! Whether a part holds a code image.

use norn_flash::{Nand, Recognised, TenantKind};

use crate::header::{FORMAT_VERSION, read_header};
use crate::image::HEADER_BYTES;

/// The first code image that `device` holds, of any version and with cache pages of any size. Cost: a load for each
/// block up to its header.
///
/// # Errors
/// The device's.
pub fn recognise<D: Nand>(device: &mut D) -> Result<Option<Recognised>, D::Error> {
    let part = device.part();
    if part.validate().is_err() || usize::from(part.page_bytes) < HEADER_BYTES {
        return Ok(None);
    }
    for block in part.blocks() {
        if let Some(header) = read_header(device, block.page(0))? {
            return Ok(Some(Recognised {
                what: "a code image",
                kind: TenantKind::CODE,
                version: u32::from(header[4]),
                known_version: u32::from(FORMAT_VERSION),
                geometry: None,
            }));
        }
    }
    Ok(None)
}
