//! Power is cut at every device operation of random operation sequences, in many torn shapes, and again during
//! recovery.
//!
//! After each cut the store is mounted. It must hold what was committed before the operation in flight, or what was
//! committed after it, and nothing in between; the checker must be silent; and it must go on working.

mod model;

use model::{Model, Op, Outcome, Pair, TestStore, check, configs, from_environment, read};
use norn_flash_sim::{NorSim, PartSpec, Tear, catalogue};
use norn_nor_store::{Store, StoreConfig};

/// One sequence of operations, and the cuts of each.
struct Sweep {
    seed: u64,
    random: fastrand::Rng,
    /// Torn shapes of each cut.
    shapes: usize,
    cuts: u64,
    cuts_of_recovery: u64,
}

impl Sweep {
    fn new(seed: u64, shapes: usize) -> Sweep {
        Sweep { seed, random: fastrand::Rng::with_seed(seed), shapes, cuts: 0, cuts_of_recovery: 0 }
    }

    fn run(&mut self, spec: PartSpec, config: StoreConfig, operations: u64) {
        let mut pair = Pair::new(spec, config);
        for number in 0..operations {
            let op = pair.draw(&mut self.random);
            let (seed, text) = (self.seed, format!("{op:?}"));
            let replay = format!("NORN_SEED={seed} cargo test -p norn-nor-store --test power_cuts");
            let context = || format!("at operation {number}, {text}, of {config:?}; replay: {replay}");
            let mut next = pair.clone();
            let before = next.store.device().operations();
            assert_ne!(next.step(&op, &context), Outcome::PowerLost, "{}", context());
            for cut in 0..next.store.device().operations() - before {
                self.cut_at(&pair, &op, cut, [&pair.committed, &next.committed], &context);
            }
            if next.open.is_none() {
                check(&next.store, &next.committed, &context);
            }
            pair = next;
        }
    }

    /// Cuts `op` at its device operation `cut`.
    fn cut_at(&mut self, pair: &Pair, op: &Op, cut: u64, allowed: [&Model; 2], context: &dyn Fn() -> String) {
        for number in 0..self.shapes {
            let tear = match number {
                0 => Tear::Nothing,
                1 => Tear::Complete,
                _ => Tear::draw(&mut self.random),
            };
            let context = || format!("cut by {tear:?} at device operation {cut} {}", context());
            let mut lost = pair.clone();
            lost.store.device_mut().cut_power_after(cut, tear);
            assert_eq!(lost.step(op, &context), Outcome::PowerLost, "{}", context());
            let mut device = lost.store.into_device();
            device.power_on();
            self.cuts += 1;
            if self.cuts.is_multiple_of(7) {
                self.cut_recovery(device.clone(), allowed, &context);
            }
            let mut pair = recover(device, allowed, &context);
            if self.cuts.is_multiple_of(5) {
                assert_ne!(pair.step(op, &context), Outcome::PowerLost, "{}", context());
                assert_ne!(pair.step(&Op::Commit, &context), Outcome::PowerLost, "{}", context());
                check(&pair.store, &pair.committed, &context);
            }
        }
    }

    /// Cuts the recovery at some operation of it, and the recovery from that, a few times in a row.
    fn cut_recovery(&mut self, mut device: NorSim, allowed: [&Model; 2], context: &dyn Fn() -> String) {
        let mut before = Vec::new();
        for _ in 0..5 {
            let mut whole = device.clone();
            Store::<_, 16>::mount(&mut whole).unwrap_or_else(|error| panic!("{error} {before:?} {}", context()));
            let operations = whole.operations() - device.operations();
            if operations == 0 {
                break;
            }
            let (cut, tear) = (self.random.u64(..operations), Tear::draw(&mut self.random));
            device.cut_power_after(cut, tear);
            before.push((cut, tear));
            assert!(Store::<_, 16>::mount(&mut device).is_err(), "{before:?} {}", context());
            device.power_on();
            self.cuts_of_recovery += 1;
        }
        recover(device, allowed, &|| format!("then in recovery {before:?} {}", context()));
    }
}

/// Mounts what a cut left, and asserts that it is one of what is allowed.
fn recover(device: NorSim, allowed: [&Model; 2], context: &dyn Fn() -> String) -> Pair {
    let mut store = TestStore::mount(device).unwrap_or_else(|error| panic!("{error} {}", context()));
    let found = read(&mut store).unwrap_or_else(|error| panic!("{error} {}", context()));
    assert!(allowed.contains(&&found), "holds {found:?}\nwhich is none of {allowed:?} {}", context());
    check(&store, &found, context);
    Pair { store, committed: found, open: None }
}

fn sweep(seeds: u64, operations: u64, shapes: usize) {
    let first = from_environment("NORN_SEED", 2006);
    for seed in first..first + from_environment("NORN_SEEDS", seeds) {
        let mut sweep = Sweep::new(seed, shapes);
        for (config, unit_size_bytes) in configs().into_iter().zip([512, 1024, 1024]) {
            sweep.run(catalogue::test_part(8 + (seed % 3) as u16, unit_size_bytes), config, operations);
        }
        println!("seed {seed}: {} cuts, and {} of recoveries", sweep.cuts, sweep.cuts_of_recovery);
        assert!(sweep.cuts > 10 * operations && sweep.cuts_of_recovery > operations / 4);
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
                    // The old log stands until its newest unit is void.
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
