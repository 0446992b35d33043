//! Two days of a thermometer, a reading a minute, on a simulated serial NOR; the power fails in the middle.
//!
//! `cargo run --release -p norn-sensor-log --example two_days`

use norn_flash_sim::{NorSim, SimError, Tear, catalogue};
use norn_ordered_index::{IndexError, OrderedIndex};
use norn_sensor_log::{Reading, Seconds, SensorLog};

const HOUR: Seconds = 3600;
const DAY: Seconds = 24 * HOUR;

/// What the thermometer says: warm in the afternoon, with some noise.
fn take_reading(at: Seconds) -> Reading {
    let hour = f64::from(at % DAY) / f64::from(HOUR);
    let warmth = (std::f64::consts::TAU * (hour - 9.0) / 24.0).sin();
    Reading { at, milli: (19_000.0 + 4_000.0 * warmth) as i32 + (at / 60 * 7919 % 200) as i32 }
}

fn main() {
    let mut device = NorSim::new(catalogue::w25q());
    SensorLog::format(&mut device).expect("the part takes a log").sleep().expect("the power is on");

    let (mut at, mut cuts) = (0, 0);
    device.cut_power_after(20_000, Tear::Subset(1)); // somewhere on the second day
    while at < 2 * DAY {
        let mut log = SensorLog::mount(&mut device).expect("a log survives any cut");
        let acknowledged = log.newest().expect("the power is on");
        assert!(acknowledged.is_none_or(|newest| newest.at + 60 >= at && newest == take_reading(newest.at)));
        while at < 2 * DAY {
            match log.append(take_reading(at)) {
                Ok(_) => at += 60,
                Err(IndexError::Device(SimError::PowerLost)) => break, // the reading at hand is taken again
                Err(error) => panic!("{error}"),
            }
        }
        if at < 2 * DAY {
            cuts += 1;
            println!("the power fails at {:02}:{:02} of day {}", at % DAY / HOUR, at % HOUR / 60, at / DAY);
            device.power_on();
        }
    }

    let mut log = SensorLog::mount(&mut device).expect("a log survives any cut");
    let yesterday = 10 * HOUR..11 * HOUR;
    let summary = log.summary(yesterday).expect("the power is on").expect("there are readings");
    let degrees = |milli: i32| f64::from(milli) / 1e3;
    println!(
        "yesterday, 10:00 to 11:00: {} readings, mean {:.2} degrees, {:.2} to {:.2}",
        summary.count,
        degrees(summary.mean_milli()),
        degrees(summary.min_milli),
        degrees(summary.max_milli)
    );
    let day = log.summary(0..2 * DAY).expect("the power is on").expect("there are readings");
    assert_eq!((summary.count, day.count, cuts), (60, 2 * 24 * 60, 1), "every reading is there");
    assert_eq!(log.oldest().expect("the power is on"), Some(take_reading(0)), "there was room for all");
    assert_eq!(log.forgotten(), 0);
    log.index().reclaim_step().expect("the power is on"); // when there is time, so that later calls need not
    log.sleep().expect("the power is on");
}
