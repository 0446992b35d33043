//! Table 1: what the maximal length of lists and the initialization flags do to costs and lifetime.

use norn_flash_sim::catalogue;
use serde::{Deserialize, Serialize};

use super::costs::{Costs, Plan, Run};
use super::paper::PAPER;
use super::population::{Shape, fresh, full};
use super::subject::{Flags, configuration, flash};
use super::workload::{Updates, Workload};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::Settings;

/// Table 1.
pub struct Table1;

/// A row of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    list_length_max: u8,
    initialization_flags: Flags,
    object_bytes: u32,
    fullness_percent: u32,
    warm_up_erases_per_unit: u64,
    windows: usize,
    endurance: u32,
    seed: u64,
}

/// What it takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    objects_fresh: usize,
    objects_full: usize,
    objects: usize,
    #[serde(flatten)]
    costs: Costs,
    lifetime_updates: u64,
    unevenness: f64,
}

/// The published rows: length, flags, millions of updates, reads, writes, erases.
const PUBLISHED: [(u8, Flags, [f64; 4]); 7] = [
    (1, Flags::On, [146.0, 973.66, 280.13, 0.0384]),
    (2, Flags::On, [3301.0, 291.92, 12.02, 0.0017]),
    (2, Flags::Off, [3359.0, 288.71, 10.94, 0.0017]),
    (3, Flags::On, [4225.0, 282.39, 9.30, 0.0013]),
    (5, Flags::On, [4868.0, 245.65, 8.03, 0.0011]),
    (10, Flags::On, [5317.0, 245.91, 7.32, 0.0010]),
    (20, Flags::On, [5533.0, 222.75, 7.02, 0.0010]),
];
/// Erases of a unit in the paper's lifetimes.
const PUBLISHED_ENDURANCE: f64 = 100_000.0;
/// What a job takes for each erase of each of the 56 units, in seconds.
const SECONDS_PER_ERASE: f64 = 0.08;

impl Experiment for Table1 {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-table1",
            paper: PAPER,
            reproduces: "Table 1",
            summary: "20/80AllFields with objects of fifty fields of two bytes on a half full flash: costs of a field \
                      update and updates until the first unit reaches the endurance limit, by the longest list and \
                      with and without initialization flags. Costs are means of windows that follow the warm-up until \
                      the end of the part's life; lifetimes are scaled to 100,000 erases a unit.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let job = |&(list_length_max, initialization_flags, _): &(u8, Flags, _)| Job {
            parameters: Parameters {
                list_length_max,
                initialization_flags,
                object_bytes: 100,
                fullness_percent: 50,
                warm_up_erases_per_unit: u64::from(settings.endurance / 3).min(10),
                windows: settings.choose(4, 20),
                endurance: settings.endurance,
                seed: settings.seed,
            },
            seconds: f64::from(settings.endurance) * SECONDS_PER_ERASE,
        };
        PUBLISHED.iter().map(job).collect()
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let shape = Shape::of_bytes(parameters.object_bytes);
        let config = configuration(parameters.list_length_max, parameters.initialization_flags);
        let heap = || flash(catalogue::tinystore(), config);
        let objects_fresh = fresh(&mut heap(), shape);
        let objects_full = full(&mut heap(), shape, parameters.list_length_max);
        let objects = objects_full * parameters.fullness_percent as usize / 100;
        let updates = Updates::new(Workload::HotAndCold, objects, shape.fields, parameters.seed);
        let mut run =
            Run::new(heap(), shape, objects, updates, context).ok_or_else(|| failed("half full does not fit"))?;
        let units = u64::from(catalogue::tinystore().part.unit_count);
        // The most worn unit is somewhat ahead of the mean, so that windows end before the part does.
        let measured = u64::from(parameters.endurance) * 3 / 4 - parameters.warm_up_erases_per_unit;
        let plan = Plan::per_unit(units, parameters.warm_up_erases_per_unit, measured, parameters.windows);
        let costs = run.costs(plan).map_err(failed)?;
        let lifetime = run.lifetime(&[parameters.endurance]).map_err(failed)?;
        let lifetime_updates = lifetime.updates[&parameters.endurance];
        Ok(vec![Row { objects_fresh, objects_full, objects, costs, lifetime_updates, unevenness: lifetime.unevenness }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let mut presentation = Presentation::default();
        for (length, flags, published) in PUBLISHED {
            let outcome = outcomes.iter().find(|outcome| {
                outcome.parameters.list_length_max == length && outcome.parameters.initialization_flags == flags
            });
            let ours = outcome.map(|outcome| ours(&outcome.parameters, &outcome.row));
            let without = if flags == Flags::Off { " without flags" } else { "" };
            for (which, cell) in ["millions of updates", "reads", "writes", "erases"].into_iter().enumerate() {
                let why = outcome.map_or_else(String::new, |outcome| why(cell, &outcome.row, published));
                let what = format!("Table 1, lists of {length}{without}: {cell}");
                let comparison =
                    Comparison::new(what, Published::Value(published[which]), ours.map(|ours| ours[which]));
                presentation.comparisons.push(comparison.because(why));
            }
        }
        presentation.tables.push(table(outcomes));
        presentation.plots.push(plot(outcomes));
        presentation
    }
}

