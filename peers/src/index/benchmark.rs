//! The fat lists' micro-benchmark (section 0.6.3), on every map alike: keys inserted in order, values updated and
//! queried by a Gaussian variable with the median as its mean and a sixth of the keys as its standard deviation, all
//! read in order, all removed at random.
//!
//! Every call is durable when it returns. A map with a batch of *n* gets the same keys, *n* at a time, sorted and
//! without doubles. A phase ends early after a number of words, read and programmed: a run of a map that reads or
//! copies much has to end, too. Keys that were not inserted by then are inserted uncounted. Every figure comes with the
//! number of keys after it. A copy of the part is mounted and one key queried after the updates, and after a stop where
//! a map has one.

use std::time::Instant;

use norn_flash::NorPart;
use norn_flash_sim::{Counters, NorSim, PartSpec, catalogue};

use crate::device::Device;
use crate::map::{Contender, Failure, Opening, SortedMap};

/// Keys of the benchmark.
pub const KEYS: u32 = 25_000;
/// Bytes of the part.
const PART_BYTES: usize = 2 << 20;

/// The paper's part at 2 MB, in units of the size that this program was built for. An erase takes as long whatever the
/// size.
pub fn part() -> PartSpec {
    let mut spec = catalogue::k8c1215etm();
    let unit_size_bytes = ekv::config::PAGE_SIZE;
    let unit_count = (PART_BYTES / unit_size_bytes) as u16;
    spec.part = NorPart { unit_size_bytes: unit_size_bytes as u32, unit_count, endurance_erases: None, ..spec.part };
    spec
}

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Keys that are inserted and removed.
    pub keys: u32,
    /// Keys that are updated, and queried.
    pub calls: u64,
    /// Words read and programmed in a phase, about.
    pub words: u64,
}

impl Bounds {
    /// For figures that are kept.
    pub const FULL: Bounds = Bounds { keys: KEYS, calls: 800_000, words: 600_000_000 };
    /// For a look whether everything works.
    pub const QUICK: Bounds = Bounds { keys: 2_000, calls: 2_000, words: 3_000_000 };
}

/// What a phase cost.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Keys.
    pub calls: u64,
    /// What the part did.
    pub counters: Counters,
    /// Simulated time of all of them.
    pub time_ns: u64,
    /// 99.9% of the calls took no longer; a call is a batch.
    pub within_999_ns: u64,
    /// The longest call.
    pub worst_ns: u64,
}

impl Figures {
    /// Milliseconds a key.
    pub fn mean_ms(&self) -> f64 {
        self.time_ns as f64 / self.calls as f64 / 1e6
    }

    /// A count by the number of keys.
    pub fn each(&self, count: u64) -> f64 {
        count as f64 / self.calls as f64
    }
}

/// A phase of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Every key, in order.
    Insertion,
    /// Values of drawn keys.
    Update,
    /// Drawn keys.
    Query,
    /// All keys in order.
    Range,
    /// Every key, in random order.
    Removal,
    /// A mount and the first query after it.
    Boot,
}

/// All of them, in the order of the report.
pub const PHASES: [Phase; 6] =
    [Phase::Insertion, Phase::Update, Phase::Query, Phase::Range, Phase::Removal, Phase::Boot];

/// Everything about one map.
pub struct Outcome {
    /// Which it is.
    pub contender: Contender,
    /// RAM between calls; 0 if it could not be opened.
    pub ram_bytes: usize,
    /// Each phase, in the order of [`PHASES`].
    pub figures: [Result<Figures, Failure>; 6],
    /// Seconds that the run took on this machine.
    pub seconds: f64,
}

impl Outcome {
    /// The phases and what they cost.
    pub fn phases(&self) -> impl Iterator<Item = (Phase, &Result<Figures, Failure>)> {
        PHASES.into_iter().zip(&self.figures)
    }

    /// The figures of a phase.
    pub fn of(&self, phase: Phase) -> &Result<Figures, Failure> {
        &self.figures[PHASES.iter().position(|&other| other == phase).expect("it is one of them")]
    }

    /// Seconds of the paper's four phases in full, by the means of those calls that were counted.
    pub fn total_seconds(&self, bounds: &Bounds) -> Option<f64> {
        let keys = f64::from(bounds.keys);
        let phases = [
            (Phase::Insertion, keys),
            (Phase::Update, bounds.calls as f64),
            (Phase::Query, bounds.calls as f64),
            (Phase::Removal, keys),
        ];
        let seconds =
            |(phase, calls): (Phase, f64)| self.of(phase).as_ref().ok().map(|figures| figures.mean_ms() * calls / 1e3);
        phases.into_iter().map(seconds).sum()
    }
}

