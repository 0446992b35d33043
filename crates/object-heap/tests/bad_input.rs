//! Bad input gets an error that names it, and changes nothing: wrong arguments, stale references, and devices that hold
//! no heap, a foreign one, a newer one, or one of another geometry.

use norn_conformance::one_of_each;
use norn_flash::{Address, Nor};
use norn_flash_sim::{NorSim, PartSpec, catalogue};
use norn_nor_store::format::{FORMAT_VERSION, Identity};
use norn_object_heap::{
    AccessError, Config, CreateError, Elements, Heap, Layout, MountError, Ref, StoreError, TransactionError,
};

type SimHeap = Heap<NorSim, 64>;

/// Elements of a byte that no array on the part of these tests exceeds: three sections in each of eight units.
const ARRAY_MAX: u32 = 8 * 3 * 255;

fn heap() -> SimHeap {
    SimHeap::format(NorSim::new(catalogue::test_part(8, 1024)), Config::default()).unwrap()
}

/// Asserts that `action` neither programs nor erases anything.
fn changes_nothing<T>(heap: &mut SimHeap, action: impl FnOnce(&mut SimHeap) -> T) -> T {
    let before = heap.device().operations();
    let result = action(heap);
    assert_eq!(heap.device().operations(), before);
    result
}

#[test]
fn impossible_objects() {
    let mut heap = heap();
    let max = 1024 - 24 - 4; // a unit without its header and one descriptor
    let mut refused = |layout| changes_nothing(&mut heap, |heap| heap.create(layout)).unwrap_err();
    assert_eq!(refused(Layout::fields(&[])), CreateError::NoFields);
    assert_eq!(refused(Layout::uniform(0, 4)), CreateError::NoFields);
    assert_eq!(refused(Layout::uniform(256, 1)), CreateError::TooManyFields { count: 256 });
    assert_eq!(refused(Layout::uniform(3, 0)), CreateError::ZeroWidth { field: 0 });
    assert_eq!(refused(Layout::fields(&[4, 2, 0, 1])), CreateError::ZeroWidth { field: 2 });
    assert_eq!(refused(Layout::uniform(241, 4)), CreateError::TooLarge { max });
    assert_eq!(refused(Layout::uniform(1, 1).with_header(&[7; 1020])), CreateError::TooLarge { max });
    let mut refused = |count, width, header: &[u8]| {
        changes_nothing(&mut heap, |heap| heap.create_array(count, width, header)).unwrap_err()
    };
    assert_eq!(refused(0, 4, &[]), CreateError::NoFields);
    assert_eq!(refused(4, 0, &[]), CreateError::ZeroWidth { field: 0 });
    assert_eq!(refused(400, 0, &[]), CreateError::ZeroWidth { field: 0 });
    assert_eq!(refused(400, 1, &[0; 1000]), CreateError::TooLarge { max });
    let full = refused(ARRAY_MAX as usize, 1, &[]);
    assert!(matches!(full, CreateError::Store(StoreError::Full)), "{full}");
    for count in [ARRAY_MAX as usize + 1, u32::MAX as usize, usize::MAX] {
        assert_eq!(refused(count, 1, &[]), CreateError::TooLarge { max: ARRAY_MAX }, "{count}");
    }
    let text = heap.create(Layout::uniform(241, 4)).unwrap_err().to_string();
    assert_eq!(text, "an object, array or header of more than 996 bytes on this part");
    heap.create(Layout::uniform(240, 4)).unwrap();
}

#[test]
fn wrong_accesses() {
    let mut heap = heap();
    let object = heap.create(Layout::fields(&[4, 2, 1])).unwrap();
    let array = heap.create_array(3, 2, &[]).unwrap();
    heap.put_field(object, 1, &[1, 2]).unwrap();

    let beyond = AccessError::OutOfRange { count: 3 };
    assert_eq!(changes_nothing(&mut heap, |heap| heap.put_field(object, 3, &[0])), Err(beyond.clone()));
    assert_eq!(heap.get_field(object, 3, &mut [0]), Err(beyond));
    let width = AccessError::WrongWidth { width: 2 };
    assert_eq!(changes_nothing(&mut heap, |heap| heap.put_field(object, 1, &[0; 4])), Err(width));
    let kind = Err(AccessError::WrongKind(array));
    assert_eq!(changes_nothing(&mut heap, |heap| heap.put_field(array, 0, &[0; 2])), kind);
    assert_eq!(heap.array_load(object, 0, &mut [0; 4]), Err(AccessError::WrongKind(object)));
    let large = changes_nothing(&mut heap, |heap| heap.write_header(object, &[0; 1000]));
    assert_eq!(large, Err(AccessError::HeaderTooLarge { max: 996 }));
    for name in [&[][..], &[b'n'; 33]] {
        let refused = changes_nothing(&mut heap, |heap| heap.set_root(name, Some(object)));
        assert_eq!(refused, Err(AccessError::NameLength(name.len())));
    }
    let mut value = [0; 2];
    heap.get_field(object, 1, &mut value).unwrap();
    assert_eq!(value, [1, 2]);
}

