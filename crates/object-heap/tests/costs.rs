//! The costs that the documentation of public functions states hold, counted by the simulated part: of the published
//! structure, and at the end those of delta records.

use norn_flash_sim::{Counters, NorSim, catalogue};
use norn_object_heap::{Config, Elements, ErrorDetection, Heap, InitializationFlags, Layout, Ref, Representation};

type SimHeap = Heap<NorSim, 64>;

fn heap_of(config: Config) -> SimHeap {
    SimHeap::format(NorSim::new(catalogue::tinystore()), config).unwrap()
}

/// What `action` makes the part do: reads, words programmed, erases.
fn cost<T>(heap: &mut SimHeap, action: impl FnOnce(&mut SimHeap) -> T) -> (u64, u64, u64) {
    let before = heap.device().counters();
    action(heap);
    totals(heap.device().counters() - before)
}

fn totals(counters: Counters) -> (u64, u64, u64) {
    (counters.reads(), counters.programs(), counters.erases)
}

fn create(heap: &mut SimHeap, count: usize) -> Vec<Ref> {
    (0..count).map(|_| heap.create(Layout::uniform(50, 2)).unwrap()).collect()
}

/// Reads that find an object in a tree of height `height` with no spares in use, and its descriptor.
fn look_up(height: u64) -> u64 {
    3 * height + 5
}

fn get(heap: &mut SimHeap, object: Ref) -> (u64, u64, u64) {
    cost(heap, |heap| heap.get_field(object, 7, &mut [0; 2]).unwrap())
}

fn put(heap: &mut SimHeap, object: Ref, value: u8) -> (u64, u64, u64) {
    cost(heap, |heap| heap.put_field(object, 7, &[value, 1]).unwrap())
}

#[test]
fn formatting_and_mounting() {
    let heap = heap_of(Config::tinystore_2006());
    let (_, programs, erases) = totals(heap.device().counters());
    assert_eq!((programs, erases), (4 * 56 + 18, 56));

    let mut heap = heap_of(Config::tinystore_2006());
    create(&mut heap, 1000);
    let before = heap.device().counters();
    let sectors = 2 * 1000 + 63 + 4 + 1;
    let heap = SimHeap::mount(heap.into_device()).unwrap();
    let (reads, programs, erases) = totals(heap.device().counters() - before);
    assert!(reads <= 14 * 56 + 2 * 1021 + sectors, "{reads} reads");
    assert_eq!((programs, erases), (0, 0));
}

#[test]
fn reads() {
    for (count, height) in [(16, 1), (256, 2), (2000, 3)] {
        let mut heap = heap_of(Config { list_length_max: 5, ..Config::tinystore_2006() });
        let object = create(&mut heap, count)[count / 2];
        assert_eq!(get(&mut heap, object), (look_up(height) + 2, 0, 0), "a default value in a tree of {height}");
        for records in 1..=5 {
            put(&mut heap, object, records as u8);
            assert_eq!(get(&mut heap, object), (look_up(height) + 2 + 3 * records, 0, 0), "in record {records}");
            assert_eq!(cost(&mut heap, |heap| heap.info(object).unwrap()), (look_up(height), 0, 0));
            assert_eq!(cost(&mut heap, |heap| heap.list_info(object).unwrap()), (look_up(height) + 2 * records, 0, 0));
        }
        let (reads, ..) = cost(&mut heap, |heap| heap.next_object(Some(object)).unwrap());
        assert!(reads <= 3 * height + 27 + 5, "{reads} reads to the next object");
    }
}

#[test]
fn creation() {
    let mut heap = heap_of(Config::tinystore_2006());
    create(&mut heap, 20);
    assert_eq!(cost(&mut heap, |heap| create(heap, 1)).1, 13);
    let mut without = heap_of(Config { initialization_flags: InitializationFlags::Off, ..Config::tinystore_2006() });
    create(&mut without, 20);
    assert_eq!(cost(&mut without, |heap| create(heap, 1)).1, 13 - 1 + 25 + 1, "the data, too");

    let mut worst = 0;
    for _ in 21..2000 {
        let (_, programs, erases) = cost(&mut heap, |heap| create(heap, 1));
        if erases == 0 {
            worst = worst.max(programs);
        }
    }
    assert!(worst <= 13 + 3 * 9 + 20, "{worst} words for a creation, with a path of new nodes and a new log unit");
}

