//! Garbage collection: exactly what nothing reaches is deleted, whatever the shape of the graph; also on a full device,
//! and with several collections to a unit.

use norn_flash_sim::{NorSim, SimError, catalogue};
use norn_object_heap::{AccessError, CollectError, Collected, Config, Heap, Layout, Ref, StoreError, Tracer};

type SimHeap = Heap<NorSim, 64>;

fn heap_of(units: u16, unit_bytes: u32) -> SimHeap {
    SimHeap::format(NorSim::new(catalogue::test_part(units, unit_bytes)), Config::default()).unwrap()
}

/// A node with two references.
fn node(heap: &mut SimHeap, left: Option<Ref>, right: Option<Ref>) -> Ref {
    let node = heap.create(Layout::uniform(2, 4)).unwrap();
    for (field, child) in [(0, left), (1, right)] {
        if let Some(child) = child {
            heap.put_field(node, field, &child.bits().to_le_bytes()).unwrap();
        }
    }
    node
}

fn trace(tracer: &mut Tracer<'_, NorSim, 64>, reference: Ref) -> Result<(), AccessError<SimError>> {
    for field in 0..2 {
        let mut value = [0; 4];
        tracer.heap().get_field(reference, field, &mut value)?;
        if let Some(child) = Ref::from_bits(u32::from_le_bytes(value)) {
            tracer.reached(child)?;
        }
    }
    Ok(())
}

fn count(heap: &mut SimHeap) -> u32 {
    let (mut count, mut after) = (0, None);
    while let Some(object) = heap.next_object(after).unwrap() {
        (count, after) = (count + 1, Some(object));
    }
    count
}

/// A chain, in which each node refers to the one created before.
fn chain(heap: &mut SimHeap, length: usize) -> Ref {
    (1..length).fold(node(heap, None, None), |tail, _| node(heap, Some(tail), None))
}

/// A tree of `levels` levels, root first.
fn tree(heap: &mut SimHeap, levels: u32) -> Ref {
    let root = node(heap, None, None);
    let mut row = vec![root];
    for _ in 1..levels {
        let mut next = Vec::new();
        for &parent in &row {
            for field in 0..2 {
                let child = node(heap, None, None);
                heap.put_field(parent, field, &child.bits().to_le_bytes()).unwrap();
                next.push(child);
            }
        }
        row = next;
    }
    root
}

#[test]
fn graphs_of_every_shape() {
    let mut heap = heap_of(40, 4096);
    let long = chain(&mut heap, 300);
    let broad = tree(&mut heap, 8);
    chain(&mut heap, 40);
    let ring = node(&mut heap, None, None);
    let around = node(&mut heap, Some(ring), Some(ring));
    heap.put_field(ring, 1, &around.bits().to_le_bytes()).unwrap();
    heap.set_root(b"long", Some(long)).unwrap();
    let collected = heap.collect(&[broad], trace).unwrap();
    assert_eq!(collected, Collected { live: 300 + 255, deleted: 42 });
    assert_eq!(count(&mut heap), 555);

    heap.set_root(b"long", None).unwrap();
    assert_eq!(heap.collect(&[broad], trace).unwrap(), Collected { live: 255, deleted: 300 });
    assert_eq!(heap.collect(&[], trace).unwrap(), Collected { live: 0, deleted: 255 });
    assert_eq!(heap.collect(&[], trace).unwrap(), Collected::default());
}

#[test]
fn each_object_is_traced_once_and_marked_with_two_programs() {
    let mut heap = heap_of(40, 4096);
    let broad = tree(&mut heap, 9);
    heap.collect(&[broad], trace).unwrap(); // The first takes a unit.
    let before = heap.device().counters();
    let mut traced = 0;
    let counting = |tracer: &mut Tracer<'_, NorSim, 64>, reference| {
        traced += 1;
        trace(tracer, reference)
    };
    assert_eq!(heap.collect(&[broad], counting).unwrap(), Collected { live: 511, deleted: 0 });
    assert_eq!(traced, 511);
    let cost = heap.device().counters() - before;
    assert_eq!((cost.programs(), cost.erases), (2 * 511, 0));
}

#[test]
fn several_collections_share_a_unit() {
    let mut heap = heap_of(40, 4096);
    let broad = tree(&mut heap, 7);
    let before = heap.device().counters();
    for _ in 0..100 {
        heap.collect(&[broad], trace).unwrap();
    }
    // A collection of 127 slots takes 32 bytes of a unit's 4072; the 128th would need another.
    assert_eq!((heap.device().counters() - before).erases, 0);
    let mut heap = SimHeap::mount(heap.into_device()).unwrap();
    for _ in 0..100 {
        heap.collect(&[broad], trace).unwrap();
    }
    let erases = (heap.device().counters() - before).erases;
    assert!(erases <= 1, "{erases} erases");
}

#[test]
fn a_full_device_is_collected() {
    for (units, unit_bytes) in [(10, 512), (11, 512), (12, 1024), (16, 512), (16, 2048)] {
        for count_of_fields in 2..14 {
            let mut heap = heap_of(units, unit_bytes);
            let kept = chain(&mut heap, 5);
            let mut random = fastrand::Rng::with_seed(count_of_fields as u64);
            let mut objects = Vec::new();
            while let Ok(object) = heap.create(Layout::uniform(count_of_fields, 4)) {
                objects.push(object);
            }
            // Updates until nothing fits any more, so that obsolete space is everywhere.
            for _ in 0..1000 {
                let object = *random.choice(&objects).unwrap();
                let _ =
                    heap.put_field(object, random.usize(2..count_of_fields.max(3)).min(count_of_fields - 1), &[0; 4]);
            }
            let full = count(&mut heap);
            let collected = heap.collect(&[kept], trace).unwrap();
            assert_eq!(collected, Collected { live: 5, deleted: full - 5 });
            chain(&mut heap, 10);
        }
    }
}

#[test]
fn stale_roots_and_references_are_passed_over() {
    let mut heap = heap_of(12, 1024);
    let gone = node(&mut heap, None, None);
    let kept = node(&mut heap, Some(gone), None);
    heap.set_root(b"gone", Some(gone)).unwrap();
    heap.delete(gone).unwrap();
    let successor = node(&mut heap, None, None);
    assert_eq!(heap.collect(&[kept, gone], trace).unwrap(), Collected { live: 1, deleted: 1 });
    assert_eq!(heap.info(successor), Err(AccessError::Stale(successor)));
}

#[test]
fn what_cannot_be_collected_says_so_and_deletes_nothing() {
    let mut heap = heap_of(12, 1024);
    let kept = node(&mut heap, None, None);
    node(&mut heap, None, None);
    heap.begin().unwrap();
    assert_eq!(heap.collect(&[kept], trace), Err(CollectError::TransactionOpen));
    heap.abort().unwrap();
    let failing = |_: &mut Tracer<'_, NorSim, 64>, _| Err(AccessError::Store(StoreError::Halted));
    let failed = heap.collect(&[kept], failing);
    assert_eq!(failed, Err(CollectError::Access(AccessError::Store(StoreError::Halted))));
    assert_eq!(count(&mut heap), 2);
    assert_eq!(heap.collect(&[kept], trace).unwrap(), Collected { live: 1, deleted: 1 });
}
