//! Seeds of random tests: printed with every failure, and taken from `NORN_SEED` to replay one.

use std::ops::Range;

/// A number from the environment.
///
/// # Panics
/// If what is there is no number.
pub fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

/// One run of a random test.
#[derive(Clone, Debug)]
pub struct Run {
    /// Where everything random comes from.
    pub seed: u64,
    replay: String,
}

impl Run {
    /// The run's random numbers.
    pub fn random(&self) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.seed)
    }

    /// The command that replays it, for messages.
    pub fn replay(&self) -> &str {
        &self.replay
    }
}

/// The runs of `test`, the arguments that cargo takes: one for each seed, or for `NORN_SEED` alone.
///
/// ```
/// for run in norn_conformance::seeds(0..3, "-p norn-nor-remap --test suite power_cuts::") {
///     let mut random = run.random();
///     assert!(random.u8(..10) < 10, "replay: {}", run.replay());
/// }
/// ```
pub fn seeds(seeds: Range<u64>, test: &str) -> impl Iterator<Item = Run> + use<> {
    let seeds = from_environment("NORN_SEED").map_or(seeds, |seed| seed..seed + 1);
    let test = test.to_owned();
    seeds.map(move |seed| Run { seed, replay: format!("NORN_SEED={seed} cargo test {test}") })
}
