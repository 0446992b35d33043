//! Random operations do to the EEPROM heap what they do to a model in plain memory, and to the flash heap the same; the
//! checker is silent after each of them, and a heap mounted again holds the same.

use crate::either;

use either::{Failure, Op, Pair, from_environment, read_back};
use norn_baselines::{EepromHeap, EepromMountError};
use norn_flash::Collected;
use norn_flash_sim::{EepromSim, NorSim, catalogue};
use norn_heap::ObjectHeap;
use norn_object_heap::{Config, Heap};

fn check(heap: &mut EepromHeap<EepromSim>, context: &dyn Fn() -> String) {
    heap.device_mut().freeze_counters();
    let mut found: Collected = Collected::default();
    heap.audit(&mut found).unwrap();
    assert!(found.violations.is_empty(), "{:?} {}", found.violations, context());
    heap.device_mut().thaw_counters();
}

/// Runs random operations; returns how many found no room, and how many transactions were too large.
fn agree<H: ObjectHeap + Clone>(
    heap: H,
    seed: u64,
    remount: impl Fn(H) -> H,
    check: impl Fn(&mut H, &dyn Fn() -> String),
) -> [u32; 2] {
    let mut pair = Pair::new(heap);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut refused = [0; 2];
    for number in 0..600 {
        let op = pair.draw(&mut random);
        let context = || {
            format!(
                "at operation {number}, {op:?}; replay: \
                 NORN_SEED={seed} cargo test -p norn-baselines --test suite eeprom_random_operations::"
            )
        };
        match pair.step(&op, &context) {
            Ok(()) => {}
            Err(Failure::Full) => refused[0] += 1,
            Err(_) => refused[1] += 1,
        }
        check(&mut pair.heap, &context);
        assert_eq!(read_back(&mut pair.heap).unwrap(), *pair.visible(), "{}", context());
        assert_eq!(pair.heap.in_transaction(), pair.open.is_some());
        if number % 16 == 0 {
            // What was not committed is gone.
            pair.heap = remount(pair.heap.clone());
            pair.open = None;
            check(&mut pair.heap, &context);
            assert_eq!(read_back(&mut pair.heap).unwrap(), pair.committed, "mounted again {}", context());
        }
    }
    refused
}

fn seeds() -> std::ops::Range<u64> {
    from_environment("NORN_SEED").map_or(0..40, |seed| seed..seed + 1)
}

#[test]
fn random_operations_agree_with_the_model() {
    let mut refused = [0; 2];
    for seed in seeds() {
        let size = [1024, 2048, 8192][seed as usize % 3];
        let part = catalogue::eeprom_test_part(size, [4, 2, 1][seed as usize / 3 % 3]);
        let heap = EepromHeap::format(EepromSim::new(part), [64, 256, 512][seed as usize / 9 % 3]).unwrap();
        let mounted = |heap: EepromHeap<EepromSim>| EepromHeap::mount(heap.into_device()).unwrap();
        let [full, too_large] = agree(heap, seed, mounted, check);
        refused = [refused[0] + full, refused[1] + too_large];
    }
    println!("{} found no room, {} transactions were too large", refused[0], refused[1]);
    assert!(from_environment("NORN_SEED").is_some() || refused.iter().all(|&count| count > 100), "{refused:?}");
}

#[test]
fn the_flash_heap_does_the_same() {
    for seed in seeds().take(8) {
        let sim = NorSim::new(catalogue::test_part(16, 1024));
        let heap: Heap<_, 64> = Heap::format(sim, Config::tinystore_2006()).unwrap();
        agree(heap, seed, |heap| Heap::mount(heap.into_device()).unwrap(), |_, _| {});
    }
}

