//! Sections 0.5.1 to 0.5.3: what the pool, delayed splits, lazy merges and shifts are good for, each left out in turn;
//! and soft lists with the spare pointers of section 0.3.3, a fixed number for each level, beside those with a pool.

use norn_ordered_index::Settings as ListSettings;
use norn_ordered_index::fat_list::without;
use serde::{Deserialize, Serialize};

use super::micro_benchmark::{Benchmark, Phase, Row, Run};
use super::paper::PAPER;
use super::phases::phase_table;
use super::subject::on_fresh_list_without;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Presentation, Table, figure};
use crate::settings::Settings;

/// Lists without a tactic.
pub struct Tactics;

/// A list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Made {
    /// A fat list with all of them.
    AsPublished,
    /// Two pointers for each level instead of ten for all.
    WithoutPool,
    /// Split as soon as there are more than *n* keys.
    WithoutDelayedSplits,
    /// Merged as soon as there are fewer than *n* / 2 keys.
    WithoutLazyMerges,
    /// Merged into new objects only.
    WithoutShifts,
    /// A soft list with a pool.
    SoftList,
    /// A soft list with two pointers for each level.
    SoftListWithoutPool,
    /// A soft list with three pointers for each level.
    SoftListOfThreeSpares,
}

impl Made {
    const FAT: [Made; 5] = [
        Made::AsPublished,
        Made::WithoutPool,
        Made::WithoutDelayedSplits,
        Made::WithoutLazyMerges,
        Made::WithoutShifts,
    ];
    const SOFT: [Made; 3] = [Made::SoftList, Made::SoftListWithoutPool, Made::SoftListOfThreeSpares];

    fn name(self) -> &'static str {
        match self {
            Made::AsPublished => "all of them",
            Made::WithoutPool => "no pool",
            Made::WithoutDelayedSplits => "no delayed splits",
            Made::WithoutLazyMerges => "no lazy merges",
            Made::WithoutShifts => "no shifts",
            Made::SoftList => "soft list, pool of 12",
            Made::SoftListWithoutPool => "soft list, 2 a level",
            Made::SoftListOfThreeSpares => "soft list, 3 a level",
        }
    }

    fn settings(self) -> ListSettings {
        match self {
            Made::SoftList | Made::SoftListWithoutPool => ListSettings::soft_list(),
            Made::SoftListOfThreeSpares => ListSettings { pool: 18, ..ListSettings::soft_list() },
            _ => ListSettings::paper_2011(),
        }
    }
}

/// A run of the benchmark.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    made: Made,
    megabytes: u16,
    #[serde(flatten)]
    benchmark: Benchmark,
}

type Measured = Outcome<Parameters, Row>;

/// Updates, and queries, in a full run.
const UPDATES: u32 = 200_000;
/// Parts of the fat lists, and of the soft ones.
const SIZES: [u16; 2] = [1, 2];
const SOFT_SIZE: u16 = 4;

impl Experiment for Tactics {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "fat-lists-tactics",
            paper: PAPER,
            reproduces: "sections 0.5.1 to 0.5.3",
            summary: "The micro-benchmark on fat lists of which each leaves one tactic out, on 1 and 2 MB, and on soft lists with a pool or \
                      with a fixed number of spare pointers for each level, on 4 MB. 200,000 updates and as many queries.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let benchmark = Benchmark::of(settings);
        let benchmark = Benchmark { updates: UPDATES.min(benchmark.updates), boots: 50, ..benchmark };
        let mut jobs = Vec::new();
        let mut add = |made, megabytes, seconds| {
            jobs.push(Job { parameters: Parameters { made, megabytes, benchmark }, seconds });
        };
        for &megabytes in settings.choose(&SIZES[..1], &SIZES[..]) {
            Made::FAT.into_iter().for_each(|made| add(made, megabytes, 10.0));
        }
        Made::SOFT.into_iter().for_each(|made| add(made, SOFT_SIZE, 60.0));
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let (run, megabytes) = (Run { benchmark: parameters.benchmark, context }, parameters.megabytes);
        let settings = parameters.made.settings();
        match parameters.made {
            Made::AsPublished | Made::SoftList => on_fresh_list_without::<0, _>(megabytes, settings, run),
            Made::WithoutPool | Made::SoftListWithoutPool | Made::SoftListOfThreeSpares => {
                on_fresh_list_without::<{ without::POOL }, _>(megabytes, settings, run)
            }
            Made::WithoutDelayedSplits => {
                on_fresh_list_without::<{ without::DELAYED_SPLITS }, _>(megabytes, settings, run)
            }
            Made::WithoutLazyMerges => on_fresh_list_without::<{ without::LAZY_MERGES }, _>(megabytes, settings, run),
            Made::WithoutShifts => on_fresh_list_without::<{ without::SHIFTS }, _>(megabytes, settings, run),
        }
    }

    fn present(outcomes: &[Measured]) -> Presentation {
        Presentation {
            comparisons: comparisons(outcomes),
            tables: vec![table(outcomes)],
            plots: vec![plot(outcomes)],
            remarks: vec![REMARK.to_owned()],
        }
    }
}

