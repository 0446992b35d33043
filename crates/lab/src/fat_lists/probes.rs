//! Section 0.6.3's probes over several seeds: how many of a query's probes are useless, and what decides how many meet
//! a free or dead cell.
//!
//! A pointer's probes take the blocks of a turnstile in their order and end at the first object that leads on. So null
//! probes are expected from the image alone: of a pointer that leads on, the cells before its object that are not live;
//! of any other, all that are not live in its column. Every live object counts as one target.

use norn_flash::{Address, EraseUnit, Nor};
use norn_flash_sim::NorSim;
use norn_ordered_index::Settings as ListSettings;
use norn_ordered_index::fat_list::format::{CELLS_OFFSET, CellState};
use serde::{Deserialize, Serialize};

use super::micro_benchmark::Benchmark;
use super::paper::PAPER;
use super::subject::{Structure, Subject, Task, on_fresh_index};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Plot, Series};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::Settings;

/// Probes by seeds.
pub struct Probes;

/// A list that is updated and then queried.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    megabytes: u16,
    #[serde(flatten)]
    benchmark: Benchmark,
}

/// What the queries' probes met, a pointer, and the cells at their end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pointers: u32,
    successful: f64,
    low: f64,
    over: f64,
    back: f64,
    null: f64,
    live_cells: u32,
    cells: u32,
    /// Null probes a pointer by the image.
    null_expected: f64,
}

type Measured = Outcome<Parameters, Row>;

const SIZES: [u16; 2] = [1, 2];
const SEEDS: u64 = 8;
const UPDATES: u32 = 200_000;
/// Bytes of the paper's object on this part.
const CELL_BYTES: u32 = 462;
/// Published, a pointer.
const PUBLISHED_NULL: f64 = 0.804;
const PUBLISHED_LOW: f64 = 0.020;

impl Experiment for Probes {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "fat-lists-probes",
            paper: PAPER,
            reproduces: "section 0.6.3, probes by seeds",
            summary: "The queries of the micro-benchmark after 200,000 updates, by eight seeds, on 1 and 2 MB; and the \
                      null probes that the places of the live objects in their turnstiles let expect.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let benchmark = Benchmark::of(settings);
        let sizes = settings.choose(&SIZES[..1], &SIZES[..]);
        let seeds = (0..settings.choose(2, SEEDS)).map(|offset| settings.seed + offset);
        let by_seed = |&megabytes: &u16| {
            let parameters = move |seed| Parameters {
                megabytes,
                benchmark: Benchmark { seed, updates: UPDATES.min(benchmark.updates), ..benchmark },
            };
            seeds.clone().map(move |seed| Job { parameters: parameters(seed), seconds: 4.0 })
        };
        sizes.iter().flat_map(by_seed).collect()
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let queries = Queries { benchmark: parameters.benchmark, context };
        let row = on_fresh_index(Structure::FatList, parameters.megabytes, ListSettings::paper_2011(), queries)?;
        Ok(vec![row])
    }

    fn present(outcomes: &[Measured]) -> Presentation {
        Presentation {
            comparisons: comparisons(outcomes),
            tables: vec![table(outcomes)],
            plots: vec![plot(outcomes)],
            remarks: Vec::new(),
        }
    }
}

/// Keys inserted and updated, then queried.
struct Queries<'a> {
    benchmark: Benchmark,
    context: &'a Context<'a>,
}

impl Task for Queries<'_> {
    type Answer = Row;

    fn carry_out<I: Subject>(self, mut index: I) -> Result<Row, JobError> {
        let failed = JobError::while_doing("a call");
        let Benchmark { keys, updates, seed, .. } = self.benchmark;
        let mut random = fastrand::Rng::with_seed(seed);
        for key in 0..keys {
            index.insert(&key.to_be_bytes(), &key.to_le_bytes()).map_err(&failed)?;
        }
        for update in 0..updates {
            let key = self.benchmark.key(&mut random);
            index.update(&key.to_be_bytes(), &update.to_le_bytes()).map_err(&failed)?;
        }
        self.context.progress(1, 2);
        let missing = || JobError::Failed("a list counts its probes".to_owned());
        let before = index.probes().ok_or_else(missing)?;
        for _ in 0..updates {
            let key = self.benchmark.key(&mut random);
            index.get(&key.to_be_bytes()).map_err(&failed)?;
        }
        let after = index.probes().ok_or_else(missing)?;
        let stats = index.stats().map_err(&failed)?;
        let places = Places::of(index.sim());
        if places.live() != stats.live {
            return Err(JobError::Failed(format!("{} live cells in the image, {} counted", places.live(), stats.live)));
        }
        let pointers = after.pointers - before.pointers;
        let each = |after: u32, before: u32| f64::from(after.wrapping_sub(before)) / f64::from(pointers);
        let successful = each(after.successful, before.successful);
        Ok(Row {
            pointers,
            successful,
            low: each(after.low, before.low),
            over: each(after.over, before.over),
            back: each(after.back, before.back),
            null: each(after.null, before.null),
            live_cells: stats.live,
            cells: stats.live + stats.dead + stats.free,
            null_expected: places.null_probes(successful),
        })
    }
}

/// Whether each cell is live: of each turnstile, of each column, of each block in its order.
struct Places(Vec<Vec<bool>>);

