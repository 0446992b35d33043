//! A collection deletes what nothing reaches and nothing else: against a plain model, with cuts at every operation, on
//! full parts, with more slots than marks in RAM, and whatever the shape of what is collected.

use crate::model;

use std::collections::BTreeSet;

use model::cuts::cut_calls;
use model::{Call, Model, TestHeap, change, contents, draw_reference, format, mount, parts, perform, refuse, trace};
use norn_conformance::{Sweep, seeds};
use norn_flash::{Nor, Reprogramming};
use norn_flash_sim::catalogue;
use norn_log_heap::{AccessError, CollectError, Collected, CreateError, Layout, Ref, StoreError};

const REPLAY: &str = "-p norn-log-heap --test suite collection::";

#[test]
fn a_collection_leaves_what_is_reached() {
    let mut deleted = 0;
    for run in seeds(0..12, REPLAY) {
        let mut random = run.random();
        let parts = parts(16);
        let (mut heap, mut model) = (format(parts[run.seed as usize % parts.len()].clone()), Model::default());
        for number in 0..1200 {
            let call = draw_reference(&model, [3, 8, 20][run.seed as usize / 2 % 3], &mut random);
            let context = || format!("at call {number}, {call:?}; replay: {}", run.replay());
            let before = model.objects.len();
            match perform(&mut heap, &call) {
                Ok(created) => change(&mut model, &call, created),
                Err(_) => refuse(&mut heap, &mut model, &call),
            }
            if let Call::Collect { .. } = call {
                deleted += before - model.objects.len();
            }
            assert_eq!(contents(&mut heap, &context), model, "{}", context());
            if random.u8(..40) == 0 {
                heap = mount(heap.into_device(), &context);
            }
        }
        assert_eq!(heap.device().0.refusals(), 0);
    }
    assert!(deleted > 500, "{deleted} objects were garbage");
}

/// Cuts collections of these seeds.
fn cut_collections(numbers: std::ops::Range<u64>) {
    for run in seeds(numbers, REPLAY) {
        let sweep = Sweep { stride: 2, second_period: 9, second_cuts: 2, ..Sweep::default() };
        let tally = cut_calls(&run, 160, 60, draw_reference, sweep);
        println!("seed {}: {tally:?}", run.seed);
        assert!(tally.points > 0 && tally.second_cuts > 0);
    }
}

#[test]
fn every_cut_of_collections() {
    cut_collections(20..23);
}

#[test]
#[ignore = "ten minutes"]
fn every_cut_of_many_collections() {
    cut_collections(23..50);
}

/// Creates objects of one field of four bytes until the part is full, each holding a reference to the one before.
fn fill(heap: &mut TestHeap) -> Vec<Ref> {
    let mut objects: Vec<Ref> = Vec::new();
    loop {
        match heap.create(Layout::uniform(1, 4)) {
            Ok(object) => objects.push(object),
            Err(CreateError::Store(StoreError::Full) | CreateError::NoReferences) => break,
            Err(error) => panic!("{error}"),
        }
        if let [.., before, last] = objects[..] {
            heap.put_field(last, 0, &before.bits().to_le_bytes()).unwrap();
        }
    }
    objects
}

fn all(heap: &mut TestHeap) -> BTreeSet<Ref> {
    let mut after = None;
    std::iter::from_fn(|| {
        after = heap.next_object(after).unwrap();
        after
    })
    .collect()
}

/// A chain through every object of a full part is traced in constant RAM, and half of it deleted.
#[test]
fn a_full_part_is_collected() {
    for spec in parts(16) {
        let mut heap = format(spec);
        let objects = fill(&mut heap);
        let middle = objects[objects.len() / 2];
        let deleted = objects.len() - 1 - objects.len() / 2;
        let collected = heap.collect(&[middle], trace).unwrap();
        assert_eq!(collected, Collected { live: objects.len() as u32 / 2 + 1, deleted: deleted as u32 });
        assert_eq!(all(&mut heap), objects[..=objects.len() / 2].iter().copied().collect());
        contents(&mut heap, &|| "collected".to_owned());
        let more = fill(&mut heap).len();
        assert!(2 * more > deleted, "{more} objects for {deleted}");
        assert_eq!(heap.collect(&[], trace).unwrap().live, 0);
        contents(&mut heap, &|| "emptied".to_owned());
        assert_eq!(heap.device().0.refusals(), 0);
    }
}

/// More slots than marks in RAM: pages of marks go to scratch units, on full parts of all kinds.
#[test]
fn marks_that_do_not_fit_into_ram() {
    let limited = catalogue::limited_test_part;
    for (spec, is_random) in [
        (limited(64, 4096, 4, Reprogramming::Once), true),
        (limited(250, 2048, 8, Reprogramming::Once), false),
        (limited(80, 4096, 16, Reprogramming::Once), true),
        (limited(80, 8192, 32, Reprogramming::Once), false),
    ] {
        let mut heap = format(spec);
        let objects = fill(&mut heap);
        assert!(objects.len() > 5000, "{} objects", objects.len());
        let mut random = fastrand::Rng::with_seed(3);
        let before = heap.device().0.counters();
        let half = objects.len() / 2;
        // A client's own references: to a random object of the lower half, or in a chain through all of it.
        let step = |index: usize| if is_random { (index * 7919 + 1) % half } else { (index + half / 3 * 2 + 1) % half };
        let collected = heap.collect(&[objects[0]], |tracer, object| {
            let index = objects.binary_search(&object).unwrap();
            tracer.reached(objects[step(index)])?;
            tracer.reached(objects[index / 2])?;
            if index + 1 < half { tracer.reached(objects[index + 1]) } else { Ok(()) }
        });
        println!("{} objects: {}", objects.len(), heap.device().0.counters() - before);
        assert_eq!(collected, Ok(Collected { live: half as u32, deleted: (objects.len() - half) as u32 }));
        assert_eq!(all(&mut heap), objects[..half].iter().copied().collect());
        contents(&mut heap, &|| "collected".to_owned());
        for _ in 0..100 {
            let object = objects[random.usize(..half)];
            heap.put_field(object, 0, &[1; 4]).unwrap();
        }
        assert_eq!(heap.device().0.refusals(), 0);
    }
}

#[test]
fn a_client_that_fails_deletes_nothing() {
    let mut heap = format(parts(16)[0].clone());
    let objects: Vec<Ref> = (0..5).map(|_| heap.create(Layout::uniform(1, 4)).unwrap()).collect();
    let failed = heap.collect(&objects[..1], |_, object| Err(AccessError::Stale(object)));
    assert_eq!(failed, Err(CollectError::Access(AccessError::Stale(objects[0]))));
    assert_eq!(all(&mut heap).len(), 5);
    heap.begin().unwrap();
    assert_eq!(heap.collect(&[], trace), Err(CollectError::TransactionOpen));
    heap.commit().unwrap();
    assert_eq!(heap.collect(&[], trace), Ok(Collected { live: 0, deleted: 5 }));
    assert_eq!(heap.device().part().unit_count, 16);
}
