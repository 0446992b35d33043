//! Power is cut at every device operation of random calls, in every torn shape, and again during recovery.
//!
//! After each cut the part is mounted. An erase took place wholly or not at all; a program cleared a subset of the bits
//! that it was to clear; nothing else changed. The call can then be made again, and takes full effect.

use crate::model;

use model::{Op, Pair, TestRemap, check, parts, perform, read_all};
use norn_conformance::{Context, PowerLost, Subject, Sweep, Tally, Trial, one_of_each, seeds as seeds_of};
use norn_flash::Nor;
use norn_flash_sim::{NorSim, Tear};
use norn_nor_remap::{Remap, RemapConfig, RemapMountError};

/// Whether `found` is what `op`, cut, may leave between `before` and `after`.
fn is_between(op: &Op, before: &[u8], after: &[u8], found: &[u8]) -> bool {
    match op {
        Op::Erase(_) => found == before || found == after,
        Op::Program { .. } => {
            let between = |((old, new), found): ((&u8, &u8), &u8)| found & new == *new && found | old == *old;
            before.iter().zip(after).zip(found).all(between)
        }
    }
}

/// A part whose power can be cut.
#[derive(Clone)]
struct Cut(TestRemap);

impl Subject for Cut {
    type Device = NorSim;
    type Call = Op;
    type Contents = Vec<u8>;

    fn device_mut(&mut self) -> &mut NorSim {
        self.0.device_mut()
    }

    fn into_device(self) -> NorSim {
        self.0.into_device()
    }

    fn mount(device: NorSim, context: Context<'_>) -> Self {
        Cut(mount(device, context))
    }

    fn try_mount(device: &mut NorSim) -> Result<(), PowerLost> {
        Remap::<_, 32>::mount(device).map(|_| ()).map_err(|_| PowerLost)
    }

    fn make(&mut self, op: &Op) -> Result<(), PowerLost> {
        perform(&mut self.0, op).map_err(|_| PowerLost)
    }

