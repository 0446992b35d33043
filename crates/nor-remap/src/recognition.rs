//! Whether a part was laid out by this crate.

use norn_flash::{Nor, Recognised, StatedGeometry, TenantKind, find_unit_head};

use crate::format::{FORMAT_VERSION, Header};

/// The overlay that `device` holds, of any version and for any geometry. Cost: 32 bytes read for each unit, up to the
/// first that is whole.
///
/// # Errors
/// The device's.
pub fn recognise<D: Nor>(device: &mut D) -> Result<Option<Recognised>, D::Error> {
    let found = find_unit_head(device, Header::decode)?;
    Ok(found.map(|header| Recognised {
        what: "an overlay for limited parts",
        kind: TenantKind::REMAP,
        version: u32::from(header.version),
        known_version: u32::from(FORMAT_VERSION),
        geometry: Some(StatedGeometry { count: header.unit_count, size_bytes: header.unit_size_bytes }),
    }))
}
