//! Transactions: whole or absent, also when they fail for lack of room or log space, and after a power cut at any
//! place.

use crate::model::device::TestDevice;
use norn_flash_sim::Tear;
use norn_object_heap::{
    AccessError, Config, CreateError, ErrorDetection, Heap, Layout, Ref, StoreError, TransactionError,
};

type SimHeap = Heap<TestDevice, 64>;

fn heap_of(units: u16, unit_bytes: u32, config: Config) -> SimHeap {
    SimHeap::format(TestDevice::new(super::part(units, unit_bytes)), config).unwrap()
}

fn balance(heap: &mut SimHeap, account: Ref) -> u32 {
    let mut bytes = [0; 4];
    heap.get_field(account, 0, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

fn set_balance(heap: &mut SimHeap, account: Ref, balance: u32) {
    heap.put_field(account, 0, &balance.to_le_bytes()).unwrap();
}

fn transfer(heap: &mut SimHeap, from: Ref, to: Ref, amount: u32) {
    let (a, b) = (balance(heap, from), balance(heap, to));
    heap.begin().unwrap();
    set_balance(heap, from, a - amount);
    set_balance(heap, to, b + amount);
}

#[test]
fn changes_are_seen_at_once_and_undone_by_an_abort() {
    let mut heap = heap_of(8, 1024, Config::default());
    let (a, b) = (heap.create(Layout::uniform(2, 4)).unwrap(), heap.create(Layout::uniform(2, 4)).unwrap());
    set_balance(&mut heap, a, 100);
    transfer(&mut heap, a, b, 30);
    assert_eq!((balance(&mut heap, a), balance(&mut heap, b)), (70, 30));
    heap.abort().unwrap();
    assert_eq!((balance(&mut heap, a), balance(&mut heap, b)), (100, 0));
    transfer(&mut heap, a, b, 30);
    heap.commit().unwrap();
    assert_eq!((balance(&mut heap, a), balance(&mut heap, b)), (70, 30));
}

#[test]
fn objects_created_in_an_aborted_transaction_vanish() {
    let mut heap = heap_of(8, 1024, Config::default());
    let kept = heap.create(Layout::uniform(1, 4)).unwrap();
    heap.begin().unwrap();
    let created = heap.create(Layout::uniform(3, 4).with_header(b"type")).unwrap();
    heap.set_root(b"created", Some(created)).unwrap();
    heap.put_field(created, 2, &[7; 4]).unwrap();
    heap.delete(kept).unwrap();
    assert_eq!(heap.get_field(kept, 0, &mut [0; 4]), Err(AccessError::Stale(kept)));
    heap.abort().unwrap();
    assert_eq!(heap.get_field(created, 2, &mut [0; 4]), Err(AccessError::Stale(created)));
    assert_eq!(heap.root(b"created").unwrap(), None);
    assert_eq!(heap.next_object(None).unwrap(), Some(kept));
    assert_eq!(heap.next_object(Some(kept)).unwrap(), None);
    let next = heap.create(Layout::uniform(1, 4)).unwrap();
    assert_ne!(next, created, "a reference is not given twice");
}

#[test]
fn an_open_transaction_is_gone_after_a_reboot() {
    let mut heap = heap_of(8, 1024, Config::default());
    let (a, b) = (heap.create(Layout::uniform(2, 4)).unwrap(), heap.create(Layout::uniform(2, 4)).unwrap());
    set_balance(&mut heap, a, 100);
    transfer(&mut heap, a, b, 30);
    let mut heap = SimHeap::mount(heap.into_device()).unwrap();
    assert!(!heap.in_transaction());
    assert_eq!((balance(&mut heap, a), balance(&mut heap, b)), (100, 0));
}

#[test]
fn a_transaction_that_fails_for_lack_of_room_is_undone_and_says_so() {
    let mut heap = heap_of(8, 1024, Config::default());
    let kept = heap.create(Layout::uniform(2, 4)).unwrap();
    let fill = |heap: &mut SimHeap| {
        let created = (0..).find_map(|count| heap.create(Layout::uniform(20, 4)).err().map(|error| (count, error)));
        created.unwrap()
    };
    heap.begin().unwrap();
    set_balance(&mut heap, kept, 5);
    let (count, error) = fill(&mut heap);
    assert!(matches!(error, CreateError::Store(StoreError::Full)), "{error}");
    // It is undone already; every further call says so until the client aborts it.
    assert_eq!(heap.create(Layout::uniform(1, 1)), Err(CreateError::TransactionAborted));
    assert_eq!(heap.put_field(kept, 0, &[0; 4]), Err(AccessError::TransactionAborted));
    assert_eq!(heap.get_field(kept, 0, &mut [0; 4]), Err(AccessError::TransactionAborted));
    assert_eq!(heap.commit(), Err(TransactionError::Aborted));
    assert_eq!(heap.begin(), Err(TransactionError::Aborted));
    heap.abort().unwrap();
    assert_eq!(balance(&mut heap, kept), 0);
    set_balance(&mut heap, kept, 6);
    assert_eq!(balance(&mut heap, kept), 6);
    let again = fill(&mut heap).0;
    assert!(again + 1 >= count, "what it took is free again: {again} of {count}");
}

#[test]
fn a_transaction_too_large_for_its_log_is_undone_and_says_so() {
    let mut heap = heap_of(16, 512, Config { log_units: 2, ..Config::tinystore_2006() });
    let objects: Vec<Ref> = (0..40).map(|_| heap.create(Layout::uniform(2, 4)).unwrap()).collect();
    heap.begin().unwrap();
    let failed = objects.iter().position(|&object| match heap.put_field(object, 0, &[9; 4]) {
        Ok(()) => false,
        Err(AccessError::Store(StoreError::TransactionTooLarge)) => true,
        Err(error) => panic!("{error}"),
    });
    assert!(failed.is_some_and(|failed| failed > 10), "{failed:?}");
    heap.abort().unwrap();
    assert!(objects.iter().all(|&object| balance(&mut heap, object) == 0));

    // The same with a log of four units, which is set when an image is formatted.
    let mut heap = heap_of(16, 512, Config { log_units: 4, ..Config::tinystore_2006() });
    let objects: Vec<Ref> = (0..40).map(|_| heap.create(Layout::uniform(2, 4)).unwrap()).collect();
    heap.begin().unwrap();
    objects.iter().for_each(|&object| set_balance(&mut heap, object, 9));
    heap.commit().unwrap();
    assert!(objects.iter().all(|&object| balance(&mut heap, object) == 9));
}

/// A transaction that spans log units, cut at every operation of its commit: all objects changed, or none.
#[test]
fn a_long_commit_is_whole_or_absent() {
    cut_long_commit(heap_of(20, 512, Config { log_units: 4, ..Config::tinystore_2006() }));
    cut_long_commit(heap_of(20, 512, Config { log_units: 4, ..Config::default() }));
    let error_detection = ErrorDetection::On;
    cut_long_commit(heap_of(34, 512, Config { log_units: 6, error_detection, ..Config::default() }));
}

fn cut_long_commit(mut heap: SimHeap) {
    let objects: Vec<Ref> = (0..40).map(|_| heap.create(Layout::uniform(2, 4)).unwrap()).collect();
    heap.begin().unwrap();
    objects.iter().for_each(|&object| set_balance(&mut heap, object, 9));
    let mut whole = heap.clone();
    let before = whole.device().operations();
    whole.commit().unwrap();
    let operations = whole.device().operations() - before;
    let mut outcomes = [0; 2];
    for cut in 0..operations {
        for tear in [Tear::Nothing, Tear::Complete, Tear::Subset(cut)] {
            let mut heap = heap.clone();
            heap.device_mut().cut_power_after(cut, tear);
            heap.commit().unwrap_err();
            heap.device_mut().power_on();
            let mut heap = SimHeap::mount(heap.into_device()).unwrap();
            let changed = objects.iter().filter(|&&object| balance(&mut heap, object) == 9).count();
            assert!(changed == 0 || changed == 40, "{changed} of 40 changed after {tear:?} at {cut}");
            outcomes[usize::from(changed > 0)] += 1;
        }
    }
    assert!(outcomes[0] > 0 && outcomes[1] > 100, "{outcomes:?}");
}

/// References that an undone transaction gave out stay stale after a reboot, too.
#[test]
fn a_reference_from_an_undone_transaction_is_not_given_again() {
    let mut heap = heap_of(8, 1024, Config::default());
    // Creations that fail do not use references up.
    let full: Vec<Ref> = std::iter::from_fn(|| heap.create(Layout::uniform(100, 4)).ok()).collect();
    (0..40).for_each(|_| assert!(heap.create(Layout::uniform(100, 4)).is_err()));
    full.into_iter().for_each(|object| heap.delete(object).unwrap());
    heap.begin().unwrap();
    let lost: Vec<Ref> = (0..5).map(|_| heap.create(Layout::uniform(1, 4)).unwrap()).collect();
    let mut heap = SimHeap::mount(heap.into_device()).unwrap();
    for _ in 0..100 {
        let created = heap.create(Layout::uniform(1, 1)).unwrap();
        heap.delete(created).unwrap();
        assert!(!lost.contains(&created), "{created} was given out before");
    }
    assert!(lost.iter().all(|&lost| heap.get_field(lost, 0, &mut [0; 4]) == Err(AccessError::Stale(lost))));
}

#[test]
fn impossible_configurations_are_refused() {
    let refused = |config| SimHeap::format(TestDevice::new(super::part(8, 1024)), config).map(|_| ()).unwrap_err();
    let text = |config| refused(config).to_string();
    assert_eq!(text(Config { log_units: 1, ..Config::default() }), "unsuitable: the log takes 2 to 8 units");
    assert_eq!(text(Config { log_units: 9, ..Config::default() }), "unsuitable: the log takes 2 to 8 units");
    let small = "unsuitable: beside its log the part has no room for twelve tree nodes: take fewer log units or \
                 a larger part";
    assert_eq!(text(Config { log_units: 7, ..Config::default() }), small);
    assert_eq!(text(Config { list_length_max: 0, ..Config::default() }), "unsuitable: lists of no records");
}
