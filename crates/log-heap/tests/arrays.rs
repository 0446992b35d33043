//! Arrays of every width and size: what is stored is read, a part that is nearly full of one array takes every store to
//! it, a refusal has no effect and is repeated, and creations and deletions that are cut leave nothing behind.

use crate::model;

use model::{Harsh, TestHeap, contents, every_shape, format, mount, parts};
use norn_conformance::Powered;
use norn_flash_sim::catalogue;
use norn_log_heap::{AccessError, CreateError, Elements, Kind, Layout, LogHeapIn, Ref, StoreError, UnitRow};

fn context() -> String {
    "arrays".to_owned()
}

fn element(index: usize, round: u32, width: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(u64::from(round) << 32 | index as u64);
    (0..width).map(|_| random.u8(..)).collect()
}

/// Each width, in one sector and in many; every element is stored twice and read.
#[test]
fn every_width_in_one_sector_and_in_many() {
    for spec in parts(32) {
        let mut heap = format(spec);
        for width in 1..=255u8 {
            for count in [1, 255 / usize::from(width), 600 / usize::from(width) + 2] {
                let array = heap.create_array(count, width, &[width; 3]).unwrap();
                let info = heap.info(array).unwrap();
                assert_eq!(
                    (info.kind, info.count, info.data_bytes),
                    (Kind::Array, count, count as u32 * u32::from(width))
                );
                let stride = count.div_ceil(7);
                for round in 0..2 {
                    for index in (0..count).step_by(stride) {
                        heap.array_store(array, index, &element(index, round, width.into())).unwrap();
                    }
                }
                let mut found = vec![0; usize::from(width)];
                for index in 0..count {
                    heap.array_load(array, index, &mut found).unwrap();
                    let stored =
                        if index % stride == 0 { element(index, 1, width.into()) } else { vec![0; width.into()] };
                    assert_eq!(found, stored, "element {index} of {count} of width {width}");
                }
                let mut header = [0; 3];
                assert_eq!(heap.read_header(array, &mut header).unwrap(), 3);
                assert_eq!(header, [width; 3]);
                heap.delete(array).unwrap();
                assert_eq!(heap.info(array), Err(AccessError::Stale(array)));
            }
        }
        assert_eq!(heap.next_object(None).unwrap(), None);
        contents(&mut heap, &context);
        assert_eq!(heap.device().0.refusals(), 0);
    }
}

