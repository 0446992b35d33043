//! Power cuts at every program and erase of random operations, in every torn shape, and again while mounting: what was
//! acknowledged is there, what was in flight is old or new, and stays what it is.

use crate::model;

use std::time::{Duration, Instant};

use model::{Model, Operation, TestFtl, audit, formatted, memory, mounted};
use norn_flash_sim::nand_catalogue::{NandSpec, test_part};
use norn_flash_sim::{NandSim, Noise, Tear};
use norn_nand_ftl::{Ftl, FtlError, Lba, MountError, max_logical_pages};

/// Torn shapes, one after the other: all that the contract allows.
fn tear(number: u64, seed: u64) -> Tear {
    let seed = seed.wrapping_mul(0x9E37_79B9).wrapping_add(number);
    let (shapes, more) = (Tear::allowed(seed), Tear::allowed_on_nand(seed));
    let shape = number as usize % (shapes.len() + more.len());
    shapes.get(shape).copied().unwrap_or_else(|| more[shape - shapes.len()])
}

/// Operations until the planned cut comes; `None` if it does not.
fn run_into_cut(mut ftl: TestFtl, model: &mut Model, random: &mut fastrand::Rng, operations: u32) -> Option<NandSim> {
    for _ in 0..operations {
        let operation = Operation::draw(random, model.pages.len() as u32);
        match operation.run(&mut ftl, model) {
            Ok(()) => {}
            Err(FtlError::Device(_)) => return Some(ftl.into_device()),
            Err(error) => panic!("{operation:?}: {error}"),
        }
    }
    None
}

