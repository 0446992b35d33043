//! Erase units that wear out or take no programs: below a `Remap` with spares the heap continues as if nothing had
//! happened, on parts of every kind, until no spare is left.

use crate::model;

use model::device::{TestDevice, limited_parts};
use model::{Failure, Outcome, Pair, check, configs, perform};
use norn_conformance::from_environment;
use norn_flash::EraseUnit;
use norn_flash_sim::{NorSim, PartSpec, SimError, Tear, catalogue};
use norn_nor_remap::{Remap, RemapConfig};
use norn_object_heap::{Config, Heap, Layout, StoreError};

fn parts() -> Vec<PartSpec> {
    let mut parts = limited_parts(16, 1024).to_vec();
    parts.push(catalogue::test_part(20, 1024));
    parts
}

fn pair_with_spares(seed: u64, spare_units: u16) -> Pair {
    let part = parts()[seed as usize % 5].clone();
    Pair::on(TestDevice::with_spares(part, spare_units), configs()[seed as usize % 4])
}

/// Units wear out until the spares are used up; up to then every operation does what it should.
#[test]
fn worn_units_are_replaced() {
    for seed in from_environment("NORN_SEED").map_or(0..10, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = pair_with_spares(seed, 4);
        pair.heap.device_mut().set_endurance(Some(40));
        let mut operations = 0;
        let (error, retired) = loop {
            let op = pair.draw(&mut random);
            let number = operations;
            let context = || {
                format!(
                    "after operation {number}, {op:?}; replay: NORN_SEED={seed} cargo test --test suite failing_units::"
                )
            };
            let mut tried = pair.heap.clone();
            match perform(&mut tried, &op) {
                Err(Failure::Store(StoreError::Device(error))) => break (error, tried.device().retired_units()),
                _ => assert_ne!(pair.step(&op, &context), Outcome::PowerLost),
            }
            operations += 1;
            if operations % 50 == 0 {
                let visible = pair.visible().clone();
                check(&mut pair.heap, &visible, &context);
                if pair.open.is_none() {
                    pair.heap = model::mount(pair.heap.device().rebooted()).unwrap();
                }
            }
        };
        assert!(matches!(error, SimError::WornOut { .. }), "{error}");
        assert_eq!(retired, 4, "all spares are used, with seed {seed}");
        assert!(operations > 300, "{operations} operations with seed {seed}");
    }
}

/// Units stop to take programs, homes and spares alike.
#[test]
fn units_that_take_no_programs_are_replaced() {
    for seed in from_environment("NORN_SEED").map_or(0..10, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = pair_with_spares(seed, 4);
        for number in 0..400 {
            if number % 120 == 60 {
                let unit = EraseUnit(random.u16(0..17));
                pair.heap.device_mut().fail_programs_in(unit);
            }
            let op = pair.draw(&mut random);
            let context = || {
                format!(
                    "after operation {number}, {op:?}; replay: NORN_SEED={seed} cargo test --test suite failing_units::"
                )
            };
            assert_ne!(pair.step(&op, &context), Outcome::PowerLost);
            if number % 10 == 0 {
                let visible = pair.visible().clone();
                check(&mut pair.heap, &visible, &context);
            }
        }
    }
}

/// A device that has failed is mounted again in place, with the layer below the heap.
#[test]
fn a_heap_on_a_remap_is_mounted_again_in_place() {
    for spec in parts() {
        let remap = Remap::<_, 64>::format(NorSim::new(spec), RemapConfig { spare_units: 1 }).unwrap();
        let mut heap: Heap<_, 64> = Heap::format(remap, Config::default()).unwrap();
        let object = heap.create(Layout::uniform(2, 4)).unwrap();
        for number in 1..30u32 {
            heap.device_mut().device_mut().cut_power_after(u64::from(number % 7), Tear::Subset(number.into()));
            while heap.put_field(object, 0, &number.to_le_bytes()).is_ok() {}
            assert!(heap.put_field(object, 0, &[0; 4]).is_err());
            heap.device_mut().device_mut().power_on();
            heap.remount().unwrap();
            let mut value = [0; 4];
            heap.get_field(object, 0, &mut value).unwrap();
            assert!([number - 1, number].contains(&u32::from_le_bytes(value)), "{value:?} after {number}");
            heap.put_field(object, 0, &number.to_le_bytes()).unwrap();
        }
    }
}
