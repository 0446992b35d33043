//! The example of `docs/format/leaf-map.md`, byte for byte.

use norn_flash::{Address, Reprogramming};
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::{LeafMap, OrderedIndex};

/// What the document says: addresses and bytes.
fn documented() -> Vec<(u32, Vec<u8>)> {
    let text = include_str!("../../../docs/format/leaf-map.md");
    let lines = text.lines().filter(|line| line.starts_with("0x"));
    let parse = |line: &str| {
        let (address, rest) = line.split_once("  ").unwrap();
        let bytes = rest.split("   ").next().unwrap().split(' ');
        let bytes = bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        (u32::from_str_radix(&address[2..], 16).unwrap(), bytes)
    };
    lines.map(parse).collect()
}

#[test]
fn the_example_is_what_is_on_flash() {
    let part = catalogue::limited_test_part(4, 128, 8, Reprogramming::Once);
    let mut map: LeafMap<_, 2, 2> = LeafMap::format(NorSim::new(part)).unwrap();
    map.insert(&[0, 0x10], &[0xA0, 0xA1]).unwrap();
    map.insert(&[0, 0x05], &[0xB0, 0xB1]).unwrap();
    map.update(&[0, 0x10], &[0xC0, 0xC1]).unwrap();
    let device = map.into_device();
    let lines = documented();
    assert_eq!(lines.len(), 10);
    for (address, bytes) in lines {
        assert_eq!(device.peek(Address(address), bytes.len()), bytes, "{address:#06x}");
    }
    let end = device.peek(Address(0x50), 0x200 - 0x50);
    assert!(end.iter().all(|&byte| byte == 0xFF), "the rest is erased");
}
