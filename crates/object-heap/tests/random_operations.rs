//! Random operations do to the heap what they do to a model in plain memory; the checker is silent after each of them, and
//! a heap mounted again holds the same.

mod model;

use model::{Outcome, Pair, TestHeap, check, configs, detecting_configs, from_environment};
use norn_flash_sim::catalogue;
use norn_object_heap::Config;

#[test]
fn random_operations_agree_with_the_model() {
    agree(0..40, [8, 12, 24], configs());
}

#[test]
fn random_operations_agree_with_the_model_with_error_detection() {
    agree(0..20, [14, 16, 24], detecting_configs());
}

#[test]
#[ignore = "long: 400,000 operations"]
fn many_random_operations_agree_with_the_model() {
    agree(1000..2000, [8, 12, 24], configs());
    agree(2000..2500, [14, 16, 24], detecting_configs());
}

fn agree(seeds: std::ops::Range<u64>, units: [u16; 3], configs: [Config; 4]) {
    let seeds = from_environment("NORN_SEED").map_or(seeds, |seed| seed..seed + 1);
    let (mut done, mut refused) = (0, 0);
    for seed in seeds {
        let spec = catalogue::test_part(units[seed as usize % 3], [512, 1024, 2048][seed as usize / 3 % 3]);
        let config = configs[seed as usize / 9 % 4];
        let mut pair = Pair::new(spec, config);
        let mut random = fastrand::Rng::with_seed(seed);
        for number in 0..400 {
            let op = pair.draw(&mut random);
            let context = || {
                format!(
                    "after operation {number}, {op:?}; replay: NORN_SEED={seed} cargo test --test random_operations"
                )
            };
            match pair.step(&op, &context) {
                Outcome::Done => done += 1,
                Outcome::Refused => refused += 1,
                Outcome::PowerLost => unreachable!(),
            }
            let visible = pair.visible().clone();
            check(&mut pair.heap, &visible, &context);
            if pair.open.is_none() {
                let mut again = TestHeap::mount(pair.heap.device().clone()).unwrap();
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
