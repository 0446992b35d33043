//! Units that fail to erase or to program are retired while there are spares, and their data moves; then the error
//! comes back, and everything stays readable. A device that does not answer is given up at once.

use crate::model;

use model::{Op, Pair, TestRemap, check, parts, perform, read_all};
use norn_conformance::from_environment;
use norn_flash::{Address, EraseUnit, Nor};
use norn_flash_sim::{NorSim, SimError, Tear};
use norn_nor_remap::{Remap, RemapConfig, RemapError, RemapMountError};

/// Random calls until one fails; returns its error.
fn run_to_failure(pair: &mut Pair, random: &mut fastrand::Rng, context: &dyn Fn() -> String) -> RemapError<SimError> {
    for _ in 0..100_000 {
        let op = pair.draw(random);
        let mut remap = pair.remap.clone();
        if let Err(error) = perform(&mut remap, &op) {
            pair.remap = remap;
            return error;
        }
        pair.remap = remap;
        pair.bytes = pair.after(&op);
        if random.u8(0..10) == 0 {
            check(&mut pair.remap, &pair.bytes, context);
        }
        if random.u8(0..30) == 0 {
            pair.remap = TestRemap::mount(pair.remap.device().clone()).unwrap();
        }
    }
    panic!("nothing failed {}", context());
}

#[test]
fn units_that_wear_out_are_replaced_until_no_spare_is_left() {
    for seed in from_environment("NORN_SEED").map_or(0..24, |seed| seed..seed + 1) {
        let context = || format!("; replay: NORN_SEED={seed} cargo test -p norn-nor-remap --test suite retirement::");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(parts()[seed as usize % 6].clone(), 3);
        pair.remap.device_mut().set_endurance(Some(12));
        let error = run_to_failure(&mut pair, &mut random, &context);
        assert_eq!(error, RemapError::NoSpare, "{}", context());
        assert_eq!(pair.remap.retired_units().count(), 3, "{}", context());
        assert_eq!(pair.remap.spare(), None);
        // The failed call changed nothing but bits that it was to clear; all is readable, also after a mount.
        let found = read_all(&mut pair.remap, 64);
        assert!(found.iter().zip(&pair.bytes).all(|(found, old)| found | old == *old), "{}", context());
        let mut again = TestRemap::mount(pair.remap.device().clone()).unwrap();
        assert!(read_all(&mut again, 64) == found, "{}", context());
        assert_eq!(again.erase(EraseUnit(0)), Err(RemapError::NoSpare));
    }
}

#[test]
fn units_that_do_not_take_programs_are_replaced() {
    for seed in from_environment("NORN_SEED").map_or(0..24, |seed| seed..seed + 1) {
        let context = || format!("; replay: NORN_SEED={seed} cargo test -p norn-nor-remap --test suite retirement::");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(parts()[seed as usize % 6].clone(), 3);
        let mut failing = Vec::new();
        for number in 0..600 {
            if number % 250 == 100 {
                // A home, or the spare.
                let unit = match random.bool() {
                    true => pair.remap.home(EraseUnit(random.u16(0..2))).unwrap(),
                    false => pair.remap.spare().unwrap(),
                };
                pair.remap.device_mut().fail_programs_in(unit);
                failing.push(unit);
            }
            let op = pair.draw(&mut random);
            pair.step(&op, &context);
            check(&mut pair.remap, &pair.bytes, &context);
        }
        assert!(pair.remap.retired_units().all(|unit| failing.contains(&unit)), "{}", context());
    }
}

