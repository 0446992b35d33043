//! Proves that every engine does what the trait says: random calls, transactions among them, on a heap of each engine
//! and on a model in plain memory; calls with every kind of bad argument, which are refused alike and change nothing;
//! and what is left of a transaction in which a call found no room.
//!
//! One test drives all engines by the trait alone; what an engine has beside it, and power cuts, its own tests prove.

use crate::model;

use model::{Failure, Models, contents, draw, perform, settle_refusal, value};
use norn_baselines::EepromHeap;
use norn_conformance::seeds;
use norn_flash_sim::{EepromSim, NorSim, catalogue};
use norn_heap::{AccessError, CreateError, Elements, Kind, Layout, ObjectHeap, Ref, StoreError, TransactionError};
use norn_log_heap::LogHeap;
use norn_object_heap::{Config, Heap};

const REPLAY: &str = "-p norn-heap --test suite engines::";
const CALLS: usize = 600;

/// Random calls on a heap and the model; now and then the heap is mounted again, which undoes the open transaction.
fn agree<H: ObjectHeap>(engine: &str, format: impl Fn(u64) -> H, mount: impl Fn(H) -> H) {
    for run in seeds(0..9, REPLAY) {
        let mut random = run.random();
        let (mut heap, mut models, mut refused) = (format(run.seed), Models::default(), 0);
        for number in 0..CALLS {
            let call = draw(&models, &mut random);
            let context = || format!("{engine}, call {number}, {call:?}; replay: {}", run.replay());
            match perform(&mut heap, &call) {
                Ok(created) => models.change(&call, created),
                Err(Failure::Full) => {
                    refused += 1;
                    settle_refusal(&mut heap, &mut models, &call);
                }
                Err(failure) => panic!("{failure:?}: {}", context()),
            }
            assert_eq!(heap.in_transaction(), models.open.is_some(), "{}", context());
            if number % 7 == 0 {
                assert!(contents(&mut heap) == *models.now(), "{}", context());
            }
            if number % 40 == 39 {
                heap = mount(heap);
                models.open = None;
                assert!(contents(&mut heap) == models.committed, "after a mount, {}", context());
            }
        }
        assert!(refused * 5 < CALLS, "{engine}: the heap was full most of the time; replay: {}", run.replay());
    }
}

/// Everything that a caller can get wrong, in and out of a transaction.
fn refuse_bad_input<H: ObjectHeap>(engine: &str, heap: &mut H) {
    let object = heap.create(Layout::fields(&[2, 1, 4]).with_header(b"object")).unwrap();
    let array = heap.create_array(10, 3, b"array").unwrap();
    let other = heap.create_array(5, 2, b"").unwrap();
    let stale = heap.create(Layout::uniform(1, 1)).unwrap();
    heap.delete(stale).unwrap();
    for is_open in [false, true] {
        if is_open {
            heap.begin().unwrap();
            assert!(matches!(heap.begin(), Err(TransactionError::AlreadyOpen)), "{engine}");
        } else {
            assert!(matches!(heap.commit(), Err(TransactionError::NotOpen)), "{engine}");
            assert!(matches!(heap.abort(), Err(TransactionError::NotOpen)), "{engine}");
        }
        let before = contents(heap);
        refuse_creations(engine, heap);
        refuse_accesses(engine, heap, [object, array, other, stale]);
        assert_eq!(heap.in_transaction(), is_open, "{engine}: a mistake ended the transaction");
        assert!(contents(heap) == before, "{engine}: a refused call changed something");
    }
    heap.put_field(object, 1, &[9]).unwrap();
    heap.commit().unwrap();
    assert_eq!(value(heap, object, Kind::Object, 1), [9], "{engine}: mistakes undid the transaction");
}