/// Creates an array of nine tenths of the largest one that the part takes, and returns it with its count.
///
/// How much is left over at the end of units varies, so that the very largest is not always taken again.
fn largest(heap: &mut TestHeap, width: u8) -> (Ref, usize) {
    let (mut least, mut most) = (1, heap.device().0.spec().part.size_bytes() as usize / usize::from(width));
    let Err(CreateError::TooLarge { max: named }) = heap.create_array(usize::MAX, width, b"") else {
        panic!("no largest array")
    };
    while least < most {
        let middle = (least + most).div_ceil(2);
        match heap.create_array(middle, width, b"") {
            Ok(array) => {
                heap.delete(array).unwrap();
                least = middle;
            }
            Err(CreateError::Store(StoreError::Full)) => most = middle - 1,
            Err(CreateError::TooLarge { max }) => {
                assert!(max == named && middle * usize::from(width) > max as usize, "{middle} elements, {max} bytes");
                most = middle - 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    let (largest, part_bytes) = (least * usize::from(width), heap.device().0.spec().part.size_bytes());
    assert!(largest <= named as usize && named < part_bytes, "{largest} bytes fit, {named} at most of {part_bytes}");
    let count = (least * 9 / 10).max(1);
    (heap.create_array(count, width, b"").unwrap(), count)
}

/// A part full of one array takes any number of stores, fills and copies to it, and refuses a second array each time.
#[test]
fn a_part_full_of_one_array_takes_every_store() {
    let mut specs = parts(24);
    specs.push(catalogue::test_part(56, 8192));
    for (number, spec) in specs.into_iter().enumerate() {
        for width in [1, 4, 63, 255] {
            let size = spec.part.size_bytes();
            let mut heap = format(spec.clone());
            let (array, count) = largest(&mut heap, width);
            println!("part {number}, width {width}: {} of {size} bytes", count * usize::from(width));
            let mut random = fastrand::Rng::with_seed(9);
            let mut stored = std::collections::BTreeMap::new();
            for round in 0..2000 {
                let index = random.usize(..count);
                let value = element(index, round, width.into());
                heap.array_store(array, index, &value).unwrap_or_else(|error| panic!("store {round}: {error}"));
                stored.insert(index, value);
                if round % 400 == 0 {
                    let again = heap.create_array(count, width, b"");
                    assert_eq!(again, Err(CreateError::Store(StoreError::Full)));
                }
            }
            let mut found = vec![0; usize::from(width)];
            for (&index, value) in &stored {
                heap.array_load(array, index, &mut found).unwrap();
                assert_eq!(found, *value);
            }
            let value = element(1, 9999, width.into());
            heap.array_fill_non_atomic(Elements { array, first: 0, count }, &value).unwrap();
            let mut heap = mount(heap.into_device(), &context);
            for index in (0..count).step_by(17) {
                heap.array_load(array, index, &mut found).unwrap();
                assert_eq!(found, value);
            }
            contents(&mut heap, &context);
            heap.delete(array).unwrap();
            let array = heap.create_array(count, width, b"").unwrap_or_else(|error| panic!("again: {error}"));
            heap.array_load(array, count - 1, &mut found).unwrap();
            assert_eq!(found, vec![0; usize::from(width)]);
            assert_eq!(heap.device().0.refusals(), 0);
        }
    }
}

/// A call for arrays refuses objects, and the other way round; what is out of range changes nothing.
#[test]
fn what_does_not_fit_is_refused() {
    let mut heap = format(catalogue::test_part(16, 512));
    let object = heap.create(Layout::uniform(3, 2)).unwrap();
    let array = heap.create_array(300, 2, b"").unwrap();
    let wide = heap.create_array(3, 4, b"").unwrap();
    let mut two = [0; 2];
    assert_eq!(heap.get_field(array, 0, &mut two), Err(AccessError::WrongKind(array)));
    assert_eq!(heap.put_field(array, 0, &two), Err(AccessError::WrongKind(array)));
    assert_eq!(heap.put_fields(wide, 0, &[0; 4]), Err(AccessError::WrongKind(wide)));
    assert_eq!(heap.array_load(object, 0, &mut two), Err(AccessError::WrongKind(object)));
    assert_eq!(heap.array_load(array, 300, &mut two), Err(AccessError::OutOfRange { count: 300 }));
    assert_eq!(heap.array_store(array, usize::MAX, &two), Err(AccessError::OutOfRange { count: 300 }));
    assert_eq!(heap.array_store(array, 3, &[0; 3]), Err(AccessError::WrongWidth { width: 2 }));
    assert_eq!(heap.array_read(array, 0, &mut [0; 3]), Err(AccessError::WrongWidth { width: 2 }));
    let from = Elements { array, first: 299, count: 2 };
    assert_eq!(heap.array_copy(from, (array, 0)), Err(AccessError::OutOfRange { count: 300 }));
    let from = Elements { array, first: 0, count: 1 };
    assert_eq!(heap.array_copy(from, (wide, 0)), Err(AccessError::WrongWidth { width: 4 }));
    assert_eq!(heap.create_array(0, 2, b""), Err(CreateError::NoFields));
    assert_eq!(heap.create_array(2, 0, b""), Err(CreateError::ZeroWidth { field: 0 }));
    assert!(matches!(heap.create_array(usize::MAX, 255, b""), Err(CreateError::TooLarge { .. })));
    assert_eq!(heap.create_array(9, 9, &[0; 256]), Err(CreateError::HeaderTooLarge { max: 255 }));
}

/// Arrays compare as slices do.
#[test]
fn arrays_compare_as_slices_do() {
    let mut heap = format(catalogue::test_part(32, 512));
    let (one, other) = (heap.create_array(400, 2, b"").unwrap(), heap.create_array(400, 2, b"").unwrap());
    let all = |array| Elements { array, first: 0, count: 400 };
    assert!(heap.array_compare(all(one), (other, 0)).unwrap().is_eq());
    heap.array_store(other, 399, &[0, 1]).unwrap();
    assert!(heap.array_compare(all(one), (other, 0)).unwrap().is_lt());
    heap.array_store(one, 250, &[1, 0]).unwrap();
    assert!(heap.array_compare(all(one), (other, 0)).unwrap().is_gt());
    assert!(heap.array_compare(Elements { array: one, first: 251, count: 100 }, (other, 251)).unwrap().is_eq());
}

/// Whether a call is made by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Call,
    Transaction,
}

/// Cuts a creation and a deletion of a split array at each operation, by itself and in a transaction.
#[test]
fn creations_and_deletions_that_are_cut_leave_nothing_behind() {
    for spec in parts(20) {
        let mut heap = format(spec);
        let objects: Vec<Ref> = (0..4).map(|_| heap.create(Layout::uniform(4, 4)).unwrap()).collect();
        let empty = contents(&mut heap, &context);
        let mut with = heap.clone();
        let array = with.create_array(700, 1, b"bytes").unwrap();
        with.array_store(array, 699, &[7]).unwrap();
        let full = contents(&mut with, &context);
        let create = |heap: &mut TestHeap| {
            let Ok(array) = heap.create_array(700, 1, b"bytes") else { return };
            let _ = heap.array_store(array, 699, &[7]);
        };
        let delete = |heap: &mut TestHeap| drop(heap.delete(array));
        let put = |heap: &mut TestHeap| drop(heap.put_field(objects[1], 0, &[9; 4]));
        let abort = |heap: &mut TestHeap| drop(heap.abort());
        for within in [Within::Call, Within::Transaction] {
            cut(&heap, within, &create, |found| {
                // Outside of a transaction the store is a call of its own.
                let mut created = full.clone();
                created.objects.get_mut(&array).unwrap().fields[699] = vec![0];
                *found == empty || *found == full || within == Within::Call && *found == created
            });
            cut(&with, within, &delete, |found| *found == empty || *found == full);
            let mut open = heap.clone();
            open.begin().unwrap();
            create(&mut open);
            put(&mut open);
            cut(&open, Within::Call, &abort, |found| *found == empty);
            let mut open = with.clone();
            open.begin().unwrap();
            put(&mut open);
            delete(&mut open);
            assert_eq!(open.info(array), Err(AccessError::Stale(array)));
            cut(&open, Within::Call, &abort, |found| *found == full);
        }
    }
}

/// Cuts a call, and the commit after it, at each operation in each shape; and the mount, and its successor.
fn cut(heap: &TestHeap, within: Within, call: &dyn Fn(&mut TestHeap), admits: impl Fn(&model::Model) -> bool) {
    let perform = |heap: &mut TestHeap| {
        if within == Within::Transaction {
            heap.begin().unwrap();
        }
        call(heap);
        if within == Within::Transaction {
            let _ = heap.commit();
        }
    };
    let mut whole = heap.clone();
    let start = whole.device().operations();
    perform(&mut whole);
    let operations = whole.device().operations() - start;
    assert!(operations > 0);
    let stride = (operations / 40).max(1) as usize;
    for at in (0..operations).step_by(stride) {
        for (number, tear) in every_shape(at).into_iter().enumerate() {
            let mut heap = heap.clone();
            heap.device_mut().cut_power_after(at, tear);
            perform(&mut heap);
            let mut device = heap.into_device();
            for again in [3, 7 + at, 20 + 3 * at] {
                device.power_on();
                device.cut_power_after(again + number as u64, tear);
                let rows = vec![UnitRow::UNUSED; usize::from(device.0.spec().part.unit_count)];
                let _ = LogHeapIn::<&mut Harsh, _>::mount_in(&mut device, rows);
            }
            device.power_on();
            device.cut_power_after(u64::MAX, tear);
            let mut heap = mount(device, &context);
            let found = contents(&mut heap, &context);
            assert!(admits(&found), "cut at {at}, {tear:?}: {found:?}");
            let mut device = heap.into_device();
            device.power_on();
            assert_eq!(contents(&mut mount(device, &context), &context), found, "cut at {at}, {tear:?}");
        }
    }
}
