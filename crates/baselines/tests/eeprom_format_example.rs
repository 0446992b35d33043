//! The bytes of the example in `docs/format/eeprom-heap.md` are those that the heap writes.

use norn_baselines::EepromHeap;
use norn_flash::Address;
use norn_flash_sim::{EepromSim, catalogue};
use norn_object_heap::Layout;

#[test]
fn the_example_is_what_is_on_the_part() {
    let part = EepromSim::new(catalogue::eeprom_test_part(256, 4));
    let mut heap = EepromHeap::format(part, 64).unwrap();
    let purse = heap.create(Layout::uniform(3, 4).with_header(b"purse")).unwrap();
    heap.put_field(purse, 0, &250u32.to_le_bytes()).unwrap();
    heap.set_root(b"purse", Some(purse)).unwrap();
    heap.put_field(purse, 0, &200u32.to_le_bytes()).unwrap();

    let found: Vec<String> = (heap.device().peek(Address(0), 208).chunks(16).zip(0..))
        .map(|(row, number)| {
            let bytes: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{:03x}  {}", 16 * number, bytes.join(" "))
        })
        .collect();
    let path = format!("{}/../../docs/format/eeprom-heap.md", env!("CARGO_MANIFEST_DIR"));
    let document = std::fs::read_to_string(path).unwrap();
    let (_, example) = document.split_once("## 7. An example, decoded by hand\n").expect("the chapter");
    let (_, block) = example.split_once("```text\n").expect("the dump");
    let (block, _) = block.split_once("```").expect("the dump's end");
    let documented: Vec<&str> = block.lines().map(|line| &line[..52]).collect();
    assert_eq!(documented, found, "{}", found.join("\n"));
}
