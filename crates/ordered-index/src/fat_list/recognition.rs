//! Whether a part holds a fat list.

use norn_flash::{Nor, Recognised, StatedGeometry, TenantKind, find_unit_head};

use crate::fat_list::format::{FORMAT_VERSION, Identity};

/// The index that `device` holds, of any version, for any geometry and any widths of keys and values. Cost: 32 bytes
/// read for each unit, up to the first that is whole.
///
/// # Errors
/// The device's.
pub fn recognise<D: Nor>(device: &mut D) -> Result<Option<Recognised>, D::Error> {
    let found = find_unit_head(device, Identity::decode)?;
    Ok(found.map(|identity| Recognised {
        what: "a sorted map",
        kind: TenantKind::INDEX,
        version: identity.map_or_else(u32::from, |_| u32::from(FORMAT_VERSION)),
        known_version: u32::from(FORMAT_VERSION),
        geometry: identity
            .ok()
            .map(|identity| StatedGeometry { count: identity.unit_count, size_bytes: identity.unit_size_bytes }),
    }))
}
