//! Figures 16 to 19, the probe table and the initialisation table: the micro-benchmark by maximum level and turnstile
//! size.

use norn_ordered_index::Settings as ListSettings;

use super::micro_benchmark::{Benchmark, Phase, Row, Run};
use super::paper::PAPER;
use super::phases::phase_table;
use super::subject::{Structure, on_fresh_index};
use super::tuning_published::comparisons;
use super::tuning_runs::{DEFAULT, LEVELS, Measured, Parameters, TURNSTILES, by_level, by_turnstile, row, total};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Presentation, Table};
use crate::settings::Settings;

/// Maximum level and turnstile size.
pub struct Tuning;

/// What the initialisation table has besides.
const TABLE_LEVELS: [u8; 3] = [1, 3, 4];
const TABLE_TURNSTILES: [u8; 2] = [16, 32];
/// Updates, and queries, in a full run: a quarter of the paper's, well after the first round of reclamation.
const UPDATES: u32 = 200_000;
/// The same of runs that only the initialisation table needs.
const TABLE_UPDATES: u32 = 100_000;
/// The part of all figures but 14 and 15: as large as the table of parameters says.
const MEGABYTES: u16 = 2;

impl Experiment for Tuning {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "fat-lists-tuning",
            paper: PAPER,
            reproduces: "Figures 16 to 19, probe table, initialisation table",
            summary: "The micro-benchmark on fat lists on 2 MB by the maximum level and by the blocks of a turnstile; \
                      what the probes of its queries met; and what a boot takes behind the updates, as a mean over \
                      mounts with different random numbers. 200,000 updates and as many queries instead of 800,000, \
                      100,000 of lists that only the initialisation table has.",
            revision: 3,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let benchmark = Benchmark::of(settings);
        let benchmark = Benchmark { updates: UPDATES.min(benchmark.updates), ..benchmark };
        let table_updates = TABLE_UPDATES.min(benchmark.updates);
        let levels = LEVELS.map(|levels| (levels, DEFAULT.1, benchmark.updates));
        let turnstiles = TURNSTILES.map(|blocks| (DEFAULT.0, blocks, benchmark.updates));
        let table =
            TABLE_LEVELS.into_iter().flat_map(|levels| TABLE_TURNSTILES.map(|blocks| (levels, blocks, table_updates)));
        let mut jobs: Vec<Job<Parameters>> = Vec::new();
        for (levels, turnstile_blocks, updates) in levels.into_iter().chain(turnstiles).chain(table) {
            let benchmark = Benchmark { updates, ..benchmark };
            let parameters = Parameters { levels, turnstile_blocks, pool: 2 * levels, megabytes: MEGABYTES, benchmark };
            let is_there = jobs
                .iter()
                .any(|job| (job.parameters.levels, job.parameters.turnstile_blocks) == (levels, turnstile_blocks));
            if !is_there {
                jobs.push(Job { seconds: seconds(&parameters), parameters });
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let settings = ListSettings {
            turnstile_blocks: parameters.turnstile_blocks,
            levels: parameters.levels,
            pool: parameters.pool,
            ..ListSettings::paper_2011()
        };
        let run = Run { benchmark: parameters.benchmark, context };
        on_fresh_index(Structure::FatList, parameters.megabytes, settings, run)
    }

    fn present(outcomes: &[Measured]) -> Presentation {
        Presentation {
            comparisons: comparisons(outcomes),
            tables: vec![table(outcomes)],
            plots: plots(outcomes),
            remarks: vec![
                "A pool has two pointers for each level, so that a list of more levels has larger objects. The paper's \
                 probe counts are per pointer visited; its initialisation table is in microseconds, although its \
                 caption says word reads."
                    .to_owned(),
            ],
        }
    }
}

/// About how long a run takes on the machine: lists of few levels are searched object by object, and each probe takes
/// time.
fn seconds(parameters: &Parameters) -> f64 {
    let search = match parameters.levels {
        1 => 8.0,
        2 => 2.5,
        3 => 1.4,
        _ => 1.0,
    };
    let probes = f64::from(parameters.turnstile_blocks) / 8.0;
    super::sizes::seconds(Structure::FatList, &parameters.benchmark) * search * (0.5 + 0.5 * probes)
}

fn table(outcomes: &[Measured]) -> Table {
    let phases = outcomes.iter().map(|Outcome { parameters, row }| {
        let list = [parameters.levels, parameters.turnstile_blocks].map(|number| number.to_string());
        ([&list[..], &[row.phase.name().to_owned()]].concat(), &row.costs)
    });
    phase_table("", &["levels", "turnstile", "phase"], phases)
}

fn plots(outcomes: &[Measured]) -> Vec<Plot> {
    let pair = |phases: &str, phases_title: &str, whole: &str, whole_title: &str, x: fn() -> Axis, along: Along| {
        let panel = |phase: Phase| Panel {
            title: phase.name().to_owned(),
            x: x(),
            y: Axis::linear("simulated seconds"),
            chart: Chart::Lines(parts_of_time(outcomes, along, phase)),
        };
        let points = along.lists(outcomes).into_iter();
        let points = points.filter_map(|list| Some((along.place(list), total(outcomes, list)?))).collect();
        let chart = Chart::Lines(vec![Series::line("total", points)]);
        let panels = Phase::PUBLISHED.into_iter().map(panel).collect();
        [
            Plot { name: phases.to_owned(), title: phases_title.to_owned(), panels, columns: 2 },
            Plot::single(whole, whole_title, x(), Axis::linear("simulated seconds"), chart),
        ]
    };
    let levels = pair(
        "fat-lists-figure16",
        "Figure 16: the micro-benchmark by maximum level",
        "fat-lists-figure17",
        "Figure 17: total time by maximum level",
        || Axis::linear("levels"),
        Along::Levels,
    );
    let turnstiles = pair(
        "fat-lists-figure18",
        "Figure 18: the micro-benchmark by turnstile size",
        "fat-lists-figure19",
        "Figure 19: total time by turnstile size",
        || Axis::log("blocks of a turnstile"),
        Along::Turnstiles,
    );
    levels.into_iter().chain(turnstiles).collect()
}

/// What a figure's x axis is.
#[derive(Clone, Copy)]
enum Along {
    Levels,
    Turnstiles,
}

impl Along {
    fn lists(self, outcomes: &[Measured]) -> Vec<(u8, u8)> {
        match self {
            Along::Levels => by_level(outcomes),
            Along::Turnstiles => by_turnstile(outcomes),
        }
    }

    fn place(self, (levels, turnstile_blocks): (u8, u8)) -> f64 {
        match self {
            Along::Levels => levels.into(),
            Along::Turnstiles => turnstile_blocks.into(),
        }
    }
}

/// Time to read, to write, to erase, and all of it.
fn parts_of_time(outcomes: &[Measured], along: Along, phase: Phase) -> Vec<Series> {
    let line = |label: &str, value: fn(&Row) -> f64| {
        let lists = along.lists(outcomes).into_iter();
        let points = lists.filter_map(|list| Some((along.place(list), value(row(outcomes, list, phase)?))));
        Series::line(label, points.collect())
    };
    vec![
        line("all", |row| row.costs.seconds),
        line("reading", |row| row.costs.read_seconds),
        line("writing", |row| row.costs.write_seconds),
        line("erasing", |row| row.costs.erase_seconds),
    ]
}
