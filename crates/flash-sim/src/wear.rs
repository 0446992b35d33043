//! How often the units of a part have been erased, and how times are printed.

use std::fmt;

/// Erase counts of a part in three figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WearSummary {
    /// Of the unit erased least often.
    pub min: u32,
    /// Of all units on average.
    pub mean: f64,
    /// Of the unit erased most often.
    pub max: u32,
}

impl WearSummary {
    /// The wear of a part whose units have been erased so often.
    pub fn of(erase_counts: impl ExactSizeIterator<Item = u32> + Clone) -> WearSummary {
        let sum: u64 = erase_counts.clone().map(u64::from).sum();
        let mean = sum as f64 / erase_counts.len() as f64;
        WearSummary { min: erase_counts.clone().min().unwrap_or(0), mean, max: erase_counts.max().unwrap_or(0) }
    }
}

impl fmt::Display for WearSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "min {}, mean {:.2}, max {}", self.min, self.mean, self.max)
    }
}

/// A simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nanoseconds(pub u64);

impl fmt::Display for Nanoseconds {
    /// With four significant digits or so, in the largest unit that leaves something before the point.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ns @ 0..1_000 => write!(f, "{ns} ns"),
            ns @ 1_000..1_000_000 => write!(f, "{:.1} us", ns as f64 / 1e3),
            ns @ 1_000_000..1_000_000_000 => write!(f, "{:.2} ms", ns as f64 / 1e6),
            ns => write!(f, "{:.3} s", ns as f64 / 1e9),
        }
    }
}
