//! The micro-benchmark (section 0.6.3): keys are inserted in order, values updated and queried by a Gaussian variable,
//! all removed at random.
//!
//! Between the updates and the queries the index is stopped and booted on copies of its part, each time with other
//! random numbers; after the queries all keys are read in order.

use std::ops::Bound;

use serde::{Deserialize, Serialize};

use super::costs::{Costs, Meter};
use super::subject::{Subject, Task};
use crate::error::JobError;
use crate::experiment::Context;
use crate::settings::Settings;

/// Calls between two reports of progress.
const REPORT_PERIOD: u32 = 4096;

/// The two readings of "a variance of one sixth of the keys".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spread {
    /// The standard deviation is a sixth of the keys.
    DeviationOfASixth,
    /// The variance is.
    VarianceOfASixth,
}

/// The benchmark's own parameters.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Benchmark {
    /// Keys that are inserted.
    pub keys: u32,
    /// Updates, and queries.
    pub updates: u32,
    /// How the keys of updates and queries are spread.
    pub spread: Spread,
    /// Mounts on copies of the part.
    pub boots: u32,
    /// Of the random keys.
    pub seed: u64,
}

impl Benchmark {
    /// What the settings ask for: the paper's numbers, or small ones.
    pub fn of(settings: &Settings) -> Benchmark {
        Benchmark {
            keys: settings.choose(6_000, 25_000),
            updates: settings.choose(8_000, 800_000),
            spread: Spread::DeviationOfASixth,
            boots: settings.choose(50, 500),
            seed: settings.seed,
        }
    }
}

/// What is measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Every key, in order.
    Insertion,
    /// Values of keys by a Gaussian variable.
    Update,
    /// Mounts after a stop.
    Boot,
    /// Keys by the same variable.
    Query,
    /// All keys in order; a call is a key.
    Range,
    /// Every key, in random order.
    Deletion,
}

impl Phase {
    /// The paper's four.
    pub const PUBLISHED: [Phase; 4] = [Phase::Insertion, Phase::Update, Phase::Query, Phase::Deletion];

    /// Its name in tables and plots.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Insertion => "insertion",
            Phase::Update => "update",
            Phase::Boot => "boot",
            Phase::Query => "query",
            Phase::Range => "range",
            Phase::Deletion => "deletion",
        }
    }
}

/// A phase and its costs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Which.
    pub phase: Phase,
    /// What its calls cost.
    #[serde(flatten)]
    pub costs: Costs,
    /// Pointers that the queries followed, where the index is a list.
    pub pointers: Option<u32>,
    /// Probes of the queries that led on.
    pub successful_probes: Option<u32>,
    /// Probes of objects on lower levels only.
    pub low_probes: Option<u32>,
    /// Probes of objects beyond the key.
    pub over_probes: Option<u32>,
    /// Probes of objects before the current one.
    pub back_probes: Option<u32>,
    /// Probes of free or dead cells.
    pub null_probes: Option<u32>,
}

impl Row {
    fn new(phase: Phase, costs: Costs) -> Row {
        Row {
            phase,
            costs,
            pointers: None,
            successful_probes: None,
            low_probes: None,
            over_probes: None,
            back_probes: None,
            null_probes: None,
        }
    }
}

/// A run of the benchmark.
pub struct Run<'a> {
    /// Its parameters.
    pub benchmark: Benchmark,
    /// Gets reports of progress.
    pub context: &'a Context<'a>,
}

impl Task for Run<'_> {
    type Answer = Vec<Row>;

    fn carry_out<I: Subject>(self, mut index: I) -> Result<Vec<Row>, JobError> {
        let mut random = fastrand::Rng::with_seed(self.benchmark.seed);
        let mut rows = vec![Row::new(Phase::Insertion, self.insert(&mut index)?)];
        rows.push(Row::new(Phase::Update, self.update(&mut index, &mut random)?));
        index.stop()?;
        rows.push(Row::new(Phase::Boot, self.boot(&index)?));
        rows.push(self.query(&mut index, &mut random)?);
        rows.push(Row::new(Phase::Range, self.range(&mut index)?));
        rows.push(Row::new(Phase::Deletion, self.remove(&mut index, &mut random)?));
        Ok(rows)
    }
}

