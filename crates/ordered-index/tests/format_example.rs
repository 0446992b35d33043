//! The examples of `docs/format/ordered-index.md` are what is on flash.

use norn_flash::{Address, Reprogramming};
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::{FatList, OrderedIndex, Settings, Varying, VaryingList};

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

/// The part of the example of values that vary, after its steps.
fn varied_example() -> NorSim {
    let device = NorSim::new(catalogue::limited_test_part(2, 512, 2, Reprogramming::Unlimited));
    let settings = Settings { turnstile_blocks: 2, levels: 2, slots: 8, keys: 4, pool: 4 };
    let widths: Varying<2, 10> = Varying { key_bytes: 2, value_bytes: 10, log_bytes: 64 };
    let mut list = VaryingList::format(device, widths, settings).unwrap();
    list.insert(&[0x00, 0x10], &[0xA0, 0xA1, 0xA2]).unwrap();
    list.insert(&[0x00, 0x20], &[]).unwrap();
    list.update(&[0x00, 0x10], &[0xC0]).unwrap();
    list.stop().unwrap();
    list.into_device()
}

#[test]
fn the_example_is_what_is_on_flash() {
    let (fixed, varied) = DOCUMENT.split_once("## 7. ").unwrap();
    compare(fixed, &example(), 120);
    compare(varied, &varied_example(), 90);
}

/// Compares the bytes in a part of the document, which are so many at least.
fn compare(document: &str, device: &NorSim, least: usize) {
    if std::env::var("NORN_DUMP").is_ok() {
        for at in (0..1024).step_by(16) {
            let bytes: Vec<String> = device.peek(Address(at), 16).iter().map(|byte| format!("{byte:02x}")).collect();
            println!("{at:#06x}  {}", bytes.join(" "));
        }
    }
    let mut compared = 0;
    for line in document.lines() {
        let Some(dump) = line.strip_prefix("0x").and_then(|rest| rest.split_once("  ")) else {
            continue;
        };
        let address = u32::from_str_radix(dump.0, 16).unwrap();
        let bytes = dump.1.split_whitespace().map_while(|byte| u8::from_str_radix(byte, 16).ok());
        let bytes: Vec<u8> = bytes.collect();
        assert_eq!(device.peek(Address(address), bytes.len()), bytes, "{line}");
        compared += bytes.len();
    }
    assert!(compared >= least, "{compared} bytes are documented");
}
