//! Initialization flags under short-lived objects, which the paper argues about and does not test (section 6.3).
//!
//! Objects are created, updated a given number of times, field after field, and deleted when they are the oldest; as
//! many live at a time as make the flash half full. What is counted is a life: creation, updates, deletion, and the
//! reclamations that follow from them.

use std::collections::VecDeque;

use norn_flash_sim::catalogue;
use norn_object_heap::Ref;
use serde::{Deserialize, Serialize};

use super::condition::{LIST_LENGTH, UNITS};
use super::paper::PAPER;
use super::population::{Shape, full};
use super::subject::{Flags, FlashHeap, Subject, configuration, flash};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::interval::Interval;
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Presentation, Table, figure};
use crate::settings::Settings;

/// Initialization flags under short-lived objects.
pub struct ShortLived;

/// Lives of objects.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    initialization_flags: Flags,
    object_bytes: u32,
    updates_a_life: u32,
    warm_up_erases: u64,
    windows: usize,
    window_erases: u64,
}

/// What a life costs, with half the widths of 95% confidence intervals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    objects: usize,
    lives: u64,
    reads: f64,
    writes: f64,
    writes_ci: Option<f64>,
    erases: f64,
    ms: f64,
    ms_ci: Option<f64>,
}

const UPDATES: [u32; 9] = [0, 1, 2, 5, 10, 25, 50, 100, 200];
const QUICK_UPDATES: [u32; 3] = [0, 10, 100];
const SIZES: [u32; 2] = [20, 100];

