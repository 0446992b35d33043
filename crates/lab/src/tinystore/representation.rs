//! Read-optimized and modify-optimized objects (section 1, service 3), which the paper offers and does not measure.
//!
//! Random fields of random objects are updated until costs are steady, all objects being in one representation or the
//! other; then random fields are read. From both follows how many reads an update must have for the read-optimized
//! representation to take less time.

use norn_flash_sim::catalogue;
use norn_object_heap::{Config, Representation};
use serde::{Deserialize, Serialize};

use super::condition::UNITS;
use super::costs::{Costs, Plan, Run};
use super::paper::PAPER;
use super::population::{Shape, full};
use super::subject::{Flags, Structure, Subject, configuration, flash};
use super::workload::{Updates, Workload};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Presentation, Table, figure};
use crate::settings::Settings;

/// Both representations.
pub struct Representations;

/// Which accesses are to be cheap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Optimized {
    /// Updates.
    Modify,
    /// Reads.
    Read,
}

/// Objects under updates and reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    structure: Structure,
    optimized: Optimized,
    list_length_max: u8,
    object_bytes: u32,
    warm_up_erases_a_unit: u64,
    measured_erases_a_unit: u64,
    windows: usize,
    field_reads: u64,
    seed: u64,
}

/// What an update and a read of a field cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    objects: usize,
    #[serde(flatten)]
    update: Costs,
    read_words: f64,
    read_ms: f64,
}

const SIZES: [u32; 3] = [20, 100, 500];
const QUICK_SIZES: [u32; 1] = [100];
const LENGTHS: [u8; 3] = [2, 4, 8];

