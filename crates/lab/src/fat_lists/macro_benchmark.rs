//! Figure 21: readings of sensors inserted in the order of their coming, then ranges of them.
//!
//! Keyed by the temperature, most readings are updates, since few temperatures differ; keyed by time and mote, every
//! reading is an insertion.

use std::collections::BTreeSet;
use std::ops::Bound;

use norn_ordered_index::{IndexError, Settings as ListSettings};
use serde::{Deserialize, Serialize};

use super::costs::{Costs, Meter};
use super::paper::PAPER;
use super::phases::phase_table;
use super::subject::{Structure, Subject, Task, on_fresh_index};
use super::temperatures;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Ours, Presentation, Published, Table, figure};
use crate::settings::Settings;

/// The macro-benchmark.
pub struct MacroBenchmark;

/// What a reading is kept under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Keys {
    /// Its temperature: the data of `--data`.
    Temperature,
    /// The time and the mote, made up: 54 motes report in each epoch, in random order.
    TimeAndMote,
    /// The same of all readings of the deployment.
    TimeAndMoteOfAll,
}

/// A run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    keys: Keys,
    structure: Structure,
    megabytes: u16,
    readings: u32,
    ranges: u32,
    data: Option<String>,
    data_checksum: Option<u64>,
    seed: u64,
}

/// The form of a structure that can hold the keys.
fn variant(kind: Structure, keys: Keys) -> Structure {
    match (kind, keys) {
        (Structure::MuTree, Keys::TimeAndMote) => Structure::MuTreeOfLargePages,
        (Structure::LoggedTree, Keys::TimeAndMote) => Structure::LoggedTreeOfLargePages,
        _ => kind,
    }
}

/// What is measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// All readings.
    Insertion,
    /// A tenth of the ranges; a call is a range.
    FewRanges,
    /// The ranges.
    ManyRanges,
}

/// A phase and its costs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    phase: Phase,
    distinct_keys: u32,
    /// Keys that the ranges had, on average.
    keys_a_range: f64,
    #[serde(flatten)]
    costs: Costs,
}

impl Row {
    /// Words that a range read for each of its keys.
    fn words_a_key(&self) -> f64 {
        self.costs.reads / self.keys_a_range
    }
}

const MOTES: u32 = 54;
/// Bits of a key below the epoch.
const MOTE_BITS: u32 = 6;
/// Readings with made-up keys that every structure takes.
const READINGS: u32 = 192_196;
/// Readings of the whole deployment, "about 2.3 million".
const ALL_READINGS: u32 = 2_313_682;
/// The part with its published number of blocks, which they need.
const ALL_MEGABYTES: u16 = 64;
/// Epochs that a range over time has at most.
const EPOCHS_MAX: u32 = 10;

