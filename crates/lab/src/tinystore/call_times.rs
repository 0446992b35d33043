//! How far single calls are apart: the overhead that a caller cannot foresee, a weakness with which the paper concludes
//! (section 7).
//!
//! Measured by the published structure and with delta records; with reclamations when they are needed, and ahead of
//! time, in steps between the calls, as a caller with deadlines has them made.

use norn_flash_sim::catalogue;
use norn_object_heap::Ref;
use serde::{Deserialize, Serialize};

use super::condition::UNITS;
use super::paper::PAPER;
use super::population::{Shape, fresh};
use super::subject::{FlashHeap, Structure, Subject, flash};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Plot, Series};
use crate::presentation::{Presentation, Table, figure};
use crate::settings::Settings;

/// Times of single calls.
pub struct CallTimes;

/// When units are reclaimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reclaiming {
    /// By the call that finds no room.
    WhenNeeded,
    /// Between calls, by `reclaim_step`: a new log unit when the last one is half full, and units as long as less than
    /// two are ready.
    Ahead,
}

/// Durable updates of one random field.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    structure: Structure,
    reclaiming: Reclaiming,
    warm_up_erases: u64,
    calls: usize,
    seed: u64,
}

/// Simulated milliseconds of a call, and what a call costs on average with the steps between calls.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    objects: usize,
    median: f64,
    of_10: f64,
    of_100: f64,
    of_1000: f64,
    of_10000: f64,
    worst: f64,
    calls_that_erased: u64,
    mean_with_steps: f64,
    step_worst: f64,
}

const SHAPE: Shape = Shape { fields: 50, width: 2 };
const UNIT_BYTES: u64 = 8 * 1024;
/// What a step is to win at least while less than two units are ready; while less than one is, anything.
const LEAST_BYTES: u32 = 512;

impl Experiment for CallTimes {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-call-times",
            paper: PAPER,
            reproduces: "section 7, overhead that cannot be foreseen",
            summary: "The paper concludes that the overhead of an update is unpredictable. Simulated time of a durable \
                      update of one random field, 20/80, half as many objects of fifty fields as fit when just \
                      created: by the published structure and with delta records; with units reclaimed on demand, by \
                      the call that needs room, and ahead, by `reclaim_step` between calls, which is not in the call's \
                      time.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let (warm_up_erases, calls) = settings.choose((2 * UNITS, 20_000), (10 * UNITS, 1_000_000));
        let all = Structure::BOTH.into_iter().flat_map(|structure| {
            [Reclaiming::WhenNeeded, Reclaiming::Ahead].map(|reclaiming| (structure, reclaiming))
        });
        let job = |(structure, reclaiming)| Job {
            parameters: Parameters { structure, reclaiming, warm_up_erases, calls, seed: settings.seed },
            seconds: calls as f64 * 1e-5,
        };
        all.map(job).collect()
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let mut calls = Calls::new(parameters)?;
        while calls.heap.totals().0.erases < parameters.warm_up_erases {
            calls.call(parameters.reclaiming)?;
        }
        let (start, mut times, mut calls_that_erased, mut step_worst) = (calls.now(), Vec::new(), 0, 0);
        for number in 0..parameters.calls {
            let call = calls.call(parameters.reclaiming)?;
            times.push(call.ns);
            calls_that_erased += u64::from(call.erased);
            step_worst = step_worst.max(call.step_ns);
            if number % 1000 == 0 {
                context.progress(number as u64, parameters.calls as u64);
            }
        }
        let mean = (calls.now() - start) as f64 / parameters.calls as f64;
        times.sort_unstable();
        let ms = |ns: u64| ns as f64 / 1e6;
        let but = |one_in: usize| ms(times[times.len() - 1 - times.len() / one_in]);
        Ok(vec![Row {
            objects: calls.objects.len(),
            median: but(2),
            of_10: but(10),
            of_100: but(100),
            of_1000: but(1000),
            of_10000: but(10_000),
            worst: ms(times[times.len() - 1]),
            calls_that_erased,
            mean_with_steps: mean / 1e6,
            step_worst: ms(step_worst),
        }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        Presentation { tables: vec![table(outcomes)], plots: vec![plot(outcomes)], ..Presentation::default() }
    }
}

/// A heap that is updated call by call.
struct Calls {
    heap: FlashHeap,
    objects: Vec<Ref>,
    random: fastrand::Rng,
}

/// One call, and the longest step before it.
struct Call {
    ns: u64,
    erased: bool,
    step_ns: u64,
}

impl Calls {
    fn new(parameters: &Parameters) -> Result<Calls, JobError> {
        let config = parameters.structure.config();
        let objects = fresh(&mut flash(catalogue::tinystore(), config), SHAPE) / 2;
        let mut heap = flash(catalogue::tinystore(), config);
        let objects: Option<Vec<Ref>> = (0..objects).map(|_| SHAPE.create(&mut heap)).collect();
        let objects = objects.ok_or_else(|| JobError::Failed("half of what fits does not fit".to_owned()))?;
        for &object in &objects {
            let values = [1; SHAPE.fields * 2];
            heap.put_fields(object, 0, &values).map_err(JobError::while_doing("setting all fields"))?;
        }
        Ok(Calls { heap, objects, random: fastrand::Rng::with_seed(parameters.seed) })
    }