impl Experiment for Representations {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-representations",
            paper: PAPER,
            reproduces: "section 1, read- and modify-optimized objects",
            summary: "Updates and reads of random fields of random objects, all of them modify-optimized or all \
                      read-optimized, on a part that is half full; by structure, longest list, and size.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let (warm_up_erases_a_unit, measured_erases_a_unit, windows) = settings.choose((2, 3, 3), (50, 50, 10));
        let mut jobs = Vec::new();
        for &object_bytes in settings.choose(&QUICK_SIZES[..], &SIZES[..]) {
            for &list_length_max in settings.choose(&LENGTHS[..1], &LENGTHS[..]) {
                for structure in Structure::BOTH {
                    for optimized in [Optimized::Modify, Optimized::Read] {
                        let parameters = Parameters {
                            structure,
                            optimized,
                            list_length_max,
                            object_bytes,
                            warm_up_erases_a_unit,
                            measured_erases_a_unit,
                            windows,
                            field_reads: 20_000,
                            seed: settings.seed,
                        };
                        let seconds = (UNITS * (warm_up_erases_a_unit + measured_erases_a_unit)) as f64 * 0.002;
                        jobs.push(Job { parameters, seconds });
                    }
                }
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let shape = Shape::of_bytes(parameters.object_bytes);
        // Both structures have the population of the published one.
        let length = parameters.list_length_max;
        let objects = full(&mut flash(catalogue::tinystore(), configuration(length, Flags::On)), shape, length) / 2;
        let config = Config { list_length_max: length, ..parameters.structure.config() };
        let updates = Updates::new(Workload::TotallyRandom, objects, shape.fields, parameters.seed);
        let heap = flash(catalogue::tinystore(), config);
        let run = Run::new(heap, shape, objects, updates, context)
            .ok_or_else(|| JobError::Failed(format!("{objects} objects do not fit")))?;
        let mut run = run.with_values().map_err(JobError::Failed)?;
        if parameters.optimized == Optimized::Read {
            let (heap, objects) = run.parts();
            for &object in objects {
                heap.set_representation(object, Representation::ReadOptimized)
                    .map_err(JobError::while_doing("changing the representation"))?;
            }
        }
        let plan = Plan::per_unit(
            UNITS,
            parameters.warm_up_erases_a_unit,
            parameters.measured_erases_a_unit,
            parameters.windows,
        );
        let update = run.costs(plan).map_err(JobError::Failed)?;
        let (heap, refs) = run.parts();
        let mut random = fastrand::Rng::with_seed(parameters.seed);
        let (before, ns) = heap.totals();
        for _ in 0..parameters.field_reads {
            let (object, field) = (refs[random.usize(..objects)], random.usize(..shape.fields));
            heap.get_field(object, field, &mut [0; 2]).map_err(JobError::while_doing("reading"))?;
        }
        let (after, ns_after) = heap.totals();
        let reads = parameters.field_reads as f64;
        Ok(vec![Row {
            objects,
            update,
            read_words: (after - before).reads() as f64 / reads,
            read_ms: (ns_after - ns) as f64 / 1e6 / reads,
        }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        Presentation {
            comparisons: Vec::new(),
            tables: vec![table(outcomes)],
            plots: vec![plot(outcomes)],
            remarks: Vec::new(),
        }
    }
}

/// The rows of one condition, modify-optimized and read-optimized.
fn pairs(outcomes: &[Outcome<Parameters, Row>]) -> impl Iterator<Item = (&Parameters, &Row, &Row)> {
    let key = |of: &Parameters| (of.structure, of.list_length_max, of.object_bytes);
    let modify = outcomes.iter().filter(|outcome| outcome.parameters.optimized == Optimized::Modify);
    modify.filter_map(move |modify| {
        let is_other = |other: &&Outcome<Parameters, Row>| {
            other.parameters.optimized == Optimized::Read && key(&other.parameters) == key(&modify.parameters)
        };
        Some((&modify.parameters, &modify.row, &outcomes.iter().find(is_other)?.row))
    })
}

/// Reads an update from which on the read-optimized representation takes less time; `None` where it never does.
fn break_even(modify: &Row, read: &Row) -> Option<f64> {
    let saved = modify.read_ms - read.read_ms;
    (saved > 0.0).then(|| ((read.update.ms - modify.update.ms) / saved).max(0.0))
}

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = [
        "structure",
        "longest list",
        "bytes",
        "words a read, modify-optimized",
        "read-optimized",
        "words written an update",
        "±",
        "read-optimized",
        "±",
        "erases",
        "read-optimized",
        "ms an update",
        "read-optimized",
        "reads an update, to break even",
    ];
    let mut table = Table::new("Objects in either representation, half full:", &columns);
    for (of, modify, read) in pairs(outcomes) {
        let half = |half_width: Option<f64>| half_width.map_or_else(String::new, |half| format!("{half:.1e}"));
        let mut cells =
            vec![of.structure.name().to_owned(), of.list_length_max.to_string(), of.object_bytes.to_string()];
        cells.extend([modify, read].map(|row| figure(row.read_words)));
        for row in [modify, read] {
            cells.extend([figure(row.update.writes), half(row.update.writes_ci)]);
        }
        cells.extend([modify, read].map(|row| figure(row.update.erases)));
        cells.extend([modify, read].map(|row| figure(row.update.ms)));
        cells.push(break_even(modify, read).map_or_else(|| "never".to_owned(), figure));
        table.push(cells);
    }
    table
}

fn plot(outcomes: &[Outcome<Parameters, Row>]) -> Plot {
    let ratios = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0].map(|power| 10f64.powf(power));
    let panel = |structure: Structure| {
        let of_100_bytes = pairs(outcomes).filter(move |(of, ..)| of.structure == structure && of.object_bytes == 100);
        let series = of_100_bytes.map(|(of, modify, read)| {
            let time = |row: &Row, reads: f64| row.update.ms + reads * row.read_ms;
            let points = ratios.map(|reads| (reads, time(read, reads) / time(modify, reads)));
            Series::line(format!("lists of {}", of.list_length_max), points.to_vec())
        });
        Panel {
            title: structure.name().to_owned(),
            x: Axis::log("reads an update"),
            y: Axis::linear("time, read-optimized / modify-optimized"),
            chart: Chart::Lines(series.collect()),
        }
    };
    Plot {
        name: "tinystore-representations".to_owned(),
        title: "Read-optimized objects of 100 bytes beside modify-optimized ones".to_owned(),
        panels: Structure::BOTH.map(panel).to_vec(),
        columns: 2,
    }
}
