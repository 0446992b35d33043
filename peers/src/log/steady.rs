//! What a log costs: on a fresh part, when it is full, and in queries by time.
//!
//! 1. *Fresh*: the first readings on a part that is erased.
//! 2. Fill: readings until the first one is gone, and as many again. Where a log has a configuration that leaves the
//!    same on flash and fills faster, that one fills.
//! 3. *Full*: windows of as many appends as it took until the first reading was gone, until the times of three in a row
//!    agree within 2%; the last one counts. A log that reads or copies much has shorter windows: they end after a
//!    number of words, too. After a number of windows the last one counts anyway, and is marked.
//! 4. *Kept*: how many readings there are, sampled during the windows; the least counts, since a log that drops many at
//!    a time keeps no more for sure.
//! 5. Queries: the last hour, and a day in the middle of what is kept, each at several places.
//! 6. A copy of the part is mounted, after a stop where a log has one, and its oldest reading queried.

use std::time::Instant;

use norn_flash::{Nor, NorPart};
use norn_flash_sim::{Counters, NorSim, PartSpec, catalogue};

use crate::device::Device;
use crate::reading_log::{Contender, DAY_SECONDS, Failure, Log, Opening, Query, Reading, oldest};

/// Bytes of the part.
pub const PART_BYTES: usize = 2 << 20;
/// Bytes of a part with enough units for every log: those of power cuts.
pub const SMALL_PART_BYTES: usize = match ekv::config::PAGE_SIZE {
    4096 => 64 * 4096,
    other => 32 * other,
};
/// Samples of what is kept, in a window.
const SAMPLES: u32 = 16;
/// Queries of each kind.
const QUERIES: u32 = 20;
/// Windows in a row that have to agree.
const AGREEING: usize = 3;

/// The fat lists' part with this number of bytes, in units of the size that this program was built for. An erase takes
/// as long whatever the size.
pub fn part(bytes: usize) -> PartSpec {
    let mut spec = catalogue::k8c1215etm();
    let unit_size_bytes = ekv::config::PAGE_SIZE;
    let unit_count = (bytes / unit_size_bytes) as u16;
    spec.part = NorPart { unit_size_bytes: unit_size_bytes as u32, unit_count, endurance_erases: None, ..spec.part };
    spec
}

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes of the part.
    pub part_bytes: usize,
    /// Appends to a fresh part.
    pub fresh: u32,
    /// Words read and programmed in a window, about.
    pub window_words: u64,
    /// Windows after which it ends anyway.
    pub windows: usize,
    /// Power cuts.
    pub cuts: usize,
}

impl Bounds {
    /// For figures that are kept.
    pub const FULL: Bounds =
        Bounds { part_bytes: PART_BYTES, fresh: 10_000, window_words: 500_000_000, windows: 8, cuts: 300 };
    /// For a look whether everything works.
    pub const QUICK: Bounds =
        Bounds { part_bytes: SMALL_PART_BYTES, fresh: 500, window_words: 10_000_000, windows: 4, cuts: 30 };
}

/// What a number of readings cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// Readings.
    pub readings: u64,
    /// What the part did.
    pub counters: Counters,
    /// Simulated time of all of them.
    pub time_ns: u64,
    /// The longest call.
    pub worst_ns: u64,
}

impl Figures {
    /// Milliseconds a reading.
    pub fn mean_ms(&self) -> f64 {
        self.time_ns as f64 / self.readings as f64 / 1e6
    }

    /// A count by the number of readings.
    pub fn each(&self, count: u64) -> f64 {
        count as f64 / self.readings as f64
    }
}

/// Whether the windows agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steadiness {
    /// Three in a row did.
    Steady,
    /// They did not, until they were as many as allowed.
    Unsteady,
}

/// A kind of query.
#[derive(Clone, Copy, Debug)]
pub struct Queried {
    /// Queries made.
    pub queries: u32,
    /// Words that they read.
    pub words_read: u64,
    /// Simulated time of all of them.
    pub time_ns: u64,
}

impl Queried {
    /// Milliseconds a query.
    pub fn mean_ms(&self) -> f64 {
        self.time_ns as f64 / f64::from(self.queries) / 1e6
    }
}