#[test]
fn what_cannot_be_done_is_named_and_changes_nothing() {
    use norn_object_heap::{AccessError, CreateError, Elements, Layout, TransactionError};
    let blank = || EepromSim::new(catalogue::eeprom_test_part(1024, 4));
    assert_eq!(EepromHeap::mount(blank()).unwrap_err(), EepromMountError::NotFormatted);
    assert!(matches!(EepromHeap::format(blank(), 48), Err(EepromMountError::Unsuitable(_))));
    assert!(matches!(EepromHeap::format(blank(), 1024), Err(EepromMountError::Unsuitable(_))));
    let large = EepromSim::new(catalogue::eeprom_test_part(1 << 20, 4));
    assert!(matches!(EepromHeap::format(large, 64), Err(EepromMountError::Unsuitable(_))));

    let mut heap = EepromHeap::format(blank(), 64).unwrap();
    let object = heap.create(Layout::fields(&[1, 2])).unwrap();
    let array = heap.create_array(4, 2, b"").unwrap();
    let before = (heap.device().peek(norn_flash::Address(0), 1024), heap.device().operations());
    assert_eq!(heap.get_field(object, 2, &mut [0]), Err(AccessError::OutOfRange { count: 2 }));
    assert_eq!(heap.put_field(object, 1, &[0]), Err(AccessError::WrongWidth { width: 2 }));
    assert_eq!(heap.array_load(object, 0, &mut [0]), Err(AccessError::WrongKind(object)));
    assert_eq!(heap.put_field(array, 0, &[0; 2]), Err(AccessError::WrongKind(array)));
    let beyond = Elements { array, first: 3, count: 2 };
    assert_eq!(heap.array_fill_non_atomic(beyond, &[0; 2]), Err(AccessError::OutOfRange { count: 4 }));
    assert_eq!(heap.array_read(array, 0, &mut [0; 3]), Err(AccessError::WrongWidth { width: 2 }));
    assert_eq!(heap.set_root(b"", Some(object)), Err(AccessError::NameLength(0)));
    assert_eq!(heap.create(Layout::fields(&[])), Err(CreateError::NoFields));
    assert_eq!(heap.create(Layout::fields(&[1, 0])), Err(CreateError::ZeroWidth { field: 1 }));
    assert_eq!(heap.create(Layout::uniform(256, 1)), Err(CreateError::TooManyFields { count: 256 }));
    assert_eq!(heap.create_array(usize::MAX, 2, b""), Err(CreateError::TooLarge { max: 1024 - 128 - 8 }));
    assert_eq!(heap.commit(), Err(TransactionError::NotOpen));
    assert_eq!((heap.device().peek(norn_flash::Address(0), 1024), heap.device().operations()), before);

    heap.delete(object).unwrap();
    assert_eq!(heap.get_field(object, 0, &mut [0]), Err(AccessError::Stale(object)));
    let successor = heap.create(Layout::fields(&[1, 2])).unwrap();
    assert_eq!(successor.bits() & 0xFFFF, object.bits() & 0xFFFF, "first fit takes the same place");
    assert_eq!(heap.get_field(object, 0, &mut [0]), Err(AccessError::Stale(object)));
    let mut device = heap.into_device();
    let mut foreign = EepromSim::new(catalogue::eeprom_test_part(2048, 4));
    foreign.poke(norn_flash::Address(0), &device.peek(norn_flash::Address(0), 1024));
    assert_eq!(
        EepromHeap::mount(foreign).unwrap_err(),
        EepromMountError::WrongGeometry { what: "bytes in the part", image: 1024, expected: 2048 }
    );
    device.poke(norn_flash::Address(4), &[9]);
    assert_eq!(EepromHeap::mount(device).unwrap_err(), EepromMountError::OtherVersion { found: 9, known: 2 });
}

/// Whatever a part holds, calls give an error or something: they do not panic or run for ever.
#[test]
fn damaged_images_give_errors() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut refused = 0;
    let mut pair = Pair::new(EepromHeap::format(EepromSim::new(catalogue::eeprom_test_part(1024, 4)), 128).unwrap());
    for _ in 0..60 {
        let op = pair.draw(&mut random);
        let _ = pair.step(&op, &String::new);
    }
    let image = pair.heap.into_device();
    for round in 0..20_000 {
        let mut device = image.clone();
        for _ in 0..random.usize(1..4) {
            let at = if round % 2 == 0 { random.u32(4..1024) } else { random.u32(4..320) };
            device.poke(norn_flash::Address(at), &[random.u8(..)]);
        }
        let Ok(mut heap) = EepromHeap::mount(device) else {
            refused += 1;
            continue;
        };
        let mut collected: Collected = Collected::default();
        heap.audit(&mut collected).unwrap();
        let mut after = None;
        while let Ok(Some(reference)) = heap.next_object(after) {
            let info = heap.info(reference);
            let _ = heap.read_header(reference, &mut [0; 8]);
            if let Ok(info) = info {
                for index in 0..info.count {
                    let _ = heap.get_field(reference, index, &mut [0; 2]);
                    let _ = heap.array_store(reference, index, &[1; 2]);
                }
            }
            after = Some(reference);
        }
        for op in [
            Op::Create { widths: vec![1, 2], header: vec![7] },
            Op::SetRoot(b"root".to_vec(), after),
            Op::SetRoot(b"aaaaa".to_vec(), None),
        ] {
            let _ = either::perform(&mut heap, &op);
        }
        if let Some(reference) = after {
            let _ = either::perform(&mut heap, &Op::Delete(reference));
        }
    }
    assert!(refused > 100, "{refused} images were refused");
}
