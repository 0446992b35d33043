//! The checker finds a delta record that no write can have left: one that changes a cell which is erased, or one beyond
//! the unit. Such a record is whole, so that reading trusts it.

use norn_flash::{Address, Collected, EraseUnit, Nor, Reprogramming};
use norn_flash_sim::{NorSim, catalogue};
use norn_nor_remap::format::{Header, Role, encode_record};
use norn_nor_remap::{Remap, RemapConfig};

/// Of the part below: cells of 8 bytes, groups of 4, 192 bytes of base from byte 88 of a unit on, then records.
const GROUP_BYTES: usize = 4;
const BASE_BYTES: u32 = 192;
const FIRST_RECORD: u32 = 88 + BASE_BYTES;
const RECORD_BYTES: usize = 8;

/// A part whose first cell is programmed, and the rest erased.
fn device() -> NorSim {
    let device = NorSim::new(catalogue::limited_test_part(6, 512, 8, Reprogramming::Once));
    let mut remap: Remap<_, 8> = Remap::format(device, RemapConfig { spare_units: 1 }).unwrap();
    assert_eq!(remap.part().unit_size_bytes, BASE_BYTES);
    remap.program(Address(0), &[0x11; 8]).unwrap();
    remap.into_device()
}

/// What the checker says of a part with these bytes in the first place for a record of the first virtual unit.
fn violations(record: &[u8]) -> Vec<&'static str> {
    let mut device = device();
    let part = device.part();
    // The spare has no header.
    let role =
        |unit| Header::decode(&device.peek(part.start_of(unit), 32).try_into().unwrap()).map(|header| header.role);
    let home = (0..part.unit_count).map(EraseUnit).find(|&unit| role(unit) == Some(Role::Home(0))).unwrap();
    device.poke(part.start_of(home).offset(FIRST_RECORD), record);
    let mut remap: Remap<_, 8> = Remap::mount(device).unwrap();
    let mut found = Collected::<()>::default();
    remap.audit(&mut found).unwrap();
    let found = found.violations.iter().map(|violation| {
        assert_eq!(violation.address, part.start_of(home));
        violation.what
    });
    found.collect()
}

fn record(group: u16) -> [u8; RECORD_BYTES] {
    let mut record = [0; RECORD_BYTES];
    encode_record(group, &[0x01; GROUP_BYTES], &mut record);
    record
}

#[test]
fn records_of_erased_cells_and_beyond_the_unit_are_found() {
    let groups = (BASE_BYTES / GROUP_BYTES as u32) as u16;
    let stray = ["a delta record over an erased cell, or beyond the unit"];
    for group in [2, 3, groups - 1] {
        assert_eq!(violations(&record(group)), stray, "group {group} is in an erased cell");
    }
    // The cell of the first of these would be the record itself, which is not erased.
    for group in [groups, groups + 1, u16::MAX - 1] {
        assert_eq!(violations(&record(group)), stray, "group {group} is beyond the unit");
    }
}

#[test]
fn records_of_programmed_cells_and_torn_ones_are_none() {
    assert_eq!(violations(&[0xFF; RECORD_BYTES]), [""; 0]);
    for group in [0, 1] {
        assert_eq!(violations(&record(group)), [""; 0], "group {group} is in the programmed cell");
    }
    let mut torn = record(2);
    torn[7] |= 0x80;
    torn[4] |= 0x80;
    assert_eq!(violations(&torn), [""; 0], "a record that is not whole changes nothing");
}
