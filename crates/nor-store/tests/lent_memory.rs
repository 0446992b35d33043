//! A store's unit table may be lent: as many rows as the part has erase units are enough, one less is refused.

use norn_flash_sim::{NorSim, catalogue};
use norn_nor_store::{AllFeatures, MountError, Room, SectorKind, SectorSpec, StoreConfig, StoreIn, TreeId, UnitRow};

#[test]
fn as_many_rows_as_units_are_enough() {
    for (units, unit_bytes) in [(8, 512), (12, 2048), (56, 8192)] {
        let part = catalogue::test_part(units, unit_bytes);
        let mut rows = vec![UnitRow::UNUSED; UnitRow::count_for(&part.part)];
        let mut device = NorSim::new(part);
        let mut store: StoreIn<_, _, AllFeatures> = StoreIn::unmounted_in(&mut device, &mut rows[1..]);
        let (needed, given) = (u32::from(units), u32::from(units) - 1);
        let refusal = Err(MountError::TooSmall { what: "rows of the unit table", needed, given });
        assert_eq!(store.reformat(StoreConfig::default()), refusal);
        assert_eq!(store.remount(), refusal);

        let mut store: StoreIn<_, _, AllFeatures> = StoreIn::unmounted_in(&mut device, &mut rows[..]);
        store.reformat(StoreConfig::default()).unwrap();
        // Enough changes to have every unit reclaimed.
        let spec = SectorSpec { bytes: 40, kind: SectorKind::Leaf };
        for value in 0..2 * u32::from(units) * unit_bytes / 40 {
            let leaf = store.space().allocate(spec, Room::Ordinary).unwrap();
            let sector = store.sectors().get(leaf).unwrap();
            store.sectors().program(&sector, 0, &value.to_le_bytes()).unwrap();
            store.trees().put(TreeId::Ref, 1, Some(leaf), Room::Ordinary).unwrap();
            store.commit().unwrap();
        }
        assert!(store.device().counters().erases > 2 * u64::from(units));
        store.remount().unwrap();
        let root = store.tree(TreeId::Ref);
        assert!(store.trees().get(root, 1).unwrap().is_some());
    }
}
