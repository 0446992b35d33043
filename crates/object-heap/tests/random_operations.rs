//! Random operations do to the heap what they do to a model in plain memory; the checker is silent after each of them,
//! and a heap mounted again holds the same.

use crate::model;

use model::device::limited_parts;
use model::{Outcome, Pair, check, configs, delta_configs, detecting_configs};
use norn_conformance::from_environment;
use norn_flash_sim::{PartSpec, catalogue};
use norn_object_heap::Config;

#[test]
fn random_operations_agree_with_the_model() {
    agree(0..40, unlimited);
}

#[test]
fn random_operations_on_limited_parts_agree_with_the_model() {
    agree(40..52, limited);
}

#[test]
fn random_operations_agree_with_the_model_with_error_detection() {
    agree(0..20, detecting);
}

#[test]
#[ignore = "long: 400,000 operations"]
fn many_random_operations_agree_with_the_model() {
    agree(1000..2000, unlimited);
    agree(2000..2400, limited);
    agree(3000..3500, detecting);
}

fn unlimited(seed: u64) -> (PartSpec, Config) {
    let part = catalogue::test_part([8, 12, 24][seed as usize % 3], [512, 1024, 2048][seed as usize / 3 % 3]);
    let configs = if seed.is_multiple_of(2) { configs() } else { delta_configs() };
    (part, configs[seed as usize / 9 % 4])
}

/// Parts of every kind whose words may be programmed once or twice.
fn limited(seed: u64) -> (PartSpec, Config) {
    let parts = limited_parts([8, 12, 20][seed as usize % 3], [768, 1024, 2048][seed as usize / 3 % 3]);
    let configs = if (seed / 4).is_multiple_of(2) { configs() } else { delta_configs() };
    (parts[seed as usize % 4].clone(), configs[seed as usize / 9 % 4])
}

fn detecting(seed: u64) -> (PartSpec, Config) {
    let part = catalogue::test_part([14, 16, 24][seed as usize % 3], [512, 1024, 2048][seed as usize / 3 % 3]);
    (part, detecting_configs()[seed as usize / 9 % 4])
}

fn agree(seeds: std::ops::Range<u64>, ground: fn(u64) -> (PartSpec, Config)) {
    let seeds = from_environment("NORN_SEED").map_or(seeds, |seed| seed..seed + 1);
    let (mut done, mut refused) = (0, 0);
    for seed in seeds {
        let (spec, config) = ground(seed);
        let mut pair = Pair::new(spec, config);
        let mut random = fastrand::Rng::with_seed(seed);
        for number in 0..400 {
            let op = pair.draw(&mut random);
            let context = || {
                format!(
                    "after operation {number}, {op:?}; replay: \
                     NORN_SEED={seed} cargo test -p norn-object-heap --test suite random_operations::"
                )
            };
            match pair.step(&op, &context) {
                Outcome::Done => done += 1,
                Outcome::Refused => refused += 1,
                Outcome::PowerLost => unreachable!(),
            }
            let visible = pair.visible().clone();
            check(&mut pair.heap, &visible, &context);
            assert_eq!(pair.heap.device().refusals(), 0, "{}", context());
            if pair.open.is_none() {
                let mut again = model::mount(pair.heap.device().rebooted()).unwrap();
                check(&mut again, &visible, &context);
                if random.u8(0..20) == 0 {
                    pair.heap = again;
                }
            }
        }
    }
    println!("{done} operations done, {refused} refused");
    assert!(refused * 2 < done, "the heap was full most of the time");
}
