//! Steady state: windows of updates until three in a row agree and units were erased often enough.
//!
//! A window ends after a number of erases a unit and a number of calls, whichever comes later: a store that erases
//! fifty units for each call would otherwise be judged by a dozen calls. Windows agree if the words programmed for
//! each field are within [`AGREEMENT`] of each other. What does not come to rest ends after many erases, and what
//! reads without measure after a number of words read; both say so.
//!
//! Invariant: figures are of the last three windows alone, whatever came before.

use norn_flash::Nor;
use norn_flash_sim::Counters;

use crate::device::Device;
use crate::store::Failure;

/// Windows agree if the highest is at most this much above the lowest.
const AGREEMENT: f64 = 1.02;
/// Windows that have to agree, and that figures are of.
const WINDOWS: usize = 3;

/// How long to run.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// Mean erases a unit before a run may end.
    pub erases_min: u64,
    /// Mean erases a unit in a window, at least.
    pub window_erases: u64,
    /// Calls in a window, at least.
    pub window_calls: u64,
    /// Mean erases a unit after which a run ends although its windows do not agree,
    pub erases_max: u64,
    /// if there were as many windows as this.
    pub windows_max: usize,
    /// Calls before a run may end.
    pub calls_min: u64,
    /// Words read after which it ends in any case.
    pub words_read: u64,
}

impl Length {
    /// For figures that are kept: so many erases a unit, and windows of 12 if they are 200.
    pub const fn full(erases_min: u64) -> Length {
        let window_erases = if erases_min < 17 { 1 } else { erases_min * 12 / 200 };
        Length {
            erases_min,
            window_erases,
            window_calls: 1_000,
            erases_max: 6 * erases_min,
            windows_max: 12,
            calls_min: 0,
            words_read: 3_000_000_000,
        }
    }

    /// For a look whether everything works.
    pub const fn quick(erases_min: u64) -> Length {
        Length { window_calls: 20, words_read: 18_000_000, ..Length::full(erases_min) }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its windows agree, and units were erased often enough.
    Steady,
    /// Its windows never agreed.
    Wandering,
    /// It read as much as was allowed.
    Reads,
}

/// What was counted over the last windows.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Fields updated.
    pub fields: u64,
    /// Calls, or transactions.
    pub calls: u64,
    /// Words programmed.
    pub programs: u64,
    /// Units erased.
    pub erases: u64,
    /// Words read.
    pub reads: u64,
    /// Simulated time.
    pub time_ns: u64,
    /// Mean erases a unit since the run began.
    pub erases_a_unit: f64,
    /// Why no more.
    pub ended: Ended,
}

impl Figures {
    /// The same with the reads and the time of a sample, as if it had been as long.
    pub fn with_reads_of(self, sample: &Figures) -> Figures {
        let scaled = |count: u64| (count as f64 * self.fields as f64 / sample.fields as f64) as u64;
        Figures { reads: scaled(sample.reads), time_ns: scaled(sample.time_ns), ..self }
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Fields that it updated.
    pub fields: u64,
    /// Calls, or transactions.
    pub calls: u64,
}

/// Where a run was at a time.
#[derive(Clone, Copy, Debug)]
struct Mark {
    fields: u64,
    calls: u64,
    counters: Counters,
    time_ns: u64,
}

/// Words programmed for each field between two marks.
fn cost(from: &Mark, to: &Mark) -> f64 {
    (to.counters - from.counters).programs() as f64 / (to.fields - from.fields) as f64
}

/// Whether costs agree.
fn agree(costs: &[f64]) -> bool {
    let (least, most) = costs.iter().fold((f64::INFINITY, 0.0), |(a, b), &cost| (cost.min(a), cost.max(b)));
    most <= least * AGREEMENT
}

/// Runs steps until the length is reached.
///
/// # Errors
/// What a step fails with, and how many fields were updated before.
pub fn run(
    device: &Device,
    length: &Length,
    mut step: impl FnMut() -> Result<Step, Failure>,
) -> Result<Figures, (Failure, u64)> {
    let units = u64::from(device.part().unit_count);
    let now = |fields, calls| Mark { fields, calls, counters: device.counters(), time_ns: device.elapsed_ns() };
    let mut marks = vec![now(0, 0)];
    let (mut fields, mut calls) = (0, 0);
    loop {
        let done = step().map_err(|failure| (failure, fields))?;
        (fields, calls) = (fields + done.fields, calls + done.calls);
        let (start, window) = (marks[0].counters, marks[marks.len() - 1]);
        let counters = device.counters();
        let erases = |since: Counters| (counters - since).erases / units;
        let is_spent = (counters - start).reads() >= length.words_read;
        let is_whole = erases(window.counters) >= length.window_erases && calls - window.calls >= length.window_calls;
        if !is_whole && !is_spent {
            continue;
        }
        marks.push(now(fields, calls));
        let last = &marks[marks.len().saturating_sub(WINDOWS + 1)..];
        let costs: Vec<f64> = last.windows(2).map(|pair| cost(&pair[0], &pair[1])).collect();
        let settled = is_whole && costs.len() == WINDOWS && agree(&costs);
        let is_long = erases(start) >= length.erases_min && calls >= length.calls_min;
        let ended = if settled && is_long {
            Ended::Steady
        } else if is_spent {
            Ended::Reads
        } else if is_long && erases(start) >= length.erases_max && marks.len() > length.windows_max {
            Ended::Wandering
        } else {
            continue;
        };
        let erases_a_unit = (counters - start).erases as f64 / units as f64;
        return Ok(figures(&last[0], &last[last.len() - 1], erases_a_unit, ended));
    }
}

fn figures(from: &Mark, to: &Mark, erases_a_unit: f64, ended: Ended) -> Figures {
    let counters = to.counters - from.counters;
    Figures {
        fields: to.fields - from.fields,
        calls: to.calls - from.calls,
        programs: counters.programs(),
        erases: counters.erases,
        reads: counters.reads(),
        time_ns: to.time_ns - from.time_ns,
        erases_a_unit,
        ended,
    }
}

#[cfg(test)]
mod tests {
    use norn_flash_sim::{NorSim, catalogue};

