//! Transactions: what is open is seen by its own reader, committed at once or undone, and bounded by the log.

use crate::model;

use model::{Model, Op, Outcome, Pair, check, configs, from_environment, read};
use norn_flash_sim::catalogue;
use norn_nor_store::{Room, SectorKind, SectorSpec, Store, StoreConfig, TreeId};

fn put(place: (usize, u32), byte: u8) -> Op {
    Op::Put { place, bytes: vec![byte; 9] }
}

fn step(pair: &mut Pair, op: &Op) {
    assert_eq!(pair.step(op, &|| format!("{op:?}")), Outcome::Done);
}

#[test]
fn an_open_version_is_seen_at_once_and_an_abort_undoes_it() {
    let mut pair = Pair::new(catalogue::test_part(8, 512), StoreConfig::default());
    step(&mut pair, &put((0, 1), 1));
    step(&mut pair, &put((1, 40), 2));
    let committed = pair.committed.clone();
    for end in [Op::Abort, Op::Commit] {
        step(&mut pair, &Op::Begin);
        step(&mut pair, &put((0, 1), 3));
        step(&mut pair, &put((0, 300), 4)); // A tree of three levels instead of one.
        step(&mut pair, &Op::Remove((1, 40)));
        assert_eq!(&read(&mut pair.store).unwrap(), pair.visible());
        assert_ne!(pair.visible(), &committed);
        step(&mut pair, &end);
        check(&pair.store, &pair.committed, &String::new);
    }
    assert_eq!(pair.committed.keys().collect::<Vec<_>>(), [&(0, 1), &(0, 300)]);
}

/// What a transaction that was not committed gave away is not given away a second time.
#[test]
fn a_transaction_that_power_ends_is_undone_at_the_next_mount() {
    let mut pair = Pair::new(catalogue::test_part(8, 512), StoreConfig::default());
    step(&mut pair, &put((0, 1), 1));
    let leaf = SectorSpec { bytes: 8, kind: SectorKind::Leaf };
    pair.store.space().allocate(leaf, Room::Ordinary).unwrap();
    pair.store.advance_serial();
    let given = pair.store.serial();
    let mut store = Store::<_, 16>::mount(pair.store.into_device()).unwrap();
    assert!(!store.transaction_is_open());
    assert!(store.serial() >= given, "{} after {given}", store.serial());
    check(&store, &pair.committed, &String::new);
    store.commit().unwrap();
    store.abort().unwrap();
}

/// A transaction may take several log units, and no more: then it is refused, and undone by an abort.
#[test]
fn a_transaction_ends_where_its_log_units_do() {
    let config = StoreConfig { log_units: 3, ..StoreConfig::default() };
    let mut pair = Pair::new(catalogue::test_part(16, 1024), config);
    step(&mut pair, &put((0, 0), 7));
    let committed = pair.committed.clone();
    step(&mut pair, &Op::Begin);
    let changes = (1..).find(|&key| pair.step(&put((0, key), 1), &String::new) == Outcome::Refused).unwrap();
    // A change takes an entry or two, and each unit has 125, of which some are its head and the reserve.
    assert!((150..3 * 125).contains(&changes), "{changes} changes");
    assert_eq!((&pair.committed, pair.open.is_some()), (&committed, false));
    check(&pair.store, &committed, &String::new);
    // The same in small transactions is no matter.
    for key in 1..changes {
        step(&mut pair, &put((0, key), 1));
    }
    check(&pair.store, &pair.committed, &String::new);
}

#[test]
fn random_operations_do_what_the_model_does() {
    let seed = from_environment("NORN_SEED", 2006);
    for (config, unit_size_bytes) in configs().into_iter().zip([512, 1024, 2048]) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(catalogue::test_part(12, unit_size_bytes), config);
        let mut refused = 0;
        for number in 0..1000 {
            let op = pair.draw(&mut random);
            let replay = format!("NORN_SEED={seed} cargo test -p norn-nor-store --test suite transactions::");
            let context = || format!("after operation {number}, {op:?}, of {config:?}; replay: {replay}");
            refused += u32::from(pair.step(&op, &context) == Outcome::Refused);
            let found = read(&mut pair.store.clone()).unwrap();
            assert_eq!(&found, pair.visible(), "{}", context());
            if pair.open.is_none() {
                check(&pair.store, &pair.committed, &context);
            }
        }
        assert!(refused < 500, "{refused} operations were refused");
    }
}

/// On a full part what is new is refused, and what is there can be replaced and removed.
#[test]
fn a_full_part_takes_replacements_and_removals() {
    for (config, unit_size_bytes) in configs().into_iter().zip([512, 1024, 1024]) {
        let mut pair = Pair::new(catalogue::test_part(9, unit_size_bytes), config);
        let full = (0..).find(|&key| pair.step(&put((0, key), 1), &String::new) == Outcome::Refused).unwrap();
        assert_eq!(pair.step(&put((0, full), 1), &String::new), Outcome::Refused);
        let spec = SectorSpec { bytes: 15, kind: SectorKind::Leaf };
        for round in 0..200 {
            let key = round * 7 % full;
            let leaf = pair.store.space().allocate(spec, Room::Replacing).unwrap();
            pair.store.trees().put(TreeId::Ref, key, Some(leaf), Room::Replacing).unwrap();
            pair.store.abort().unwrap();
        }
        check(&pair.store, &pair.committed, &String::new);
        for key in 0..full {
            step(&mut pair, &Op::Remove((0, key)));
        }
        check(&pair.store, &Model::new(), &String::new);
        step(&mut pair, &put((0, full), 1));
    }
}