impl Run<'_> {
    fn report(&self, done: u32) {
        let Benchmark { keys, updates, .. } = self.benchmark;
        if done.is_multiple_of(REPORT_PERIOD) {
            self.context.progress(done.into(), u64::from(2 * keys + 2 * updates));
        }
    }

    fn insert<I: Subject>(&self, index: &mut I) -> Result<Costs, JobError> {
        let mut meter = Meter::begin(index);
        for key in 0..self.benchmark.keys {
            meter.call(index, |index| index.insert(&key.to_be_bytes(), &key.to_le_bytes()))?;
            self.report(key);
        }
        Ok(meter.end(index))
    }

    fn update<I: Subject>(&self, index: &mut I, random: &mut fastrand::Rng) -> Result<Costs, JobError> {
        let mut meter = Meter::begin(index);
        for update in 0..self.benchmark.updates {
            let key = self.benchmark.key(random);
            meter.call(index, |index| index.update(&key.to_be_bytes(), &update.to_le_bytes()))?;
            self.report(self.benchmark.keys + update);
        }
        Ok(meter.end(index))
    }

    /// Mounts on copies, so that the part under measurement does not change.
    fn boot<I: Subject>(&self, index: &I) -> Result<Costs, JobError> {
        let (mut copy_ns, mut reads) = (Vec::new(), 0);
        for number in 0..self.benchmark.boots {
            let mut copy = index.sim().clone();
            I::vary(&mut copy, number);
            let (before_ns, before) = (copy.elapsed_ns(), copy.counters());
            let copy = I::mount(copy)?;
            let counters = copy.counters() - before;
            if counters.programs() + counters.erases > 0 {
                return Err(JobError::Failed("a mount after a stop changed the part".to_owned()));
            }
            reads += counters.reads();
            copy_ns.push(copy.elapsed_ns() - before_ns);
        }
        copy_ns.sort_unstable();
        let calls = copy_ns.len();
        let seconds = copy_ns.iter().sum::<u64>() as f64 / 1e9;
        let at = |share: f64| copy_ns[((calls as f64 * share) as usize).min(calls - 1)] as f64 / 1e6;
        Ok(Costs {
            calls: calls as u64,
            seconds,
            read_seconds: seconds,
            reads: reads as f64 / calls as f64,
            ms: seconds * 1e3 / calls as f64,
            ms_median: at(0.5),
            ms_999: at(0.999),
            ms_worst: at(1.0),
            ..Costs::default()
        })
    }

    fn query<I: Subject>(&self, index: &mut I, random: &mut fastrand::Rng) -> Result<Row, JobError> {
        let before = index.probes();
        let mut meter = Meter::begin(index);
        for query in 0..self.benchmark.updates {
            let key = self.benchmark.key(random);
            if meter.call(index, |index| index.get(&key.to_be_bytes()))?.is_none() {
                return Err(JobError::Failed(format!("key {key} is not found")));
            }
            self.report(self.benchmark.keys + self.benchmark.updates + query);
        }
        let mut row = Row::new(Phase::Query, meter.end(index));
        if let (Some(before), Some(after)) = (before, index.probes()) {
            row.pointers = Some(after.pointers.wrapping_sub(before.pointers));
            row.successful_probes = Some(after.successful.wrapping_sub(before.successful));
            row.low_probes = Some(after.low.wrapping_sub(before.low));
            row.over_probes = Some(after.over.wrapping_sub(before.over));
            row.back_probes = Some(after.back.wrapping_sub(before.back));
            row.null_probes = Some(after.null.wrapping_sub(before.null));
        }
        Ok(row)
    }

    fn range<I: Subject>(&self, index: &mut I) -> Result<Costs, JobError> {
        let mut meter = Meter::begin(index);
        let (mut from, mut hint) = (Bound::Unbounded, norn_ordered_index::Hint::default());
        for key in 0..self.benchmark.keys {
            let forwards = norn_ordered_index::Direction::Forwards;
            let found = meter.call(index, |index| index.neighbour(from.as_ref(), forwards, &mut hint))?;
            if found.map(|(found, _)| found) != Some(key.to_be_bytes()) {
                return Err(JobError::Failed(format!("a range has {found:?} instead of key {key}")));
            }
            from = Bound::Excluded(key.to_be_bytes());
        }
        Ok(meter.end(index))
    }

    fn remove<I: Subject>(&self, index: &mut I, random: &mut fastrand::Rng) -> Result<Costs, JobError> {
        let mut keys: Vec<u32> = (0..self.benchmark.keys).collect();
        random.shuffle(&mut keys);
        let mut meter = Meter::begin(index);
        for (removed, key) in (1..).zip(keys) {
            meter.call(index, |index| index.remove(&key.to_be_bytes()))?;
            self.report(self.benchmark.keys + 2 * self.benchmark.updates + removed);
        }
        Ok(meter.end(index))
    }
}

impl Benchmark {
    /// A key by a Gaussian variable whose mean is the median of all (Box and Muller).
    pub fn key(&self, random: &mut fastrand::Rng) -> u32 {
        let keys = f64::from(self.keys);
        let deviation = match self.spread {
            Spread::DeviationOfASixth => keys / 6.0,
            Spread::VarianceOfASixth => (keys / 6.0).sqrt(),
        };
        loop {
            let (radius, angle) = (f64::sqrt(-2.0 * (1.0 - random.f64()).ln()), std::f64::consts::TAU * random.f64());
            let key = (keys / 2.0 + deviation * radius * angle.cos()).round();
            if (0.0..keys).contains(&key) {
                return key as u32;
            }
        }
    }
}
