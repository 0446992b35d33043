//! What error detection costs (section 6.2 names the experiment; the paper shows no figures of it).

use norn_flash_sim::catalogue;
use norn_object_heap::{Config, ErrorDetection};
use serde::{Deserialize, Serialize};

use super::condition::{LIST_LENGTH, UNITS};
use super::costs::{Costs, Plan, Run};
use super::paper::PAPER;
use super::population::{Shape, fresh, full};
use super::subject::{Flags, configuration, flash};
use super::workload::{Updates, Workload};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Presentation, Table, figure};
use crate::settings::Settings;

/// Error detection's cost.
pub struct DetectionCosts;

/// Whether flipped bits are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Detection {
    /// They are.
    On,
    /// They are not.
    Off,
}

/// A heap under 20/80AllFields, half full.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    list_length_max: u8,
    object_bytes: u32,
    detection: Detection,
    warm_up_erases: u64,
    windows: usize,
    window_erases: u64,
    seed: u64,
}

/// What it costs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    objects_fresh: usize,
    objects_full: usize,
    #[serde(flatten)]
    costs: Costs,
}

const SIZES: [u32; 6] = [10, 20, 50, 100, 200, 400];
const LENGTHS: [u8; 3] = [2, 5, 20];
const BYTES: u32 = 100;

/// A column of a row.
type Pick = fn(&Row) -> f64;

impl Experiment for DetectionCosts {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-error-detection",
            paper: PAPER,
            reproduces: "section 6.2, the cost of error detection",
            summary: "20/80AllFields, half full, with and without error detection: objects that fit, and costs of a \
                      field update, by object size and by the longest list. The paper names the experiment and shows \
                      no figures.",
            revision: 2,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let sizes = settings.choose(&SIZES[3..4], &SIZES[..]).iter().map(|&bytes| (LIST_LENGTH, bytes));
        let lengths = settings.choose(&LENGTHS[2..], &LENGTHS[1..]).iter().map(|&length| (length, BYTES));
        let (warm_up_erases, windows, window_erases) =
            settings.choose((2 * UNITS, 2, UNITS), (10 * UNITS, 10, 2 * UNITS));
        let mut jobs = Vec::new();
        for (list_length_max, object_bytes) in sizes.chain(lengths) {
            for detection in [Detection::Off, Detection::On] {
                let seed = settings.seed;
                let parameters = Parameters {
                    list_length_max,
                    object_bytes,
                    detection,
                    warm_up_erases,
                    windows,
                    window_erases,
                    seed,
                };
                jobs.push(Job {
                    parameters,
                    seconds: (warm_up_erases + windows as u64 * window_erases) as f64 * 0.0015,
                });
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let error_detection = match parameters.detection {
            Detection::On => ErrorDetection::On,
            Detection::Off => ErrorDetection::Off,
        };
        let config = Config { error_detection, ..configuration(parameters.list_length_max, Flags::On) };
        let (heap, shape) = (|| flash(catalogue::tinystore(), config), Shape::of_bytes(parameters.object_bytes));
        let objects_fresh = fresh(&mut heap(), shape);
        let objects_full = full(&mut heap(), shape, parameters.list_length_max);
        let updates = Updates::new(Workload::HotAndCold, objects_full / 2, shape.fields, parameters.seed);
        let run = Run::new(heap(), shape, objects_full / 2, updates, context);
        let run = run.ok_or_else(|| JobError::Failed("half full does not fit".to_owned()))?;
        let mut run = run.with_values().map_err(JobError::Failed)?;
        let plan =
            Plan { warm_up: parameters.warm_up_erases, windows: parameters.windows, window: parameters.window_erases };
        Ok(vec![Row { objects_fresh, objects_full, costs: run.costs(plan).map_err(JobError::Failed)? }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        Presentation { tables: vec![table(outcomes)], plots: vec![plot(outcomes)], ..Presentation::default() }
    }
}

fn row(outcomes: &[Outcome<Parameters, Row>], length: u8, bytes: u32, detection: Detection) -> Option<&Row> {
    let is_it = |of: &Parameters| (of.list_length_max, of.object_bytes, of.detection) == (length, bytes, detection);
    outcomes.iter().find(|outcome| is_it(&outcome.parameters)).map(|outcome| &outcome.row)
}

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = [
        "longest list",
        "bytes an object",
        "full off",
        "on",
        "reads off",
        "on",
        "writes off",
        "on",
        "erases off",
        "on",
        "ms off",
        "on",
        "time, on / off",
    ];
    let mut table = Table::new("", &columns);
    for off in outcomes.iter().filter(|outcome| outcome.parameters.detection == Detection::Off) {
        let of = &off.parameters;
        let Some(on) = row(outcomes, of.list_length_max, of.object_bytes, Detection::On) else { continue };
        let (off, mut cells) = (&off.row, vec![of.list_length_max.to_string(), of.object_bytes.to_string()]);
        cells.extend([off.objects_full, on.objects_full].map(|count| count.to_string()));
        let picks: [fn(&Costs) -> f64; 4] =
            [|costs| costs.reads, |costs| costs.writes, |costs| costs.erases, |costs| costs.ms];
        cells.extend(picks.iter().flat_map(|pick| [figure(pick(&off.costs)), figure(pick(&on.costs))]));
        cells.push(format!("{:.2}", on.costs.ms / off.costs.ms));
        table.push(cells);
    }
    table
}

fn plot(outcomes: &[Outcome<Parameters, Row>]) -> Plot {
    let panel = |(label, pick): (&str, Pick)| {
        let line = |(name, detection): (&str, Detection)| {
            let points = SIZES
                .iter()
                .filter_map(|&bytes| Some((f64::from(bytes), pick(row(outcomes, LIST_LENGTH, bytes, detection)?))));
            Series::line(name, points.collect())
        };
        Panel {
            title: String::new(),
            x: Axis::log("bytes an object, two-byte fields"),
            y: Axis::linear(label),
            chart: Chart::Lines([("off", Detection::Off), ("on", Detection::On)].map(line).to_vec()),
        }
    };
    let panels: [(&str, Pick); 2] = [
        ("milliseconds an update", |row| row.costs.ms),
        ("objects that fit, lists of two", |row| row.objects_full as f64),
    ];
    Plot {
        name: "tinystore-error-detection".to_owned(),
        title: "Error detection: 20/80AllFields, half full".to_owned(),
        panels: panels.into_iter().map(panel).collect(),
        columns: 2,
    }
}