/// Arrays of any number of elements of any width, as long as there is room.
#[test]
fn arrays_between_small_and_split() {
    for width in [1, 3, 4, 7, 64, 255] {
        for count in [1, 2, 4, 9, 100, 244, 245, 255, 256, 257] {
            let mut heap = heap();
            if count * usize::from(width) > 3000 {
                continue;
            }
            let array = heap.create_array(count, width, &[]).unwrap();
            let value = vec![width; usize::from(width)];
            heap.array_store(array, count - 1, &value).unwrap();
            let mut found = vec![0; usize::from(width)];
            heap.array_load(array, count - 1, &mut found).unwrap();
            assert_eq!(found, value, "{count} elements of {width} bytes");
        }
    }
}

#[test]
fn wrong_ranges() {
    let mut heap = heap();
    let (a, b) = (heap.create_array(300, 2, &[]).unwrap(), heap.create_array(10, 1, &[]).unwrap());
    let object = heap.create(Layout::uniform(3, 2)).unwrap();
    let range = |array, first, count| Elements { array, first, count };
    let beyond = Err(AccessError::OutOfRange { count: 300 });
    let mut fill = |range| changes_nothing(&mut heap, |heap| heap.array_fill_non_atomic(range, &[0; 2]));
    assert_eq!(fill(range(a, 299, 2)), beyond);
    assert_eq!(fill(range(a, usize::MAX, 2)), beyond);
    assert_eq!(fill(range(b, 0, 2)), Err(AccessError::WrongWidth { width: 1 }));
    assert_eq!(fill(range(object, 0, 2)), Err(AccessError::WrongKind(object)));
    assert_eq!(fill(range(a, 300, 0)), Ok(()));
    let copied = changes_nothing(&mut heap, |heap| heap.array_copy(range(a, 0, 5), (b, 0)));
    assert_eq!(copied, Err(AccessError::WrongWidth { width: 2 }));
    let copied = changes_nothing(&mut heap, |heap| heap.array_copy(range(a, 0, 5), (a, 296)));
    assert_eq!(copied, beyond);
    assert_eq!(heap.array_read(a, 299, &mut [0; 4]), beyond);
    assert_eq!(heap.array_read(a, 0, &mut [0; 3]), Err(AccessError::WrongWidth { width: 2 }));
}

#[test]
fn stale_references() {
    let mut heap = heap();
    let object = heap.create(Layout::uniform(1, 4)).unwrap();
    heap.set_root(b"old", Some(object)).unwrap();
    heap.delete(object).unwrap();
    let successor = heap.create(Layout::uniform(1, 4)).unwrap();
    assert_ne!(object, successor, "the slot is used again, with another generation");
    let stale = Err(AccessError::Stale(object));
    assert_eq!(changes_nothing(&mut heap, |heap| heap.put_field(object, 0, &[1; 4])), stale);
    assert_eq!(heap.get_field(object, 0, &mut [0; 4]), stale);
    assert_eq!(changes_nothing(&mut heap, |heap| heap.delete(object)), stale);
    assert_eq!(changes_nothing(&mut heap, |heap| heap.set_root(b"new", Some(object))), stale);
    assert_eq!(heap.info(object).unwrap_err(), AccessError::Stale(object));
    assert_eq!(heap.root(b"old").unwrap(), Some(object), "a root may dangle; its reference says so when it is used");
    let never = Ref::from_bits(object.bits() + 77).unwrap();
    assert_eq!(heap.get_field(never, 0, &mut [0; 4]), Err(AccessError::Stale(never)));
    assert_eq!(Ref::from_bits(5), None);
}

