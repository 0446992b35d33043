//! A reclamation that a power cut interrupts is resumed, not begun again, and nothing that was live is lost.

use norn_flash_sim::{NorSim, Tear, catalogue};
use norn_nor_store::{Room, SectorKind, SectorSpec, Store, StoreConfig, TreeId};

type SimStore = Store<NorSim, 8>;

const KEYS: u32 = 80;
const SPEC: SectorSpec = SectorSpec { bytes: 40, kind: SectorKind::Leaf };

/// Makes key `key` hold a new sector with `value` in it.
fn set(store: &mut SimStore, key: u32, value: u32) -> Result<(), norn_nor_store::StoreError<norn_flash_sim::SimError>> {
    let pointer = store.space().allocate(SPEC, Room::Ordinary)?;
    let sector = store.sectors().get(pointer)?;
    store.sectors().program(&sector, 0, &value.to_le_bytes())?;
    store.trees().put(TreeId::Ref, key, Some(pointer), Room::Ordinary)?;
    store.commit()
}

fn get(store: &mut SimStore, key: u32) -> u32 {
    let root = store.tree(TreeId::Ref);
    let found = store.trees().get(root, key).unwrap().unwrap();
    let sector = store.sectors().get(found.pointer).unwrap();
    let mut bytes = [0; 4];
    store.sectors().read(&sector, 0, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

/// A store whose next change of key 0 reclaims a unit: some keys, changed until the units are used up.
fn about_to_reclaim() -> SimStore {
    let settings = StoreConfig { log_units: 2, wear_period: 0, ..StoreConfig::default() };
    let mut store = SimStore::format(NorSim::new(catalogue::test_part(6, 2048)), settings).unwrap();
    for value in 0.. {
        let mut trial = store.clone();
        let erases = trial.device().counters().erases;
        set(&mut trial, 0, value).unwrap();
        if trial.device().counters().erases > erases && value > 2 * KEYS {
            return store;
        }
        set(&mut store, value % KEYS, value).unwrap();
    }
    unreachable!()
}

#[test]
fn a_cut_reclamation_is_resumed() {
    let store = about_to_reclaim();
    let expected: Vec<u32> = (1..KEYS).map(|key| get(&mut store.clone(), key)).collect();
    let mut whole = store.clone();
    let before = whole.device().operations();
    set(&mut whole, 0, 1).unwrap();
    let operations = whole.device().operations() - before;
    let mut programs_to_resume = Vec::new();
    for cut in 0..operations {
        let mut cut_store = store.clone();
        cut_store.device_mut().cut_power_after(cut, Tear::Nothing);
        set(&mut cut_store, 0, 1).unwrap_err();
        let mut device = cut_store.into_device();
        device.power_on();
        let before = device.counters();
        let mut store = SimStore::mount(device).unwrap();
        let cost = store.device().counters() - before;
        let values: Vec<u32> = (1..KEYS).map(|key| get(&mut store, key)).collect();
        assert_eq!(values, expected, "cut at {cut}");
        if cost.erases > 0 {
            programs_to_resume.push(cost.programs());
        }
    }
    // The further the copy had come, the less is left: down to the assignment, the erase entry and the identity.
    let (first, least) = (programs_to_resume[0], *programs_to_resume.iter().min().unwrap());
    assert!(programs_to_resume.len() > 30, "{programs_to_resume:?}");
    assert!(first > 30 && least <= 8, "{programs_to_resume:?}");
    let mut falling = programs_to_resume.clone();
    falling.sort_by(|a, b| b.cmp(a));
    assert_eq!(programs_to_resume, falling, "work that was done is not done again");
}
