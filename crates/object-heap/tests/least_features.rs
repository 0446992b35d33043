//! Proves that a heap with the least code does what one with all of it does on images that need no more, bit for bit,
//! and refuses the others without changing them.

use norn_flash::Address;
use norn_flash_sim::{NorSim, catalogue};
use norn_object_heap::{
    Config, DeltaRecords, ErrorDetection, Features, Heap, Layout, LeastFeatures, MountError, MountRefusal,
};

const UNITS: u16 = 12;
const UNIT_BYTES: u32 = 1024;

type Least = Heap<NorSim, 64, (), LeastFeatures>;
type All = Heap<NorSim, 64>;

fn device() -> NorSim {
    NorSim::new(catalogue::test_part(UNITS, UNIT_BYTES))
}

/// Updates, a transaction, arrays and reclamations.
fn work<F: Features>(heap: &mut Heap<NorSim, 64, (), F>) {
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
fn images_of_the_published_structure_are_the_same() {
    let config = Config::tinystore_2006();
    let mut all = All::format(device(), config).unwrap();
    let mut least = Least::format_with(device(), config, ()).unwrap();
    work(&mut all);
    work(&mut least);
    let (all, least) = (all.into_device(), least.into_device());
    assert!(cells(&all) == cells(&least), "one program wrote what the other does not");

    let (mut all, mut least) = (All::mount(least).unwrap(), Least::mount_with(all, ()).unwrap());
    work(&mut all);
    work(&mut least);
    assert!(cells(all.device()) == cells(least.device()), "one program wrote what the other does not");
}

/// Also where a cut has left a transaction with open deltas: recovery without code for them would lose its changes or
/// keep half.
#[test]
fn images_that_need_more_are_refused() {
    let published = Config::tinystore_2006();
    let with_codes = Config { error_detection: ErrorDetection::On, ..published };
    let with_deltas = Config { delta_records: DeltaRecords::On, ..published };
    for (config, feature) in [(with_codes, "error detection"), (with_deltas, "delta records")] {
        let mut heap = All::format(device(), config).unwrap();
        let object = heap.create(Layout::uniform(8, 2)).unwrap();
        heap.put_field(object, 0, &[1, 2]).unwrap();
        heap.begin().unwrap();
        heap.put_field(object, 0, &[3, 4]).unwrap();
        let mut device = heap.into_device();
        let before = cells(&device);

        let mut least = Heap::<_, 64, (), LeastFeatures>::unmounted(&mut device, ());
        assert_eq!(least.remount(), Err(MountError::Refused(MountRefusal::MissingFeature(feature))));
        assert_eq!(least.reformat(config), Err(MountError::Refused(MountRefusal::MissingFeature(feature))));
        assert!(least.create(Layout::uniform(1, 1)).is_err(), "a heap that was not mounted was used");
        assert!(cells(&device) == before, "what was refused was changed");

        let error = Least::mount_with(device.clone(), ()).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(feature), "{error}");
        let mut value = [0; 2];
        All::mount(device).unwrap().get_field(object, 0, &mut value).unwrap();
        assert_eq!(value, [1, 2]);
    }
}
