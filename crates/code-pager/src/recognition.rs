//! Whether a part holds code images.

use norn_flash::{Nand, Recognised, TenantKind};

use crate::header::{FORMAT_VERSION, read_header};
use crate::image::HEADER_BYTES;
use crate::switch::{SWITCH_VERSION, record_version};

/// What [`recognise`] calls programs in two rooms.
pub const TWO_ROOMS: &str = "programs in two rooms";

/// The first code image that `device` holds, of any version and with cache pages of any size, or the switch of two
/// rooms. Cost: two loads for each block up to that.
///
/// # Errors
/// The device's.
pub fn recognise<D: Nand>(device: &mut D) -> Result<Option<Recognised>, D::Error> {
    let part = device.part();
    if part.validate().is_err() || usize::from(part.page_bytes) < HEADER_BYTES {
        return Ok(None);
    }
    let found = |what, version, known_version| {
        let (version, known_version) = (u32::from(version), u32::from(known_version));
        Some(Recognised { what, kind: TenantKind::CODE, version, known_version, geometry: None })
    };
    for block in part.blocks() {
        let mut header = [0; HEADER_BYTES];
        if read_header(device, block.page(0), &mut header)? {
            return Ok(found("a code image", header[4], FORMAT_VERSION));
        }
        if let Some(version) = record_version(device, block.page(0))? {
            return Ok(found(TWO_ROOMS, version, SWITCH_VERSION));
        }
    }
    Ok(None)
}
