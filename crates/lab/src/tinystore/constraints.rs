//! The constraints that the paper holds responsible for its heap's costs, removed one at a time (section 7): large
//! erase units, and small objects.
//!
//! Fields of objects are updated as in 20/80AllFields and as in TotallyRandom, on 448 KB that are divided into fewer or
//! more erase units, by objects that are smaller or larger. An erase takes as long whatever the unit's size, which is
//! the paper's time; the bytes that are erased for a byte updated are the measure without one.

use norn_flash_sim::catalogue;
use serde::{Deserialize, Serialize};

use super::condition::{FULLNESS, LIST_LENGTH};
use super::costs::{Costs, Plan, Run};
use super::paper::PAPER;
use super::population::{Shape, full};
use super::subject::{Flags, FlashHeap, configuration, flash_of};
use super::workload::{Updates, Workload};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Presentation, Table, figure};
use crate::settings::Settings;

/// Smaller erase units, and larger objects.
pub struct Constraints;

/// A part, and what is on it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    unit_bytes: u32,
    object_bytes: u32,
    workload: Workload,
    fullness_percent: u32,
    warm_up_bytes: u64,
    measured_bytes: u64,
    windows: usize,
    seed: u64,
}

/// What an update costs there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    status: String,
    objects: usize,
    #[serde(flatten)]
    costs: Option<Costs>,
    erased_bytes_a_byte: Option<f64>,
}

const PART_BYTES: u32 = 448 * 1024;
/// Most units of a part that is measured.
const UNITS: usize = 1024;
/// The paper's first, for readers of an unfinished run.
const UNIT_BYTES: [u32; 8] = [8192, 512, 1024, 2048, 4096, 16_384, 32_768, 65_536];
const QUICK_UNIT_BYTES: [u32; 2] = [8192, 1024];
const OBJECT_BYTES: [u32; 5] = [10, 20, 100, 500, 2000];
/// The paper's unit and its usual object, beside which the others are changed.
const BASE: (u32, u32) = (8192, 100);
const WORKLOADS: [Workload; 2] = [Workload::HotAndCold, Workload::TotallyRandom];
/// Bytes that an update changes.
const FIELD_BYTES: f64 = 2.0;

