//! What a store costs in steady state: each kind of update in a run of its own, field reads, wear and RAM.
//!
//! For each row: lay out, create the objects with values, run the row's updates until they are [steady](crate::steady),
//! and take the figures of the last windows. A store with a configuration that only reads less (a cache) is brought to
//! its steady state in that one; then it is mounted as it is to be measured, and reads are counted over a sample.

use std::panic::{AssertUnwindSafe, catch_unwind};

use norn_flash_sim::{NorSim, PartSpec, catalogue};

use crate::causes::Causes;
use crate::device::Device;
use crate::steady::{self, Ended, Figures, Length, Step};
use crate::store::{Begin, Failure, Opening, Peer, Shape, Store, Update, Value};
use crate::workload::{GROUP, Workload};

/// Words read, at most, in a sample of updates, of field reads, or of updates by cause.
const SAMPLE_WORDS: u64 = 40_000_000;
/// The part of a row's words that may be read for one at a share of the capacity: there are many.
const FILL_READS: u64 = 6;
/// Words read by a call after which a store is taken to loop.
const CALL_WORDS: u64 = 1_000_000_000;

/// Kinds of updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// One field of a drawn object, durable.
    OneField,
    /// All fields of a drawn object, one after the other, each durable.
    AllFields,
    /// All fields of a drawn object in one transaction.
    WholeObject,
    /// One field in each of ten objects in one transaction.
    Group,
}

/// All of them, in the table's order.
pub const ROWS: [Row; 4] = [Row::OneField, Row::AllFields, Row::WholeObject, Row::Group];
/// Those that are counted as the part fills.
pub const FILL_ROWS: [Row; 2] = [Row::OneField, Row::WholeObject];

impl Row {
    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Row::OneField => "one field",
            Row::AllFields => "all fields",
            Row::WholeObject => "whole object",
            Row::Group => "group of ten",
        }
    }

    /// Runs one step of it.
    fn step(self, store: &mut dyn Store, workload: &mut Workload) -> Result<Step, Failure> {
        let shape = workload.shape();
        let fields = shape.fields as u64;
        match self {
            Row::OneField => store.put_field(workload.update()).map(|()| Step { fields: 1, calls: 1 }),
            Row::AllFields => {
                let (object, record) = (workload.object(), workload.record());
                for update in fields_of(object, &record, shape) {
                    store.put_field(update)?;
                }
                Ok(Step { fields, calls: fields })
            }
            Row::WholeObject => {
                let (object, record) = (workload.object(), workload.record());
                store.put_object(object, &record).map(|()| Step { fields, calls: 1 })
            }
            Row::Group => store.put_group(&workload.group()).map(|()| Step { fields: GROUP as u64, calls: 1 }),
        }
    }
}

/// An object's values as an update for each field.
fn fields_of(object: usize, record: &[u8], shape: Shape) -> impl DoubleEndedIterator<Item = Update> {
    (0..shape.fields).map(move |field| Update { object, field, value: Value::new(&record[shape.range(field)]) })
}

/// Objects to create, and the seed of what is done with them.
#[derive(Clone, Copy, Debug)]
pub struct Population {
    /// Number of them.
    pub objects: usize,
    /// What each consists of.
    pub shape: Shape,
    /// Seed of values and of the workload.
    pub seed: u64,
}

impl Population {
    /// How a store for it is opened.
    fn opening(&self, begin: Begin) -> Opening {
        Opening { begin, objects: self.objects, shape: self.shape }
    }
}

/// How much is counted.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How long updates run, for all rows.
    pub length: Length,
    /// How long they run for a share of the capacity.
    pub fill_length: Length,
    /// Field reads.
    pub field_reads: u64,
    /// Updates by cause.
    pub causes: u64,
}

impl Bounds {
    /// For figures that are kept.
    pub const fn full(erases: u64) -> Bounds {
        Bounds::of(Length::full(erases), 20_000)
    }

    /// For a look whether everything works.
    pub const fn quick(erases: u64) -> Bounds {
        Bounds::of(Length::quick(erases), 2_000)
    }