fn refuse_creations<H: ObjectHeap>(engine: &str, heap: &mut H) {
    let created = |result: Result<Ref, CreateError<H::DeviceError>>| match result {
        Ok(reference) => panic!("{engine}: {reference} was created"),
        Err(error) => format!("{error:?}"),
    };
    assert_eq!(created(heap.create(Layout::fields(&[]))), "NoFields", "{engine}");
    assert_eq!(created(heap.create(Layout::uniform(0, 4))), "NoFields", "{engine}");
    assert_eq!(created(heap.create_array(0, 4, b"")), "NoFields", "{engine}");
    assert_eq!(created(heap.create(Layout::fields(&[1; 256]))), "TooManyFields { count: 256 }", "{engine}");
    assert_eq!(created(heap.create(Layout::fields(&[3, 0]))), "ZeroWidth { field: 1 }", "{engine}");
    assert_eq!(created(heap.create(Layout::uniform(3, 0))), "ZeroWidth { field: 0 }", "{engine}");
    assert_eq!(created(heap.create_array(3, 0, b"")), "ZeroWidth { field: 0 }", "{engine}");
}

/// On flash an object fits an erase unit.
fn refuse_a_large_object<H: ObjectHeap>(engine: &str, heap: &mut H) {
    let created = heap.create(Layout::uniform(255, 255));
    assert!(matches!(created, Err(CreateError::TooLarge { .. })), "{engine}: {created:?}");
}

/// An array that the part never has room for is a wrong argument; one that it has no room for beside others is not.
fn refuse_a_large_array<H: ObjectHeap>(engine: &str, heap: &mut H, part_bytes: u32) {
    for width in [1, 7, 255] {
        let mut largest = |count: usize| match heap.create_array(count, width, b"") {
            Err(CreateError::TooLarge { max }) => Some(max),
            Err(CreateError::Store(StoreError::Full)) => None,
            Ok(array) => {
                heap.delete(array).unwrap();
                None
            }
            other => panic!("{engine}: {count} elements of {width} bytes: {other:?}"),
        };
        let max = largest(usize::MAX).unwrap_or_else(|| panic!("{engine}: no largest array"));
        assert!((part_bytes / 2..part_bytes).contains(&max), "{engine}: {max} bytes of {part_bytes}");
        let count = max as usize / usize::from(width);
        assert_eq!(largest(u32::MAX as usize), Some(max), "{engine}");
        assert_eq!(largest(count + 1), Some(max), "{engine}: {count} elements of {width} bytes, and one");
        assert_eq!(largest(count), None, "{engine}: {count} elements of {width} bytes");
    }
}