    use super::*;

    const LENGTH: Length = Length {
        erases_min: 60,
        window_erases: 2,
        window_calls: 1,
        erases_max: 300,
        windows_max: 12,
        calls_min: 0,
        words_read: 1 << 40,
    };

    const ONE: Step = Step { fields: 1, calls: 1 };

    /// Runs a store that erases a unit with each call and programs as many words as `words` says of the erases a unit
    /// so far.
    fn run_with(length: &Length, words: impl Fn(u64) -> u64) -> Figures {
        let mut spec = catalogue::tinystore();
        spec.part.unit_count = 4;
        let device = Device::new(NorSim::new(spec));
        let mut calls = 0;
        run(&device, length, || {
            let unit = (calls % 4) as u16;
            device.erase_unit(unit).map_err(Failure::of)?;
            let bytes = 4 * words(calls / 4) as usize;
            device.program_at(u32::from(unit) * 8192, &vec![0; bytes]).map_err(Failure::of)?;
            calls += 1;
            Ok(ONE)
        })
        .unwrap()
    }

    fn words_a_field(figures: &Figures) -> f64 {
        figures.programs as f64 / figures.fields as f64
    }

    #[test]
    fn a_store_that_grows_dearer_is_not_measured_before_it_stops() {
        let figures = run_with(&LENGTH, |erases| 100 + 10 * erases.min(150));
        assert_eq!(figures.ended, Ended::Steady);
        assert!(words_a_field(&figures) >= 1600.0 / AGREEMENT && figures.erases_a_unit > 145.0, "{figures:?}");
    }

    #[test]
    fn a_cheap_beginning_is_not_measured_however_even_it_is() {
        let figures = run_with(&LENGTH, |erases| if erases < 50 { 100 } else { 200 });
        assert_eq!((figures.ended, words_a_field(&figures)), (Ended::Steady, 200.0));
    }

    #[test]
    fn a_store_that_never_rests_is_said_not_to() {
        let figures = run_with(&LENGTH, |erases| if erases / 2 % 2 == 0 { 100 } else { 110 });
        assert_eq!(figures.ended, Ended::Wandering);
    }

    #[test]
    fn a_store_that_reads_without_measure_is_said_to() {
        let device = Device::new(NorSim::new(catalogue::tinystore()));
        let length = Length { words_read: 10_000, ..LENGTH };
        let read = || device.read_at(0, &mut [0; 4096]).map(|()| ONE).map_err(Failure::of);
        let figures = run(&device, &length, read).unwrap();
        assert_eq!((figures.ended, figures.erases, figures.calls), (Ended::Reads, 0, 10));
    }

    #[test]
    fn costs_agree_within_two_in_a_hundred() {
        assert!(agree(&[1000.0, 1019.0, 1001.0]));
        assert!(!agree(&[1000.0, 1021.0, 1001.0]));
        assert!(!agree(&[1021.0, 1010.0, 1000.0]));
    }
}