/// Watches the calls of a phase.
struct Meter {
    device: Device,
    counters: Counters,
    begun_ns: u64,
    words_max: u64,
    calls: u64,
    latencies_ns: Vec<u64>,
}

impl Meter {
    fn begin(device: &Device, words_max: u64) -> Meter {
        let (counters, begun_ns) = (device.counters(), device.elapsed_ns());
        Meter { device: device.clone(), counters, begun_ns, words_max, calls: 0, latencies_ns: Vec::new() }
    }

    fn is_over(&self) -> bool {
        let counters = self.device.counters() - self.counters;
        counters.reads() + counters.programs() > self.words_max
    }

    /// Watches one call, for the given number of keys.
    fn call<T>(&mut self, keys: usize, call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let before = self.device.elapsed_ns();
        let answer = call().map_err(|failure| match failure {
            Failure::Full(_) => Failure::Full(self.calls),
            other => other,
        })?;
        self.latencies_ns.push(self.device.elapsed_ns() - before);
        self.calls += keys as u64;
        Ok(answer)
    }

    fn end(mut self) -> Figures {
        self.latencies_ns.sort_unstable();
        let last = self.latencies_ns.len().saturating_sub(1);
        let at = |place: usize| self.latencies_ns.get(place).copied().unwrap_or(0);
        Figures {
            calls: self.calls,
            counters: self.device.counters() - self.counters,
            time_ns: self.device.elapsed_ns() - self.begun_ns,
            within_999_ns: at((self.latencies_ns.len() * 999 / 1000).min(last)),
            worst_ns: at(last),
        }
    }
}

/// A run on one map.
struct Run<'a> {
    contender: &'a Contender,
    device: Device,
    random: fastrand::Rng,
    bounds: &'a Bounds,
}

/// Runs the whole benchmark on a map. A phase that fails ends the run.
pub fn run(contender: Contender, seed: u64, bounds: &Bounds) -> Outcome {
    let begun = Instant::now();
    let device = Device::new(NorSim::new(part()));
    let mut run = Run { contender: &contender, device, random: fastrand::Rng::with_seed(seed), bounds };
    let mut figures: Vec<Result<Figures, Failure>> = Vec::new();
    let ram_bytes = run.phases(&mut figures);
    figures.resize(PHASES.len(), Err(Failure::Unsupported("not reached")));
    let figures = figures.try_into().expect("as many as there are phases");
    Outcome { contender, ram_bytes, figures, seconds: begun.elapsed().as_secs_f64() }
}

fn is_unsupported(failure: &Failure) -> bool {
    matches!(failure, Failure::Unsupported(_))
}