    const fn of(length: Length, field_reads: u64) -> Bounds {
        let fill_length = Length { words_read: length.words_read / FILL_READS, ..length };
        Bounds { length, fill_length, field_reads, causes: 5 * field_reads }
    }

    /// The same with so many words read at most for a row.
    pub const fn with_words_read(self, words_read: u64) -> Bounds {
        Bounds::of(Length { words_read, ..self.length }, self.field_reads)
    }
}

/// Why there are no figures.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The objects could not all be created.
    #[error("holds {0}")]
    Filling(usize),
    /// The store has no such operation.
    #[error("–: {0}")]
    Unsupported(&'static str),
    /// The store failed on the way.
    #[error("{failure} after {updates} updates")]
    Failed {
        /// How.
        failure: Failure,
        /// Fields updated before.
        updates: u64,
    },
    /// The store panicked.
    #[error("panicked")]
    Panicked,
}

impl Stopped {
    fn of((failure, updates): (Failure, u64)) -> Stopped {
        match failure {
            Failure::Unsupported(what) => Stopped::Unsupported(what),
            failure => Stopped::Failed { failure, updates },
        }
    }
}

/// Words read for one field.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Fields read.
    pub fields: u64,
    /// On average.
    pub mean: f64,
    /// Of any of them.
    pub worst: u64,
}

/// How evenly units wore.
#[derive(Clone, Copy, Debug)]
pub struct Wear {
    /// Erases of the most worn unit by the mean.
    pub ratio: f64,
    /// The mean.
    pub mean_erases: f64,
}

/// The measurements of one store with a number of objects.
pub struct Case {
    /// Objects.
    pub population: Population,
    /// Each kind of update that was asked for.
    pub rows: Vec<(Row, Result<Figures, Stopped>)>,
    /// Field reads in the first row's steady state.
    pub reading: Option<Reading>,
    /// Wear of the first row.
    pub wear: Option<Wear>,
    /// Bytes of RAM.
    pub ram_bytes: Option<usize>,
    /// Updates by cause.
    pub causes: Vec<(Row, Causes)>,
}

impl Case {
    /// What came of a row, if it was asked for.
    pub fn row(&self, row: Row) -> Option<&Result<Figures, Stopped>> {
        self.rows.iter().find(|(other, _)| *other == row).map(|(_, result)| result)
    }

    /// A row's figures, if they are of a steady state.
    pub fn steady(&self, row: Row) -> Option<&Figures> {
        self.row(row)?.as_ref().ok().filter(|figures| figures.ended == Ended::Steady)
    }
}

/// The part of the comparison.
pub fn part() -> PartSpec {
    catalogue::tinystore()
}

/// A store in use.
pub struct Running {
    store: Box<dyn Store>,
    device: Device,
    workload: Workload,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.device.discard();
    }
}

/// Lays out a store and creates objects with values; says at which object it failed.
pub fn fill(peer: &Peer, population: &Population) -> Result<Running, (usize, Failure)> {
    let device = Device::new(NorSim::new(part()));
    let open = peer.fill.as_ref().unwrap_or(&peer.open);
    let store = open(device.clone(), population.opening(Begin::Format)).map_err(|failure| (0, failure))?;
    let workload = Workload::new(population.seed, population.objects, population.shape);
    let mut running = Running { store, device, workload };
    for object in 0..population.objects {
        let record = running.workload.record();
        running.device.limit_reads(CALL_WORDS);
        running.store.create(object, &record).map_err(|failure| (object, failure))?;
    }
    Ok(running)
}

impl Running {
    /// Runs a row for some length.
    pub fn run(&mut self, row: Row, length: &Length) -> Result<Figures, Stopped> {
        let Running { store, device, workload } = self;
        let step = || {
            device.limit_reads(CALL_WORDS);
            row.step(&mut **store, workload)
        };
        steady::run(device, length, step).map_err(Stopped::of)
    }