#[test]
fn transactions_out_of_turn() {
    let mut heap = heap();
    assert_eq!(heap.commit(), Err(TransactionError::NotOpen));
    assert_eq!(heap.abort(), Err(TransactionError::NotOpen));
    heap.begin().unwrap();
    assert_eq!(heap.begin(), Err(TransactionError::AlreadyOpen));
    heap.commit().unwrap();
}

fn mount_error(device: NorSim) -> String {
    let before = device.operations();
    let mut device = device;
    let error = Heap::<_, 64>::mount(&mut device).unwrap_err().to_string();
    assert_eq!(device.operations(), before, "a device that is not mounted is not changed");
    error
}

const NOT_FORMATTED: &str = "not formatted: blank, foreign, or formatting was cut short";

#[test]
fn devices_without_a_heap() {
    assert_eq!(mount_error(NorSim::new(catalogue::test_part(8, 1024))), NOT_FORMATTED);
    let foreign: Vec<u8> = (0..8192u32).map(|at| (at * 31 / 7) as u8).collect();
    let foreign = NorSim::from_cells(catalogue::test_part(8, 1024), &foreign);
    assert_eq!(mount_error(foreign), NOT_FORMATTED);
}

/// The cells of a heap on another part.
fn transplanted(to: PartSpec) -> NorSim {
    let mut cells = heap().into_device().peek(Address(0), 8 * 1024);
    cells.resize(to.part.size_bytes() as usize, 0xFF);
    NorSim::from_cells(to, &cells)
}

#[test]
fn devices_of_another_geometry() {
    let halves = "the image was made for 1024 bytes in an erase unit, and not for 512";
    assert_eq!(mount_error(transplanted(catalogue::test_part(16, 512))), halves);
    let fewer = "the image was made for 8 erase units, and not for 6";
    assert_eq!(mount_error(transplanted(catalogue::test_part(6, 1024))), fewer);
    let more = "the image was made for 8 erase units, and not for 12";
    assert_eq!(mount_error(transplanted(catalogue::test_part(12, 1024))), more);
}

#[test]
fn devices_of_a_newer_format() {
    let mut device = heap().into_device();
    let newer = Identity { version: FORMAT_VERSION + 1, unit_size_bytes: 1024, unit_count: 8, erase_count: 1 };
    device.poke(Address(3 * 1024), &newer.encode());
    assert_eq!(mount_error(device), "format version 2 is newer than this program's (1): open it with a newer release");
}

#[test]
fn parts_that_cannot_be_used() {
    let refused = |spec: PartSpec| SimHeap::format(NorSim::new(spec), Config::default()).map(|_| ()).unwrap_err();
    assert_eq!(refused(catalogue::test_part(4, 1024)), MountError::Unsuitable("fewer than 5 erase units"));
    assert!(matches!(refused(catalogue::test_part(8, 256)), MountError::Unsuitable(_)));
    assert_eq!(
        refused(catalogue::w25q()),
        MountError::TooSmall { what: "rows of the unit table", needed: 256, given: 64 }
    );
    let large = Heap::<_, 256>::format(NorSim::new(catalogue::stm32l4()), Config::default()).map(|_| ()).unwrap_err();
    assert!(
        matches!(large, MountError::Unsuitable(why) if why.contains("limited number of times") && why.contains("Remap"))
    );

    struct Impossible;
    impl Nor for Impossible {
        type Error = ();
        fn part(&self) -> norn_flash::NorPart {
            norn_flash::NorPart { unit_size_bytes: 1000, ..catalogue::tinystore().part }
        }
        fn read(&mut self, _: Address, _: &mut [u8]) -> Result<(), ()> {
            Err(())
        }
        fn program(&mut self, _: Address, _: &[u8]) -> Result<(), ()> {
            Err(())
        }
        fn erase(&mut self, _: norn_flash::EraseUnit) -> Result<(), ()> {
            Err(())
        }
    }
    let impossible = Heap::<_, 64>::mount(Impossible).map(|_| ()).unwrap_err();
    assert!(matches!(impossible, MountError::Unsuitable(why) if why.contains("multiple of 32")));
}

#[test]
fn a_device_that_fails_halts_the_heap_until_it_is_mounted_again() {
    let mut heap = heap();
    let object = heap.create(Layout::uniform(1, 4)).unwrap();
    heap.device_mut().cut_power_after(0, norn_flash_sim::Tear::Nothing);
    heap.put_field(object, 0, &[1; 4]).unwrap_err();
    heap.device_mut().power_on();
    assert_eq!(heap.put_field(object, 0, &[1; 4]), Err(AccessError::Store(StoreError::Halted)));
    let mut heap = SimHeap::mount(heap.into_device()).unwrap();
    heap.put_field(object, 0, &[1; 4]).unwrap();
}

