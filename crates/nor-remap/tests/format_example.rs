//! The example of `docs/format/nor-remap.md` is what is on flash.

use norn_flash::{Address, EraseUnit, Nor, Reprogramming};
use norn_flash_sim::{NorSim, catalogue};
use norn_nor_remap::{Remap, RemapConfig};

const DOCUMENT: &str = include_str!("../../../docs/format/nor-remap.md");

/// The example's part after its steps.
fn example() -> NorSim {
    let device = NorSim::new(catalogue::limited_test_part(6, 512, 8, Reprogramming::Once));
    let mut remap: Remap<_, 8> = Remap::format(device, RemapConfig { spare_units: 1 }).unwrap();
    remap.program(Address(0), &[0x11; 8]).unwrap();
    remap.program(Address(0), &[0x11, 0x11, 0x11, 0x01, 0x11, 0x11, 0x11, 0x11]).unwrap();
    remap.erase(EraseUnit(4)).unwrap();
    remap.into_device()
}

#[test]
fn the_example_is_what_is_on_flash() {
    let device = example();
    let mut compared = 0;
    for line in DOCUMENT.lines() {
        let Some(dump) = line.strip_prefix("0x").and_then(|rest| rest.split_once("  ")) else {
            continue;
        };
        let address = u32::from_str_radix(dump.0, 16).unwrap();
        let bytes: Vec<u8> = dump.1.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        assert_eq!(device.peek(Address(address), bytes.len()), bytes, "{line}");
        compared += bytes.len();
    }
    assert!(compared >= 64, "{compared} bytes are documented");
}
