//! The request for a run, on the command line; kept beside the results.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Depth {
    /// Every experiment in small: all of them in under two minutes on two cores.
    Quick,
    /// What the published results are compared with.
    Full,
}

/// The request for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Everything random derives from it.
    pub seed: u64,
    /// How much is measured.
    pub depth: Depth,
    /// Erases of a unit, or writes of a byte, after which a part counts as worn out in experiments that wear parts out.
    pub endurance: u32,
    /// Directory with data that the project may not bring along, such as traces.
    pub data: Option<PathBuf>,
    /// A block trace, which the project may not bring along either.
    #[serde(default)]
    pub trace: Option<PathBuf>,
}

impl Settings {
    /// The settings with which results are compared with the published ones: seed 2006, lifetimes at 1,000 erases.
    pub fn full() -> Settings {
        Settings { seed: 2006, depth: Depth::Full, endurance: 1000, data: None, trace: None }
    }

    /// Small settings, for tests.
    pub fn quick() -> Settings {
        Settings { depth: Depth::Quick, endurance: 10, ..Settings::full() }
    }

    /// `quick` or `full`, by depth.
    pub fn choose<T>(&self, quick: T, full: T) -> T {
        match self.depth {
            Depth::Quick => quick,
            Depth::Full => full,
        }
    }
}