/// The table's cells: millions of updates at 100,000 erases, reads, writes, erases.
fn ours(parameters: &Parameters, row: &Row) -> [f64; 4] {
    let millions = row.lifetime_updates as f64 / 1e6 * PUBLISHED_ENDURANCE / f64::from(parameters.endurance);
    [millions, row.costs.reads, row.costs.writes, row.costs.erases]
}

/// What a cell follows from: words by what they are for, erases by words, lives by erases.
fn why(cell: &str, row: &Row, published: [f64; 4]) -> String {
    let costs = &row.costs;
    let [_, _, published_writes, published_erases] = published;
    let share = |ours: f64, published: f64| figure(100.0 * ours / published);
    match (cell, costs.writes_in_slots, costs.writes_structure, costs.writes_reclaiming) {
        ("writes", Some(slots), Some(structure), Some(reclaiming)) => format!(
            "{} by updates in a slot that is there (value and flag), {} by new records and compactions, {} by updates \
             that reclaim",
            figure(slots),
            figure(structure),
            figure(reclaiming)
        ),
        ("erases", ..) => format!("{}% of the published words are written", share(costs.writes, published_writes)),
        ("millions of updates", ..) => format!(
            "{}% of the published erases, and the most worn unit has {} of the mean",
            share(costs.erases, published_erases),
            figure(row.unevenness)
        ),
        ("reads", ..) => {
            "what the paper's reads look at besides a tree of keys (tinystore-key-trees) it does not say".to_owned()
        }
        _ => String::new(),
    }
}

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = [
        "longest list",
        "flags",
        "objects fresh",
        "full",
        "used",
        "reads",
        "±",
        "writes",
        "±",
        "erases",
        "±",
        "ms",
        "±",
        "updates measured",
        "lifetime, updates",
        "most worn / mean",
    ];
    let mut table = Table::new("Costs of a field update, with 95% confidence intervals:", &columns);
    for Outcome { parameters, row } in outcomes {
        let costs = &row.costs;
        let mut cells = vec![
            parameters.list_length_max.to_string(),
            format!("{:?}", parameters.initialization_flags).to_lowercase(),
        ];
        cells.extend([row.objects_fresh, row.objects_full, row.objects].map(|count| count.to_string()));
        for (mean, half_width) in [
            (costs.reads, costs.reads_ci),
            (costs.writes, costs.writes_ci),
            (costs.erases, costs.erases_ci),
            (costs.ms, costs.ms_ci),
        ] {
            cells.extend([figure(mean), half_width.map_or_else(String::new, |half| format!("{half:.1e}"))]);
        }
        cells.extend([costs.updates, row.lifetime_updates].map(|count| figure(count as f64)));
        cells.push(format!("{:.3}", row.unevenness));
        table.push(cells);
    }
    table
}

/// Each column of the table over the length of lists, published and ours.
fn plot(outcomes: &[Outcome<Parameters, Row>]) -> Plot {
    let with_flags = |outcome: &&Outcome<Parameters, Row>| outcome.parameters.initialization_flags == Flags::On;
    let panel = |(which, label): (usize, &str)| {
        let published = PUBLISHED.iter().filter(|row| row.1 == Flags::On);
        let published = published.map(|row| (f64::from(row.0), row.2[which])).collect();
        let measured = outcomes.iter().filter(with_flags);
        let measured = measured.map(|outcome| {
            (f64::from(outcome.parameters.list_length_max), ours(&outcome.parameters, &outcome.row)[which])
        });
        Panel {
            title: label.to_owned(),
            x: Axis::log("longest list, records"),
            y: Axis::log(label),
            chart: Chart::Lines(vec![
                Series::line("ours", measured.collect()),
                Series::crosses("published", published),
            ]),
        }
    };
    let labels = ["millions of updates to wear-out", "reads an update", "writes an update", "erases an update"];
    Plot {
        name: "tinystore-table1".to_owned(),
        title: "Table 1: the longest list".to_owned(),
        panels: labels.into_iter().enumerate().map(panel).collect(),
        columns: 2,
    }
}

fn failed(what: impl Into<String>) -> JobError {
    JobError::Failed(what.into())
}