#[test]
fn updates() {
    let mut heap = heap_of(Config::tinystore_2006());
    let object = create(&mut heap, 100)[50];
    assert_eq!(put(&mut heap, object, 1).1, 2, "a default value is replaced in the first record");
    assert_eq!(put(&mut heap, object, 2).1, 6, "a record is added");
    assert_eq!(put(&mut heap, object, 3).1, 20, "a compaction of an object with one value");
    for field in 0..50 {
        heap.put_field(object, field, &[field as u8, 1]).unwrap();
    }
    heap.put_field(object, 7, &[1, 2]).unwrap();
    let (_, programs, _) = cost(&mut heap, |heap| heap.put_field(object, 7, &[1, 3]).unwrap());
    assert!(programs <= 20 + 25, "{programs} words for a compaction of 100 bytes");

    // Every ninth change of a tree node copies it.
    let worst = (0..100).map(|value| put(&mut heap, object, value).1).max().unwrap();
    assert!(worst <= 20 + 25 + 2 * 24, "{worst} words for a compaction with two nodes copied");
}

#[test]
fn deletion() {
    let mut heap = heap_of(Config::tinystore_2006());
    let objects = create(&mut heap, 100);
    assert_eq!(cost(&mut heap, |heap| heap.delete(objects[50]).unwrap()).1, 8 + 2, "a descriptor and a record");
    heap.write_header(objects[60], b"with a header").unwrap();
    put(&mut heap, objects[60], 1);
    put(&mut heap, objects[60], 2);
    let (_, programs, _) = cost(&mut heap, |heap| heap.delete(objects[60]).unwrap());
    assert_eq!(programs, 8 + 2 + 4, "a descriptor, a header and two records, which take a second release");
}

#[test]
fn transactions() {
    let mut heap = heap_of(Config::tinystore_2006());
    let objects = create(&mut heap, 100);
    objects.iter().for_each(|&object| _ = put(&mut heap, object, 1));
    assert_eq!(cost(&mut heap, |heap| heap.begin().unwrap()), (0, 0, 0));
    for &object in &objects[..8] {
        put(&mut heap, object, 2);
        assert_eq!(put(&mut heap, object, 3).1, 6, "the second change of an object in a transaction adds a record");
    }
    // A tree word, the old descriptor and the old record of each object, and the commit itself.
    assert_eq!(cost(&mut heap, |heap| heap.commit().unwrap()).1, 2 + 3 * 8);

    heap.begin().unwrap();
    put(&mut heap, objects[20], 2);
    assert_eq!(cost(&mut heap, |heap| heap.abort().unwrap()).1, 2 + 3);
}

#[test]
fn roots_and_headers() {
    let mut heap = heap_of(Config::tinystore_2006());
    let objects = create(&mut heap, 100);
    let (_, programs, _) = cost(&mut heap, |heap| heap.set_root(b"purse", Some(objects[3])).unwrap());
    assert!(programs <= 20, "{programs} words for the first root");
    let (reads, ..) = cost(&mut heap, |heap| heap.root(b"purse").unwrap());
    assert!(reads <= 30, "{reads} reads for a root");
    let (_, programs, _) = cost(&mut heap, |heap| heap.write_header(objects[9], b"four").unwrap());
    assert!(programs <= 25, "{programs} words for a header");
    let (reads, ..) = cost(&mut heap, |heap| heap.read_header(objects[9], &mut [0; 4]).unwrap());
    assert!(reads <= look_up(2) + 1 + 4, "{reads} reads for a header");
}

