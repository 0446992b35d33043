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
/// Lists that are updated longer, by this factor, to see what lasts of the difference between them.
const LONG: [Made; 2] = [Made::AsPublished, Made::WithoutDelayedSplits];
const LONGER: u32 = 4;
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
            summary: "The micro-benchmark on fat lists of which each leaves one tactic out, on 1 and 2 MB, and on soft \
                      lists with a pool or with a fixed number of spare pointers for each level, on 4 MB. 200,000 \
                      updates and as many queries; four times as many where splits are delayed and not, to see whether \
                      a difference lasts.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let benchmark = Benchmark::of(settings);
        let benchmark = Benchmark { updates: UPDATES.min(benchmark.updates), boots: 50, ..benchmark };
        let long = Benchmark { updates: LONGER * benchmark.updates, ..benchmark };
        let job = |made, megabytes, benchmark, seconds| Job {
            parameters: Parameters { made, megabytes, benchmark },
            seconds,
        };
        let mut jobs = Vec::new();
        for &megabytes in settings.choose(&SIZES[..1], &SIZES[..]) {
            jobs.extend(Made::FAT.map(|made| job(made, megabytes, benchmark, 10.0)));
            jobs.extend(LONG.map(|made| job(made, megabytes, long, 40.0)));
        }
        jobs.extend(Made::SOFT.map(|made| job(made, SOFT_SIZE, benchmark, 60.0)));
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

const REMARK: &str = "A pool of 10 pointers is shared by five levels; without it each level has two, one of which is \
                      taken when an object is written. A merge that is not lazy is tried after each removal.";

/// The rows of a list's phase, those of the run with fewest updates first.
fn rows(outcomes: &[Measured], made: Made, megabytes: u16, phase: Phase) -> Vec<&Row> {
    let is_it = |outcome: &&Measured| {
        (outcome.parameters.made, outcome.parameters.megabytes, outcome.row.phase) == (made, megabytes, phase)
    };
    let mut found: Vec<&Measured> = outcomes.iter().filter(is_it).collect();
    found.sort_by_key(|outcome| outcome.parameters.benchmark.updates);
    found.into_iter().map(|outcome| &outcome.row).collect()
}

fn row(outcomes: &[Measured], made: Made, megabytes: u16, phase: Phase) -> Option<&Row> {
    rows(outcomes, made, megabytes, phase).first().copied()
}

/// Seconds written and erased by the updates of the longer run after those of the shorter one, which both begin with.
fn late_updates(outcomes: &[Measured], made: Made, megabytes: u16) -> Option<f64> {
    match rows(outcomes, made, megabytes, Phase::Update)[..] {
        [short, long] => Some(written(long) - written(short)),
        _ => None,
    }
}

/// A value of a list, on a part of so many megabytes.
type Value<'a> = dyn Fn(Made, u16) -> Option<f64> + 'a;

/// A list beside one that leaves a tactic out, by a value.
struct Pair<'a> {
    all: Made,
    without: Made,
    value: &'a Value<'a>,
}

impl Pair<'_> {
    /// With and without the tactic, on each part on which both were measured.
    fn values(&self) -> Vec<(u16, f64, f64)> {
        let at =
            |megabytes| Some((megabytes, (self.value)(self.all, megabytes)?, (self.value)(self.without, megabytes)?));
        [&SIZES[..], &[SOFT_SIZE]].concat().into_iter().filter_map(at).collect()
    }

    fn text(&self) -> String {
        let text = |(megabytes, with, without): &(u16, f64, f64)| {
            format!("{} / {} at {megabytes} MB", figure(*with), figure(*without))
        };
        format!("with / without: {}", self.values().iter().map(text).collect::<Vec<_>>().join(", "))
    }

    /// Whether a relation of the list with the tactic and the one without holds on every part.
    fn claim(&self, what: &str, says: &str, holds: fn(f64, f64) -> bool) -> Comparison {
        let values = self.values();
        let found = (values.iter().all(|&(_, with, without)| holds(with, without)), self.text());
        Comparison::claim(what, says, (!values.is_empty()).then_some(found))
    }
}

/// Fewer with a tactic than without.
fn is_less(with: f64, without: f64) -> bool {
    with < without
}