    fn now(&self) -> u64 {
        self.heap.totals().1
    }

    /// The longest of the steps.
    fn reclaim_ahead(&mut self) -> Result<u64, JobError> {
        let mut longest = 0;
        loop {
            let least = match self.heap.ready_bytes() / UNIT_BYTES {
                0 => 1,
                1 => LEAST_BYTES,
                _ => UNIT_BYTES as u32, // Nothing but a new log unit, or a unit that is free.
            };
            let before = self.now();
            if !self.heap.reclaim_step(least).map_err(JobError::while_doing("reclaiming ahead"))? {
                return Ok(longest);
            }
            longest = longest.max(self.now() - before);
        }
    }

    fn call(&mut self, reclaiming: Reclaiming) -> Result<Call, JobError> {
        let step_ns = match reclaiming {
            Reclaiming::WhenNeeded => 0,
            Reclaiming::Ahead => self.reclaim_ahead()?,
        };
        let hot = self.objects.len() / 5;
        let range = if self.random.f32() < 0.9 { 0..hot } else { hot..self.objects.len() };
        let (object, field) = (self.objects[self.random.usize(range)], self.random.usize(..SHAPE.fields));
        let (before, ns) = self.heap.totals();
        let value = self.random.u16(..);
        SHAPE.put(&mut self.heap, object, field, value).map_err(JobError::while_doing("updating"))?;
        let (after, ns_after) = self.heap.totals();
        Ok(Call { ns: ns_after - ns, erased: after.erases > before.erases, step_ns })
    }
}

fn name(of: &Parameters) -> String {
    let when = match of.reclaiming {
        Reclaiming::WhenNeeded => "on demand",
        Reclaiming::Ahead => "ahead",
    };
    format!("{}, {when}", of.structure.name())
}

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = [
        "structure",
        "objects",
        "median, ms",
        "90%",
        "99%",
        "99.9%",
        "99.99%",
        "worst",
        "calls that erased",
        "mean with steps",
        "longest step",
    ];
    let mut table = Table::new("A call, simulated milliseconds:", &columns);
    for Outcome { parameters, row } in outcomes {
        let times = [row.median, row.of_10, row.of_100, row.of_1000, row.of_10000, row.worst].map(figure);
        let mut cells = vec![name(parameters), row.objects.to_string()];
        cells.extend(times);
        cells.extend([row.calls_that_erased.to_string(), figure(row.mean_with_steps), figure(row.step_worst)]);
        table.push(cells);
    }
    table
}

fn plot(outcomes: &[Outcome<Parameters, Row>]) -> Plot {
    let line = |Outcome { parameters, row }: &Outcome<Parameters, Row>| {
        let times = [row.median, row.of_10, row.of_100, row.of_1000, row.of_10000];
        let points = [2.0, 1e1, 1e2, 1e3, 1e4].into_iter().zip(times).collect();
        Series::line(name(parameters), points)
    };
    Plot::single(
        "tinystore-call-times",
        "Times of single updates",
        Axis::log("one call in N takes longer"),
        Axis::log("simulated milliseconds"),
        Chart::Lines(outcomes.iter().map(line).collect()),
    )
}
