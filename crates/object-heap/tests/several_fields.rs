//! Several fields or elements are written whole or not at all: by deltas, in place or by a rewriting, in transactions
//! and outside.

use norn_flash_sim::{NorSim, catalogue};
use norn_object_heap::{AccessError, Config, Heap, Layout, Ref};

type SimHeap = Heap<NorSim, 64>;

fn heap_of(config: Config) -> SimHeap {
    SimHeap::format(NorSim::new(catalogue::test_part(16, 2048)), config).unwrap()
}

fn field<const BYTES: usize>(heap: &mut SimHeap, object: Ref, index: usize) -> [u8; BYTES] {
    let mut value = [0; BYTES];
    heap.get_field(object, index, &mut value).unwrap();
    value
}

#[test]
fn fields_of_any_widths() {
    for config in [Config::default(), Config::tinystore_2006()] {
        let mut heap = heap_of(config);
        let object = heap.create(Layout::fields(&[4, 1, 2, 9])).unwrap();
        heap.put_fields(object, 1, &[1, 2, 3]).unwrap();
        heap.put_fields(object, 0, &(10..26).collect::<Vec<u8>>()).unwrap();
        heap.put_fields(object, 2, &[8, 9]).unwrap();
        heap.put_fields(object, 3, &[]).unwrap();
        assert_eq!(field(&mut heap, object, 0), [10, 11, 12, 13]);
        assert_eq!((field(&mut heap, object, 1), field(&mut heap, object, 2)), ([14], [8, 9]));
        assert_eq!(field(&mut heap, object, 3), [17, 18, 19, 20, 21, 22, 23, 24, 25]);
        assert_eq!(heap.put_fields(object, 1, &[0; 2]), Err(AccessError::WrongWidth { width: 2 }));
        assert_eq!(heap.put_fields(object, 2, &[0; 12]), Err(AccessError::OutOfRange { count: 4 }));
        assert_eq!(heap.put_fields(object, 4, &[]), Err(AccessError::OutOfRange { count: 4 }));
        assert_eq!(heap.array_write(object, 0, &[0]), Err(AccessError::WrongKind(object)));
    }
}

#[test]
fn elements_over_sections() {
    for config in [Config::default(), Config::tinystore_2006()] {
        let mut heap = heap_of(Config { array_threshold: 20, ..config });
        let array = heap.create_array(50, 2, &[]).unwrap();
        let values: Vec<u8> = (0..90).collect();
        heap.array_write(array, 3, &values).unwrap();
        heap.begin().unwrap();
        heap.array_write(array, 18, &[0xEE; 8]).unwrap();
        let mut read = [0; 100];
        heap.array_read(array, 0, &mut read).unwrap();
        assert_eq!(read[36..44], [0xEE; 8]);
        heap.abort().unwrap();
        heap.array_read(array, 0, &mut read).unwrap();
        assert_eq!((&read[..6], &read[6..96], &read[96..]), (&[0; 6][..], &values[..], &[0; 4][..]));
        assert_eq!(heap.array_write(array, 0, &[1]), Err(AccessError::WrongWidth { width: 2 }));
        assert_eq!(heap.array_write(array, 49, &[1; 4]), Err(AccessError::OutOfRange { count: 50 }));
    }
}

/// What a transaction has made is changed in place: nothing is written but the values and their flags.
#[test]
fn a_new_object_is_filled_in_place() {
    let mut heap = heap_of(Config::default());
    heap.begin().unwrap();
    let object = heap.create(Layout::uniform(20, 2)).unwrap();
    let before = heap.device().counters();
    heap.put_fields(object, 0, &[6; 40]).unwrap();
    assert!((heap.device().counters() - before).programs() <= 10 + 3);
    heap.commit().unwrap();
    assert_eq!(field(&mut heap, object, 19), [6, 6]);
}