/// The paper's worst case (section 6.2): small objects fill the heap, each list as long as it may be.
#[test]
fn the_worst_case_of_a_read() {
    let mut heap = heap_of(Config::tinystore_2006());
    let mut objects = Vec::new();
    for _ in 0..5000 {
        let Ok(object) = heap.create(Layout::uniform(2, 1)) else {
            break;
        };
        objects.push(object);
    }
    let fits = objects.len() * 2 / 3;
    objects.drain(fits..).for_each(|object| heap.delete(object).unwrap());
    for &object in &objects {
        for (field, value) in [(0, 1), (1, 2), (0, 3)] {
            heap.put_field(object, field, &[value]).unwrap();
        }
    }
    let mut worst = 0;
    let mut sum = 0;
    for &object in &objects {
        for field in 0..2 {
            let (reads, ..) = cost(&mut heap, |heap| heap.get_field(object, field, &mut [0]).unwrap());
            worst = worst.max(reads);
            sum += reads;
        }
    }
    println!(
        "{} objects, {} reads a field on average, {worst} at worst",
        objects.len(),
        sum / objects.len() as u64 / 2
    );
    assert!(worst <= 10 * 4 + 5 + 2 + 6, "the bound that the tree's height and its spares give");
}

/// What the representations are for: updates of the one, reads of the other.
#[test]
fn representations() {
    let mut heap = heap_of(Config { list_length_max: 4, ..Config::tinystore_2006() });
    create(&mut heap, 100);
    let layout = Layout::uniform(50, 2);
    let modified = heap.create(layout).unwrap();
    let read = heap.create(layout.with_representation(Representation::ReadOptimized)).unwrap();
    let (mut updates, mut reads) = ([0; 2], [0; 2]);
    for (at, object) in [modified, read].into_iter().enumerate() {
        for value in 0..40 {
            let (_, programs, _) = put(&mut heap, object, value);
            updates[at] += programs;
            reads[at] = get(&mut heap, object).0.max(reads[at]);
        }
    }
    println!("words programmed in 40 updates {updates:?}, reads at most {reads:?}");
    assert!(updates[0] * 3 < updates[1] * 2 && reads[1] < reads[0]);
    assert_eq!(heap.list_info(read).unwrap().records, 1);

    heap.set_representation(modified, Representation::ReadOptimized).unwrap();
    assert_eq!(heap.list_info(modified).unwrap().records, 1);
    assert_eq!(cost(&mut heap, |heap| heap.set_representation(modified, Representation::ReadOptimized).unwrap()).1, 0);
}

/// Operations on ranges against the same element by element: 4,000 bytes in sections of 255.
#[test]
fn ranges_of_arrays() {
    let mut heap = heap_of(Config::tinystore_2006());
    let (a, b) = (heap.create_array(4000, 1, &[]).unwrap(), heap.create_array(4000, 1, &[]).unwrap());
    let all = Elements { array: a, first: 0, count: 4000 };
    let mut costs = Vec::new();
    let mut measure = |heap: &mut SimHeap, name: &'static str, action: &mut dyn FnMut(&mut SimHeap)| {
        let (reads, programs, _) = cost(heap, action);
        costs.push((name, reads, programs));
    };
    measure(&mut heap, "fill, first", &mut |heap| heap.array_fill_non_atomic(all, &[1]).unwrap());
    measure(&mut heap, "fill, again", &mut |heap| heap.array_fill_non_atomic(all, &[2]).unwrap());
    measure(&mut heap, "copy, each", &mut |heap| heap.array_copy_non_atomic(all, (b, 0)).unwrap());
    measure(&mut heap, "copy, whole", &mut |heap| heap.array_copy(all, (b, 0)).unwrap());
    measure(&mut heap, "compare", &mut |heap| assert!(heap.array_compare(all, (b, 0)).unwrap().is_eq()));
    measure(&mut heap, "element by element", &mut |heap| {
        (0..4000).for_each(|index| heap.array_store(b, index, &[3]).unwrap());
    });
    for (name, reads, programs) in &costs {
        println!(
            "{name:20} {:6.2} reads and {:6.3} words programmed an element",
            *reads as f64 / 4e3,
            *programs as f64 / 4e3
        );
    }
    let programs = |name: &str| costs.iter().find(|(found, ..)| *found == name).unwrap().2;
    assert!(programs("fill, first") <= 4000 / 4 + 4000 / 8, "in place: values and flags");
    for name in ["fill, again", "copy, each", "copy, whole"] {
        assert!(programs(name) * 4 < programs("element by element"), "{name}");
    }
}