const REMARK: &str = "A pool of 10 pointers is shared by five levels; without it each level has two, one of which is taken when an object is \
                      written. A merge that is not lazy is tried after each removal.";

fn row(outcomes: &[Measured], made: Made, megabytes: u16, phase: Phase) -> Option<&Row> {
    let is_it = |outcome: &&Measured| {
        (outcome.parameters.made, outcome.parameters.megabytes, outcome.row.phase) == (made, megabytes, phase)
    };
    outcomes.iter().find(is_it).map(|outcome| &outcome.row)
}

/// What the paper says of each tactic.
fn comparisons(outcomes: &[Measured]) -> Vec<Comparison> {
    let beside = |all: Made, without: Made, sizes: &[u16], phase: Phase, value: fn(&Row) -> f64| {
        let (mut holds, mut texts) = (true, Vec::new());
        for &megabytes in sizes {
            let with = value(row(outcomes, all, megabytes, phase)?);
            let without = value(row(outcomes, without, megabytes, phase)?);
            holds &= with < without;
            texts.push(format!("{} / {} at {megabytes} MB", figure(with), figure(without)));
        }
        (!texts.is_empty()).then(|| (holds, format!("with / without: {}", texts.join(", "))))
    };
    let sizes: Vec<u16> =
        SIZES.into_iter().filter(|&size| row(outcomes, Made::AsPublished, size, Phase::Insertion).is_some()).collect();
    let claim = |what: &str, says: &str, without, phase, value| {
        Comparison::claim(what, says, beside(Made::AsPublished, without, &sizes, phase, value))
    };
    let written = |row: &Row| row.costs.write_and_erase_seconds();
    let (delayed, at_removal) =
        ("fewer changes of the structure, no extra writes of slots", "fewer changes of the structure");
    vec![
        claim(
            "§0.5.1: the pool, s written and erased by the updates",
            "fewer writes and erases",
            Made::WithoutPool,
            Phase::Update,
            written,
        ),
        claim(
            "§0.5.1: the pool, words read by a query",
            "reads of pointers increase",
            Made::WithoutPool,
            Phase::Query,
            |row| -row.costs.reads,
        ),
        claim(
            "§0.5.2: delayed splits, s written and erased by the insertions",
            delayed,
            Made::WithoutDelayedSplits,
            Phase::Insertion,
            written,
        ),
        claim(
            "§0.5.2: delayed splits, s written and erased by the updates",
            delayed,
            Made::WithoutDelayedSplits,
            Phase::Update,
            written,
        ),
        claim(
            "§0.5.3: lazy merges, s written and erased by the deletions",
            at_removal,
            Made::WithoutLazyMerges,
            Phase::Deletion,
            written,
        ),
        claim(
            "§0.5.3: shifts, s written and erased by the deletions",
            "fewer objects written",
            Made::WithoutShifts,
            Phase::Deletion,
            written,
        ),
        Comparison::claim(
            "§0.3.3: soft lists, s written and erased by the updates",
            "a fixed number of spare pointers a level",
            beside(Made::SoftList, Made::SoftListWithoutPool, &[SOFT_SIZE], Phase::Update, written),
        ),
    ]
}

fn table(outcomes: &[Measured]) -> Table {
    let phases = outcomes.iter().map(|Outcome { parameters, row }| {
        let made = parameters.made.name().to_owned();
        (vec![made, parameters.megabytes.to_string(), row.phase.name().to_owned()], &row.costs)
    });
    phase_table("", &["", "MB", "phase"], phases)
}

/// Seconds of each phase of the fat lists, by size of the part.
fn plot(outcomes: &[Measured]) -> Plot {
    let bars = |made: Made, phase: Phase| {
        let points = (0..)
            .zip(SIZES)
            .filter_map(|(at, megabytes)| Some((f64::from(at), row(outcomes, made, megabytes, phase)?.costs.seconds)));
        Series::line(made.name(), points.collect())
    };
    let panel = |phase: Phase| Panel {
        title: phase.name().to_owned(),
        x: Axis::linear("part"),
        y: Axis::linear("simulated seconds"),
        chart: Chart::Bars {
            groups: SIZES.map(|megabytes| format!("{megabytes} MB")).to_vec(),
            series: Made::FAT.into_iter().map(|made| bars(made, phase)).collect(),
        },
    };
    Plot {
        name: "fat-lists-tactics".to_owned(),
        title: "Fat lists without one tactic each".to_owned(),
        panels: Phase::PUBLISHED.into_iter().map(panel).collect(),
        columns: 2,
    }
}
