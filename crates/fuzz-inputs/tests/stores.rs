//! Damaged images of log-structured heaps, heaps on EEPROM, block devices and programs are refused or used, whatever
//! bytes they are damaged by: what the fuzz targets `log_heap_image`, `eeprom_image`, `disk_image` and `program_image`
//! play.

use norn_fuzz_inputs::{disk_image, eeprom_image, log_heap_image, program_image};

fn try_random(seeds: u64, check: fn(&[u8])) {
    for seed in 0..seeds {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = vec![0; random.usize(0..300)];
        random.fill(&mut bytes);
        let tried = std::panic::catch_unwind(|| check(&bytes));
        assert!(tried.is_ok(), "seed {seed}, bytes {bytes:?}");
    }
}

#[test]
fn damaged_log_heaps_are_refused_or_used() {
    try_random(1_000, log_heap_image::try_damaged);
}

#[test]
fn damaged_eeprom_heaps_are_refused_or_used() {
    try_random(4_000, eeprom_image::try_damaged);
}

#[test]
fn damaged_block_devices_are_refused_or_used() {
    try_random(400, disk_image::try_damaged);
}

#[test]
fn damaged_programs_are_refused_or_used() {
    try_random(400, program_image::try_damaged);
}
