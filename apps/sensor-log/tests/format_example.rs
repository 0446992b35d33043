//! The example of `docs/format/sensor-log.md` is what is on flash, and the settings are those of its table.

use norn_flash::Nor;
use norn_flash_sim::{NorSim, catalogue};
use norn_sensor_log::{Reading, SensorLog};

const DOCUMENT: &str = include_str!("../../../docs/format/sensor-log.md");

/// Everything on a part with the example's reading.
fn cells() -> Vec<u8> {
    let mut log = SensorLog::format(NorSim::new(catalogue::w25q())).unwrap();
    log.append(Reading { at: 1_795_255_200, milli: 21_500 }).unwrap();
    let device = log.index().device_mut();
    let mut cells = vec![0; device.part().size_bytes() as usize];
    device.read(norn_flash::Address(0), &mut cells).unwrap();
    cells
}

#[test]
fn the_example_is_what_is_on_flash() {
    let example: Vec<u8> = (DOCUMENT.lines())
        .skip_while(|line| *line != "```")
        .skip(1)
        .take_while(|line| *line != "```")
        .flat_map(|line| line.split_whitespace().map_while(|word| u8::from_str_radix(word, 16).ok()))
        .collect();
    assert_eq!(example.len(), 10, "a slot");
    let cells = cells();
    assert_eq!(cells.windows(example.len()).filter(|bytes| *bytes == example).count(), 1, "{example:02x?}");
}

#[test]
fn the_settings_follow_from_the_part_as_documented() {
    let settings = |unit_count, unit_size_bytes| {
        let part = catalogue::test_part(unit_count, unit_size_bytes);
        let mut log = SensorLog::format(NorSim::new(part)).unwrap();
        log.index().settings()
    };
    let (small, large) = (settings(8, 4096), settings(64, 65_536));
    assert_eq!((small.turnstile_blocks, small.slots, small.keys), (8, 60, 24));
    assert_eq!((large.turnstile_blocks, large.slots, large.keys), (16, 63, 25));
    assert_eq!([(small.levels, small.pool), (large.levels, large.pool)], [(5, 12); 2]);
}