impl Run<'_> {
    /// Runs all phases until one fails; the RAM that the map keeps.
    fn phases(&mut self, figures: &mut Vec<Result<Figures, Failure>>) -> usize {
        let mut map = match self.insert(figures) {
            Ok(map) => map,
            Err(failure) => {
                figures.push(Err(failure));
                return 0;
            }
        };
        let ram_bytes = map.ram_bytes();
        let mut boots = None;
        for phase in [Phase::Update, Phase::Query, Phase::Range, Phase::Removal] {
            let found = match phase {
                Phase::Update => self.update(&mut *map),
                Phase::Query => self.query(&mut *map),
                Phase::Range => self.range(&mut *map),
                _ => self.remove(&mut *map),
            };
            let is_end = found.as_ref().is_err_and(|failure| !is_unsupported(failure));
            figures.push(found);
            if is_end {
                return ram_bytes;
            }
            if phase == Phase::Update {
                boots = Some(map.stop().and_then(|()| self.boot()));
            }
        }
        figures.extend(boots);
        ram_bytes
    }

    /// Inserts every key, and opens the map as it is to be measured.
    fn insert(&mut self, figures: &mut Vec<Result<Figures, Failure>>) -> Result<Box<dyn SortedMap>, Failure> {
        let keys: Vec<u32> = (0..self.bounds.keys).collect();
        if let Some(fill) = &self.contender.fill {
            let mut map = (self.contender.open)(self.device.clone(), Opening::Format)?;
            let counted = self.insert_all(&mut *map, &keys)?;
            let done = counted.calls as usize;
            figures.push(Ok(counted));
            drop(map);
            let mut map = fill(self.device.clone(), Opening::Mount)?;
            fill_up(&mut *map, &keys[done..])?;
            drop(map);
            return (self.contender.open)(self.device.clone(), Opening::Mount);
        }
        let mut map = (self.contender.open)(self.device.clone(), Opening::Format)?;
        let counted = self.insert_all(&mut *map, &keys)?;
        fill_up(&mut *map, &keys[counted.calls as usize..])?;
        figures.push(Ok(counted));
        Ok(map)
    }

    fn insert_all(&self, map: &mut dyn SortedMap, keys: &[u32]) -> Result<Figures, Failure> {
        let mut meter = Meter::begin(&self.device, self.bounds.words);
        for keys in keys.chunks(map.batch()) {
            if meter.is_over() {
                break;
            }
            let entries: Vec<(u32, u32)> = keys.iter().map(|&key| (key, key)).collect();
            meter.call(keys.len(), || map.insert(&entries))?;
        }
        Ok(meter.end())
    }

    fn update(&mut self, map: &mut dyn SortedMap) -> Result<Figures, Failure> {
        let mut meter = Meter::begin(&self.device, self.bounds.words);
        let batch = map.batch() as u64;
        for update in 0..self.bounds.calls / batch {
            if meter.is_over() {
                break;
            }
            let mut keys: Vec<u32> = (0..batch).map(|_| self.key()).collect();
            keys.sort_unstable();
            keys.dedup();
            let entries: Vec<(u32, u32)> = keys.iter().map(|&key| (key, update as u32)).collect();
            meter.call(batch as usize, || map.update(&entries))?;
        }
        Ok(meter.end())
    }

    fn query(&mut self, map: &mut dyn SortedMap) -> Result<Figures, Failure> {
        let mut meter = Meter::begin(&self.device, self.bounds.words);
        for _ in 0..self.bounds.calls {
            if meter.is_over() {
                break;
            }
            let key = self.key();
            if meter.call(1, || map.get(key))?.is_none() {
                return Err(Failure::Failed(format!("key {key} is not found")));
            }
        }
        Ok(meter.end())
    }

    fn range(&mut self, map: &mut dyn SortedMap) -> Result<Figures, Failure> {
        let mut meter = Meter::begin(&self.device, u64::MAX);
        let count = meter.call(self.bounds.keys as usize, || map.count_in_order())?;
        match count == self.bounds.keys {
            true => Ok(meter.end()),
            false => Err(Failure::Failed(format!("a range of all has {count} keys"))),
        }
    }

    fn remove(&mut self, map: &mut dyn SortedMap) -> Result<Figures, Failure> {
        let mut keys: Vec<u32> = (0..self.bounds.keys).collect();
        self.random.shuffle(&mut keys);
        let mut meter = Meter::begin(&self.device, self.bounds.words);
        for keys in keys.chunks_mut(map.batch()) {
            if meter.is_over() {
                break;
            }
            keys.sort_unstable();
            meter.call(keys.len(), || map.remove(keys))?;
        }
        Ok(meter.end())
    }

    /// Mounts a copy of the part, and queries one key: some maps look for what they need only then.
    fn boot(&self) -> Result<Figures, Failure> {
        let copy = Device::new(self.device.snapshot());
        let mut meter = Meter::begin(&copy, u64::MAX);
        let value = meter.call(1, || (self.contender.open)(copy.clone(), Opening::Mount)?.get(self.bounds.keys / 2))?;
        match value {
            Some(_) => Ok(meter.end()),
            None => Err(Failure::Failed("a key is not found behind a mount".to_owned())),
        }
    }

    /// A key by a Gaussian variable (Box and Muller).
    fn key(&mut self) -> u32 {
        let keys = f64::from(self.bounds.keys);
        loop {
            let (radius, angle) =
                (f64::sqrt(-2.0 * (1.0 - self.random.f64()).ln()), std::f64::consts::TAU * self.random.f64());
            let key = (keys / 2.0 + keys / 6.0 * radius * angle.cos()).round();
            if (0.0..keys).contains(&key) {
                return key as u32;
            }
        }
    }
}

/// Inserts keys uncounted.
fn fill_up(map: &mut dyn SortedMap, keys: &[u32]) -> Result<(), Failure> {
    for keys in keys.chunks(map.batch()) {
        let entries: Vec<(u32, u32)> = keys.iter().map(|&key| (key, key)).collect();
        map.insert(&entries)?;
    }
    Ok(())
}
