//! When the power is cut, and what that leaves of the operation in flight: drawn from a seed.

use fastrand::Rng;

use crate::nor::NorSim;
use crate::tear::Tear;

/// One in this many cuts is meant to hit the recovery from the one before.
const RECOVERY_CUT_PERIOD: u32 = 8;
/// Words and erases within which a recovery is hit.
const RECOVERY_OPERATIONS: u64 = 12;
/// How often the mean number of operations is doubled at most.
const DOUBLINGS_MAX: u32 = 20;

/// A sequence of power cuts.
#[derive(Debug)]
pub struct Cuts {
    /// Mean number of words programmed and units erased between a power-on and the cut.
    every: u32,
    random: Rng,
}

impl Cuts {
    /// The cuts of `seed`, one in `every` operations on average.
    pub fn new(seed: u64, every: u32) -> Cuts {
        Cuts { every, random: Rng::with_seed(seed) }
    }

    /// Plans the next one. The mean doubles with each of the `fruitless` cuts since a command last got through: however
    /// often the power is cut, a long command is completed in the end.
    pub fn plan(&mut self, device: &mut NorSim, fruitless: u32) {
        let mean = u64::from(self.every) << fruitless.min(DOUBLINGS_MAX);
        let operations = match self.random.u32(0..RECOVERY_CUT_PERIOD) {
            0 => self.random.u64(0..RECOVERY_OPERATIONS),
            _ => self.random.u64(0..=2 * mean),
        };
        device.cut_power_after(operations, Tear::draw(&mut self.random));
    }
}
