//! Wear: with a wear period all units are erased about as often, also those that hold what never changes; marks show
//! every move.

use crate::model;

use model::{Model, Op, Outcome, Pair, check};
use norn_flash::{EraseUnit, Nor};
use norn_flash_sim::catalogue;
use norn_nor_store::{Role, StoreConfig};

/// Changes a few values for a long time, beside many that stay; returns the store.
fn worn(wear_period: u16, changes: u32) -> Pair {
    let config = StoreConfig { wear_period, ..StoreConfig::default() };
    let mut pair = Pair::new(catalogue::test_part(16, 1024), config);
    let put = |place, byte| Op::Put { place, bytes: vec![byte; 20] };
    for key in 0..180 {
        assert_eq!(pair.step(&put((0, key), 0), &String::new), Outcome::Done);
    }
    for change in 0..changes {
        assert_eq!(pair.step(&put((1, change % 5), change as u8), &String::new), Outcome::Done);
    }
    check(&pair.store, &pair.committed, &String::new);
    pair
}

/// The least and the largest number of erases of a unit.
fn spread(pair: &Pair) -> (u32, u32) {
    let counts = pair.store.device().erase_counts();
    counts.fold((u32::MAX, 0), |(least, most), count| (least.min(count), most.max(count)))
}

#[test]
fn units_with_static_data_are_worn_as_well() {
    let (least, most) = spread(&worn(3, 15_000));
    assert!(least > 40 && most < 3 * least, "{least} to {most} erases");
    let (least, most) = spread(&worn(0, 15_000));
    assert!(least < 10 && most > 30 * least, "without a wear period {least} to {most}");
}

/// A client that keeps the address of a sector learns from marks when it has moved.
#[test]
fn every_unit_whose_sectors_move_is_marked() {
    let mut pair = worn(4, 500);
    let places = |pair: &mut Pair| {
        let (root, mut from, mut places) = (pair.store.tree(norn_nor_store::TreeId::Ref), 0, Vec::new());
        while let Some((key, leaf)) = pair.store.trees().next(root, from).unwrap() {
            places.push(pair.store.sectors().get(leaf).unwrap().address);
            from = key + 1;
        }
        places
    };
    let (mut moved, mut kept) = (0, places(&mut pair));
    pair.store.clear_unit_marks();
    for change in 0..2000 {
        let op = Op::Put { place: (1, change % 5), bytes: vec![change as u8; 20] };
        assert_eq!(pair.step(&op, &String::new), Outcome::Done);
        let now = places(&mut pair);
        let part = pair.store.device().part();
        let marked = |unit: EraseUnit| pair.store.next_marked_unit(unit.0) == Some(unit);
        for (before, now) in kept.iter().zip(&now).filter(|(before, now)| before != now) {
            assert!(marked(part.unit_of(*before)), "moved from {before} to {now} without a mark");
            moved += 1;
        }
        kept = now;
        pair.store.clear_unit_marks();
        assert_eq!(pair.store.next_marked_unit(0), None);
    }
    assert!(moved > 100, "{moved} moves");
}

/// Work ahead of time leaves room, so that the next changes need no erase.
#[test]
fn reclaiming_ahead_of_time_spares_later_calls_the_erases() {
    let mut pair = worn(0, 300);
    while pair.store.reclaim_step(1).unwrap() {}
    check(&pair.store, &pair.committed, &String::new);
    let (ready, erases) = (pair.store.ready_bytes(), pair.store.device().counters().erases);
    assert!(ready > 1024, "{ready} bytes are ready");
    for change in 0..4 {
        pair.step(&Op::Put { place: (1, change), bytes: vec![1; 20] }, &String::new);
    }
    assert_eq!(pair.store.device().counters().erases, erases);
    let roles = (0..16).map(|unit| pair.store.role(EraseUnit(unit)));
    assert!(roles.filter(|role| *role == Role::Free).count() >= 2);
    assert_ne!(pair.committed, Model::new());
}