/// Retirement is cut, too: a unit fails to erase, and power fails on the way to the next spare.
#[test]
fn cuts_during_retirement_lose_nothing() {
    let mut cuts = 0;
    for seed in from_environment("NORN_SEED").map_or(0..12, |seed| seed..seed + 1) {
        let context = || format!("; replay: NORN_SEED={seed} cargo test -p norn-nor-remap --test suite retirement::");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(parts()[seed as usize % 6].clone(), 3);
        for _ in 0..100 {
            let op = pair.draw(&mut random);
            pair.step(&op, &context);
        }
        let home = pair.remap.home(EraseUnit(0)).unwrap();
        let bad = if random.bool() { home } else { pair.remap.spare().unwrap() };
        pair.remap.device_mut().fail_programs_in(bad);
        let most = pair.remap.device().erase_counts().max().unwrap();
        pair.remap.device_mut().set_endurance(random.bool().then_some(most.max(2)));
        for op in [Op::Erase(EraseUnit(0)), Op::Program { at: 0, bytes: vec![0; 32] }, Op::Erase(EraseUnit(1))] {
            for cut in 0..60 {
                let mut remap = pair.remap.clone();
                let tear = Tear::draw(&mut random);
                remap.device_mut().cut_power_after(cut, tear);
                if perform(&mut remap, &op).is_ok() {
                    break;
                }
                cuts += 1;
                let mut device = remap.into_device();
                device.power_on();
                let context = || format!("after {tear:?} at {cut} of {op:?} {}", context());
                let mut remap = TestRemap::mount(device).unwrap_or_else(|error| panic!("{error} {}", context()));
                let (found, after) = (read_all(&mut remap, 64), pair.after(&op));
                let between = |((old, new), found): ((&u8, &u8), &u8)| found & new == *new && found | old == *old;
                match op {
                    Op::Erase(_) => assert!(found == pair.bytes || found == after, "{}", context()),
                    Op::Program { .. } => {
                        assert!(pair.bytes.iter().zip(&after).zip(&found).all(between), "{}", context());
                    }
                }
                check(&mut remap, &found, &context);
                if remap.spare().is_some() {
                    perform(&mut remap, &op).unwrap_or_else(|error| panic!("{error} {}", context()));
                    check(&mut remap, &after, &context);
                }
            }
        }
    }
    println!("{cuts} cuts");
    assert!(cuts > 100);
}

/// A device that refuses every change, as a write-protected one does, stays readable and costs few calls.
#[test]
fn a_device_that_takes_nothing_is_given_up() {
    let mut pair = Pair::new(parts()[0].clone(), 2);
    pair.step(&Op::Program { at: 0, bytes: vec![0x5A; 8] }, &String::new);
    let mut remap = pair.remap.clone();
    (0..6).for_each(|unit| remap.device_mut().fail_programs_in(EraseUnit(unit)));
    remap.device_mut().set_endurance(Some(0));
    let error = remap.program(Address(0), &[0; 8]).unwrap_err();
    assert!(matches!(error, RemapError::Device(_) | RemapError::NoSpare), "{error}");
    assert!(read_all(&mut remap, 64).iter().zip(&pair.bytes).all(|(a, b)| a == b));
}

#[test]
fn a_device_that_is_off_is_given_up_at_once() {
    let mut pair = Pair::new(parts()[0].clone(), 2);
    pair.remap.device_mut().cut_power_after(0, Tear::Nothing);
    let reads = pair.remap.device().counters().reads();
    let off = RemapError::Device(SimError::PowerLost);
    assert_eq!(pair.remap.program(Address(0), &[0; 8]), Err(off.clone()));
    assert!(pair.remap.device().counters().reads() - reads < 10);
    assert_eq!(pair.remap.erase(EraseUnit(0)), Err(RemapError::Halted));
    assert_eq!(pair.remap.read(Address(0), &mut [0]), Err(off));
}

#[test]
fn formatting_passes_over_bad_units() {
    for (bad, spare_units, works) in [(1, 2, true), (2, 2, false), (2, 3, true), (6, 1, false)] {
        let mut device = NorSim::new(parts()[0].clone());
        (0..bad).for_each(|unit| device.fail_programs_in(EraseUnit(unit)));
        match TestRemap::format(device, RemapConfig { spare_units }) {
            Ok(mut remap) => {
                assert!(works, "{bad} bad units");
                remap.program(Address(0), &[0; 8]).unwrap();
                remap.erase(EraseUnit(0)).unwrap();
                Remap::<_, 32>::mount(remap.into_device()).unwrap();
            }
            Err(error) => assert!(!works && matches!(error, RemapMountError::Refused(_)), "{error}"),
        }
    }
}
