//! Power is cut at every device operation of random calls, in every torn shape, and again during recovery.
//!
//! After each cut the part is mounted. An erase took place wholly or not at all; a program cleared a subset of the bits that it
//! was to clear; nothing else changed. The call can then be made again, and takes full effect.

mod model;

use model::{Op, Pair, TestRemap, check, from_environment, parts, perform, read_all};
use norn_flash::Nor;
use norn_flash_sim::{NorSim, Tear};
use norn_nor_remap::{RemapConfig, RemapMountError};

/// Asserts that `found` is what `op`, cut, may leave between `before` and `after`.
fn admit(op: &Op, before: &[u8], after: &[u8], found: &[u8], context: &dyn Fn() -> String) {
    let allowed = match op {
        Op::Erase(_) => found == before || found == after,
        Op::Program { .. } => {
            let between = |((old, new), found): ((&u8, &u8), &u8)| found & new == *new && found | old == *old;
            before.iter().zip(after).zip(found).all(between)
        }
    };
    assert!(allowed, "neither before nor after nor between {}", context());
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
    let _ = norn_nor_remap::Remap::<_, 32>::mount(&mut device);
    device.power_on();
    Some(device)
}

fn tears(random: &mut fastrand::Rng) -> Vec<Tear> {
    let seed = random.u64(..);
    let mut shapes =
        vec![Tear::Nothing, Tear::Complete, Tear::Subset(seed), Tear::Scattered(seed), Tear::Unstable(seed)];
    shapes.extend([Tear::OneBit(seed as u32), Tear::AllButOneBit(seed as u32), Tear::Prefix(seed), Tear::Suffix(seed)]);
    shapes
}

/// Cuts `op` at every operation; returns the number of cuts.
fn cut_everywhere(pair: &Pair, op: &Op, random: &mut fastrand::Rng, context: &dyn Fn() -> String) -> u64 {
    let after = pair.after(op);
    let mut cuts = 0;
    for cut in 0.. {
        for tear in tears(random) {
            let context = || format!("cut by {tear:?} at {cut} of {op:?} {}", context());
            let mut remap = pair.remap.clone();
            remap.device_mut().cut_power_after(cut, tear);
            if perform(&mut remap, op).is_ok() {
                return cuts;
            }
            cuts += 1;
            let mut device = remap.into_device();
            device.power_on();
            for second in (0..20).step_by(random.usize(1..3)) {
                let shape = Tear::draw(random);
                let Some(device) = cut_mount(&device, second, shape) else {
                    break;
                };
                let context = || format!("and by {shape:?} at {second} of the mount, {}", context());
                admit(op, &pair.bytes, &after, &read_all(&mut mount(device, &context), 64), &context);
                cuts += 1;
            }
            let mut remap = mount(device, &context);
            let found = read_all(&mut remap, 64);
            admit(op, &pair.bytes, &after, &found, &context);
            check(&mut remap, &found, &context);
            let mut again = Pair { remap, bytes: found };
            again.step(op, &context);
            check(&mut again.remap, &after, &context);
            for _ in 0..3 {
                let op = again.draw(random);
                let context = || format!("going on with {op:?}, {}", context());
                again.step(&op, &context);
                check(&mut again.remap, &again.bytes.clone(), &context);
            }
        }
    }
    unreachable!()
}

fn sweep(seeds: std::ops::Range<u64>, operations: u64) {
    let seeds = from_environment("NORN_SEED").map_or(seeds, |seed| seed..seed + 1);
    let mut cuts = 0;
    for seed in seeds {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(parts()[seed as usize % 6].clone(), 1);
        for number in 0..operations {
            let op = pair.draw(&mut random);
            let context =
                || format!("at {number}; replay: NORN_SEED={seed} cargo test -p norn-nor-remap --test power_cuts");
            // Moves and erases are rare and long: all of them, and some of the other calls.
            let mut whole = pair.remap.clone();
            let erases: u32 = whole.device().erase_counts().sum();
            perform(&mut whole, &op).unwrap();
            let switched = whole.device().erase_counts().sum::<u32>() > erases;
            if switched || random.u8(0..8) == 0 {
                cuts += cut_everywhere(&pair, &op, &mut random, &context);
            }
            pair.step(&op, &context);
        }
    }
    println!("{cuts} cuts");
    assert!(cuts > 0);
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
    for seed in from_environment("NORN_SEED").map_or(0..60, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let context = || format!("; replay: NORN_SEED={seed} cargo test -p norn-nor-remap brown_outs");
        let mut pair = Pair::new(parts()[seed as usize % 6].clone(), 1);
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
                false => admit(&op, &pair.bytes, &after, &found, &context),
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
            for tear in tears(&mut random) {
                let mut device = pair.remap.device().clone();
                device.cut_power_after(cut, tear);
                let result = norn_nor_remap::Remap::<_, 32>::format(&mut device, RemapConfig { spare_units: 2 });
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
