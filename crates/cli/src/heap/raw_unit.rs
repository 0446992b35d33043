//! Erase units of a device, decoded from their bytes without the heap. Nothing is counted or changed.

use norn_flash::EraseUnit;
use norn_flash_sim::NorSim;
pub use norn_nor_store::inspection::{DescriptorPlace, DescriptorSays, Purpose, RawSector, SectorState, Sectors};

/// A unit with its bytes.
pub type RawUnit = norn_nor_store::inspection::RawUnit<Vec<u8>>;

/// A unit of a device.
pub fn unit_of(device: &NorSim, unit: EraseUnit) -> RawUnit {
    let part = device.spec().part;
    RawUnit::new(&part, unit, device.peek(part.start_of(unit), part.unit_size_bytes as usize))
}

/// Every unit of a device.
pub fn units_of(device: &NorSim) -> impl Iterator<Item = RawUnit> {
    (0..device.spec().part.unit_count).map(|unit| unit_of(device, EraseUnit(unit)))
}