impl Places {
    fn of(sim: &NorSim) -> Places {
        let part = sim.part();
        let blocks = u16::from(ListSettings::paper_2011().turnstile_blocks);
        let cells = (part.unit_size_bytes - CELLS_OFFSET) / CELL_BYTES;
        let is_live = |unit: u16, cell: u32| {
            let start = part.start_of(EraseUnit(unit));
            let stamp = sim.peek(Address(start.0 + CELLS_OFFSET + cell * CELL_BYTES), 2);
            let word = u16::from_le_bytes([stamp[0], stamp[1]]);
            matches!(CellState::decode(word), CellState::Live(_) | CellState::Batch)
        };
        let turnstiles = (0..part.unit_count).step_by(blocks.into());
        let columns = turnstiles.flat_map(|first| (0..cells).map(move |cell| (first, cell)));
        Places(columns.map(|(first, cell)| (first..first + blocks).map(|unit| is_live(unit, cell)).collect()).collect())
    }

    fn live(&self) -> u32 {
        self.0.iter().flatten().filter(|live| **live).count() as u32
    }

    /// Null probes a pointer, of which a share leads on.
    fn null_probes(&self, successful: f64) -> f64 {
        let (mut before, mut in_column) = (0, 0);
        for column in &self.0 {
            let mut null = 0;
            for live in column {
                before += if *live { null } else { 0 };
                null += u32::from(!live);
            }
            in_column += null * column.iter().filter(|live| **live).count() as u32;
        }
        let mean = |sum: u32| f64::from(sum) / f64::from(self.live().max(1));
        successful * mean(before) + (1.0 - successful) * mean(in_column)
    }
}

/// Least, mean and most of a value on parts of one size.
fn spread(outcomes: &[Measured], megabytes: u16, value: impl Fn(&Row) -> f64) -> Option<[f64; 3]> {
    let of = outcomes.iter().filter(|outcome| outcome.parameters.megabytes == megabytes);
    let values: Vec<f64> = of.map(|outcome| value(&outcome.row)).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Some([values.iter().copied().reduce(f64::min)?, mean, values.iter().copied().reduce(f64::max)?])
}

fn text(spread: Option<[f64; 3]>) -> String {
    spread.map_or_else(String::new, |[least, _, most]| format!("{} to {}", figure(least), figure(most)))
}

fn live_percent(row: &Row) -> f64 {
    100.0 * f64::from(row.live_cells) / f64::from(row.cells)
}

fn comparisons(outcomes: &[Measured]) -> Vec<Comparison> {
    let sizes = SIZES.into_iter().filter(|&megabytes| spread(outcomes, megabytes, |row| row.null).is_some());
    let mut all: Vec<Comparison> = sizes.flat_map(|megabytes| of_size(outcomes, megabytes)).collect();
    let nulls = SIZES.map(|megabytes| spread(outcomes, megabytes, |row| row.null));
    let found = match nulls {
        [Some(small), Some(large)] => Some((
            small[1] < large[1],
            format!("mean over the seeds {} on 1 MB, {} on 2 MB", figure(small[1]), figure(large[1])),
        )),
        _ => None,
    };
    if found.is_some() {
        all.push(Comparison::claim(
            "§0.6.3: null probes by the room",
            "the more the lower the space utilization is",
            found,
        ));
    }
    all
}

fn of_size(outcomes: &[Measured], megabytes: u16) -> [Comparison; 2] {
    let mean = |value: fn(&Row) -> f64| spread(outcomes, megabytes, value).map(|spread| spread[1]);
    let by_seed = |value: fn(&Row) -> f64| text(spread(outcomes, megabytes, value));
    let what = |kind: &str| format!("§0.6.3: {kind} probes a pointer, mean over seeds, {megabytes} MB");
    [
        Comparison::new(what("null"), Published::Value(PUBLISHED_NULL), mean(|row| row.null)).because(format!(
            "{} by seed, though {}% of the cells are live with each; by the places of the objects {}",
            by_seed(|row| row.null),
            by_seed(live_percent),
            by_seed(|row| row.null_expected)
        )),
        Comparison::new(what("low"), Published::Value(PUBLISHED_LOW), mean(|row| row.low)).because(format!(
            "{} by seed: objects are written where a block has room, and not by level",
            by_seed(|row| row.low)
        )),
    ]
}

fn table(outcomes: &[Measured]) -> Table {
    let columns =
        ["MB", "seed", "pointers", "successful", "low", "over", "back", "null", "null by the places", "live cells, %"];
    let mut table = Table::new("Probes a pointer:", &columns);
    for Outcome { parameters, row } in outcomes {
        let mut cells = vec![parameters.megabytes.to_string(), parameters.benchmark.seed.to_string()];
        cells.push(row.pointers.to_string());
        let a_pointer = [row.successful, row.low, row.over, row.back, row.null, row.null_expected, live_percent(row)];
        cells.extend(a_pointer.map(figure));
        table.push(cells);
    }
    table
}

/// Measured null probes over those expected.
fn plot(outcomes: &[Measured]) -> Plot {
    let series = SIZES.map(|megabytes| {
        let of = outcomes.iter().filter(move |outcome| outcome.parameters.megabytes == megabytes);
        let points = of.map(|outcome| (outcome.row.null_expected, outcome.row.null)).collect();
        Series::crosses(format!("{megabytes} MB"), points)
    });
    let (x, y) = (Axis::linear("null probes a pointer by the places"), Axis::linear("null probes a pointer, measured"));
    Plot::single("fat-lists-probes", "Null probes by seeds", x, y, Chart::Lines(series.to_vec()))
}
