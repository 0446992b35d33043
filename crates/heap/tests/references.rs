//! Proves that both engines create objects and arrays at references that the caller chooses, which outlive a mount and
//! become stale as any other; and that they refuse references which are taken or which they never give.

use norn_flash_sim::{NorSim, catalogue};
use norn_heap::{AccessError, Layout, PlacementError, Ref};
use norn_log_heap::LogHeap;
use norn_object_heap::{Config, Heap};

/// What both engines promise, of a heap type with its calls `format` and `mount`.
macro_rules! gives_the_references_that_are_chosen {
    ($format:expr, $mount:expr) => {{
        let mut heap = $format(NorSim::new(catalogue::test_part(24, 4096)));
        let chosen = [(9, 4000), (3, 1), (700, 65_534), (4, 2), (5, 2), (6, 1)]
            .map(|(slot, generation)| Ref::new(slot, generation));
        for (number, reference) in chosen.into_iter().enumerate() {
            heap.create_at(reference, Layout::uniform(2, 2).with_header(b"chosen")).unwrap();
            heap.put_field(reference, 1, &[number as u8, 7]).unwrap();
        }
        let array = Ref::new(40, 77);
        heap.create_array_at(array, 700, 2, b"array").unwrap();
        heap.array_store(array, 699, &[1, 2]).unwrap();
        for taken in [Ref::new(9, 4001), Ref::new(9, 4000), Ref::new(40, 78)] {
            let refused = heap.create_at(taken, Layout::uniform(1, 1));
            assert_eq!(refused, Err(PlacementError::Unavailable(taken)));
        }
        // Ordinary creations take the free slots in between, and no reference that is in use.
        let ordinary: Vec<Ref> = (0..8).map(|_| heap.create(Layout::uniform(1, 4)).unwrap()).collect();
        assert!(ordinary.iter().all(|given| given.slot() < 20 && !chosen.contains(given)), "{ordinary:?}");
        heap.delete(Ref::new(4, 2)).unwrap();

        let mut heap = $mount(heap.into_device());
        for (number, reference) in chosen.into_iter().enumerate().filter(|(_, reference)| reference.slot() != 4) {
            let (mut value, mut header) = ([0; 2], [0; 6]);
            heap.get_field(reference, 1, &mut value).unwrap();
            heap.read_header(reference, &mut header).unwrap();
            assert_eq!((value, &header), ([number as u8, 7], b"chosen"), "{reference}");
        }
        let mut element = [0; 2];
        heap.array_load(array, 699, &mut element).unwrap();
        assert_eq!(element, [1, 2]);
        assert_eq!(heap.info(Ref::new(4, 2)), Err(AccessError::Stale(Ref::new(4, 2))));
        let again = heap.create(Layout::uniform(1, 1)).unwrap();
        assert!(again.slot() == 4 && again.generation() != 2, "{again}");
        heap
    }};
}

#[test]
fn a_log_structured_heap_gives_the_references_that_are_chosen() {
    let format = |device| LogHeap::<_, 64>::format(device).unwrap();
    let mut heap = gives_the_references_that_are_chosen!(format, |device| LogHeap::<_, 64>::mount(device).unwrap());
    let sections = heap.array_slots(700, 2, b"array");
    assert!(sections > 3 && heap.array_slots(20, 2, b"") == 1);
    // A slot within an array, before which there is no room for another one.
    for refused in [Ref::new(0, 1), Ref::new(800, u16::MAX), Ref::new(41, 1)] {
        assert_eq!(heap.create_at(refused, Layout::uniform(1, 1)), Err(PlacementError::Unavailable(refused)));
    }
    let before = Ref::new(40 - sections as u16 + 1, 1);
    assert_eq!(heap.create_array_at(before, 700, 2, b"array"), Err(PlacementError::Unavailable(before)));
    heap.begin().unwrap();
    let within = Ref::new(900, 1);
    assert_eq!(heap.create_at(within, Layout::uniform(1, 1)), Err(PlacementError::Unavailable(within)));
    heap.abort().unwrap();
    heap.create_at(within, Layout::uniform(1, 1)).unwrap();
}

#[test]
fn tinystores_structure_gives_the_references_that_are_chosen() {
    let format = |device| Heap::<_, 64>::format(device, Config::default()).unwrap();
    let mut heap = gives_the_references_that_are_chosen!(format, |device| Heap::<_, 64>::mount(device).unwrap());
    for given in [Ref::new(0xFFFF, u16::MAX), Ref::new(800, 1)] {
        heap.create_at(given, Layout::uniform(1, 1)).unwrap();
    }
    heap.begin().unwrap();
    heap.create_at(Ref::new(900, 3), Layout::uniform(1, 1)).unwrap();
    heap.commit().unwrap();
    assert!(heap.info(Ref::new(900, 3)).is_ok());
}

#[test]
fn a_retired_reference_is_not_given() {
    let mut heap = LogHeap::<_, 64>::format(NorSim::new(catalogue::test_part(24, 4096))).unwrap();
    heap.retire(Ref::new(1, 500)).unwrap();
    heap.retire(Ref::new(2, u16::MAX)).unwrap();
    let given: Vec<Ref> = (0..3).map(|_| heap.create(Layout::uniform(1, 1)).unwrap()).collect();
    assert_eq!(given, [Ref::new(1, 501), Ref::new(2, 1), Ref::new(3, 1)]);
    assert_eq!(heap.retire(given[0]), Err(PlacementError::Unavailable(Ref::new(1, 502))));
}
