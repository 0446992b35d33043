//! The bytes of the examples in `docs/format` are those that the heap puts on flash.

use norn_flash::Address;
use norn_flash_sim::{NorSim, catalogue};
use norn_object_heap::{Config, ErrorDetection, Heap, Layout, Listener, Ref};

const UNIT_BYTES: u32 = 512;

/// Hears of pointers, and keeps none.
#[derive(Debug)]
struct Deaf;

impl Listener for Deaf {
    fn invalidated(&mut self, _: Ref) {}

    fn all_invalidated(&mut self) {}
}

/// The units of the example below `heading` in a format document: their numbers, and their bytes.
fn documented(document: &str, heading: &str) -> Vec<(u32, Vec<u8>)> {
    let path = format!("{}/../../docs/format/{document}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let (_, example) = text.split_once(heading).expect("the chapter");
    let (_, block) = example.split_once("```text\n").expect("the dump");
    let (block, _) = block.split_once("```").expect("the dump's end");
    let mut units: Vec<(u32, Vec<u8>)> = Vec::new();
    for line in block.lines() {
        if let Some(number) = line.strip_prefix("unit ") {
            units.push((number.trim().parse().unwrap(), vec![0xFF; UNIT_BYTES as usize]));
        } else if let Some((offset, bytes)) = line.split_once("  ").filter(|_| line != "*") {
            let offset = usize::from_str_radix(offset, 16).unwrap();
            let bytes = bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap());
            let unit = &mut units.last_mut().expect("a unit's number stands before its bytes").1;
            unit[offset..].iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        }
    }
    units
}

/// Asserts that the documented units are what `heap` has on flash.
fn compare<const UNITS: usize>(heap: &Heap<NorSim, UNITS, Deaf>, documented: Vec<(u32, Vec<u8>)>) {
    for (number, documented) in documented {
        let found = heap.device().peek(Address(number * UNIT_BYTES), UNIT_BYTES as usize);
        for (row, (documented, found)) in documented.chunks(16).zip(found.chunks(16)).enumerate() {
            assert_eq!(documented, found, "unit {number} at {:03x}", 16 * row);
        }
    }
}

fn heap_of(config: Config) -> Heap<NorSim, 8, Deaf> {
    Heap::format_with(NorSim::new(catalogue::test_part(8, UNIT_BYTES)), config, Deaf).unwrap()
}

#[test]
fn the_example_of_the_store_is_what_is_on_flash() {
    let mut heap = heap_of(Config::tinystore_2006());
    let object = heap.create(Layout::uniform(3, 4).with_header(b"purse")).unwrap();
    heap.put_field(object, 0, &250u32.to_le_bytes()).unwrap();
    heap.put_field(object, 0, &200u32.to_le_bytes()).unwrap();
    heap.set_root(b"purse", Some(object)).unwrap();
    heap.put_field(object, 0, &150u32.to_le_bytes()).unwrap();
    let units = documented("nor-store.md", "An example, decoded by hand\n");
    assert_eq!(units.len(), 2);
    compare(&heap, units);
}

#[test]
fn the_example_of_a_split_array_is_what_is_on_flash() {
    let mut heap = heap_of(Config { array_threshold: 4, ..Config::tinystore_2006() });
    let array = heap.create_array(10, 2, b"").unwrap();
    heap.array_store(array, 0, &[0x11, 0x22]).unwrap();
    heap.array_store(array, 9, &[0x33, 0x44]).unwrap();
    let units = documented("object-heap.md", "### 9.1 An example\n");
    assert_eq!(units.len(), 1);
    compare(&heap, units);
}

#[test]
fn the_example_of_a_bucket_is_what_is_on_flash() {
    let mut heap = heap_of(Config::tinystore_2006());
    let objects = [1, 2].map(|width| heap.create(Layout::uniform(2, width)).unwrap());
    heap.put_field(objects[0], 0, &[0x11]).unwrap();
    for object in objects {
        heap.field_pointer(object, 0).unwrap();
    }
    heap.put_field(objects[0], 1, &[0x22]).unwrap();
    let units = documented("object-heap.md", "### 11.1 An example\n");
    assert_eq!(units.len(), 1);
    compare(&heap, units);
}

#[test]
fn the_example_with_error_detection_is_what_is_on_flash() {
    let config = Config { error_detection: ErrorDetection::On, ..Config::tinystore_2006() };
    let sim = NorSim::new(catalogue::test_part(12, UNIT_BYTES));
    let mut heap: Heap<_, 12, Deaf> = Heap::format_with(sim, config, Deaf).unwrap();
    let object = heap.create(Layout::uniform(3, 2)).unwrap();
    heap.put_field(object, 0, &[0x11, 0x22]).unwrap();
    heap.put_field(object, 0, &[0x33, 0x44]).unwrap();
    heap.set_root(b"x", Some(object)).unwrap();
    let units = documented("object-heap.md", "An example with error detection\n");
    assert_eq!(units.len(), 1);
    compare(&heap, units);
}
