//! Whether a part holds a log-structured heap.

use norn_flash::{Nor, NorPart, Recognised, StatedGeometry, TenantKind, find_unit_head};

use crate::format::{ErrorDetection, Geometry, UNIT_HEAD_BYTES, UnitHead};

/// The version that the heads of units stand for.
const FORMAT_VERSION: u32 = 1;
/// Bits of a head's geometry that hold the number of units, if there are fewer than 4,096.
const COUNT_BITS: u32 = 12;

/// The heap that `device` holds, for any geometry. Cost: 24 bytes read for each unit, up to the first that has a whole
/// head.
///
/// # Errors
/// The device's.
pub fn recognise<D: Nor>(device: &mut D) -> Result<Option<Recognised>, D::Error> {
    let part = device.part();
    let found = find_unit_head(device, |head| geometry_of(head, &part))?;
    Ok(found.map(|Geometry { granule_bytes, unit_granules, unit_count, .. }| Recognised {
        what: "a log-structured heap",
        kind: TenantKind::HEAP,
        version: FORMAT_VERSION,
        known_version: FORMAT_VERSION,
        geometry: Some(StatedGeometry { count: unit_count, size_bytes: granule_bytes * unit_granules }),
    }))
}

/// The geometry that the heads on `device` state, if none is of its own.
pub(crate) fn foreign_geometry<D: Nor>(device: &mut D, own: &Geometry) -> Result<Option<Geometry>, D::Error> {
    if find_unit_head(device, |head| UnitHead::decode(head, own))?.is_some() {
        return Ok(None);
    }
    let part = device.part();
    find_unit_head(device, |head| geometry_of(head, &part))
}

/// The geometry that a unit's head states: the part's own, or another one of fewer than 4,096 units.
fn geometry_of(head: &[u8; UNIT_HEAD_BYTES as usize], part: &NorPart) -> Option<Geometry> {
    let stated = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    let other = Geometry {
        granule_bytes: 1 << (stated >> 28),
        unit_granules: stated >> COUNT_BITS & 0xFFFF,
        unit_count: (stated & ((1 << COUNT_BITS) - 1)) as u16,
        detection: ErrorDetection::Off,
    };
    let candidates = [Geometry::of(part).ok(), Some(other)].into_iter().flatten();
    candidates.into_iter().find(|geometry| UnitHead::decode(head, geometry).is_some())
}

#[cfg(test)]
mod tests {
    //! Proves that a heap is recognised on its own part and on another one, and nothing where no head is whole.
    use norn_flash::{Address, EraseUnit, MountError};
    use norn_flash_sim::{NorSim, catalogue};

    use super::*;
    use crate::LogHeap;

    fn recognised(device: &mut NorSim) -> Option<std::string::String> {
        recognise(device).unwrap().map(|found| std::string::ToString::to_string(&found))
    }

    #[test]
    fn a_heap_is_recognised_by_the_head_of_any_unit() {
        let mut device = LogHeap::<_, 64>::format(NorSim::new(catalogue::tinystore())).unwrap().into_device();
        let said = Some("a log-structured heap on 56 units of 8192 bytes");
        assert_eq!(recognised(&mut device).as_deref(), said);
        let cells = device.peek(Address(0), 32 * 8192);
        let mut smaller = NorSim::from_cells(catalogue::test_part(32, 8192), &cells);
        assert_eq!(recognised(&mut smaller).as_deref(), said, "the heads say for what part it was made");
        let rows = std::vec![crate::UnitRow::UNUSED; 56];
        let refused = crate::LogHeapIn::mount_in(&mut smaller, rows).map(|_| ()).unwrap_err();
        let other = MountError::WrongGeometry { what: "erase units", image: 56, expected: 32 };
        assert_eq!(refused, other, "and a mount does not take the part for one without a heap");
        let heads: std::vec::Vec<Address> = (0..56)
            .map(|unit| device.part().start_of(EraseUnit(unit)))
            .filter(|&start| device.peek(start, 4) == b"NLH1")
            .collect();
        for (number, &head) in heads.iter().enumerate() {
            assert!(recognised(&mut device).is_some(), "after {number} heads were damaged");
            device.poke(head.offset(12), &[0; 4]);
        }
        assert_eq!(recognised(&mut device), None);
        assert_eq!(recognised(&mut NorSim::new(catalogue::stm32l4())), None);
    }
}
