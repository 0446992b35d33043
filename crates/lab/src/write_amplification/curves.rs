//! The curves: write amplification by use, of each device on each workload.

use super::bars::comparisons;
use super::dhara::Geometry;
use super::paper::PAPER;
use super::points::{DEVICES, DHARA_USES, Device, Point, Row, USES, curve};
use super::steady::{steady, window};
use super::tasks::Refusal;
use super::trace::checksum;
use super::workload::{Workload, lap_requests, stream};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Presentation, Table};
use crate::settings::{Depth, Settings};

/// The experiment.
pub struct Curves;

/// Beyond this, a curve would flatten all others.
const PLOTTED_MAX: f64 = 10.0;

/// Those of the plot, which has eight colours.
const PLOTTED: [Device; 7] = [
    Device::Ours,
    Device::OursWithTasks,
    Device::Greedy,
    Device::MqsimGreedy,
    Device::MqsimRandomGreedy,
    Device::DharaTested,
    Device::DharaMost,
];

impl Experiment for Curves {
    type Parameters = Point;
    type Row = Row;

    fn about() -> About {
        About {
            name: "amplification-curves",
            paper: PAPER,
            reproduces: "bars of this project",
            summary: "Pages programmed for each page that the client writes, whatever they are programmed for, by the \
                      part's use: in steady state, when three windows of at least twice the part's pages agree within \
                      2%. The part is the real-time paper's, in a quick run a quarter of it.",
            revision: 3,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Point>> {
        let trace = settings.trace.as_deref().and_then(checksum);
        let blocks = settings.choose(256, 1024);
        let workloads = [Workload::Trace, Workload::MadeUpTrace, Workload::MadeUpEndless, Workload::Uniform];
        let mut points = Vec::new();
        for workload in workloads.into_iter().filter(|&workload| workload != Workload::Trace || trace.is_some()) {
            for device in DEVICES {
                let mut uses: Vec<u32> = settings.choose(vec![50, 85], [&USES[..], &DHARA_USES[..]].concat());
                uses.sort_unstable();
                points.extend(uses.into_iter().map(|use_percent| Point {
                    device,
                    workload,
                    use_percent,
                    blocks,
                    seed: settings.seed,
                    trace: trace.filter(|_| workload == Workload::Trace),
                    trace_requests: (settings.depth == Depth::Quick).then(|| lap_requests(blocks)),
                }));
            }
        }
        let possible = points.into_iter().filter(Point::is_possible);
        possible.map(|parameters| Job { parameters, seconds: parameters.seconds() }).collect()
    }

    fn measure(point: &Point, context: &Context) -> Result<Vec<Row>, JobError> {
        let recorded = point.recorded(context)?;
        let stream = stream(point.workload, recorded, point.blocks, point.logical_pages(), point.seed);
        let Geometry { blocks, pages_per_block, .. } = point.geometry();
        let window = window(blocks * pages_per_block, stream.lap);
        let (mut device, set) = match point.device(stream.pages).map_err(JobError::Failed)? {
            Ok(ready) => ready,
            Err(Refusal(refusal)) => return Ok(vec![Row { refusal, ..Row::default() }]),
        };
        let steady = steady(&mut *device, window, |done, all| context.progress(done, all));
        Ok(vec![Row::of(steady, set)])
    }

    fn present(outcomes: &[Outcome<Point, Row>]) -> Presentation {
        let workloads = workloads_of(outcomes);
        let tables = workloads.iter().map(|&workload| table(outcomes, workload)).chain([sets(outcomes)]).collect();
        let mut remarks = vec![MODELS.to_owned()];
        if !workloads.contains(&Workload::Trace) {
            remarks.push("No recorded trace was replayed: `--trace FILE` names one.".to_owned());
        }
        Presentation { comparisons: comparisons(outcomes), tables, plots: vec![plot(outcomes, &workloads)], remarks }
    }
}

const MODELS: &str = "Ours is the crate on a simulated part that counts every program, pages of the checkpoint, copies \
                      and wear levelling included. The greedy map has no checkpoint, no reserve for power cuts and no \
                      leveler; further rows give it a checkpoint as ours, and let it keep as many pages free. \
                      MQSim-like and dhara-like are models: MQSim's without pages of the map, write cache, static \
                      levelling, channels and time; dhara's without bad blocks and syncs. dhara has no curve beyond \
                      its capacity.";

/// The workloads that were measured, in the order of the jobs.
fn workloads_of(outcomes: &[Outcome<Point, Row>]) -> Vec<Workload> {
    let mut workloads = Vec::new();
    for outcome in outcomes {
        if !workloads.contains(&outcome.parameters.workload) {
            workloads.push(outcome.parameters.workload);
        }
    }
    workloads
}

fn table(outcomes: &[Outcome<Point, Row>], workload: Workload) -> Table {
    let uses: Vec<u32> =
        USES.into_iter().chain(DHARA_USES).collect::<std::collections::BTreeSet<u32>>().into_iter().collect();
    let heads: Vec<String> = uses.iter().map(|percent| format!("{percent}%")).collect();
    let columns: Vec<&str> = std::iter::once("").chain(heads.iter().map(String::as_str)).collect();
    let mut table = Table::new(format!("Programs for each page written, {}:", workload.name()), &columns);
    for device in DEVICES {
        let curve = curve(outcomes, device, workload);
        let cell = |percent: &u32| {
            let row = curve.iter().find(|point| point.0 == *percent).map(|point| point.1);
            row.map_or(String::new(), |row| {
                let doubt = if row.settled { "" } else { " (windows differ)" };
                format!("{:.3}{doubt}", row.amplification)
            })
        };
        if !curve.is_empty() {
            table.push(std::iter::once(device.to_string()).chain(uses.iter().map(cell)).collect());
        }
    }
    table
}

/// The sets of tasks that were admitted.
fn sets(outcomes: &[Outcome<Point, Row>]) -> Table {
    let mut table = Table::new(
        "Tasks admitted: the first of the paper's, with periods so many times the paper's, and the largest α that is \
         possible:",
        &["workload", "use", "tasks", "periods", "α", "checkpoint's period"],
    );
    for Outcome { parameters, row } in outcomes.iter().filter(|one| one.parameters.device == Device::OursWithTasks) {
        let admitted = row.tasks > 0;
        let or_none = |text: String| if admitted { text } else { String::new() };
        table.push(vec![
            parameters.workload.name().to_owned(),
            format!("{}%", parameters.use_percent),
            if admitted { row.tasks.to_string() } else { format!("none: {}", row.refusal) },
            or_none(format!("× {}", row.stretch)),
            or_none(row.alpha.to_string()),
            or_none(format!("{} ms", row.checkpoint_period_us / 1_000)),
        ]);
    }
    table
}

fn plot(outcomes: &[Outcome<Point, Row>], workloads: &[Workload]) -> Plot {
    let panel = |&workload: &Workload| {
        let line = |device: Device| {
            let points = curve(outcomes, device, workload);
            let points = points.iter().map(|(percent, row)| (f64::from(*percent), row.amplification));
            let points: Vec<(f64, f64)> = points.filter(|point| point.1 <= PLOTTED_MAX).collect();
            Series::line(device.to_string(), points)
        };
        Panel {
            title: workload.name().to_owned(),
            x: Axis::close("use, % of the part's pages"),
            y: Axis::linear("programs a page written"),
            chart: Chart::Lines(PLOTTED.into_iter().map(line).collect()),
        }
    };
    Plot {
        name: "amplification-curves".to_owned(),
        title: format!("Write amplification in steady state (above {PLOTTED_MAX}: in the tables)"),
        panels: workloads.iter().map(panel).collect(),
        columns: 2,
    }
}
