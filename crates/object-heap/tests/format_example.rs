//! The bytes of the example in `docs/format/nor-store.md` are those that the heap puts on flash.

use norn_flash::Address;
use norn_flash_sim::{NorSim, catalogue};
use norn_object_heap::{Config, Heap, Layout};

const UNIT_BYTES: u32 = 512;

/// The units of the example: their numbers, and their bytes as far as they are shown.
fn documented() -> Vec<(u32, Vec<u8>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/format/nor-store.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, example) = text.split_once("An example, decoded by hand\n").expect("the chapter");
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

#[test]
fn the_documented_example_is_what_is_on_flash() {
    let config = Config { array_threshold: 255, ..Config::tinystore_2006() };
    let part = catalogue::test_part(8, UNIT_BYTES);
    let mut heap: Heap<_, 8> = Heap::format(NorSim::new(part), config).unwrap();
    let object = heap.create(Layout::uniform(3, 4).with_header(b"purse")).unwrap();
    heap.put_field(object, 0, &250u32.to_le_bytes()).unwrap();
    heap.put_field(object, 0, &200u32.to_le_bytes()).unwrap();
    heap.set_root(b"purse", Some(object)).unwrap();
    heap.put_field(object, 0, &150u32.to_le_bytes()).unwrap();

    let units = documented();
    assert_eq!(units.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1]);
    for (number, documented) in units {
        let found = heap.device().peek(Address(number * UNIT_BYTES), UNIT_BYTES as usize);
        for (row, (documented, found)) in documented.chunks(16).zip(found.chunks(16)).enumerate() {
            assert_eq!(documented, found, "unit {number} at {:03x}", 16 * row);
        }
    }
}
