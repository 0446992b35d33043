//! The tests of `transactions.rs` on parts whose words may be programmed once or twice, below a `Remap`.

#[path = "transactions.rs"]
mod transactions;

use crate::model::device::limited_parts;
use norn_flash_sim::PartSpec;

/// A part with the room of a test part of this geometry, also where sectors are rounded up to 32 bytes; its kind
/// depends on the geometry.
pub fn part(units: u16, unit_bytes: u32) -> PartSpec {
    let kind = usize::from(units) / 2 % 4;
    limited_parts(units, [1, 2, 2, 1][kind] * unit_bytes)[kind].clone()
}