/// Mounts, with `mount_cuts` power cuts on the way, each after a number of operations.
fn mounted_through(mut sim: NandSim, mount_cuts: &[(u64, Tear)]) -> TestFtl {
    let part = sim.spec().part;
    for &(after, tear) in mount_cuts {
        sim.power_on();
        sim.cut_power_after(after, tear);
        match Ftl::mount(&mut sim, memory(&part)) {
            Ok(_) => break,
            Err(MountError::Device(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    mounted(sim)
}

/// A part that has been in use for some time.
fn used(spec: &NandSpec, share: (u32, u32), seed: u64, noise: Noise) -> (NandSim, Model) {
    let logical_pages = max_logical_pages(&spec.part, 2) * share.0 / share.1;
    let (mut ftl, mut model) = formatted(spec.clone(), 2, logical_pages, seed);
    ftl.device_mut().set_noise(noise);
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..400 {
        Operation::draw(&mut random, logical_pages).run(&mut ftl, &mut model).unwrap();
    }
    (ftl.into_device(), model)
}

/// Cuts at each operation from a used part on, `cuts` of them, each with `again` cuts while mounting.
fn sweep(spec: &NandSpec, share: (u32, u32), seed: u64, cuts: u64, again: u64, noise: Noise) {
    let (sim, model) = used(spec, share, seed, noise);
    for at in 0..cuts {
        for second in 0..=again {
            let context = format!("part {}, seed {seed}, cut {at}, again {second}", spec.name);
            let (mut sim, mut model) = (sim.clone(), model.clone());
            let mut random = fastrand::Rng::with_seed(seed + 1000 + at / 40);
            sim.reseed(seed + at);
            sim.power_on();
            let mut ftl = mounted(sim);
            model.lose_power();
            model.check(&mut ftl, &context);
            ftl.device_mut().cut_power_after(at, tear(at + second, seed));
            let Some(sim) = run_into_cut(ftl, &mut model, &mut random, 100_000) else { panic!("no cut ({context})") };
            let third = second
                .checked_sub(1)
                .map(|after| [(after, tear(at + 3 * after, seed + 1)), (after / 2, tear(at + after / 3, seed + 2))]);
            let mut ftl = mounted_through(sim, third.as_ref().map_or(&[], |cuts| cuts));
            model.lose_power();
            audit(&mut ftl, &[], &context);
            model.check(&mut ftl, &context);
            // What the cut left is settled: it stays, through work and another mount.
            for _ in 0..20 {
                Operation::draw(&mut random, model.pages.len() as u32).run(&mut ftl, &mut model).unwrap();
            }
            let mut ftl = mounted(ftl.into_device());
            model.lose_power();
            audit(&mut ftl, &[], &context);
            model.check(&mut ftl, &context);
        }
    }
}

const SILENT: Noise = Noise { bits_max: 0, beyond_per_million: 0 };

#[test]
fn nothing_acknowledged_is_lost() {
    sweep(&test_part(24, 8, 128), (9, 10), 1, 300, 0, SILENT);
    sweep(&test_part(30, 4, 128), (1, 1), 2, 200, 0, SILENT);
    sweep(&test_part(20, 16, 128), (3, 4), 3, 200, 0, SILENT);
}

#[test]
fn nor_by_cuts_while_mounting() {
    sweep(&test_part(24, 8, 128), (1, 1), 4, 60, 12, SILENT);
}

#[test]
fn nor_with_bit_errors() {
    sweep(&test_part(24, 8, 128), (9, 10), 5, 150, 2, Noise { bits_max: 1, beyond_per_million: 1_000 });
}

/// The power fails in every session, most of the time while mounting: the device never runs out of blocks.
#[test]
fn brown_outs() {
    // In 441, the last page of a mount fades which said that the suspect had been programmed again.
    for seed in (0..12).chain([441]) {
        let spec = test_part(24, 8, 128);
        let (mut sim, mut model) = used(&spec, (1, 1), seed, SILENT);
        let mut random = fastrand::Rng::with_seed(seed);
        for session in 0..400 {
            sim.power_on();
            let part = sim.spec().part;
            let after = if random.u8(0..3) > 0 { random.u64(0..12) } else { random.u64(0..60) };
            sim.cut_power_after(after, Tear::draw_on_nand(&mut random));
            let mut ftl = match Ftl::mount(sim.clone(), memory(&part)) {
                Ok(ftl) => ftl,
                Err(MountError::Device(_)) => {
                    // The clone's power failed; do the same to the part.
                    let Err(_) = Ftl::mount(&mut sim, memory(&part)) else { panic!("seed {seed}: not the same twice") };
                    continue;
                }
                Err(error) => panic!("seed {seed}, session {session}: {error}"),
            };
            let context = format!("seed {seed}, session {session}");
            model.lose_power();
            model.check(&mut ftl, &context);
            sim = run_into_cut(ftl, &mut model, &mut random, 100_000).expect("a cut was planned");
        }
        let mut ftl = mounted(sim);
        model.lose_power();
        audit(&mut ftl, &[], "the end");
        model.check(&mut ftl, "the end");
    }
}

/// Sessions of a few operations, many of them cut while mounting, on a part in full use: none is refused.
#[test]
fn short_sessions_take_no_room() {
    for seed in [6, 8, 13, 18, 34, 65, 98] {
        let (blocks, pages) = [(24, 8), (30, 4), (40, 16), (20, 5), (30, 32)][seed as usize % 5];
        let spec = test_part(blocks, pages, 128);
        let (part, logical_pages) = (spec.part, max_logical_pages(&spec.part, 2));
        let (mut ftl, mut model) = formatted(spec, 2, logical_pages, seed);
        let mut random = fastrand::Rng::with_seed(seed);
        for lba in 0..logical_pages {
            Operation::Write { lba, count: 1 }.run(&mut ftl, &mut model).unwrap();
        }
        for _ in 0..400 {
            Operation::draw(&mut random, logical_pages).run(&mut ftl, &mut model).unwrap();
        }
        let (mut sim, operations_max) = (ftl.into_device(), 4 + random.u64(0..40));
        for session in 0..400 {
            let context = format!("seed {seed}, session {session}, of {operations_max} operations at most");
            sim.power_on();
            sim.cut_power_after(random.u64(0..operations_max), Tear::draw_on_nand(&mut random));
            let mut cut = sim.clone();
            match Ftl::mount(&mut cut, memory(&part)).map(drop) {
                Ok(()) => {}
                Err(MountError::Device(_)) => {
                    sim = cut;
                    continue;
                }
                Err(error) => panic!("{error} ({context})"),
            }
            let mut ftl = Ftl::mount(sim, memory(&part)).unwrap();
            let page = vec![session as u8; model.page_bytes];
            let error = loop {
                if let Err(error) = ftl.write(Lba(random.u32(0..logical_pages)), &page) {
                    break error;
                }
            };
            assert!(matches!(error, FtlError::Device(_)), "{error} ({context})");
            sim = ftl.into_device();
        }
    }
}

/// As the others, wider: cut at each operation of long rows, again at each operation of mounting. Fifteen minutes are
/// enough.
#[test]
#[ignore = "minutes, at most fifteen"]
fn wide_sweep() {
    const TIME: Duration = Duration::from_secs(15 * 60);
    let (start, mut cuts) = (Instant::now(), 0);
    for seed in 100..104 {
        for (spec, again) in [(test_part(24, 8, 128), 16), (test_part(40, 16, 128), 24), (test_part(30, 4, 128), 10)] {
            for share in [(1, 2), (9, 10), (1, 1)] {
                for (first, noise) in [(250, SILENT), (60, Noise { bits_max: 1, beyond_per_million: 500 })] {
                    if start.elapsed() > TIME {
                        eprintln!("no time for what follows seed {seed}, part {}, share {share:?}", spec.name);
                        return;
                    }
                    sweep(&spec, share, seed, first, again, noise);
                    cuts += first * (again + 1);
                    eprintln!("{:.0?}: {cuts} power cuts, most followed by two while mounting", start.elapsed());
                }
            }
        }
    }
}
