//! Section 0.7, "prolong the lifespan": how many updates a part takes until its most worn block has a number of erases,
//! and how evenly its blocks wear.

use norn_ordered_index::Settings as ListSettings;
use serde::{Deserialize, Serialize};

use super::micro_benchmark::{Benchmark, Spread};
use super::paper::PAPER;
use super::subject::{Structure, Subject, Task, on_fresh_index};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Plot, Series};
use crate::presentation::{Comparison, Presentation, Table, figure};
use crate::settings::Settings;

/// Lives of parts.
pub struct Lifetimes;

/// A life.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    structure: Structure,
    megabytes: u16,
    /// Erases of the most worn block that end it.
    erases: u32,
    #[serde(flatten)]
    benchmark: Benchmark,
}

/// How it went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    updates_lived: u64,
    erases_least: u32,
    erases_mean: f64,
    erases_most: u32,
    /// Blocks that were never erased.
    blocks_unworn: u32,
}

/// Erases that end a life in a full run, a small part of what a block takes; fat lists take long to wear out.
const ERASES: u32 = 60;
/// Those of the part.
const ENDURANCE: f64 = 100_000.0;
const MEGABYTES: u16 = 2;
/// The size at which soft lists have room.
const SOFT_MEGABYTES: u16 = 4;
const REPORT_PERIOD: u64 = 65_536;

impl Experiment for Lifetimes {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "fat-lists-lifetimes",
            paper: PAPER,
            reproduces: "section 0.7",
            summary: "Keys inserted, then updated by a Gaussian variable until one block has been erased as often as a \
                      life is long here; the erases of all blocks then. 2 MB, 4 MB for the soft list.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let mut jobs = Vec::new();
        for spread in [Spread::DeviationOfASixth, Spread::VarianceOfASixth] {
            for &structure in settings.choose(&[Structure::FatList, Structure::MuTree][..], &Structure::ALL) {
                let large = if structure == Structure::SoftList { SOFT_MEGABYTES } else { MEGABYTES };
                let megabytes = settings.choose(1, large);
                let benchmark = Benchmark::of(settings);
                // Few enough that a µ-tree still lives when it has them.
                let keys = settings.choose(1_000, benchmark.keys);
                let benchmark = Benchmark { spread, keys, ..benchmark };
                let parameters = Parameters { structure, megabytes, erases: settings.choose(2, ERASES), benchmark };
                jobs.push(Job { parameters, seconds: if structure == Structure::MuTree { 5.0 } else { 120.0 } });
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let settings = match parameters.structure {
            Structure::SoftList => ListSettings::soft_list(),
            _ => ListSettings::paper_2011(),
        };
        let life = Life { parameters, context };
        on_fresh_index(parameters.structure, parameters.megabytes, settings, life).map(|row| vec![row])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        Presentation {
            comparisons: comparisons(outcomes),
            tables: vec![table(outcomes)],
            plots: vec![plot(outcomes)],
            remarks: vec![
                "A life ends here at a small part of the 100,000 erases of a block. The last column takes the rate of \
                 the whole life for them, and the gap between blocks to grow with it: a fat list's stays within some \
                 twenty erases, so that it is a bound from below."
                    .to_owned(),
            ],
        }
    }
}

/// A life to be lived on an index.
struct Life<'a> {
    parameters: &'a Parameters,
    context: &'a Context<'a>,
}

impl Task for Life<'_> {
    type Answer = Row;

    fn carry_out<I: Subject>(self, mut index: I) -> Result<Row, JobError> {
        let benchmark = self.parameters.benchmark;
        let mut random = fastrand::Rng::with_seed(benchmark.seed);
        for key in 0..benchmark.keys {
            let put = index.insert(&key.to_be_bytes(), &key.to_le_bytes());
            put.map_err(JobError::while_doing("inserting"))?;
        }
        let mut updates = 0_u64;
        let mut erases = index.sim().counters().erases;
        while most(&index) < self.parameters.erases {
            while index.sim().counters().erases == erases {
                let key = benchmark.key(&mut random);
                let update = index.update(&key.to_be_bytes(), &(updates as u32).to_le_bytes());
                update.map_err(JobError::while_doing("updating"))?;
                updates += 1;
                if updates.is_multiple_of(REPORT_PERIOD) {
                    self.context.progress(most(&index).into(), self.parameters.erases.into());
                }
            }
            erases = index.sim().counters().erases;
        }
        let counts = || index.sim().erase_counts();
        Ok(Row {
            updates_lived: updates,
            erases_least: counts().min().unwrap_or(0),
            erases_mean: counts().map(f64::from).sum::<f64>() / counts().len() as f64,
            erases_most: most(&index),
            blocks_unworn: counts().filter(|&count| count <= 1).count() as u32,
        })
    }
}

