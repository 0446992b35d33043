//! Damaged parts below a `Remap` are refused or used, whatever bytes they are made from: what the fuzz target
//! `remap_image` plays.

use norn_fuzz_inputs::remap_image::try_damaged;

#[test]
fn damaged_parts_are_refused_or_used() {
    for seed in 0..2_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = vec![0; random.usize(0..60)];
        random.fill(&mut bytes);
        let tried = std::panic::catch_unwind(|| try_damaged(&bytes));
        assert!(tried.is_ok(), "seed {seed}, damage {bytes:?}");
    }
}