    /// The layer tries words that a cut may have programmed, which the part refuses, and takes others then.
    fn expect_contract(_: &NorSim, _: Context<'_>) {}

    fn contents(&mut self, context: Context<'_>) -> Vec<u8> {
        let found = read_all(&mut self.0, 64);
        check(&mut self.0, &found, context);
        found
    }
}

fn mount(device: NorSim, context: &dyn Fn() -> String) -> TestRemap {
    TestRemap::mount(device).unwrap_or_else(|error| panic!("{error} {}", context()))
}

/// The device after mounting it was cut after `cut` operations; `None` if mounting takes no more.
fn cut_mount(device: &NorSim, cut: u64, tear: Tear) -> Option<NorSim> {
    let mut device = device.clone();
    device.cut_power_after(cut, tear);
    let mounted = TestRemap::mount(device.clone()).is_ok();
    if mounted {
        return None;
    }
    // The cut is repeated on a device that outlives the attempt.
    let _ = Remap::<_, 32>::mount(&mut device);
    device.power_on();
    Some(device)
}

/// Cuts `op` at every operation.
fn cut_everywhere(pair: &Pair, op: &Op, random: &mut fastrand::Rng, context: Context<'_>) -> Tally {
    let after = pair.after(op);
    let trial = Trial {
        subject: &Cut(pair.remap.clone()),
        call: op,
        shapes: &one_of_each,
        admitted: &|found| is_between(op, &pair.bytes, &after, found),
        go_on: &mut |Cut(remap), found, random, context| {
            let mut again = Pair { remap, bytes: found };
            again.step(op, context);
            check(&mut again.remap, &after, context);
            for _ in 0..3 {
                let op = again.draw(random);
                let context = || format!("going on with {op:?}, {}", context());
                again.step(&op, &context);
                check(&mut again.remap, &again.bytes.clone(), &context);
            }
        },
        context,
    };
    Sweep::default().cut(trial, random)
}

fn sweep(seeds: std::ops::Range<u64>, operations: u64) {
    let mut tally = Tally::default();
    for run in seeds_of(seeds, "-p norn-nor-remap --test suite power_cuts::") {
        let mut random = run.random();
        let mut pair = Pair::new(parts()[run.seed as usize % 6].clone(), 1);
        for number in 0..operations {
            let op = pair.draw(&mut random);
            let context = || format!("at {number}; replay: {}", run.replay());
            // Moves and erases are rare and long: all of them, and some of the other calls.
            let mut whole = pair.remap.clone();
            let erases: u32 = whole.device().erase_counts().sum();
            perform(&mut whole, &op).unwrap();
            let switched = whole.device().erase_counts().sum::<u32>() > erases;
            if switched || random.u8(0..8) == 0 {
                tally += cut_everywhere(&pair, &op, &mut random, &context);
            }
            pair.step(&op, &context);
        }
    }
    println!("{tally:?}");
    assert!(tally.cuts > 0 && tally.second_cuts > 0);
}

#[test]
fn every_cut_in_every_shape() {
    sweep(0..12, 100);
}

#[test]
#[ignore = "long: some million cuts"]
fn every_cut_widely() {
    sweep(1000..1120, 400);
}

/// Power fails again and again during mounts and soon after: nothing is used up.
#[test]
fn brown_outs_in_a_row() {
    for run in seeds_of(0..60, "-p norn-nor-remap brown_outs") {
        let mut random = run.random();
        let context = || format!("; replay: {}", run.replay());
        let mut pair = Pair::new(parts()[run.seed as usize % 6].clone(), 1);
        for _ in 0..200 {
            let op = pair.draw(&mut random);
            let after = pair.after(&op);
            pair.remap.device_mut().cut_power_after(random.u64(0..30), Tear::draw(&mut random));
            let done = perform(&mut pair.remap, &op).is_ok();
            let mut device = pair.remap.into_device();
            for _ in 0..random.usize(0..4) {
                device.power_on();
                let (cut, tear) = (random.u64(0..6), Tear::draw(&mut random));
                device = cut_mount(&device, cut, tear).unwrap_or(device);
            }
            device.power_on();
            let mut remap = mount(device, &context);
            let found = read_all(&mut remap, 64);
            match done {
                true => assert!(found == after, "{}", context()),
                false => assert!(
                    is_between(&op, &pair.bytes, &after, &found),
                    "neither before nor after nor between {}",
                    context()
                ),
            }
            check(&mut remap, &found, &context);
            pair = Pair { remap, bytes: found };
        }
    }
}

/// Formatting over an image, cut anywhere, leaves the old image, nothing that mounts, or the new one.
#[test]
fn a_cut_format_leaves_no_mixture() {
    let mut random = fastrand::Rng::with_seed(9);
    let mut outcomes = [0; 3];
    for spec in parts() {
        let mut pair = Pair::new(spec, 1);
        let cell = usize::from(pair.remap.part().program_unit_bytes);
        let bytes = vec![0; pair.bytes.len() / cell * cell];
        pair.step(&Op::Program { at: 0, bytes }, &String::new);
        for cut in 0.. {
            let mut format_ended = false;
            for tear in one_of_each(cut, &mut random) {
                let mut device = pair.remap.device().clone();
                device.cut_power_after(cut, tear);
                let result = Remap::<_, 32>::format(&mut device, RemapConfig { spare_units: 2 });
                format_ended |= result.is_ok();
                drop(result);
                device.power_on();
                match TestRemap::mount(device) {
                    Err(error) => {
                        assert_eq!(error, RemapMountError::NotFormatted, "{tear:?} at {cut}");
                        outcomes[1] += 1;
                    }
                    Ok(mut remap) => {
                        let found = read_all(&mut remap, 64);
                        let new = found.iter().all(|&byte| byte == 0xFF);
                        assert!(new || found == pair.bytes, "a mixture: {tear:?} at {cut}");
                        outcomes[if new { 2 } else { 0 }] += 1;
                    }
                }
            }
            if format_ended {
                break;
            }
        }
    }
    println!("old, none, new: {outcomes:?}");
    assert!(outcomes.iter().all(|&count| count > 0));
}