    /// Runs a row to its steady state, and opens in the configuration that is to be measured.
    fn measure(&mut self, peer: &Peer, row: Row, population: &Population, length: &Length) -> Result<Figures, Stopped> {
        let once = Length { words_read: 0, ..*length };
        self.run(row, &once)?; // What it does not support is known at once.
        let figures = self.run(row, length)?;
        if peer.fill.is_none() {
            return Ok(figures);
        }
        let opened = (peer.open)(self.device.clone(), population.opening(Begin::Mount));
        self.store = opened.map_err(|failure| Stopped::of((failure, 0)))?;
        let sample = self.run(row, &Length { words_read: SAMPLE_WORDS.min(length.words_read), ..*length })?;
        Ok(figures.with_reads_of(&sample))
    }

    fn read_fields(&mut self, fields_max: u64) -> Result<Reading, Failure> {
        let start = self.device.counters().reads();
        let (mut fields, mut worst, mut last) = (0, 0, start);
        while fields == 0 || fields < fields_max && last - start < SAMPLE_WORDS {
            let (object, field) = self.workload.any_field();
            self.store.get_field(object, field)?;
            let now = self.device.counters().reads();
            (fields, worst, last) = (fields + 1, worst.max(now - last), now);
        }
        Ok(Reading { fields, mean: (last - start) as f64 / fields as f64, worst })
    }

    fn wear(&self) -> Wear {
        let erases = self.device.erase_counts();
        let mean_erases = f64::from(erases.iter().sum::<u32>()) / erases.len() as f64;
        Wear { ratio: f64::from(erases.into_iter().max().unwrap_or(0)) / mean_erases, mean_erases }
    }

    /// Updates by cause, one field at a time, or object by object.
    fn causes(&mut self, row: Row, updates: u64) -> Option<Causes> {
        let mut workload = self.workload.clone();
        let shape = workload.shape();
        let mut waiting = Vec::new();
        let mut draw = || {
            if row == Row::OneField {
                return workload.update();
            }
            if waiting.is_empty() {
                let (object, record) = (workload.object(), workload.record());
                waiting = fields_of(object, &record, shape).rev().collect();
            }
            waiting.pop().expect("it was filled")
        };
        self.device.limit_reads(u64::MAX);
        self.store.causes(&mut draw, updates, SAMPLE_WORDS / 4)
    }
}

/// Whom to tell what came of a row.
pub type Tell<'a> = &'a dyn Fn(&Population, Row, &Result<Figures, Stopped>);

/// What to measure of a population, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Extent<'a> {
    /// Kinds of updates.
    pub rows: &'a [Row],
    /// How long each runs.
    pub length: Length,
    /// Everything else.
    pub bounds: &'a Bounds,
}

/// Measures one store with the given objects.
pub fn measure(peer: &Peer, population: Population, extent: &Extent, tell: Tell) -> Case {
    let (reading, wear, ram_bytes) = (None, None, None);
    let mut case = Case { population, rows: Vec::new(), reading, wear, ram_bytes, causes: Vec::new() };
    for &row in extent.rows {
        let measured = catch_unwind(AssertUnwindSafe(|| measure_row(&mut case, peer, row, extent)));
        let measured = measured.unwrap_or(Err(Stopped::Panicked));
        tell(&population, row, &measured);
        case.rows.push((row, measured));
    }
    case
}

/// Measures one row, and what is measured with it.
fn measure_row(case: &mut Case, peer: &Peer, row: Row, extent: &Extent) -> Result<Figures, Stopped> {
    let mut running = fill(peer, &case.population).map_err(|(created, _)| Stopped::Filling(created))?;
    let figures = running.measure(peer, row, &case.population, &extent.length)?;
    running.device.limit_reads(u64::MAX);
    if row == Row::OneField {
        case.wear = Some(running.wear());
        case.ram_bytes = Some(running.store.ram_bytes());
        case.reading = running.read_fields(extent.bounds.field_reads).ok();
    }
    if matches!(row, Row::OneField | Row::AllFields) {
        case.causes.extend(running.causes(row, extent.bounds.causes).map(|causes| (row, causes)));
    }
    Ok(figures)
}
