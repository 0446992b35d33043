//! The costs that the EEPROM heap's documentation states, counted by the simulated part.

use norn_baselines::EepromHeap;
use norn_flash_sim::{EepromSim, catalogue};
use norn_object_heap::{Elements, Layout, Ref, StoreError};

type SimHeap = EepromHeap<EepromSim>;

fn heap() -> SimHeap {
    EepromHeap::format(EepromSim::new(catalogue::tinystore_eeprom()), 8 * 1024).unwrap()
}

/// Words that `call` writes and reads.
fn count<T>(heap: &mut SimHeap, call: impl FnOnce(&mut SimHeap) -> T) -> (u64, u64, T) {
    let before = heap.device().counters();
    let result = call(heap);
    let counters = heap.device().counters() - before;
    assert_eq!(counters.programs(), counters.erases, "each write is an erase");
    (counters.programs(), counters.reads(), result)
}

/// An object of fifty two-byte fields, as in the paper's evaluation.
fn fifty(heap: &mut SimHeap) -> Ref {
    heap.create(Layout::uniform(50, 2)).unwrap()
}

#[test]
fn an_update_takes_five_words_wherever_and_whenever() {
    let mut heap = heap();
    let mut objects: Vec<Ref> = (0..100).map(|_| fifty(&mut heap)).collect();
    for round in 0..3u16 {
        for &object in &objects {
            for field in 0..50 {
                let value = (round * 50 + field + 1).to_le_bytes();
                let (writes, reads, ()) =
                    count(&mut heap, |heap| heap.put_field(object, usize::from(field), &value).unwrap());
                assert_eq!((writes, reads), (5, 4));
            }
        }
    }
    let (writes, _, ()) = count(&mut heap, |heap| heap.put_field(objects[0], 7, &108u16.to_le_bytes()).unwrap());
    assert_eq!(writes, 0, "the field has the value already");
    let (writes, reads, ()) = count(&mut heap, |heap| heap.get_field(objects[99], 49, &mut [0; 2]).unwrap());
    assert_eq!((writes, reads), (0, 3));

    // A full heap makes no difference.
    loop {
        match heap.create(Layout::uniform(50, 2)) {
            Ok(object) => objects.push(object),
            Err(error) => {
                assert_eq!(error, norn_object_heap::CreateError::Store(StoreError::Full));
                break;
            }
        }
    }
    let last = *objects.last().unwrap();
    assert_eq!(count(&mut heap, |heap| heap.put_field(last, 3, &[1, 2]).unwrap()).0, 5);
}

#[test]
fn transactions_end_by_one_word() {
    let mut heap = heap();
    let object = fifty(&mut heap);
    heap.begin().unwrap();
    for field in 0..50u16 {
        let value = (field + 1).to_le_bytes();
        let (writes, ..) = count(&mut heap, |heap| heap.put_field(object, usize::from(field), &value).unwrap());
        assert_eq!(writes, 4);
        let (writes, ..) = count(&mut heap, |heap| heap.put_field(object, usize::from(field), &[7; 2]).unwrap());
        assert_eq!(writes, 1, "the log has the old value already");
    }
    assert_eq!(count(&mut heap, |heap| heap.commit().unwrap()).0, 1);
    heap.begin().unwrap();
    heap.put_field(object, 0, &[9; 2]).unwrap();
    assert_eq!(count(&mut heap, |heap| heap.abort().unwrap()).0, 2);
}

#[test]
fn creation_and_deletion_cost_what_they_say() {
    let mut heap = heap();
    let (writes, _, first) = count(&mut heap, fifty);
    println!("creation: {writes} words, of which 25 the fields");
    assert!(writes - 25 <= 16, "{writes}");
    let middle = fifty(&mut heap);
    fifty(&mut heap);
    for object in [first, middle] {
        let (writes, ..) = count(&mut heap, |heap| heap.delete(object).unwrap());
        println!("deletion: {writes} words");
        assert!((13..=16).contains(&writes), "{writes}");
    }
    let object = fifty(&mut heap);
    let (writes, ..) = count(&mut heap, |heap| heap.write_header(object, &[1; 4]).unwrap());
    println!("first header: {writes} words");
    assert!(writes <= 21 + 1, "{writes}");
    let (writes, ..) = count(&mut heap, |heap| heap.write_header(object, &[2; 4]).unwrap());
    println!("second header: {writes} words");
    assert!(writes <= 21 + 15 + 1, "{writes}");
    let other = fifty(&mut heap);
    for (reference, words) in [(Some(object), 17 + 1), (Some(other), 5), (None, 16)] {
        let (writes, ..) = count(&mut heap, |heap| heap.set_root(b"name", reference).unwrap());
        println!("root: {writes} words");
        assert!(writes <= words, "{writes}");
    }
    heap.delete(object).unwrap();
    let (writes, ..) = count(&mut heap, fifty);
    assert!(writes <= 16, "{writes} words, where the fields were zeros before");
}