/// What error detection costs, beside the same without it: words programmed and read, bytes an object of fifty fields
/// of two bytes.
#[test]
fn error_detection() {
    let costs = [ErrorDetection::Off, ErrorDetection::On].map(|error_detection| {
        let mut heap = heap_of(Config { error_detection, ..Config::tinystore_2006() });
        let empty = heap.store().used_bytes();
        let object = create(&mut heap, 1000)[500];
        let bytes = (heap.store().used_bytes() - empty) / 1000;
        let created = cost(&mut heap, |heap| create(heap, 1)).1;
        let default = get(&mut heap, object).0;
        let [first, second, third] = [1, 2, 3].map(|value| put(&mut heap, object, value).1);
        [bytes, created, first, second, third, default, get(&mut heap, object).0]
    });
    println!("bytes an object, words programmed to create, to update in place, with a new record, by compaction;");
    println!("words read for a default value and for another: {costs:?}");
    let [off, on] = costs;
    assert_eq!(on[2..4], [off[2] + 1, off[3] + 1], "a code for each value");
    assert_eq!(
        on[4],
        off[4] + 6,
        "codes of value and descriptor; two words for a commit; the tree word, and its commit, once more"
    );
    assert!(on[0] <= off[0] * 3 / 2, "{} bytes an object", on[0]);
}

/// Updates of few fields, with delta records: one word each, in transactions, too.
#[test]
fn delta_records() {
    let mut heap = heap_of(Config::default());
    let objects = create(&mut heap, 100);
    let object = objects[50];
    assert_eq!(put(&mut heap, object, 1).1, 2, "a default value is replaced in the first record");
    assert_eq!(put(&mut heap, object, 2).1, 4 + 1, "a delta record is added, and a delta");
    for value in 3..22 {
        assert_eq!(
            get(&mut heap, object),
            (look_up(2) + 3 + u64::from(value - 2) + 3, 0, 0),
            "each delta is looked at, and the place behind the last"
        );
        assert_eq!(put(&mut heap, object, value).1, 1, "a delta, number {}", value - 1);
    }
    assert_eq!(put(&mut heap, object, 22).1, 20, "a compaction of an object with one value");

    for &object in &objects[..10] {
        put(&mut heap, object, 1);
        put(&mut heap, object, 2);
    }
    heap.begin().unwrap();
    for &object in &objects[..10] {
        assert_eq!(put(&mut heap, object, 3).1, 2 + 1, "an entry and a delta");
        assert_eq!(put(&mut heap, object, 4).1, 1, "a delta");
    }
    assert_eq!(cost(&mut heap, |heap| heap.commit().unwrap()).1, 2 + 20, "each delta is closed");
    heap.begin().unwrap();
    put(&mut heap, objects[3], 5);
    assert_eq!(put(&mut heap, objects[60], 5).1, 4 + 2 + 1, "a delta record stays whatever becomes of the transaction");
    assert_eq!(cost(&mut heap, |heap| heap.abort().unwrap()).1, 2 + 2, "each delta is made void");
}

/// Several fields at once: deltas, or the object's data once.
#[test]
fn several_fields_at_once() {
    let mut heap = heap_of(Config::default());
    let object = create(&mut heap, 100)[50];
    put(&mut heap, object, 1);
    put(&mut heap, object, 2);
    let few = cost(&mut heap, |heap| heap.put_fields(object, 3, &[7; 16]).unwrap());
    assert_eq!(few.1, 2 * 8 + 4, "eight deltas, an entry and the commit");
    let all = cost(&mut heap, |heap| heap.put_fields(object, 0, &[9; 100]).unwrap());
    assert!(all.1 <= 20 + 25 + 2, "{} words for all fields", all.1);
    let array = heap.create_array(600, 1, &[]).unwrap();
    let (_, programs, _) = cost(&mut heap, |heap| heap.array_write(array, 0, &[5; 600]).unwrap());
    assert!(programs <= 150 + 3 * 24, "{programs} words for 600 elements");
}
