//! The example of `docs/format/ordered-index.md` is what is on flash.

use norn_flash::{Address, Reprogramming};
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::{FatList, OrderedIndex, Settings};

const DOCUMENT: &str = include_str!("../../../docs/format/ordered-index.md");

/// The example's part after its steps.
fn example() -> NorSim {
    let device = NorSim::new(catalogue::limited_test_part(2, 512, 2, Reprogramming::Unlimited));
    let settings = Settings { turnstile_blocks: 2, levels: 2, slots: 4, keys: 2, pool: 4 };
    let mut list: FatList<_, 2, 2> = FatList::format(device, settings).unwrap();
    list.insert(&[0x00, 0x10], &[0xA0, 0xA1]).unwrap();
    list.insert(&[0x00, 0x20], &[0xB0, 0xB1]).unwrap();
    list.update(&[0x00, 0x10], &[0xC0, 0xC1]).unwrap();
    list.stop().unwrap();
    list.into_device()
}

#[test]
fn the_example_is_what_is_on_flash() {
    let device = example();
    if std::env::var("NORN_DUMP").is_ok() {
        for at in (0..1024).step_by(16) {
            let bytes: Vec<String> = device.peek(Address(at), 16).iter().map(|byte| format!("{byte:02x}")).collect();
            println!("{at:#06x}  {}", bytes.join(" "));
        }
    }
    let mut compared = 0;
    for line in DOCUMENT.lines() {
        let Some(dump) = line.strip_prefix("0x").and_then(|rest| rest.split_once("  ")) else {
            continue;
        };
        let address = u32::from_str_radix(dump.0, 16).unwrap();
        let bytes = dump.1.split_whitespace().map_while(|byte| u8::from_str_radix(byte, 16).ok());
        let bytes: Vec<u8> = bytes.collect();
        assert_eq!(device.peek(Address(address), bytes.len()), bytes, "{line}");
        compared += bytes.len();
    }
    assert!(compared >= 120, "{compared} bytes are documented");
}
