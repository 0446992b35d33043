//! What a store costs by number of objects: each row of the table in its own steady state, field reads, wear, RAM, and
//! how many objects fit.
//!
//! For each row: lay out, create the objects with values, run the row's updates until every unit has been erased some
//! times on average, then count while they are erased some times more. Either part also ends after a number of words
//! read, which is what bounds the run of a store that reads much; every figure comes with the number of its updates.

use norn_flash_sim::{Counters, NorSim, PartSpec, catalogue};

use crate::causes::Causes;
use crate::device::Device;
use crate::store::{FIELDS, Failure, Opening, Peer, Store, WIDTH};
use crate::workload::{GROUP, Workload};

/// Rows of the table that update.
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

impl Row {
    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Row::OneField => "one field",
            Row::AllFields => "all 50 fields",
            Row::WholeObject => "whole object",
            Row::Group => "group of ten",
        }
    }

    /// Runs one step of it; says how many fields it updated.
    fn step(self, store: &mut dyn Store, workload: &mut Workload) -> Result<u64, Failure> {
        match self {
            Row::OneField => store.put_field(workload.update()).map(|()| 1),
            Row::AllFields => {
                let (object, record) = (workload.object(), workload.record());
                for (field, &value) in record.iter().enumerate() {
                    store.put_field(crate::store::Update { object, field, value })?;
                }
                Ok(FIELDS as u64)
            }
            Row::WholeObject => {
                let (object, record) = (workload.object(), workload.record());
                store.put_object(object, &record).map(|()| FIELDS as u64)
            }
            Row::Group => store.put_group(&workload.group()).map(|()| GROUP as u64),
        }
    }
}

/// How long to run.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Mean erases a unit before counting.
    pub warm_up_erases: u64,
    /// Mean erases a unit while counting.
    pub measured_erases: u64,
    /// Words read, at most, before counting and while counting.
    pub words_read: u64,
    /// Field reads.
    pub field_reads: u64,
    /// Updates by cause.
    pub causes: u64,
}

impl Bounds {
    /// For figures that are kept.
    pub const FULL: Bounds =
        Bounds { warm_up_erases: 6, measured_erases: 15, words_read: 40_000_000, field_reads: 20_000, causes: 100_000 };
    /// For a look whether everything works.
    pub const QUICK: Bounds =
        Bounds { warm_up_erases: 1, measured_erases: 1, words_read: 3_000_000, field_reads: 2_000, causes: 20_000 };
}

/// What was counted.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Fields updated.
    pub updates: u64,
    /// What the part did.
    pub counters: Counters,
    /// Simulated time.
    pub time_ns: u64,
}

impl Figures {
    /// Whether units were erased at least once each while counting: if not, the store read so much that the run ended
    /// before its steady state was counted.
    pub fn is_steady(&self) -> bool {
        self.counters.erases >= u64::from(part().part.unit_count)
    }

    /// A count by the number of fields updated.
    pub fn per_update(&self, count: u64) -> f64 {
        count as f64 / self.updates as f64
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

/// All measurements of one store at a number of objects.
pub struct Case {
    /// Objects.
    pub objects: usize,
    /// For each of [`ROWS`].
    pub rows: [Result<Figures, Stopped>; 4],
    /// Field reads in the first row's steady state.
    pub reading: Option<Reading>,
    /// Wear of the first row.
    pub wear: Option<Wear>,
    /// Bytes of RAM.
    pub ram_bytes: Option<usize>,
    /// Updates by cause, for the first two rows.
    pub causes: [Option<Causes>; 2],
}

/// The part of the comparison.
pub fn part() -> PartSpec {
    catalogue::tinystore()
}

/// A store in use.
struct Running {
    store: Box<dyn Store>,
    device: Device,
    workload: Workload,
    updates: u64,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.device.discard();
    }
}

/// Lays out a store and creates objects with values; says at which object it failed.
fn fill(peer: &Peer, objects: usize, seed: u64) -> Result<Running, (usize, Failure)> {
    let device = Device::new(NorSim::new(part()));
    let open = peer.fill.as_ref().unwrap_or(&peer.open);
    let store = open(device.clone(), Opening::Format { objects }).map_err(|failure| (0, failure))?;
    let mut running = Running { store, device, workload: Workload::new(seed, objects), updates: 0 };
    for object in 0..objects {
        let record = running.workload.record();
        running.store.create(object, &record).map_err(|failure| (object, failure))?;
    }
    Ok(running)
}

impl Running {
    /// Runs a row until units have been erased a number of times on average, or a number of words was read.
    fn run(&mut self, row: Row, erases_per_unit: u64, words_read: u64) -> Result<Figures, Stopped> {
        let (before, time_ns) = (self.device.counters(), self.device.elapsed_ns());
        let erases = erases_per_unit * u64::from(part().part.unit_count);
        let mut updates = 0;
        loop {
            let counters = self.device.counters() - before;
            if updates > 0 && (counters.erases >= erases || counters.reads() >= words_read) {
                self.updates += updates;
                return Ok(Figures { updates, counters, time_ns: self.device.elapsed_ns() - time_ns });
            }
            let step = row.step(&mut *self.store, &mut self.workload);
            updates += step.map_err(|failure| Stopped::of(failure, self.updates + updates))?;
        }
    }

