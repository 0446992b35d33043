//! Proves that a heap without code for error detection does what the other does on images that have none, bit for bit, and refuses
//! those that have it without changing them.

use norn_flash::Address;
use norn_flash_sim::{NorSim, catalogue};
use norn_object_heap::{Config, ErrorDetection, Heap, Layout, MountError};

const UNITS: u16 = 12;
const UNIT_BYTES: u32 = 1024;

type Plain = Heap<NorSim, 64, (), false>;
type Either = Heap<NorSim, 64>;

fn device() -> NorSim {
    NorSim::new(catalogue::test_part(UNITS, UNIT_BYTES))
}

/// Updates, a transaction, arrays and reclamations.
fn work<const CODES: bool>(heap: &mut Heap<NorSim, 64, (), CODES>) {
    let object = heap.create(Layout::fields(&[4, 1, 2]).with_header(b"head")).unwrap();
    heap.set_root(b"root", Some(object)).unwrap();
    let array = heap.create_array(600, 2, b"").unwrap();
    for round in 0..200u32 {
        heap.put_field(object, 0, &round.to_le_bytes()).unwrap();
        heap.array_store(array, (round * 7 % 600) as usize, &[round as u8, 1]).unwrap();
        if round % 10 == 0 {
            heap.begin().unwrap();
            heap.put_field(object, 1, &[round as u8]).unwrap();
            heap.create(Layout::uniform(3, 3)).unwrap();
            heap.commit().unwrap();
        }
    }
    heap.collect(&[array], |_, _| Ok(())).unwrap();
}

fn cells(device: &NorSim) -> Vec<u8> {
    device.peek(Address(0), (u32::from(UNITS) * UNIT_BYTES) as usize)
}

#[test]
fn images_without_error_detection_are_the_same() {
    let mut either = Either::format(device(), Config::default()).unwrap();
    let mut plain = Plain::format_with(device(), Config::default(), ()).unwrap();
    work(&mut either);
    work(&mut plain);
    let (either, plain) = (either.into_device(), plain.into_device());
    assert!(cells(&either) == cells(&plain), "one program wrote what the other does not");

    let (mut either, mut plain) = (Either::mount(plain).unwrap(), Plain::mount_with(either, ()).unwrap());
    work(&mut either);
    work(&mut plain);
    assert!(cells(either.device()) == cells(plain.device()), "one program wrote what the other does not");
}

#[test]
fn images_with_error_detection_are_refused() {
    let with = Config { error_detection: ErrorDetection::On, ..Config::default() };
    let mut device = Either::format(device(), with).unwrap().into_device();
    let before = cells(&device);

    let mut plain = Heap::<_, 64, (), false>::unmounted(&mut device, ());
    assert_eq!(plain.remount(), Err(MountError::NoErrorDetection));
    assert_eq!(plain.reformat(with), Err(MountError::NoErrorDetection));
    assert!(plain.create(Layout::uniform(1, 1)).is_err(), "a heap that was not mounted was used");
    assert!(cells(&device) == before, "what was refused was changed");

    let error = Plain::mount_with(device, ()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("has error detection"), "{error}");
}
