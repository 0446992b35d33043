//! Power is cut at every device operation of random operation sequences, in many torn shapes, and again during
//! recovery.
//!
//! After each cut the store is mounted. It must hold what was committed before the operation in flight, or what was
//! committed after it, and nothing in between; the checker must be silent; and it must continue to work.

use crate::model;

use model::{Model, Op, Outcome, Pair, TestStore, check, configs, from_environment, read};
use norn_conformance::{Context, PowerLost, Subject, Survey, Sweep, Tally, Trial};
use norn_flash_sim::{NorSim, PartSpec, Tear, catalogue};
use norn_nor_store::{MountError, Store, StoreConfig};

/// A store whose power can be cut.
#[derive(Clone)]
struct Cut(Pair);

impl Subject for Cut {
    type Device = NorSim;
    type Call = Op;
    type Contents = Model;

    fn device_mut(&mut self) -> &mut NorSim {
        self.0.store.device_mut()
    }

    fn into_device(self) -> NorSim {
        self.0.store.into_device()
    }

    fn mount(device: NorSim, context: Context<'_>) -> Self {
        let mut store = TestStore::mount(device).unwrap_or_else(|error| panic!("{error} {}", context()));
        let committed = read(&mut store).unwrap_or_else(|error| panic!("{error} {}", context()));
        Cut(Pair { store, committed, open: None })
    }

    fn try_mount(device: &mut NorSim) -> Result<(), PowerLost> {
        match Store::<_, 16>::mount(device) {
            Err(MountError::Device(_)) => Err(PowerLost),
            _ => Ok(()),
        }
    }

    fn make(&mut self, op: &Op) -> Result<(), PowerLost> {
        if self.0.step(op, &String::new) == Outcome::PowerLost { Err(PowerLost) } else { Ok(()) }
    }

    fn contents(&mut self, context: Context<'_>) -> Model {
        check(&self.0.store, &self.0.committed, context);
        self.0.committed.clone()
    }
}

/// Makes `op`, which makes `next` of `pair`, and cuts it at every operation of the device.
fn cut_everywhere(
    pair: &Pair,
    next: &Pair,
    op: &Op,
    shapes: usize,
    random: &mut fastrand::Rng,
    context: Context<'_>,
) -> Tally {
    let mut number = 0;
    let trial = Trial {
        subject: &Cut(pair.clone()),
        call: op,
        shapes: &|_, random| {
            let mut all = Tear::allowed(random.u64(..)).to_vec();
            random.shuffle(&mut all[2..]);
            all.truncate(shapes);
            all
        },
        admitted: &|found| *found == pair.committed || *found == next.committed,
        go_on: &mut |Cut(mut pair), _, _, context| {
            number += 1;
            if number % 5 == 0 {
                assert_ne!(pair.step(op, context), Outcome::PowerLost, "{}", context());
                assert_ne!(pair.step(&Op::Commit, context), Outcome::PowerLost, "{}", context());
                check(&pair.store, &pair.committed, context);
            }
        },
        context,
    };
    Sweep { stride: 1, second_period: 7, second_cuts: 5, survey: Survey::Stop }.cut(trial, random)
}

/// Makes random operations, and cuts each of them.
fn run(seed: u64, spec: PartSpec, config: StoreConfig, (operations, shapes): (u64, usize)) -> Tally {
    let (mut random, mut tally) = (fastrand::Rng::with_seed(seed), Tally::default());
    let mut pair = Pair::new(spec, config);
    for number in 0..operations {
        let op = pair.draw(&mut random);
        let replay = format!("NORN_SEED={seed} cargo test -p norn-nor-store --test suite power_cuts::");
        let context = || format!("at operation {number}, {op:?}, of {config:?}; replay: {replay}");
        let mut next = pair.clone();
        assert_ne!(next.step(&op, &context), Outcome::PowerLost, "{}", context());
        tally += cut_everywhere(&pair, &next, &op, shapes, &mut random, &context);
        if next.open.is_none() {
            check(&next.store, &next.committed, &context);
        }
        pair = next;
    }
    tally
}

fn sweep(seeds: u64, operations: u64, shapes: usize) {
    let first = from_environment("NORN_SEED", 2006);
    for seed in first..first + from_environment("NORN_SEEDS", seeds) {
        let mut tally = Tally::default();
        for (config, unit_size_bytes) in configs().into_iter().zip([512, 1024, 1024]) {
            let spec = catalogue::test_part(8 + (seed % 3) as u16, unit_size_bytes);
            tally += run(seed, spec, config, (operations, shapes));
        }
        println!("seed {seed}: {tally:?}");
        assert!(tally.cuts > 10 * operations && tally.second_cuts > operations / 4);
    }
}

#[test]
fn what_was_committed_survives_every_cut() {
    sweep(2, 60, 4);
}

#[test]
#[ignore = "long"]
fn what_was_committed_survives_every_cut_of_long_runs() {
    sweep(20, 1000, 8);
}

/// A cut formatting leaves a part that is not formatted, or the empty store.
#[test]
fn a_cut_formatting_leaves_no_store_or_an_empty_one() {
    let mut random = fastrand::Rng::with_seed(from_environment("NORN_SEED", 2006));
    let mut pair = Pair::new(catalogue::test_part(8, 512), StoreConfig::default());
    for _ in 0..200 {
        let op = pair.draw(&mut random);
        pair.step(&op, &String::new);
    }
    let old = pair.store.into_device();
    let mut formatted = old.clone();
    Store::<_, 16>::format(&mut formatted, StoreConfig::default()).unwrap();
    let (mut refused, mut empty) = (0, 0);
    for cut in 0..formatted.operations() - old.operations() {
        for _ in 0..6 {
            let mut device = old.clone();
            let tear = Tear::draw(&mut random);
            device.cut_power_after(cut, tear);
            Store::<_, 16>::format(&mut device, StoreConfig::default()).unwrap_err();
            device.power_on();
            match TestStore::mount(device.clone()) {
                Ok(store) => {
                    // The old log counts until its newest unit is void.
                    let mut store = store;
                    let found = read(&mut store).unwrap();
                    assert!(found.is_empty() || found == pair.committed, "cut by {tear:?} at {cut}");
                    empty += 1;
                }
                Err(_) => refused += 1,
            }
            TestStore::format(device, StoreConfig::default()).unwrap();
        }
    }
    assert!(refused > 100 && empty > 0, "{refused} refused, {empty} empty");
}