impl Experiment for MacroBenchmark {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "fat-lists-macro",
            paper: PAPER,
            reproduces: "Figure 21",
            summary: "Readings of 54 sensors put into an index in the order of their coming, a key that is there being \
                      updated; then 1,000 and 10,000 ranges. By temperature: the ends of a range are two random \
                      readings. By time and mote: a random epoch and the up to nine behind it. Lists with 40 slots and \
                      30 keys.",
            revision: 2,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let found = temperatures::find(settings);
        let checksum = found.map(|(checksum, _)| checksum);
        let mut jobs = Vec::new();
        for keys in [Keys::Temperature, Keys::TimeAndMote] {
            let is_data = keys == Keys::Temperature;
            if is_data && checksum.is_none() {
                continue;
            }
            let all = found.filter(|_| is_data).map_or(READINGS, |(_, readings)| readings);
            let readings = settings.choose(4_000, all);
            for structure in Structure::ALL.map(|kind| variant(kind, keys)) {
                let parameters = Parameters {
                    keys,
                    structure,
                    megabytes: match (keys, structure) {
                        (Keys::Temperature, _) => 2,
                        // An object for each reading, or half-filled pages of 4 KB.
                        (Keys::TimeAndMote, Structure::SoftList | Structure::LoggedTreeOfLargePages) => {
                            settings.choose(8, 32)
                        }
                        (Keys::TimeAndMote | Keys::TimeAndMoteOfAll, _) => 8,
                    },
                    readings,
                    ranges: settings.choose(100, 10_000),
                    data: is_data.then(|| temperatures::FILE.to_owned()),
                    data_checksum: checksum.filter(|_| is_data),
                    seed: settings.seed,
                };
                jobs.push(Job { seconds: f64::from(readings) * 1e-4, parameters });
            }
        }
        let readings = settings.choose(8_000, ALL_READINGS);
        let parameters = Parameters {
            keys: Keys::TimeAndMoteOfAll,
            structure: Structure::FatList,
            megabytes: settings.choose(8, ALL_MEGABYTES),
            readings,
            ranges: settings.choose(100, 10_000),
            data: None,
            data_checksum: None,
            seed: settings.seed,
        };
        jobs.push(Job { seconds: f64::from(readings) * 1e-4, parameters });
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let mut random = fastrand::Rng::with_seed(parameters.seed);
        let keys = match parameters.data_checksum {
            Some(checksum) => temperature_keys(context, checksum, parameters.readings)?,
            None => time_keys(parameters.readings, &mut random),
        };
        let settings = match parameters.structure {
            Structure::SoftList => ListSettings::soft_list(),
            _ => ListSettings { keys: 30, ..ListSettings::paper_2011() },
        };
        let run = Run { parameters, keys, random, context };
        on_fresh_index(parameters.structure, parameters.megabytes, settings, run)
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let there_is_data = outcomes.iter().any(|outcome| outcome.parameters.keys == Keys::Temperature);
        let mut remarks = vec![REMARK.to_owned()];
        if !there_is_data {
            remarks.push(format!(
                "Skipped, without `--data DIR` that has {}: all that is by temperature.",
                temperatures::FILE
            ));
        }
        let mut comparisons = comparisons(outcomes, Keys::Temperature);
        comparisons.extend(comparisons_of_unique_keys(outcomes));
        Presentation { comparisons, tables: vec![table(outcomes)], plots: plots(outcomes), remarks }
    }
}

const REMARK: &str = "The temperatures are as many as `--data` has. All 2.3 million readings of the deployment have \
                      made-up times, on 64 MB, in a fat list only: a soft list takes 200 MB for them, and a µ-tree's \
                      insertions read more the larger the part is. The paper does not say how long its ranges are, nor \
                      the part's size: 2 MB for temperatures, 8 MB for time and mote, 32 MB for the soft list with its \
                      object a reading and for the logged tree. Keyed by time and mote, the µ-tree has pages of 1,024 \
                      bytes and the logged tree of 4,096 (1,280 for the log): each node has half of its child's room, \
                      so that pages of 512 bytes hold some 29,000 keys at most, and a logged tree's of 2,048 were too \
                      small, too.";

fn temperature_keys(context: &Context, checksum: u64, readings: u32) -> Result<Vec<u32>, JobError> {
    let all = temperatures::read(context.data(), checksum)?;
    let key = |&reading: &i16| (i32::from(reading) - i32::from(i16::MIN)) as u32;
    Ok(all.iter().take(readings as usize).map(key).collect())
}

fn time_keys(readings: u32, random: &mut fastrand::Rng) -> Vec<u32> {
    let mut motes: Vec<u32> = (0..MOTES).collect();
    let mut keys = Vec::new();
    for epoch in 0..readings.div_ceil(MOTES) {
        random.shuffle(&mut motes);
        keys.extend(motes.iter().map(|mote| epoch << MOTE_BITS | mote));
    }
    keys.truncate(readings as usize);
    keys
}

/// A run on one index.
struct Run<'a> {
    parameters: &'a Parameters,
    keys: Vec<u32>,
    random: fastrand::Rng,
    context: &'a Context<'a>,
}

impl Task for Run<'_> {
    type Answer = Vec<Row>;

    fn carry_out<I: Subject>(mut self, mut index: I) -> Result<Vec<Row>, JobError> {
        let distinct: BTreeSet<u32> = self.keys.iter().copied().collect();
        let mut meter = Meter::begin(&index);
        for (number, key) in (0_u32..).zip(&self.keys) {
            meter.call(&mut index, |index| put(index, &key.to_be_bytes(), &number.to_le_bytes()))?;
            if number.is_multiple_of(4096) {
                self.context.progress(number.into(), 2 * self.keys.len() as u64);
            }
        }
        let distinct_keys = distinct.len() as u32;
        let costs = meter.end(&index);
        let mut rows = vec![Row { phase: Phase::Insertion, distinct_keys, keys_a_range: 0.0, costs }];
        let few = (self.parameters.ranges / 10).max(1);
        for (phase, ranges) in [(Phase::FewRanges, few), (Phase::ManyRanges, self.parameters.ranges)] {
            let (costs, keys_a_range) = self.ranges(&mut index, ranges, &distinct)?;
            rows.push(Row { phase, distinct_keys, keys_a_range, costs });
        }
        Ok(rows)
    }
}