#[test]
fn copies_and_fills_cost_what_they_say() {
    let mut heap = heap();
    let [from, to] = [0, 1].map(|_| heap.create_array(240, 1, b"").unwrap());
    let all = |array| Elements { array, first: 0, count: 240 };
    let (writes, ..) = count(&mut heap, |heap| heap.array_fill_non_atomic(all(from), &[7]).unwrap());
    assert_eq!(writes, 60);
    let (writes, reads, ()) = count(&mut heap, |heap| heap.array_copy(all(from), (to, 0)).unwrap());
    println!("copy of 240 bytes: {writes} words written, {reads} read");
    assert_eq!(writes, 30 * 6 + 1);
    assert_eq!(count(&mut heap, |heap| heap.array_compare(all(from), (to, 0)).unwrap()).2, std::cmp::Ordering::Equal);

    // What exceeds the log is refused, and changes nothing.
    let [from, to] = [0, 1].map(|_| heap.create_array(6000, 1, b"").unwrap());
    let all = Elements { array: from, first: 0, count: 6000 };
    heap.array_fill_non_atomic(all, &[9]).unwrap();
    let refused = heap.array_copy(all, (to, 0)).unwrap_err();
    assert_eq!(refused, norn_object_heap::AccessError::Store(StoreError::TransactionTooLarge));
    let mut bytes = [1; 6000];
    heap.array_read(to, 0, &mut bytes).unwrap();
    assert_eq!(bytes, [0; 6000]);
    heap.array_copy_non_atomic(all, (to, 0)).unwrap();
    heap.array_read(to, 0, &mut bytes).unwrap();
    assert_eq!(bytes, [9; 6000]);
}

#[test]
fn mounting_reads_the_stamps_and_writes_nothing() {
    let mut heap = heap();
    fifty(&mut heap);
    let before = heap.device().counters();
    let heap = EepromHeap::mount(heap.into_device()).unwrap();
    let counters = heap.device().counters() - before;
    println!("mount: {counters}");
    assert_eq!(counters.programs(), 0);
    assert!(counters.reads() <= 512 + 8);
}

/// A heap that was filled gives everything back: its free blocks become one again.
#[test]
fn a_full_heap_is_emptied_and_filled_again() {
    let mut heap = EepromHeap::format(EepromSim::new(catalogue::eeprom_test_part(8192, 4)), 512).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    for round in 0..4 {
        let mut objects = Vec::new();
        while let Ok(object) = heap.create_array(random.usize(1..60), 2, &[1; 5][..random.usize(..5)]) {
            objects.push(object);
        }
        assert!(objects.len() > 60);
        // Full, updates and deletions continue.
        heap.array_store(objects[0], 0, &[round + 1; 2]).unwrap();
        random.shuffle(&mut objects);
        for object in objects {
            heap.delete(object).unwrap();
        }
        let mut collected: norn_flash::Collected = norn_flash::Collected::default();
        heap.audit(&mut collected).unwrap();
        assert_eq!(collected.violations, []);
        let whole = heap.create_array(8192 - 64 - 512 - 8, 1, b"").unwrap();
        heap.delete(whole).unwrap();
    }
}

/// A worn byte is an error, and what was acknowledged stays.
#[test]
fn a_worn_field_is_an_error() {
    let mut heap = heap();
    let object = fifty(&mut heap);
    heap.device_mut().set_endurance(Some(1000));
    let mut written = 0u16;
    while heap.put_field(object, 0, &(written + 1).to_le_bytes()).is_ok() {
        written += 1;
    }
    assert!((990..=1000).contains(&written), "{written} updates");
    assert_eq!(heap.put_field(object, 1, &[1; 2]), Err(norn_object_heap::AccessError::Store(StoreError::Halted)));
    let mut device = heap.into_device();
    device.set_endurance(None);
    let mut heap = EepromHeap::mount(device).unwrap();
    let mut value = [0; 2];
    heap.get_field(object, 0, &mut value).unwrap();
    assert_eq!(u16::from_le_bytes(value), written);
}