/// What a log cost when it was full, and afterwards.
#[derive(Clone, Debug)]
pub struct Full {
    /// Appends.
    pub figures: Figures,
    /// Windows that were measured.
    pub windows: usize,
    /// Whether they agreed.
    pub steadiness: Steadiness,
    /// The fewest readings that there were at a time.
    pub kept_least: u32,
    /// The most.
    pub kept_most: u32,
    /// Erases of the least and the most worn unit.
    pub erases: (u32, u32),
    /// Their mean.
    pub erases_mean: f64,
    /// The last hour.
    pub hour: Queried,
    /// A day.
    pub day: Queried,
    /// A mount and the first query, in simulated time.
    pub boot_ns: u64,
}

/// Everything about one log but its power cuts.
pub struct Costs {
    /// The first appends on a fresh part.
    pub fresh: Result<Figures, Failure>,
    /// When it was full.
    pub full: Result<Full, Failure>,
    /// RAM between calls; 0 if it could not be opened.
    pub ram_bytes: usize,
    /// Seconds that the run took on this machine.
    pub seconds: f64,
}

/// A log that is being written, and what the next reading is.
pub struct Writer<'a> {
    contender: &'a Contender,
    device: Device,
    log: Box<dyn Log>,
    /// The number of the next reading.
    pub next: u32,
}

impl<'a> Writer<'a> {
    /// A log on a fresh part.
    ///
    /// # Errors
    /// The log's.
    pub fn format(contender: &'a Contender, spec: PartSpec) -> Result<Self, Failure> {
        let device = Device::new(NorSim::new(spec));
        let log = (contender.open)(device.clone(), Opening::Format)?;
        Ok(Writer { contender, device, log, next: 0 })
    }

    /// The part.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The log.
    pub fn log(&mut self) -> &mut dyn Log {
        &mut *self.log
    }

    /// Drops the log without a stop, and mounts it.
    ///
    /// # Errors
    /// The log's.
    pub fn mount(&mut self) -> Result<(), Failure> {
        self.log = (self.contender.open)(self.device.clone(), Opening::Mount)?;
        Ok(())
    }

    /// Appends the next batch.
    ///
    /// # Errors
    /// The log's.
    pub fn append(&mut self) -> Result<(), Failure> {
        let batch = self.log.batch() as u32;
        let readings: Vec<Reading> = (self.next..self.next + batch).map(Reading::numbered).collect();
        self.log.append(&readings)?;
        self.next += batch;
        Ok(())
    }

    /// Readings that the log has, uncounted.
    ///
    /// # Errors
    /// The log's.
    pub fn kept(&mut self) -> Result<u32, Failure> {
        let (log, next) = (&mut self.log, self.next);
        let first = self.device.uncounted(|| oldest(&mut **log))?;
        Ok(first.map_or(0, |first| next - Reading::number_at(first.at)))
    }

    /// Appends until the first reading is gone, and as many again, or until so many words were read and programmed; how
    /// many it took the first time.
    ///
    /// # Errors
    /// The log's.
    pub fn fill(&mut self, words: u64) -> Result<u32, Failure> {
        if let Some(fill) = &self.contender.fill {
            self.log.stop()?;
            self.log = fill(self.device.clone(), Opening::Mount)?;
        }
        let step = self.device.part().size_bytes() / 512;
        while self.kept()? == self.next {
            self.measure(step, words / u64::from(SAMPLES))?;
        }
        let turn = self.next;
        self.measure(turn, words)?;
        if self.contender.fill.is_some() {
            self.log.stop()?;
            self.log = (self.contender.open)(self.device.clone(), Opening::Mount)?;
        }
        Ok(turn)
    }

    /// Appends so many readings, or until so many words were read and programmed.
    fn measure(&mut self, readings: u32, words: u64) -> Result<Figures, Failure> {
        let (counters, begun_ns, first) = (self.device.counters(), self.device.elapsed_ns(), self.next);
        let (end, mut worst_ns) = (self.next + readings, 0);
        while self.next < end {
            let done = self.device.counters() - counters;
            if done.reads() + done.programs() > words {
                break;
            }
            let before_ns = self.device.elapsed_ns();
            self.append()?;
            worst_ns = worst_ns.max(self.device.elapsed_ns() - before_ns);
        }
        Ok(Figures {
            readings: (self.next - first).into(),
            counters: self.device.counters() - counters,
            time_ns: self.device.elapsed_ns() - begun_ns,
            worst_ns,
        })
    }

