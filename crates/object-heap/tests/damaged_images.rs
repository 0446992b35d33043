//! Damaged images give an error or a consistent heap: never a panic, a loop, or an access outside the part.

use std::collections::BTreeMap;

use norn_fuzz_inputs::heap_image::{Fate, IMAGES_COUNT, try_damaged};

fn run(seeds: std::ops::Range<u64>) {
    let mut fates: BTreeMap<Fate, u64> = BTreeMap::new();
    for seed in seeds {
        let mut random = fastrand::Rng::with_seed(seed);
        let bytes: Vec<u8> = (0..random.usize(20..200)).map(|_| random.u8(..)).collect();
        let tried = std::panic::catch_unwind(|| try_damaged(&bytes));
        let fate =
            tried.unwrap_or_else(|_| panic!("replay: NORN_SEED={seed} cargo test --test suite damaged_images::"));
        *fates.entry(fate).or_default() += 1;
    }
    println!("{fates:?}");
}

#[test]
fn undamaged_images_are_consistent() {
    for variant in 0..IMAGES_COUNT as u8 {
        assert_eq!(try_damaged(&[variant]), Fate::Consistent);
    }
}

#[test]
fn damaged_images_are_refused_noticed_or_harmless() {
    let seed = std::env::var("NORN_SEED").ok().map(|text| text.parse::<u64>().expect("NORN_SEED is a number"));
    run(seed.map_or(0..4_000, |seed| seed..seed + 1));
}

#[test]
#[ignore = "long: half a million images"]
fn many_damaged_images() {
    run(1_000_000..1_500_000);
}
