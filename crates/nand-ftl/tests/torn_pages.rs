//! Pages that were torn and read differently from one load, or one boot, to the next: cuts at every operation of
//! writes, trims, collections and mounts, in every shape that the contract of NAND parts allows.
//!
//! What was acknowledged is there after the cut, after the second boot, and after further work. What was in flight is
//! old or new, and the mount that completes first decides which.

use crate::model;

use std::time::{Duration, Instant};

use model::{Model, Operation, TestFtl, audit, formatted, memory, mounted};
use norn_conformance::{
    Context, PowerLost, Subject, Survey, Sweep, Tally, Trial, from_environment, one_of_each_on_nand,
};
use norn_flash_sim::nand_catalogue::{NandSpec, test_part};
use norn_flash_sim::{NandSim, Tear};
use norn_nand_ftl::{Ftl, FtlError, Lba, MountError, max_logical_pages};

/// Writes that fill a device before its calls are cut.
const WRITES: u32 = 400;

/// A device of which every call is cut.
#[derive(Clone)]
struct Disk(TestFtl);

/// A call, and the number that its writes have in the model.
#[derive(Clone, Copy, Debug)]
struct Call {
    operation: Operation,
    write: u64,
}

impl Subject for Disk {
    type Device = NandSim;
    type Call = Call;
    type Contents = Vec<u64>;

    fn device_mut(&mut self) -> &mut NandSim {
        self.0.device_mut()
    }

    fn into_device(self) -> NandSim {
        self.0.into_device()
    }

    fn mount(device: NandSim, context: Context<'_>) -> Self {
        let memory = memory(&device.spec().part);
        let ftl = Ftl::mount(device, memory).unwrap_or_else(|error| panic!("{error}, {}", context()));
        assert_eq!(ftl.counters().scans, 0, "a page of the checkpoint is missing, {}", context());
        Disk(ftl)
    }

    fn try_mount(device: &mut NandSim) -> Result<(), PowerLost> {
        let memory = memory(&device.spec().part);
        match Ftl::mount(device, memory) {
            Ok(_) => Ok(()),
            Err(MountError::Device(_)) => Err(PowerLost),
            Err(error) => panic!("{error}"),
        }
    }

    fn make(&mut self, call: &Call) -> Result<(), PowerLost> {
        let mut model = Model::new(&self.0.device().spec().part, self.0.logical_pages());
        model.next = call.write;
        match call.operation.run(&mut self.0, &mut model) {
            Ok(()) => Ok(()),
            Err(FtlError::Device(_)) => Err(PowerLost),
            Err(error) => panic!("{call:?}: {error}"),
        }
    }

    fn contents(&mut self, context: Context<'_>) -> Vec<u64> {
        audit(&mut self.0, &[], &context());
        let logical_pages = self.0.logical_pages();
        let model = Model::new(&self.0.device().spec().part, logical_pages);
        let mut page = vec![0; model.page_bytes];
        let mut write_of = |lba: u32| {
            self.0.read(Lba(lba), &mut page).unwrap_or_else(|error| panic!("page {lba}: {error}, {}", context()));
            let write = u64::from_le_bytes(page[..8].try_into().unwrap()) >> 20;
            assert_eq!(page, model.bytes(lba as usize, write), "page {lba}, {}", context());
            write
        };
        (0..logical_pages).map(&mut write_of).collect()
    }
}