fn refuse_accesses<H: ObjectHeap>(engine: &str, heap: &mut H, [object, array, other, stale]: [Ref; 4]) {
    let mut buffer = [0; 9];
    let expect = |what: &str, expected: String, result: Result<(), AccessError<H::DeviceError>>| match result {
        Ok(()) => panic!("{engine}: {what} was accepted"),
        Err(error) => assert_eq!(format!("{error:?}"), expected, "{engine}: {what}"),
    };
    let (wrong_kind, gone) = (|reference| format!("WrongKind({reference:?})"), format!("Stale({stale:?})"));
    let beyond = |count: u32| format!("OutOfRange {{ count: {count} }}");
    let width = |width: u32| format!("WrongWidth {{ width: {width} }}");
    let all_of = |array, first, count| Elements { array, first, count };

    expect("a field of an array", wrong_kind(array), heap.get_field(array, 0, &mut buffer[..3]));
    expect("a field of an array", wrong_kind(array), heap.put_field(array, 0, &[1; 3]));
    expect("fields of an array", wrong_kind(array), heap.put_fields(array, 0, &[1; 3]));
    expect("an element of an object", wrong_kind(object), heap.array_load(object, 0, &mut buffer[..2]));
    expect("an element of an object", wrong_kind(object), heap.array_store(object, 0, &[1; 2]));
    expect("elements of an object", wrong_kind(object), heap.array_read(object, 0, &mut buffer[..2]));
    expect("elements of an object", wrong_kind(object), heap.array_write(object, 0, &[1; 2]));
    expect("a fill of an object", wrong_kind(object), heap.array_fill_non_atomic(all_of(object, 0, 1), &[1; 2]));

    expect("field 3 of 3", beyond(3), heap.get_field(object, 3, &mut buffer[..1]));
    expect("field 3 of 3", beyond(3), heap.put_field(object, 3, &[1]));
    expect("fields from 3 of 3", beyond(3), heap.put_fields(object, 3, &[1]));
    expect("more than the last fields", beyond(3), heap.put_fields(object, 1, &[1; 6]));
    expect("field 65,536", beyond(3), heap.put_field(object, 1 << 16, &[1]));
    expect("element 10 of 10", beyond(10), heap.array_load(array, 10, &mut buffer[..3]));
    expect("element 10 of 10", beyond(10), heap.array_store(array, 10, &[1; 3]));
    expect("elements beyond the last", beyond(10), heap.array_read(array, 8, &mut buffer[..9]));
    expect("elements beyond the last", beyond(10), heap.array_write(array, 8, &[1; 9]));
    expect("a huge index", beyond(10), heap.array_write(array, usize::MAX, &[1; 3]));
    expect("a huge range", beyond(10), heap.array_fill_non_atomic(all_of(array, 1, usize::MAX), &[1; 3]));
    expect("a copy beyond the last", beyond(10), heap.array_copy(all_of(array, 0, 5), (array, 6)));

    expect("a wrong width", width(1), heap.get_field(object, 1, &mut buffer[..2]));
    expect("a wrong width", width(4), heap.put_field(object, 2, &[1; 3]));
    expect("no bytes", width(2), heap.put_field(object, 0, &[]));
    expect("values that end within a field", width(4), heap.put_fields(object, 1, &[1; 3]));
    expect("a wrong width", width(3), heap.array_load(array, 1, &mut buffer[..4]));
    expect("a wrong width", width(3), heap.array_store(array, 1, &[1; 2]));
    expect("a buffer that ends within an element", width(3), heap.array_read(array, 1, &mut buffer[..4]));
    expect("values that end within an element", width(3), heap.array_write(array, 1, &[1; 4]));
    expect("a wrong width", width(3), heap.array_fill_non_atomic(all_of(array, 0, 2), &[1; 2]));
    let copied = heap.array_copy(all_of(array, 0, 2), (other, 0)).map_err(|error| format!("{error:?}"));
    assert!(copied.clone().is_err_and(|error| error.starts_with("WrongWidth")), "{engine}: {copied:?}");

    expect("a stale reference", gone.clone(), heap.info(stale).map(drop));
    expect("a stale reference", gone.clone(), heap.delete(stale));
    expect("a stale reference", gone.clone(), heap.put_fields(stale, 0, &[1]));
    expect("a stale reference", gone.clone(), heap.array_write(stale, 0, &[1]));
    expect("a stale reference", gone.clone(), heap.write_header(stale, b"header"));
    expect("a stale reference", gone.clone(), heap.read_header(stale, &mut buffer).map(drop));
    expect("a root that is stale", gone.clone(), heap.set_root(b"root", Some(stale)));
    for name in [&b""[..], &[b'n'; 33]] {
        let expected = format!("NameLength({})", name.len());
        expect("a name", expected.clone(), heap.set_root(name, Some(object)));
        expect("a name", expected, heap.root(name).map(drop));
    }

    // Nothing to set is no mistake.
    heap.put_fields(object, 2, &[]).unwrap();
    heap.array_write(array, 10, &[]).unwrap();
    heap.array_fill_non_atomic(all_of(array, 10, 0), &[1; 3]).unwrap();
    heap.set_root(b"never set", None).unwrap();
}

/// A call that sets elements in several sections.
type SetRange<H> = fn(&mut H, [Elements; 2]) -> Result<(), AccessError<<H as ObjectHeap>::DeviceError>>;