/// A heap that is not mounted, or no more, answers nothing from memory.
#[test]
fn an_unmounted_heap_says_so() {
    let mut heap = SimHeap::unmounted(NorSim::new(catalogue::test_part(8, 1024)), ());
    let halted = |heap: &mut SimHeap| {
        let object = Ref::from_bits(0x10000).unwrap();
        assert_eq!(heap.root(b"root"), Err(AccessError::Store(StoreError::Halted)));
        assert_eq!(heap.next_object(None), Err(StoreError::Halted.into()));
        assert_eq!(heap.get_field(object, 0, &mut [0]), Err(AccessError::Store(StoreError::Halted)));
        assert_eq!(heap.create(Layout::uniform(1, 1)), Err(CreateError::Store(StoreError::Halted)));
        assert_eq!(heap.create_array(1000, 1, &[]), Err(CreateError::Store(StoreError::Halted)));
        assert_eq!(heap.begin(), Err(TransactionError::Store(StoreError::Halted)));
        assert_eq!(heap.reclaim_step(1), Err(StoreError::Halted));
        assert!(heap.collect(&[], |_, _| Ok(())).is_err());
    };
    halted(&mut heap);
    assert_eq!(heap.remount(), Err(MountError::NotFormatted));
    halted(&mut heap);
    heap.reformat(Config::default()).unwrap();
    let object = heap.create(Layout::uniform(1, 1)).unwrap();
    heap.begin().unwrap();
    heap.put_field(object, 0, &[7]).unwrap();
    // An open transaction is undone, also for the client.
    heap.remount().unwrap();
    assert!(!heap.in_transaction());
    let mut value = [9];
    heap.get_field(object, 0, &mut value).unwrap();
    assert_eq!(value, [0]);
    assert!(heap.reformat(Config { list_length_max: 0, ..Config::default() }).is_err());
    halted(&mut heap);
    heap.remount().unwrap();
    assert_eq!(heap.next_object(None), Ok(Some(object)));
}

/// A flipped bit that hides the log of a heap in use is damage with a place, not a part that is to be formatted.
#[test]
fn a_damaged_log_is_not_taken_for_none() {
    let mut heap = heap();
    heap.create(Layout::uniform(1, 1)).unwrap();
    let device = heap.into_device();
    let mut refused = 0;
    for at in (0..8).flat_map(|unit| unit * 1024..unit * 1024 + 120) {
        let byte = device.peek(Address(at), 1)[0];
        for bit in 0..8 {
            let mut damaged = device.clone();
            damaged.poke(Address(at), &[byte ^ 1 << bit]);
            match SimHeap::mount(damaged) {
                Ok(_) => {}
                Err(MountError::NotFormatted) => panic!("bit {bit} at {at:#x} makes the part look empty"),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 300, "{refused}");
}

/// Formatting over a heap, cut at any operation: the old heap, or none at all; and formatting again works.
#[test]
fn a_cut_formatting_leaves_a_part_to_format() {
    let mut old = heap();
    let object = old.create(Layout::uniform(1, 1)).unwrap();
    let device = old.into_device();
    let (mut counts, mut random) = ([0; 3], fastrand::Rng::with_seed(8));
    for cut in 0.. {
        for tear in one_of_each(cut, &mut random) {
            let mut part = device.clone();
            part.cut_power_after(cut, tear);
            let formatted = Heap::<_, 64>::format(&mut part, Config::default()).is_ok();
            part.power_on();
            match Heap::<_, 64>::mount(&mut part) {
                Ok(mut heap) if formatted => assert_eq!(heap.next_object(None), Ok(None)),
                Ok(mut heap) => match heap.next_object(None).unwrap() {
                    Some(found) => assert_eq!((found, cut), (object, 0)),
                    None => counts[0] += 1,
                },
                Err(MountError::NotFormatted) => counts[1] += 1,
                Err(MountError::Corrupted(_)) => {
                    assert_eq!(cut, 0, "{tear:?}");
                    counts[2] += 1;
                }
                Err(other) => panic!("{other} after {tear:?} at {cut}"),
            }
            SimHeap::format(part, Config::default()).unwrap();
            if formatted {
                println!("{counts:?}");
                return;
            }
        }
    }
}