    /// Warms up, and opens in the configuration that is to be measured.
    fn steady(mut self, peer: &Peer, row: Row, bounds: &Bounds) -> Result<Self, Stopped> {
        self.run(row, bounds.warm_up_erases, bounds.words_read)?;
        if peer.fill.is_some() {
            let objects = self.workload.objects();
            let opened = (peer.open)(self.device.clone(), Opening::Mount { objects });
            self.store = opened.map_err(|failure| Stopped::of(failure, self.updates))?;
        }
        Ok(self)
    }

    fn read_fields(&mut self, bounds: &Bounds) -> Result<Reading, Failure> {
        let start = self.device.counters().reads();
        let (mut fields, mut worst, mut last) = (0, 0, start);
        while fields == 0 || fields < bounds.field_reads && last - start < bounds.words_read {
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
    fn causes(&mut self, row: Row, bounds: &Bounds) -> Option<Causes> {
        let mut workload = self.workload.clone();
        let mut waiting = Vec::new();
        let mut draw = || {
            if row == Row::OneField {
                return workload.update();
            }
            if waiting.is_empty() {
                let (object, record) = (workload.object(), workload.record());
                let update = |(field, value)| crate::store::Update { object, field, value };
                waiting = record.into_iter().enumerate().map(update).rev().collect();
            }
            waiting.pop().expect("it was filled")
        };
        self.store.causes(&mut draw, bounds.causes, bounds.words_read / 4)
    }
}

impl Stopped {
    fn of(failure: Failure, updates: u64) -> Stopped {
        match failure {
            Failure::Unsupported(what) => Stopped::Unsupported(what),
            failure => Stopped::Failed { failure, updates },
        }
    }
}

/// Measures one store with the given number of objects.
pub fn measure(peer: &Peer, objects: usize, seed: u64, bounds: &Bounds) -> Case {
    let rows = ROWS.map(|_| Err(Stopped::Filling(0)));
    let mut case = Case { objects, rows, reading: None, wear: None, ram_bytes: None, causes: [None, None] };
    for (number, row) in ROWS.into_iter().enumerate() {
        let filled = fill(peer, objects, seed);
        let mut running = match filled {
            Ok(running) => running,
            Err((created, _)) => {
                case.rows = ROWS.map(|_| Err(Stopped::Filling(created)));
                return case;
            }
        };
        // What it does not support is known without a warm-up.
        if let Err(stopped @ Stopped::Unsupported(_)) = running.run(row, 0, 0) {
            case.rows[number] = Err(stopped);
            continue;
        }
        match running.steady(peer, row, bounds) {
            Ok(running) => measure_row(&mut case, number, running, bounds),
            Err(stopped) => case.rows[number] = Err(stopped),
        }
    }
    case
}

/// Measures one row in its steady state, and what is measured with it.
fn measure_row(case: &mut Case, number: usize, mut running: Running, bounds: &Bounds) {
    let row = ROWS[number];
    case.rows[number] = running.run(row, bounds.measured_erases, bounds.words_read);
    if case.rows[number].is_err() {
        return;
    }
    if row == Row::OneField {
        case.wear = Some(running.wear());
        case.ram_bytes = Some(running.store.ram_bytes());
        case.reading = running.read_fields(bounds).ok();
    }
    if number < case.causes.len() {
        case.causes[number] = running.causes(row, bounds);
    }
}

/// How many objects a store holds.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// Created with values before the first refusal.
    pub created: usize,
    /// The most with which updates of single fields continue until units have been erased as often as in a warm-up:
    /// found downwards from `created` in steps of one in fifty.
    pub in_use: usize,
}

/// Finds how many objects a store holds. `None` if not even one object can be updated for long.
pub fn capacity(peer: &Peer, seed: u64, bounds: &Bounds) -> Option<Capacity> {
    let objects_max = part().part.size_bytes() as usize / (FIELDS * WIDTH);
    let created = match fill(peer, objects_max, seed) {
        Ok(_) => objects_max,
        Err((object, _)) => object,
    };
    let mut objects = created;
    while objects > 0 {
        let running = fill(peer, objects, seed);
        let goes_on = running
            .is_ok_and(|mut running| running.run(Row::OneField, bounds.warm_up_erases, bounds.words_read).is_ok());
        if goes_on {
            return Some(Capacity { created, in_use: objects });
        }
        objects -= (objects / 50).max(1);
    }
    (created > 0).then_some(Capacity { created, in_use: 0 })
}