impl Experiment for Constraints {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-constraints",
            paper: PAPER,
            reproduces: "section 7, the constraints removed one at a time",
            summary: "Costs of a field update on 448 KB in erase units of 512 bytes to 64 KB with objects of 100 \
                      bytes, and in units of 8 KB with objects of 10 to 2,000 bytes, at the paper's levels of \
                      fullness, each of what the part itself holds.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let (warm_up, measured, windows) = settings.choose((1, 3, 3), (20, 30, 10));
        let units = settings.choose(&QUICK_UNIT_BYTES[..], &UNIT_BYTES[..]).iter().map(|&unit| (unit, BASE.1));
        let objects = settings.choose(&[][..], &OBJECT_BYTES[..]).iter().map(|&object| (BASE.0, object));
        let mut jobs = Vec::new();
        for (unit_bytes, object_bytes) in units.chain(objects.filter(|&pair| pair != BASE)) {
            for workload in WORKLOADS {
                for &fullness_percent in settings.choose(&FULLNESS[2..], &FULLNESS[..]) {
                    let parameters = Parameters {
                        unit_bytes,
                        object_bytes,
                        workload,
                        fullness_percent,
                        warm_up_bytes: warm_up * u64::from(PART_BYTES),
                        measured_bytes: measured * u64::from(PART_BYTES),
                        windows,
                        seed: settings.seed,
                    };
                    jobs.push(Job { parameters, seconds: (warm_up + measured) as f64 * 0.1 });
                }
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let Parameters { unit_bytes, object_bytes, workload, .. } = *parameters;
        let shape = Shape::of_bytes(object_bytes);
        let heap = || -> Box<FlashHeap<_, UNITS>> {
            let spec = catalogue::test_part((PART_BYTES / unit_bytes) as u16, unit_bytes);
            Box::new(flash_of(spec, configuration(LIST_LENGTH, Flags::On)))
        };
        let objects = full(&mut *heap(), shape, LIST_LENGTH) * parameters.fullness_percent as usize / 100;
        let refused = |status: String| Ok(vec![Row { status, objects, costs: None, erased_bytes_a_byte: None }]);
        if objects < workload.objects_min() {
            return refused("too few objects".to_owned());
        }
        let updates = Updates::new(workload, objects, shape.fields, parameters.seed);
        let units = |bytes: u64| bytes / u64::from(unit_bytes);
        let plan = Plan {
            warm_up: units(parameters.warm_up_bytes),
            windows: parameters.windows,
            window: units(parameters.measured_bytes).div_ceil(parameters.windows as u64),
        };
        let run = Run::new(*heap(), shape, objects, updates, context).ok_or_else(|| "objects do not fit".to_owned());
        match run.and_then(|run| run.with_values()?.costs(plan)) {
            Ok(costs) => Ok(vec![Row {
                status: "measured".to_owned(),
                objects,
                erased_bytes_a_byte: Some(costs.erases * f64::from(unit_bytes) / FIELD_BYTES),
                costs: Some(costs),
            }]),
            Err(status) => refused(status),
        }
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        Presentation {
            comparisons: comparisons(outcomes),
            tables: vec![table(outcomes)],
            plots: vec![plot(outcomes)],
            remarks: Vec::new(),
        }
    }
}

fn row(
    outcomes: &[Outcome<Parameters, Row>],
    (unit, object): (u32, u32),
    workload: Workload,
    fullness: u32,
) -> Option<&Row> {
    let is_it = |of: &Parameters| {
        (of.unit_bytes, of.object_bytes, of.workload, of.fullness_percent) == (unit, object, workload, fullness)
    };
    outcomes.iter().find(|outcome| is_it(&outcome.parameters)).map(|outcome| &outcome.row)
}

/// The paper expects that small units help; compared by the bytes that are erased, nearly full.
fn comparisons(outcomes: &[Outcome<Parameters, Row>]) -> Vec<Comparison> {
    let erased = |unit, workload| row(outcomes, (unit, BASE.1), workload, 90)?.erased_bytes_a_byte;
    let comparison = |workload: Workload| {
        let found = erased(1024, workload).zip(erased(BASE.0, workload)).map(|(small, base)| {
            (small < base, format!("{} bytes erased a byte in units of 1 KB, {} of 8 KB", figure(small), figure(base)))
        });
        let what = format!("§7: small erase units, 90% full, {}", workload.name());
        Comparison::claim(what, "can probably improve many aspects", found)
    };
    WORKLOADS.map(comparison).to_vec()
}

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = [
        "workload",
        "unit, bytes",
        "object, bytes",
        "full",
        "objects",
        "words read an update",
        "written",
        "±",
        "erases",
        "±",
        "bytes erased a byte updated",
        "ms",
    ];
    let mut table = Table::new("An update of a field:", &columns);
    for Outcome { parameters: of, row } in outcomes {
        let half = |half_width: Option<f64>| half_width.map_or_else(String::new, |half| format!("{half:.1e}"));
        let mut cells = vec![
            of.workload.name().to_owned(),
            of.unit_bytes.to_string(),
            of.object_bytes.to_string(),
            format!("{}%", of.fullness_percent),
            row.objects.to_string(),
        ];
        match (&row.costs, row.erased_bytes_a_byte) {
            (Some(costs), Some(erased)) => {
                cells.extend([figure(costs.reads), figure(costs.writes), half(costs.writes_ci)]);
                cells.extend([figure(costs.erases), half(costs.erases_ci), figure(erased), figure(costs.ms)]);
            }
            _ => {
                cells.push(row.status.clone());
                cells.resize(columns.len(), String::new());
            }
        }
        table.push(cells);
    }
    table
}

fn plot(outcomes: &[Outcome<Parameters, Row>]) -> Plot {
    let sorted = |mut bytes: Vec<u32>| {
        bytes.sort_unstable();
        bytes
    };
    let panel = |title: &str, pairs: Vec<(u32, u32)>, x_of: fn((u32, u32)) -> f64, x: &str| {
        let series = WORKLOADS.into_iter().flat_map(|workload| FULLNESS.map(|fullness| (workload, fullness))).map(
            |(workload, fullness)| {
                let point = |&pair: &(u32, u32)| {
                    Some((x_of(pair), row(outcomes, pair, workload, fullness)?.erased_bytes_a_byte?))
                };
                Series::line(format!("{}, {fullness}% full", workload.name()), pairs.iter().filter_map(point).collect())
            },
        );
        Panel {
            title: title.to_owned(),
            x: Axis::log(x),
            y: Axis::log("bytes erased for a byte updated"),
            chart: Chart::Lines(series.collect()),
        }
    };
    let units = sorted(UNIT_BYTES.to_vec()).into_iter().map(|unit| (unit, BASE.1)).collect();
    let objects = sorted(OBJECT_BYTES.to_vec()).into_iter().map(|object| (BASE.0, object)).collect();
    Plot {
        name: "tinystore-constraints".to_owned(),
        title: "Erase units and objects of other sizes".to_owned(),
        panels: vec![
            panel("objects of 100 bytes", units, |pair| f64::from(pair.0) / 1024.0, "KB an erase unit"),
            panel("units of 8 KB", objects, |pair| f64::from(pair.1), "bytes an object"),
        ],
        columns: 2,
    }
}