/// Adds a key or changes its value.
fn put<I: Subject>(index: &mut I, key: &[u8; 4], value: &[u8; 4]) -> Result<(), IndexError<norn_flash_sim::SimError>> {
    index.put(key, value)
}

impl Run<'_> {
    fn ranges<I: Subject>(
        &mut self,
        index: &mut I,
        ranges: u32,
        all: &BTreeSet<u32>,
    ) -> Result<(Costs, f64), JobError> {
        let (mut meter, mut sum) = (Meter::begin(index), 0);
        for number in 0..ranges {
            let (low, high) = self.ends();
            let found = meter.call(index, |index| count(index, low, high))?;
            if found != all.range(low..=high).count() {
                return Err(JobError::Failed(format!("range {low} to {high} has {found} keys")));
            }
            sum += found;
            if number.is_multiple_of(256) {
                self.context.progress(u64::from(ranges) + u64::from(number), 2 * u64::from(ranges));
            }
        }
        Ok((meter.end(index), sum as f64 / f64::from(ranges)))
    }

    /// The first and the last key of a range.
    fn ends(&mut self) -> (u32, u32) {
        let a_key = |random: &mut fastrand::Rng| self.keys[random.usize(..self.keys.len())];
        let one = a_key(&mut self.random);
        match self.parameters.keys {
            Keys::Temperature => {
                let other = a_key(&mut self.random);
                (one.min(other), one.max(other))
            }
            Keys::TimeAndMote | Keys::TimeAndMoteOfAll => {
                let epoch = one >> MOTE_BITS;
                (epoch << MOTE_BITS, ((epoch + self.random.u32(1..=EPOCHS_MAX)) << MOTE_BITS) - 1)
            }
        }
    }
}

/// Reads a range to its end.
fn count<I: Subject>(index: &mut I, low: u32, high: u32) -> Result<usize, IndexError<norn_flash_sim::SimError>> {
    let mut range = index.range(Bound::Included(low.to_be_bytes()), Bound::Included(high.to_be_bytes()));
    let mut keys = 0;
    while range.next_entry()?.is_some() {
        keys += 1;
    }
    Ok(keys)
}

fn find(outcomes: &[Outcome<Parameters, Row>], keys: Keys, structure: Structure, phase: Phase) -> Option<&Row> {
    let is_it = |outcome: &&Outcome<Parameters, Row>| {
        (outcome.parameters.keys, outcome.parameters.structure, outcome.row.phase) == (keys, structure, phase)
    };
    outcomes.iter().find(is_it).map(|outcome| &outcome.row)
}

/// What the paper says, which it says of temperatures.
fn comparisons(outcomes: &[Outcome<Parameters, Row>], keys: Keys) -> Vec<Comparison> {
    let pair = |phase, value: fn(&Row) -> f64, holds: fn(f64, f64) -> bool, unit: &str| {
        let fat = value(find(outcomes, keys, Structure::FatList, phase)?);
        let tree = value(find(outcomes, keys, variant(Structure::MuTree, keys), phase)?);
        Some((holds(fat, tree), format!("fat list / µ-tree, {unit}: {} / {}", figure(fat), figure(tree))))
    };
    let what = |text: &str| match keys {
        Keys::Temperature => format!("Figure 21: temperatures, {text}"),
        Keys::TimeAndMote | Keys::TimeAndMoteOfAll => format!("Figure 21 with unique keys: {text}"),
    };
    let claim = |text: &str, says: &str, found: Option<(bool, String)>| {
        let comparison = Comparison::claim(what(text), says, found);
        match comparison.ours {
            Ours::Missing(_) => Comparison {
                ours: Ours::Missing("skipped: no data".to_owned()),
                published: Published::Claim(says.to_owned()),
                ..comparison
            },
            _ => comparison,
        }
    };
    let more = |fat: f64, tree: f64| fat > tree;
    let less = |fat: f64, tree: f64| fat < tree;
    let much_less = |fat: f64, tree: f64| 2.0 * fat < tree;
    vec![
        claim(
            "read time of the insertions",
            "fat list more",
            pair(Phase::Insertion, |row| row.costs.read_seconds, more, "s"),
        )
        .because(
            pair(Phase::Insertion, |row| row.costs.erases, less, "erases an insertion").map_or_else(
                String::new,
                |(_, erases)| {
                    format!("a µ-tree's insertion reads the path that it writes anew, and to reclaim; {erases}")
                },
            ),
        ),
        claim(
            "write and erase time of the insertions",
            "fat list much less",
            pair(Phase::Insertion, |row| row.costs.write_and_erase_seconds(), much_less, "s"),
        ),
        claim("1,000 ranges", "fat list faster", pair(Phase::FewRanges, Row::words_a_key, less, "words read a key")),
        claim("10,000 ranges", "fat list faster", pair(Phase::ManyRanges, Row::words_a_key, less, "words read a key")),
    ]
}

