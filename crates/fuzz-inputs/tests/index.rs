//! Damaged sorted maps are refused or used, and calls that are cut happen wholly or not at all, whatever bytes they are
//! made from: what the fuzz targets `index_image` and `index_operations` play.

use norn_fuzz_inputs::{index_image, index_operations};

fn try_random(seeds: u64, bytes_max: usize, check: fn(&[u8])) {
    for seed in 0..seeds {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = vec![0; random.usize(0..bytes_max)];
        random.fill(&mut bytes);
        let tried = std::panic::catch_unwind(|| check(&bytes));
        assert!(tried.is_ok(), "seed {seed}, bytes {bytes:?}");
    }
}

#[test]
fn damaged_maps_are_refused_or_used() {
    try_random(1_000, 60, index_image::try_damaged);
}

#[test]
fn cut_calls_happen_wholly_or_not_at_all() {
    try_random(150, 600, index_operations::try_operations);
}
