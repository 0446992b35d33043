//! Whether a part holds a store.

use norn_flash::{Nor, Recognised, StatedGeometry, TenantKind, find_unit_head};

use crate::format::{FORMAT_VERSION, Identity};

/// The heap that `device` holds, of any version and for any geometry. Cost: 16 bytes read for each unit, up to the
/// first that is whole.
///
/// # Errors
/// The device's.
pub fn recognise<D: Nor>(device: &mut D) -> Result<Option<Recognised>, D::Error> {
    let found = find_unit_head(device, Identity::decode)?;
    Ok(found.map(|identity| Recognised {
        what: "an object heap",
        kind: TenantKind::HEAP,
        version: u32::from(identity.version),
        known_version: u32::from(FORMAT_VERSION),
        geometry: u32::try_from(identity.unit_size_bytes)
            .ok()
            .map(|size_bytes| StatedGeometry { count: identity.unit_count, size_bytes }),
    }))
}