/// The same of unique keys, and section 0.5.4's statement.
fn comparisons_of_unique_keys(outcomes: &[Outcome<Parameters, Row>]) -> Vec<Comparison> {
    let mut all = comparisons(outcomes, Keys::TimeAndMote);
    let reads = |structure| find(outcomes, Keys::TimeAndMote, structure, Phase::ManyRanges).map(Row::words_a_key);
    let found = reads(Structure::FatList).zip(reads(Structure::SoftList));
    all.push(Comparison::claim(
        "§0.5.4: ranges, unique keys",
        "fat list faster than soft list",
        found.map(|(fat, soft)| {
            (fat < soft, format!("fat list / soft list, words read a key: {} / {}", figure(fat), figure(soft)))
        }),
    ));
    all
}

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let heads = ["keys", "", "MB", "phase", "distinct keys", "keys a range", "words read a key"];
    let phases = outcomes.iter().map(|Outcome { parameters, row }| {
        let a_key = if row.keys_a_range > 0.0 { figure(row.words_a_key()) } else { String::new() };
        let mut cells = vec![format!("{:?}", parameters.keys), parameters.structure.name().to_owned()];
        cells.extend([parameters.megabytes.to_string(), format!("{:?}", row.phase)]);
        cells.extend([figure(row.distinct_keys.into()), figure(row.keys_a_range), a_key]);
        (cells, &row.costs)
    });
    phase_table("", &heads, phases)
}

fn plots(outcomes: &[Outcome<Parameters, Row>]) -> Vec<Plot> {
    let groups = [
        ("temperature", Keys::Temperature),
        ("time and mote", Keys::TimeAndMote),
        ("time and mote, all", Keys::TimeAndMoteOfAll),
    ];
    let is_there = |keys| outcomes.iter().any(|outcome| outcome.parameters.keys == keys);
    let groups: Vec<(&str, Keys)> = groups.into_iter().filter(|(_, keys)| is_there(*keys)).collect();
    let panel = |(title, phase): (String, Phase)| {
        let bars = |structure: Structure| {
            let points = (0..).zip(&groups).filter_map(|(at, &(_, keys))| {
                Some((f64::from(at), find(outcomes, keys, variant(structure, keys), phase)?.costs.seconds))
            });
            Series::line(structure.name(), points.collect())
        };
        Panel {
            title,
            x: Axis::linear("keyed by"),
            y: Axis::log("simulated seconds"),
            chart: Chart::Bars {
                groups: groups.iter().map(|(name, _)| (*name).to_owned()).collect(),
                series: Structure::ALL.into_iter().map(bars).collect(),
            },
        }
    };
    let ranges = |phase| {
        let row = outcomes.iter().find(|outcome| outcome.row.phase == phase);
        format!("{} ranges", row.map_or_else(String::new, |outcome| figure(outcome.row.costs.calls as f64)))
    };
    let panels = [
        ("insertion".to_owned(), Phase::Insertion),
        (ranges(Phase::FewRanges), Phase::FewRanges),
        (ranges(Phase::ManyRanges), Phase::ManyRanges),
    ];
    vec![Plot {
        name: "fat-lists-figure21".to_owned(),
        title: "Figure 21: readings of sensors".to_owned(),
        panels: panels.into_iter().map(panel).collect(),
        columns: 2,
    }]
}