/// What the paper says of each tactic.
fn comparisons(outcomes: &[Measured]) -> Vec<Comparison> {
    [of_the_pool(outcomes), of_splits(outcomes), of_merges(outcomes)].concat()
}

fn of(outcomes: &[Measured], phase: Phase, value: fn(&Row) -> f64) -> impl Fn(Made, u16) -> Option<f64> {
    move |made, megabytes| Some(value(row(outcomes, made, megabytes, phase)?))
}

fn written(row: &Row) -> f64 {
    row.costs.write_and_erase_seconds()
}

fn of_the_pool(outcomes: &[Measured]) -> Vec<Comparison> {
    let without = |value| Pair { all: Made::AsPublished, without: Made::WithoutPool, value };
    let updates = of(outcomes, Phase::Update, written);
    let (erases, reads) =
        (of(outcomes, Phase::Update, |row| row.costs.erases), of(outcomes, Phase::Query, |row| row.costs.reads));
    let soft = Pair { all: Made::SoftList, without: Made::SoftListWithoutPool, value: &updates };
    vec![
        without(&updates)
            .claim("§0.5.1: the pool, s written and erased by the updates", "fewer writes and erases", is_less)
            .because(format!("erases an update {}", without(&erases).text())),
        without(&reads)
            .claim("§0.5.1: the pool, words read by a query", "reads of pointers increase", |with, without| {
                with > without
            })
            .because("the last entry of a level is looked for among those of all levels"),
        soft.claim(
            "§0.3.3: soft lists, s written and erased by the updates",
            "a fixed number of spare pointers a level",
            |pool, fixed| fixed < pool,
        )
        .because("of soft lists the pool is ours: with it updates are cheaper"),
    ]
}

fn of_splits(outcomes: &[Measured]) -> Vec<Comparison> {
    let says = "fewer changes of the structure, no extra writes of slots";
    let without = |value| Pair { all: Made::AsPublished, without: Made::WithoutDelayedSplits, value };
    let (insertions, updates) = (of(outcomes, Phase::Insertion, written), of(outcomes, Phase::Update, written));
    let late = |made, megabytes| late_updates(outcomes, made, megabytes);
    vec![
        without(&insertions)
            .claim("§0.5.2: delayed splits, s written and erased by the insertions", says, is_less)
            .because("an object that is split later is written less often"),
        without(&updates).claim("§0.5.2: delayed splits, s written and erased by the updates", says, is_less).because(
            format!("in the updates that follow, until there are {LONGER} times as many, s {}", without(&late).text()),
        ),
    ]
}

fn of_merges(outcomes: &[Measured]) -> Vec<Comparison> {
    let removals = of(outcomes, Phase::Deletion, written);
    let words = of(outcomes, Phase::Deletion, |row| row.costs.writes);
    let erases = of(outcomes, Phase::Deletion, |row| row.costs.erases * row.costs.calls as f64);
    let pair = |without, value| Pair { all: Made::AsPublished, without, value };
    vec![
        pair(Made::WithoutLazyMerges, &removals as &Value)
            .claim(
                "§0.5.3: lazy merges, s written and erased by the deletions",
                "fewer changes of the structure",
                is_less,
            )
            .because(format!("words written by a removal {}", pair(Made::WithoutLazyMerges, &words).text())),
        pair(Made::WithoutShifts, &removals)
            .claim("§0.5.3: shifts, s written and erased by the deletions", "fewer objects written", is_less)
            .because(format!(
                "the benchmark cannot tell: objects are shifted when their block is reclaimed or their slots are full; \
                 erases of all removals {}",
                pair(Made::WithoutShifts, &erases).text()
            )),
    ]
}

fn table(outcomes: &[Measured]) -> Table {
    let phases = outcomes.iter().map(|Outcome { parameters, row }| {
        let made = parameters.made.name().to_owned();
        let (size, updates) = (parameters.megabytes.to_string(), parameters.benchmark.updates.to_string());
        (vec![made, size, updates, row.phase.name().to_owned()], &row.costs)
    });
    phase_table("", &["", "MB", "updates", "phase"], phases)
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
