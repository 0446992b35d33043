//! Room for the next mount: no part is refused for want of a free page, however sessions end.

use crate::model;

use model::{Model, Operation, TestFtl, audit, formatted, memory};
use norn_flash_sim::nand_catalogue::{NandSpec, test_part};
use norn_flash_sim::{NandSim, Tear};
use norn_nand_ftl::{Ftl, FtlError, MountError, RecycleStep, max_logical_pages};

/// A part in full use.
fn full(spec: &NandSpec, seed: u64) -> (TestFtl, Model, fastrand::Rng) {
    let logical_pages = max_logical_pages(&spec.part, 2);
    let (mut ftl, mut model) = formatted(spec.clone(), 2, logical_pages, seed);
    let mut random = fastrand::Rng::with_seed(seed);
    for lba in 0..logical_pages {
        Operation::Write { lba, count: 1 }.run(&mut ftl, &mut model).unwrap();
    }
    for _ in 0..400 {
        Operation::draw(&mut random, logical_pages).run(&mut ftl, &mut model).unwrap();
    }
    (ftl, model, random)
}

fn mount_again(mut sim: NandSim, context: &str) -> TestFtl {
    sim.power_on();
    let part = sim.spec().part;
    Ftl::mount(sim, memory(&part)).unwrap_or_else(|error| panic!("{error} ({context})"))
}

/// Steps of the checkpoint and of the wear leveler, as many as there is room for, in any mixture.
#[test]
fn steps_leave_room_for_a_mount() {
    for seed in 0..40 {
        let spec = [test_part(40, 8, 128), test_part(30, 4, 128), test_part(20, 5, 128), test_part(24, 16, 128)]
            [seed as usize % 4]
            .clone();
        let (mut ftl, mut model, mut random) = full(&spec, seed);
        let context = format!("part {}, seed {seed}", spec.name);
        while ftl.checkpoint_step().is_ok() {
            for _ in 0..random.u32(0..60) {
                let _ = ftl.level_step();
            }
        }
        assert!(matches!(ftl.checkpoint_step(), Err(FtlError::NoSpace)), "{context}");
        // Recyclings that are given up after a copy take what is left.
        for _ in 0..400 {
            let Some(mut recycling) = ftl.start_recycling(1) else { break };
            let step = ftl.recycle_step(&mut recycling);
            if step != Ok(RecycleStep::Erased) {
                ftl.stop_recycling(recycling);
            }
        }
        model.lose_power();
        let mut ftl = mount_again(ftl.into_device(), &context);
        model.check(&mut ftl, &context);
        audit(&mut ftl, &[], &context);
    }
}

/// Sessions of some ten operations of the device, one after the other, most of them cut while mounting.
fn short_sessions(spec: &NandSpec, seed: u64, sessions: u32, operations_max: u64) {
    let (ftl, mut model, mut random) = full(spec, seed);
    let (part, logical_pages) = (spec.part, ftl.logical_pages());
    let mut sim = ftl.into_device();
    for session in 0..sessions {
        let context = format!("part {}, seed {seed}, session {session}, of {operations_max}", spec.name);
        sim.power_on();
        sim.cut_power_after(random.u64(0..operations_max), Tear::draw_on_nand(&mut random));
        let mut cut = sim.clone();
        let mut ftl = match Ftl::mount(&mut cut, memory(&part)).map(drop) {
            Ok(()) => Ftl::mount(sim, memory(&part)).unwrap(),
            Err(MountError::Device(_)) => {
                sim = cut;
                continue;
            }
            Err(error) => panic!("mount: {error} ({context})"),
        };
        model.lose_power();
        model.check(&mut ftl, &context);
        let error = loop {
            if let Err(error) = Operation::draw(&mut random, logical_pages).run(&mut ftl, &mut model) {
                break error;
            }
        };
        assert!(matches!(error, FtlError::Device(_)), "{error} ({context})");
        sim = ftl.into_device();
    }
    model.lose_power();
    let mut ftl = mount_again(sim, "the end");
    model.check(&mut ftl, "the end");
    audit(&mut ftl, &[], "the end");
}

fn short_sessions_on_parts(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let parts = [(24, 8), (30, 4), (40, 16), (24, 4), (30, 32), (60, 8), (26, 5)];
        let (blocks, pages) = parts[seed as usize % parts.len()];
        short_sessions(&test_part(blocks, pages, 128), seed, 600, 6 + seed % 12);
    }
}

/// In most of these, each page of the checkpoint would be alone in a block before long if no mount gathered.
#[test]
fn short_sessions_in_a_row_are_never_refused() {
    short_sessions_on_parts(0..21);
    // A page of the checkpoint that ends a mount reads as whole again only two mounts later, in a part of small blocks.
    short_sessions_on_parts(190..191);
}

#[test]
#[ignore = "some minutes"]
fn nor_are_they_in_thousands_of_rows() {
    short_sessions_on_parts(1_000..4_000);
}
