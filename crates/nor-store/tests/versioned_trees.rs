//! Versioned trees beside a sorted map: every look-up agrees, in the open version and in the committed one.

use crate::model;

use std::collections::BTreeMap;

use model::{Found, TestStore, from_environment};
use norn_flash_sim::{NorSim, catalogue};
use norn_nor_store::{Room, SectorKind, SectorPtr, SectorSpec, StoreConfig, TreeId, TreeRoot};

/// Keys are below this.
const KEYS: u32 = 1 << 20;

type Expected = BTreeMap<u32, SectorPtr>;

/// Asserts that a tree holds what is expected, by every kind of look-up.
fn compare(store: &mut TestStore, root: TreeRoot, expected: &Expected, random: &mut fastrand::Rng) {
    let mut found = Expected::new();
    let mut from = 0;
    while let Some((key, pointer)) = store.trees().next(root, from).unwrap() {
        found.insert(key, pointer);
        from = key + 1;
    }
    assert_eq!(&found, expected);
    assert_eq!(store.trees().last(root).unwrap(), expected.keys().next_back().copied());
    for _ in 0..8 {
        let near = random.choice(expected.keys()).map_or(0, |key| key + random.u32(..3));
        let key = if random.bool() { near } else { random.u32(..KEYS) }.min(KEYS - 1);
        let hit = store.trees().get(root, key).unwrap();
        assert_eq!(hit.map(|hit| hit.pointer), expected.get(&key).copied());
        let vacant = (key..KEYS).find(|key| !expected.contains_key(key));
        assert_eq!(store.trees().vacant(root, key).unwrap(), vacant);
    }
}

/// A key that meets others: in one node, beside one, or as far away as there is.
fn draw_key(expected: &Expected, random: &mut fastrand::Rng) -> u32 {
    match random.u8(..4) {
        0 => random.choice(expected.keys()).map_or(0, |key| (key ^ 1 << random.u32(..20)) % KEYS),
        1 => random.u32(..40),
        2 => KEYS - 1 - random.u32(..40),
        _ => random.choice(expected.keys()).copied().unwrap_or(0),
    }
}

fn leaf(store: &mut TestStore) -> SectorPtr {
    store.space().allocate(SectorSpec { bytes: 4, kind: SectorKind::Leaf }, Room::Ordinary).unwrap()
}

#[test]
fn a_tree_is_a_sorted_map_with_two_versions() {
    let seed = from_environment("NORN_SEED", 2006);
    println!("replay: NORN_SEED={seed} cargo test -p norn-nor-store --test suite versioned_trees::");
    let mut random = fastrand::Rng::with_seed(seed);
    let config = StoreConfig { log_units: 4, ..StoreConfig::default() };
    let mut store = TestStore::format(NorSim::new(catalogue::test_part(16, 4096)), config).unwrap();
    let mut committed = Expected::new();
    for round in 0..400 {
        let mut open = committed.clone();
        for _ in 0..random.u32(1..12) {
            let key = draw_key(&open, &mut random);
            let target = (open.len() < 150 && random.u8(..3) > 0).then(|| leaf(&mut store));
            store.trees().put(TreeId::Ref, key, target, Room::Ordinary).unwrap();
            match target {
                Some(target) => open.insert(key, target),
                None => open.remove(&key),
            };
        }
        let root = store.tree(TreeId::Ref);
        compare(&mut store, root, &open, &mut random);
        if random.bool() {
            store.commit().unwrap();
            committed = open;
        } else {
            store.abort().unwrap();
        }
        if round % 7 == 0 {
            store = TestStore::mount(store.into_device()).unwrap();
        }
        let root = store.tree(TreeId::Ref);
        compare(&mut store, root, &committed, &mut random);
        let mut found = Found::default();
        store.sectors().audit_units(&mut found).unwrap();
        store.trees().audit(&mut found, root).unwrap();
        committed
            .values()
            .for_each(|&leaf| assert!(store.sectors().audit_sector(&mut found, leaf, SectorKind::Leaf).unwrap()));
        store.sectors().audit_reachability(&mut found).unwrap();
        assert!(found.violations.is_empty(), "{:?} in round {round}", found.violations);
    }
    assert!(committed.len() > 20, "{} keys", committed.len());
}

/// A tree of a client's own: its root is kept by the client, and released as a whole.
#[test]
fn a_clients_tree_is_released_with_all_that_hangs_on_it() {
    let mut store = TestStore::format(NorSim::new(catalogue::test_part(12, 4096)), StoreConfig::default()).unwrap();
    let used = store.used_bytes();
    let mut root = TreeRoot::default();
    for key in (0..200).map(|number| number * 37) {
        let leaf = leaf(&mut store);
        root = store.trees().set(root, key, Some(leaf), Room::Ordinary).unwrap();
        if key % 3 == 0 {
            store.commit().unwrap();
        }
    }
    store.commit().unwrap();
    assert_eq!(store.trees().last(root).unwrap(), Some(199 * 37));
    assert!(store.used_bytes() > used + 200 * 8);
    store.trees().release(root).unwrap();
    store.commit().unwrap();
    // What is left are dead descriptors.
    assert!(store.used_bytes() < used + 600 * 4, "{} bytes of {used} at first", store.used_bytes());
    let mut found = Found::default();
    store.sectors().audit_units(&mut found).unwrap();
    store.sectors().audit_reachability(&mut found).unwrap();
    assert!(found.violations.is_empty(), "{:?}", found.violations);
}

#[test]
#[should_panic(expected = "exceeds the tree")]
fn a_key_beyond_the_largest_tree_is_refused() {
    let mut store = TestStore::format(NorSim::new(catalogue::test_part(8, 512)), StoreConfig::default()).unwrap();
    let leaf = leaf(&mut store);
    let _ = store.trees().put(TreeId::Ref, KEYS, Some(leaf), Room::Ordinary);
}