    fn window(&mut self, turn: u32, words: u64, kept: &mut (u32, u32)) -> Result<Figures, Failure> {
        let mut sum = Figures::default();
        for _ in 0..SAMPLES {
            let part = self.measure((turn / SAMPLES).max(1), words / u64::from(SAMPLES))?;
            sum.readings += part.readings;
            sum.counters += part.counters;
            sum.time_ns += part.time_ns;
            sum.worst_ns = sum.worst_ns.max(part.worst_ns);
            let count = self.kept()?;
            *kept = (kept.0.min(count), kept.1.max(count));
        }
        Ok(sum)
    }

    /// Queries of `seconds`, of which the earliest ends `back` seconds before the newest reading, and each further one
    /// `step` earlier.
    fn query(&mut self, seconds: u32, back: u32, step: u32) -> Result<Queried, Failure> {
        let end = Reading::numbered(self.next - 1).at + 1;
        let (counters, begun_ns, mut readings) = (self.device.counters(), self.device.elapsed_ns(), 0_u64);
        for query in 0..QUERIES {
            let to = end - back - query * step;
            self.log.range(to - seconds, to, &mut |_| {
                readings += 1;
                Query::GoesOn
            })?;
        }
        let expected = u64::from(QUERIES) * u64::from(seconds / 60);
        if readings.abs_diff(expected) > 2 * u64::from(QUERIES) {
            return Err(Failure::Failed(format!("{readings} readings are found where {expected} are")));
        }
        let words_read = (self.device.counters() - counters).reads();
        Ok(Queried { queries: QUERIES, words_read, time_ns: self.device.elapsed_ns() - begun_ns })
    }

    /// Mounts a copy of the part, and queries its oldest reading.
    fn boot(&mut self) -> Result<u64, Failure> {
        self.log.stop()?;
        let copy = Device::new(self.device.snapshot());
        let begun_ns = copy.elapsed_ns();
        let mut log = (self.contender.open)(copy.clone(), Opening::Mount)?;
        oldest(&mut *log)?.ok_or_else(|| Failure::Failed("there is nothing after a mount".to_owned()))?;
        Ok(copy.elapsed_ns() - begun_ns)
    }

    fn full(&mut self, bounds: &Bounds) -> Result<Full, Failure> {
        let turn = self.fill(bounds.window_words)?;
        let (mut times, mut kept) = (Vec::new(), (u32::MAX, 0));
        let (figures, steadiness) = loop {
            let window = self.window(turn, bounds.window_words, &mut kept)?;
            times.push(window.mean_ms());
            match times.len() {
                _ if agree(&times) => break (window, Steadiness::Steady),
                windows if windows == bounds.windows => break (window, Steadiness::Unsteady),
                _ => {}
            }
        };
        let erase_counts = self.device.erase_counts();
        let (least, most) = (erase_counts.iter().min(), erase_counts.iter().max());
        let mean = erase_counts.iter().sum::<u32>() as f64 / erase_counts.len() as f64;
        // Queries go over the newer half of what is kept.
        let step = (kept.0 / 2 * 60).saturating_sub(2 * DAY_SECONDS) / QUERIES;
        Ok(Full {
            figures,
            windows: times.len(),
            steadiness,
            kept_least: kept.0,
            kept_most: kept.1,
            erases: (least.copied().unwrap_or(0), most.copied().unwrap_or(0)),
            erases_mean: mean,
            hour: self.query(3_600, 0, 0)?,
            day: self.query(DAY_SECONDS, 0, step)?,
            boot_ns: self.boot()?,
        })
    }
}

fn agree(times: &[f64]) -> bool {
    let last = &times[times.len().saturating_sub(AGREEING)..];
    let (least, most) = last.iter().fold((f64::MAX, 0.0_f64), |(least, most), &time| (least.min(time), most.max(time)));
    last.len() == AGREEING && most - least <= most * 0.02
}

/// Measures a log.
pub fn measure(contender: &Contender, bounds: &Bounds) -> Costs {
    let begun = Instant::now();
    let mut costs = Costs {
        fresh: Err(Failure::Unsupported("not reached")),
        full: Err(Failure::Unsupported("not reached")),
        ram_bytes: 0,
        seconds: 0.0,
    };
    match Writer::format(contender, part(bounds.part_bytes)) {
        Err(failure) => costs.fresh = Err(failure),
        Ok(mut writer) => {
            costs.ram_bytes = writer.log().ram_bytes();
            costs.fresh = writer.measure(bounds.fresh, bounds.window_words);
            if costs.fresh.is_ok() {
                costs.full = writer.full(bounds);
            }
        }
    }
    costs.seconds = begun.elapsed().as_secs_f64();
    costs
}