impl Experiment for ShortLived {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-short-lived",
            paper: PAPER,
            reproduces: "section 6.3, initialization flags under short-lived objects",
            summary: "Objects are created, updated a number of times (field after field, from the first again after \
                      the last), and deleted as the oldest of a population that makes the flash half full; cost of \
                      such a life with and without initialization flags.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let (warm_up_erases, windows, window_erases) =
            settings.choose((2 * UNITS, 3, UNITS), (5 * UNITS, 10, 2 * UNITS));
        let mut jobs = Vec::new();
        for &object_bytes in settings.choose(&SIZES[1..], &SIZES[..]) {
            for &updates_a_life in settings.choose(&QUICK_UPDATES[..], &UPDATES[..]) {
                for initialization_flags in [Flags::On, Flags::Off] {
                    let parameters = Parameters {
                        initialization_flags,
                        object_bytes,
                        updates_a_life,
                        warm_up_erases,
                        windows,
                        window_erases,
                    };
                    jobs.push(Job {
                        parameters,
                        seconds: (warm_up_erases + windows as u64 * window_erases) as f64 * 0.001,
                    });
                }
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let shape = Shape::of_bytes(parameters.object_bytes);
        // Both have the population of the heap with flags.
        let mut with_flags = flash(catalogue::tinystore(), configuration(LIST_LENGTH, Flags::On));
        let population = full(&mut with_flags, shape, LIST_LENGTH) / 2;
        let config = configuration(LIST_LENGTH, parameters.initialization_flags);
        let mut lives = Lives {
            heap: flash(catalogue::tinystore(), config),
            shape,
            updates: parameters.updates_a_life,
            living: VecDeque::new(),
            population,
        };
        lives.run_until(parameters.warm_up_erases)?;
        let (mut windows, mut counted) = (Vec::new(), 0);
        for window in 0..parameters.windows {
            let (before, ns) = lives.heap.totals();
            let count = lives.run_until(parameters.window_erases)?;
            let (after, ns_after) = lives.heap.totals();
            let counters = after - before;
            let sums = [
                counters.reads() as f64,
                counters.programs() as f64,
                counters.erases as f64,
                (ns_after - ns) as f64 / 1e6,
            ];
            windows.push(sums.map(|sum| sum / count as f64));
            counted += count;
            context.progress(window as u64 + 1, parameters.windows as u64);
        }
        let [reads, writes, erases, ms] =
            [0, 1, 2, 3].map(|which| Interval::of(&windows.iter().map(|window| window[which]).collect::<Vec<_>>()));
        Ok(vec![Row {
            objects: population,
            lives: counted,
            reads: reads.mean,
            writes: writes.mean,
            writes_ci: writes.half_width,
            erases: erases.mean,
            ms: ms.mean,
            ms_ci: ms.half_width,
        }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        Presentation {
            comparisons: vec![comparison(outcomes)],
            tables: vec![table(outcomes)],
            plots: vec![plot(outcomes)],
            remarks: Vec::new(),
        }
    }
}

/// A population whose oldest member dies when a new one is born.
struct Lives {
    heap: FlashHeap,
    shape: Shape,
    updates: u32,
    living: VecDeque<Ref>,
    population: usize,
}

impl Lives {
    fn run_until(&mut self, erases: u64) -> Result<u64, JobError> {
        let end = self.heap.totals().0.erases + erases;
        let mut lives = 0;
        while self.heap.totals().0.erases < end {
            self.live()?;
            lives += 1;
        }
        Ok(lives)
    }

    fn live(&mut self) -> Result<(), JobError> {
        let object =
            self.shape.create(&mut self.heap).ok_or_else(|| JobError::Failed("an object does not fit".to_owned()))?;
        for update in 0..self.updates {
            let (field, value) = (update as usize % self.shape.fields, update as u16 | 1);
            self.shape.put(&mut self.heap, object, field, value).map_err(JobError::while_doing("updating"))?;
        }
        self.living.push_back(object);
        if self.living.len() > self.population {
            let oldest = self.living.pop_front().expect("the population is not empty");
            self.heap.delete(oldest).map_err(JobError::while_doing("deleting"))?;
        }
        Ok(())
    }
}

fn row(outcomes: &[Outcome<Parameters, Row>], flags: Flags, bytes: u32, updates: u32) -> Option<&Row> {
    let is_it =
        |of: &Parameters| (of.initialization_flags, of.object_bytes, of.updates_a_life) == (flags, bytes, updates);
    outcomes.iter().find(|outcome| is_it(&outcome.parameters)).map(|outcome| &outcome.row)
}

/// Time of a life with flags over that without, by updates.
fn ratios(outcomes: &[Outcome<Parameters, Row>], bytes: u32) -> Vec<(u32, f64)> {
    let time = |flags, updates| Some(row(outcomes, flags, bytes, updates)?.ms);
    UPDATES
        .iter()
        .filter_map(|&updates| Some((updates, time(Flags::On, updates)? / time(Flags::Off, updates)?)))
        .collect()
}

fn comparison(outcomes: &[Outcome<Parameters, Row>]) -> Comparison {
    let ratios = ratios(outcomes, 100);
    let found = ratios.first().zip(ratios.last()).map(|(first, last)| {
        let text =
            |(updates, ratio): &(u32, f64)| format!("{} of the time without after {updates} updates", figure(*ratio));
        (first.1 < 1.0, format!("{}, {}", text(first), text(last)))
    });
    Comparison::claim("§6.3: initialization flags, objects deleted after few updates", "can improve performance", found)
}

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = [
        "bytes an object",
        "updates a life",
        "writes with flags",
        "±",
        "without",
        "±",
        "erases with",
        "without",
        "ms with",
        "±",
        "without",
        "±",
        "time, with / without",
    ];
    let mut table = Table::new("A life:", &columns);
    for with in outcomes.iter().filter(|outcome| outcome.parameters.initialization_flags == Flags::On) {
        let of = &with.parameters;
        let Some(without) = row(outcomes, Flags::Off, of.object_bytes, of.updates_a_life) else { continue };
        let half = |half_width: Option<f64>| half_width.map_or_else(String::new, |half| format!("{half:.1e}"));
        let with = &with.row;
        let mut cells = vec![of.object_bytes.to_string(), of.updates_a_life.to_string()];
        cells.extend([figure(with.writes), half(with.writes_ci), figure(without.writes), half(without.writes_ci)]);
        cells.extend([figure(with.erases), figure(without.erases)]);
        cells.extend([figure(with.ms), half(with.ms_ci), figure(without.ms), half(without.ms_ci)]);
        cells.push(format!("{:.3}", with.ms / without.ms));
        table.push(cells);
    }
    table
}

fn plot(outcomes: &[Outcome<Parameters, Row>]) -> Plot {
    // The axis is of powers of ten, so that no updates are drawn at a half.
    let place = |updates: u32| if updates == 0 { 0.5 } else { f64::from(updates) };
    let sizes: Vec<u32> = SIZES.into_iter().filter(|&bytes| !ratios(outcomes, bytes).is_empty()).collect();
    let times = sizes.iter().map(|&bytes| {
        let points = ratios(outcomes, bytes).into_iter().map(|(updates, ratio)| (place(updates), ratio));
        Series::line(format!("{bytes} bytes"), points.collect())
    });
    let writes =
        sizes.iter().flat_map(|&bytes| [Flags::On, Flags::Off].map(|flags| (bytes, flags))).map(|(bytes, flags)| {
            let points = UPDATES
                .iter()
                .filter_map(|&updates| Some((place(updates), row(outcomes, flags, bytes, updates)?.writes)));
            let name = if flags == Flags::On { "with flags" } else { "without" };
            Series::line(format!("{bytes} bytes, {name}"), points.collect())
        });
    let panel = |y, chart| Panel { title: String::new(), x: Axis::log("updates a life (0 is drawn at 0.5)"), y, chart };
    Plot {
        name: "tinystore-short-lived".to_owned(),
        title: "Initialization flags under short-lived objects".to_owned(),
        panels: vec![
            panel(Axis::linear("time of a life, with flags / without"), Chart::Lines(times.collect())),
            panel(Axis::log("words written a life"), Chart::Lines(writes.collect())),
        ],
        columns: 2,
    }
}