/// A range of an array that finds no room aborts the transaction. It stays open, and refuses every call, until the
/// caller aborts it: a caller that goes on and commits has committed nothing. Returns how many transactions had changed
/// something before.
fn stay_aborted<H: ObjectHeap>(
    engine: &str,
    (seed, count): (u64, usize),
    format: impl Fn(u64) -> H,
    mount: impl Fn(H) -> H,
) -> usize {
    let calls: [(&str, SetRange<H>); 4] = [
        ("write", |heap, [to, _]| heap.array_write(to.array, 0, &vec![5; 4 * to.count])),
        ("fill", |heap, [to, _]| heap.array_fill_non_atomic(to, &[5; 4])),
        ("copy", |heap, [to, from]| heap.array_copy(from, (to.array, 0))),
        ("copy of each", |heap, [to, from]| heap.array_copy_non_atomic(from, (to.array, 0))),
    ];
    let mut changes = 0;
    for (name, set) in calls {
        let engine = format!("{engine}, {name}");
        let mut heap = format(seed);
        let object = heap.create(Layout::uniform(4, 4)).unwrap();
        let ranges = [0; 2].map(|_| heap.create_array(count, 4, b"").unwrap());
        let ranges = ranges.map(|array| Elements { array, first: 0, count });
        heap.array_fill_non_atomic(ranges[1], &[6; 4]).unwrap();
        heap.set_root(b"object", Some(object)).unwrap();
        let filler: Vec<Ref> = std::iter::from_fn(|| heap.create(Layout::uniform(50, 2)).ok()).collect();
        filler.iter().take(12).for_each(|&reference| heap.delete(reference).unwrap());
        let before = contents(&mut heap);
        heap.begin().unwrap();
        // Where that finds no room, it may have aborted the transaction already.
        let changed = heap.put_field(object, 0, &[9; 4]).map_err(Failure::from);
        let refused = (0..9).find_map(|_| set(&mut heap, ranges).err()).map(Failure::from);
        let expected = if changed.is_ok() || refused == Some(Failure::Full) { Failure::Full } else { Failure::Undone };
        assert_eq!(refused, Some(expected), "{engine}, seed {seed}");
        changes += usize::from(changed.is_ok());
        for _ in 0..2 {
            refuse_until_aborted(&engine, &mut heap, object, ranges[0].array);
        }
        heap.abort().unwrap();
        assert!(!heap.in_transaction(), "{engine}");
        assert!(contents(&mut heap) == before, "{engine}: an aborted transaction left something");
        heap.put_field(object, 1, &[7; 4]).unwrap();
        let after = contents(&mut heap);
        assert!(contents(&mut mount(heap)) == after, "{engine}: a call after the abort is not a change of its own");
    }
    changes
}

/// Every call of the trait but an abort, in an aborted transaction.
fn refuse_until_aborted<H: ObjectHeap>(engine: &str, heap: &mut H, object: Ref, array: Ref) {
    let all = Elements { array, first: 0, count: 2 };
    let mut buffer = [0; 4];
    let created = [heap.create(Layout::uniform(1, 1)), heap.create_array(3, 1, b""), heap.create_array(999, 4, b"")];
    for created in created {
        assert!(matches!(created, Err(CreateError::TransactionAborted)), "{engine}: {created:?}");
    }
    let calls = [
        ("delete", heap.delete(object)),
        ("next_object", heap.next_object(None).map(drop)),
        ("next_object", heap.next_object(Some(object)).map(drop)),
        ("info", heap.info(object).map(drop)),
        ("get_field", heap.get_field(object, 0, &mut buffer)),
        ("put_field", heap.put_field(object, 0, &buffer)),
        ("put_fields", heap.put_fields(object, 0, &buffer)),
        ("array_load", heap.array_load(array, 0, &mut buffer)),
        ("array_store", heap.array_store(array, 0, &buffer)),
        ("array_read", heap.array_read(array, 0, &mut buffer)),
        ("array_write", heap.array_write(array, 0, &buffer)),
        ("array_fill_non_atomic", heap.array_fill_non_atomic(all, &buffer)),
        ("array_copy_non_atomic", heap.array_copy_non_atomic(all, (array, 2))),
        ("array_copy", heap.array_copy(all, (array, 2))),
        ("array_compare", heap.array_compare(all, (array, 2)).map(drop)),
        ("read_header", heap.read_header(object, &mut buffer).map(drop)),
        ("write_header", heap.write_header(object, b"header")),
        ("set_root", heap.set_root(b"object", None)),
        ("root", heap.root(b"object").map(drop)),
        ("visit_roots", heap.visit_roots(|_, _| {})),
        ("width", heap.width(object, 0).map(drop)),
    ];
    for (call, result) in calls {
        assert!(matches!(result, Err(AccessError::TransactionAborted)), "{engine}: {call}: {result:?}");
    }
    for (call, result) in [("begin", heap.begin()), ("commit", heap.commit())] {
        assert!(matches!(result, Err(TransactionError::Aborted)), "{engine}: {call}: {result:?}");
    }
    assert!(heap.in_transaction(), "{engine}: a refused call ended the transaction");
}