fn most(index: &impl Subject) -> u32 {
    index.sim().erase_counts().max().unwrap_or(0)
}

impl Row {
    /// Updates a block's erases, at the rate of this life.
    fn updates_to_the_end(&self) -> f64 {
        self.updates_lived as f64 * ENDURANCE / f64::from(self.erases_most)
    }

    /// Erases of the most worn block beside the mean.
    fn unevenness(&self) -> f64 {
        f64::from(self.erases_most) / self.erases_mean
    }
}

fn find(outcomes: &[Outcome<Parameters, Row>], structure: Structure, spread: Spread) -> Option<&Row> {
    let is_it = |outcome: &&Outcome<Parameters, Row>| {
        (outcome.parameters.structure, outcome.parameters.benchmark.spread) == (structure, spread)
    };
    outcomes.iter().find(is_it).map(|outcome| &outcome.row)
}

fn comparisons(outcomes: &[Outcome<Parameters, Row>]) -> Vec<Comparison> {
    let pair = |value: fn(&Row) -> f64, holds: fn(f64, f64) -> bool| {
        let (mut all, mut texts) = (true, Vec::new());
        for (spread, name) in SPREADS {
            let fat = value(find(outcomes, Structure::FatList, spread)?);
            let tree = value(find(outcomes, Structure::MuTree, spread)?);
            all &= holds(fat, tree);
            texts.push(format!("{} / {} ({name})", figure(fat), figure(tree)));
        }
        Some((all, format!("fat list / µ-tree: {}", texts.join(", "))))
    };
    vec![
        Comparison::claim(
            "§0.7: updates in the life of a part",
            "fat lists extend the lifespan of flash memory",
            pair(Row::updates_to_the_end, |fat, tree| fat > tree),
        ),
        Comparison::claim(
            "§0.4.2: erases of the most worn block over the mean",
            "all blocks wear evenly",
            pair(Row::unevenness, |fat, _| fat < 1.5),
        )
        .because(gap(outcomes)),
    ]
}

/// How far the most worn block is ahead: the ratio to a mean of few erases is large.
fn gap(outcomes: &[Outcome<Parameters, Row>]) -> String {
    let of_spread = |(spread, name)| {
        let Row { erases_mean, erases_most, .. } = find(outcomes, Structure::FatList, spread)?;
        let ahead = f64::from(*erases_most) - erases_mean;
        Some(format!("{} erases ahead of a mean of {} ({name})", figure(ahead), figure(*erases_mean)))
    };
    let gaps: Vec<String> = SPREADS.into_iter().filter_map(of_spread).collect();
    format!("the fat list's most worn block is {}", gaps.join(", "))
}

const SPREADS: [(Spread, &str); 2] =
    [(Spread::DeviationOfASixth, "deviation of a sixth"), (Spread::VarianceOfASixth, "variance of a sixth")];

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = [
        "",
        "MB",
        "keys spread by",
        "updates",
        "erases: least",
        "mean",
        "most",
        "most / mean",
        "blocks erased at most once",
        "updates at 100,000 erases",
    ];
    let mut table = Table::new("", &columns);
    for Outcome { parameters, row } in outcomes {
        let spread = SPREADS.into_iter().find(|(spread, _)| *spread == parameters.benchmark.spread);
        table.push(vec![
            parameters.structure.name().to_owned(),
            parameters.megabytes.to_string(),
            spread.map_or(String::new(), |(_, name)| name.to_owned()),
            row.updates_lived.to_string(),
            row.erases_least.to_string(),
            figure(row.erases_mean),
            row.erases_most.to_string(),
            figure(row.unevenness()),
            row.blocks_unworn.to_string(),
            figure(row.updates_to_the_end()),
        ]);
    }
    table
}

fn plot(outcomes: &[Outcome<Parameters, Row>]) -> Plot {
    let bars = |structure: Structure| {
        let points = (0..).zip(SPREADS).filter_map(|(at, (spread, _))| {
            Some((f64::from(at), find(outcomes, structure, spread)?.updates_to_the_end() / 1e6))
        });
        Series::line(structure.name(), points.collect())
    };
    let chart = Chart::Bars {
        groups: SPREADS.map(|(_, name)| name.to_owned()).to_vec(),
        series: Structure::ALL.into_iter().map(bars).collect(),
    };
    let y = Axis::log("million updates at 100,000 erases");
    Plot::single("fat-lists-lifetimes", "Updates in the life of a part", Axis::linear("keys"), y, chart)
}