/// Runs random operations, and cuts each of them at its operations as `sweep` and `shapes` say.
fn cut_operations(
    spec: &NandSpec,
    sweep: &Sweep,
    shapes: &dyn Fn(u64, &mut fastrand::Rng) -> Vec<Tear>,
    operations: u32,
    seed: u64,
) -> Tally {
    let logical_pages = max_logical_pages(&spec.part, 2) * 9 / 10;
    let (mut ftl, mut model) = formatted(spec.clone(), 2, logical_pages, seed);
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..WRITES {
        Operation::draw(&mut random, logical_pages).run(&mut ftl, &mut model).unwrap();
    }
    let mut tally = Tally::default();
    for number in 0..operations {
        let operation = Operation::draw(&mut random, logical_pages);
        let context = || {
            let part = &spec.name;
            format!("operation {number} on part {part}; replay: NORN_SEED={seed} cargo test -p norn-nand-ftl")
        };
        let (before, write) = (model.clone(), model.next);
        let mut after = before.clone();
        operation.run(&mut ftl.clone(), &mut after).unwrap();
        let trial = Trial {
            subject: &Disk(ftl.clone()),
            call: &Call { operation, write },
            shapes,
            admitted: &|found| {
                let pages = before.pages.iter().zip(&after.pages);
                let is_unflushed =
                    |lba, write| after.unflushed.contains(&(lba, write)) || before.unflushed.contains(&(lba, write));
                let fits = |(lba, (found, (old, new))): (usize, (&u64, (&u64, &u64)))| {
                    found == old || found == new || is_unflushed(lba, *found)
                };
                found.iter().zip(pages).enumerate().all(fits)
            },
            go_on: &mut |Disk(mut ftl), found, random, context| {
                let (pages, next) = (found, after.next + 1);
                let mut model = Model { pages, next, unflushed: Vec::new(), ..before.clone() };
                for _ in 0..12 {
                    Operation::draw(random, logical_pages).run(&mut ftl, &mut model).unwrap();
                }
                model.lose_power();
                model.check(&mut mounted(ftl.into_device()), &context());
            },
            context: &context,
        };
        tally += sweep.cut(trial, &mut random);
        operation.run(&mut ftl, &mut model).unwrap();
        if random.u8(0..8) == 0 {
            ftl = mounted(ftl.into_device());
            model.lose_power();
            model.check(&mut ftl, &context());
        }
    }
    tally
}

fn seeds(all: std::ops::Range<u64>) -> std::ops::Range<u64> {
    from_environment("NORN_SEED").map_or(all, |seed| seed..seed + 1)
}

#[test]
fn no_shape_loses_an_acknowledged_page() {
    for seed in seeds(0..4) {
        let spec = [test_part(24, 8, 128), test_part(30, 4, 128), test_part(40, 16, 128), test_part(24, 4, 128)];
        let sweep = Sweep { second_period: 3, ..Sweep::default() };
        let tally = cut_operations(&spec[seed as usize % 4], &sweep, &one_of_each_on_nand, 16, seed);
        assert!(tally.cuts > 200 && tally.second_cuts > 200, "{tally:?}");
    }
}

fn wavering(_: u64, random: &mut fastrand::Rng) -> Vec<Tear> {
    (0..4).map(|_| Tear::Wavering(random.u64(..))).collect()
}

fn returning(_: u64, random: &mut fastrand::Rng) -> Vec<Tear> {
    (0..2).map(|_| Tear::Returning(random.u64(..))).collect()
}

/// Counts the cuts that lose something: of 2,000 and more on small pages, of 1,500 and more on large ones. The results
/// are in docs/results.
#[test]
#[ignore = "minutes"]
fn torn_pages_are_counted() {
    type Shapes = fn(u64, &mut fastrand::Rng) -> Vec<Tear>;
    let mut large = test_part(24, 8, 512);
    (large.part.oob_bytes, large.part.bad_mark.column.0) = (16, 512 + 5);
    let mut lost = 0;
    for (name, shapes) in [("wavering", wavering as Shapes), ("returning", returning), ("each", one_of_each_on_nand)] {
        for (spec, cuts) in [(test_part(24, 8, 128), 2_000), (large.clone(), 1_500)] {
            let (mut tally, mut seed, begun) = (Tally::default(), 100, Instant::now());
            while tally.cuts < cuts && begun.elapsed() < Duration::from_secs(300) {
                let sweep = Sweep { survey: Survey::Count, second_cuts: 2, ..Sweep::default() };
                tally += cut_operations(&spec, &sweep, &shapes, 40, seed);
                seed += 1;
            }
            println!("{name}, pages of {} bytes: {tally:?}", spec.part.page_bytes);
            lost += tally.lost;
        }
    }
    assert_eq!(lost, 0);
}
