//! Steady state: windows of erases until three in a row agree and units were erased often enough.

use norn_flash::Nor;
use serde::{Deserialize, Serialize};

use super::population::{Population, Refusal, Update};
use super::subject::Subject;
use crate::error::JobError;
use crate::experiment::Context;

/// Windows agree if the highest is at most this much above the lowest.
const AGREEMENT: f64 = 1.02;

/// How long a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Length {
    /// Erases a unit before it may end.
    pub erases_min: u64,
    /// Erases a unit in a window.
    pub window: u64,
    /// Erases a unit after which it ends although windows do not agree.
    pub erases_max: u64,
}

impl Length {
    /// As every row that is compared with a bar.
    pub const FULL: Length = Length { erases_min: 200, window: 12, erases_max: 1200 };
    /// For a look whether everything works.
    pub const QUICK: Length = Length { erases_min: 2, window: 1, erases_max: 12 };
}

/// Whether steps are taken ahead of need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pace {
    /// None.
    NoSteps,
    /// Before each call, as many as there is need for.
    Steps,
}

/// What updates cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// Program units for each field updated, over the last three windows.
    pub programs: f64,
    /// Units erased for each field updated.
    pub erases: f64,
    /// Words read for each field updated.
    pub reads: f64,
    /// Windows that were run.
    pub windows: u64,
    /// Whether the last three agree.
    pub settled: bool,
    /// Program units of the longest call, transaction or fifty calls of all windows, without steps.
    pub worst_programs: u64,
    /// Units that one of them erased at most.
    pub worst_erases: u64,
    /// Program units of the longest step.
    pub worst_step: u64,
}

/// What was counted in a window.
#[derive(Clone, Copy, Default)]
struct Window {
    updates: u64,
    programs: u64,
    erases: u64,
    reads: u64,
}

impl Window {
    fn cost(&self) -> f64 {
        self.programs as f64 / self.updates as f64
    }
}

/// Whether windows agree.
fn agree(windows: &[Window]) -> bool {
    let costs = || windows.iter().map(Window::cost);
    costs().fold(0.0, f64::max) <= costs().fold(f64::INFINITY, f64::min) * AGREEMENT
}

/// A run of one kind of update.
pub struct Run<'a> {
    /// Of what.
    pub update: Update,
    /// With steps or without.
    pub pace: Pace,
    /// How long.
    pub length: Length,
    /// To whom progress is told.
    pub context: &'a Context<'a>,
}

impl Run<'_> {
    /// Updates until windows agree.
    ///
    /// # Errors
    /// `Full` where there is no room, or what is no result.
    pub fn steady(&self, heap: &mut impl Subject, population: &mut Population) -> Result<Steady, Refusal> {
        let units = u64::from(heap.part().part().unit_count);
        let (mut windows, mut steady) = (Vec::new(), Steady::default());
        let start = heap.part().counters().erases;
        loop {
            windows.push(self.window(heap, population, &mut steady, self.length.window * units)?);
            let erases = (heap.part().counters().erases - start) / units;
            self.context.progress(erases, self.length.erases_min);
            let last = &windows[windows.len().saturating_sub(3)..];
            let settled = last.len() == 3 && agree(last);
            if erases >= self.length.erases_min && settled || erases >= self.length.erases_max {
                let sum = |count: fn(&Window) -> u64| last.iter().map(count).sum::<u64>() as f64;
                let updates = sum(|window| window.updates);
                steady.programs = sum(|window| window.programs) / updates;
                steady.erases = sum(|window| window.erases) / updates;
                steady.reads = sum(|window| window.reads) / updates;
                (steady.windows, steady.settled) = (windows.len() as u64, settled);
                return Ok(steady);
            }
        }
    }

    /// Updates until so many erases; notes the worst calls in `steady`.
    fn window(
        &self,
        heap: &mut impl Subject,
        population: &mut Population,
        steady: &mut Steady,
        erases: u64,
    ) -> Result<Window, Refusal> {
        let (start, mut updates) = (heap.part().counters(), 0);
        loop {
            if self.pace == Pace::Steps {
                steady.worst_step = steady.worst_step.max(heap.steps()?);
            }
            let before = heap.part().counters();
            updates += population.update(heap, self.update)?;
            let now = heap.part().counters();
            let call = now - before;
            steady.worst_programs = steady.worst_programs.max(call.programs());
            steady.worst_erases = steady.worst_erases.max(call.erases);
            let window = now - start;
            if window.erases >= erases {
                let (programs, erases, reads) = (window.programs(), window.erases, window.reads());
                return Ok(Window { updates, programs, erases, reads });
            }
        }
    }
}

/// Erases of the most worn unit by the mean, and the mean.
pub fn wear(heap: &impl Subject) -> (f64, f64) {
    let counts: Vec<u32> = heap.part().erase_counts().collect();
    let mean = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    (f64::from(counts.into_iter().max().unwrap_or(0)) / mean, mean)
}

/// What a mount does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Words read.
    pub mount_reads: u64,
    /// Program units.
    pub mount_programs: u64,
    /// Units erased.
    pub mount_erases: u64,
    /// Microseconds of the part.
    pub mount_us: u64,
}

impl Mount {
    /// Mounts again.
    ///
    /// # Errors
    /// The mount's.
    pub fn measure(heap: &mut impl Subject) -> Result<Mount, JobError> {
        let (before, start) = (heap.part().counters(), heap.part().elapsed_ns());
        heap.remount()?;
        let counted = heap.part().counters() - before;
        Ok(Mount {
            mount_reads: counted.reads(),
            mount_programs: counted.programs(),
            mount_erases: counted.erases,
            mount_us: (heap.part().elapsed_ns() - start) / 1000,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_agree_within_two_per_cent() {
        let windows = |costs: [u64; 3]| costs.map(|programs| Window { updates: 100, programs, ..Window::default() });
        assert!(agree(&windows([1000, 1019, 1001])));
        assert!(!agree(&windows([1000, 1021, 1001])));
        assert!(!agree(&windows([1021, 1010, 1000])));
    }
}