type Log = LogHeap<NorSim, 64>;
type TinyStore = Heap<NorSim, 64>;

fn log_heap(seed: u64) -> Log {
    let parts = [catalogue::test_part(24, 2048), catalogue::test_part(16, 4096), catalogue::stm32l4()];
    let part = parts[seed as usize % 3].clone();
    let units = part.part.unit_count.min(64);
    let part = norn_flash_sim::PartSpec { part: norn_flash::NorPart { unit_count: units, ..part.part }, ..part };
    LogHeap::format(NorSim::new(part)).unwrap()
}

fn tinystore(seed: u64) -> TinyStore {
    let part = [catalogue::test_part(24, 2048), catalogue::test_part(16, 4096), catalogue::tinystore()];
    let config = [Config::default(), Config::tinystore_2006()][seed as usize / 3 % 2];
    Heap::format(NorSim::new(part[seed as usize % 3].clone()), config).unwrap()
}

fn eeprom(_: u64) -> EepromHeap<EepromSim> {
    EepromHeap::format(EepromSim::new(catalogue::tinystore_eeprom()), 8 * 1024).unwrap()
}

#[test]
fn the_log_structured_heap_agrees_with_the_model() {
    agree("log", log_heap, |heap| Log::mount(heap.into_device()).unwrap());
}

#[test]
fn tinystores_structure_agrees_with_the_model() {
    agree("tinystore", tinystore, |heap| TinyStore::mount(heap.into_device()).unwrap());
}

#[test]
fn the_eeprom_heap_agrees_with_the_model() {
    agree("eeprom", eeprom, |heap| EepromHeap::mount(heap.into_device()).unwrap());
}

#[test]
fn bad_input_is_refused_alike_and_changes_nothing() {
    let (mut log, mut tinystore, mut eeprom) = (log_heap(0), tinystore(0), eeprom(0));
    refuse_bad_input("log", &mut log);
    refuse_bad_input("tinystore", &mut tinystore);
    refuse_bad_input("eeprom", &mut eeprom);
    refuse_a_large_object("log", &mut log);
    refuse_a_large_object("tinystore", &mut tinystore);
    refuse_a_large_array("log", &mut log, 24 * 2048);
    refuse_a_large_array("tinystore", &mut tinystore, 24 * 2048);
    refuse_a_large_array("eeprom", &mut eeprom, 448 * 1024);
}

#[test]
fn a_transaction_without_room_stays_aborted_until_the_caller_aborts_it() {
    let mut changes = [0; 3];
    for seed in 0..2 {
        changes[0] += stay_aborted("log", (seed, 1800), log_heap, |heap| Log::mount(heap.into_device()).unwrap());
        changes[1] +=
            stay_aborted("tinystore", (seed, 1800), tinystore, |heap| TinyStore::mount(heap.into_device()).unwrap());
    }
    let small_log = |_| EepromHeap::format(EepromSim::new(catalogue::tinystore_eeprom()), 2 * 1024).unwrap();
    changes[2] += stay_aborted("eeprom", (0, 900), small_log, |heap| EepromHeap::mount(heap.into_device()).unwrap());
    assert!(changes.iter().all(|&changes| changes >= 4), "{changes:?}: too few transactions had changed something");
}
