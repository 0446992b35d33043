//! Appending the readings of a file, with or without power cuts.
//!
//! A *session* lasts from one power-on to the next cut. At its start the log is mounted and compared with the books in
//! memory: what it held before, and every reading that was acknowledged since; the one that was in flight is there
//! wholly or not at all. Then the file is gone on with.
//!
//! Invariant: `books` is what the log holds without the reading in flight.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use norn_flash_sim::{Counters, Cuts, NorSim};
use norn_ordered_index::OrderedIndex;
use norn_sensor_log::{Appended, Reading, Seconds, SensorLog};

use crate::log::failure::{LogError, LogFailure};
use crate::log::milli::Milli;
use crate::log::moment::Timestamp;
use crate::log::{Log, readings, violations};
use crate::progress;
use norn_flash_sim::Nanoseconds;

/// What to append, and to what.
pub struct Job {
    /// The image file.
    pub image: PathBuf,
    /// The file of readings.
    pub file: PathBuf,
    /// Seed of the power cuts, and their mean distance in operations.
    pub cuts: Option<(u64, u32)>,
}

/// What was done.
#[derive(Default)]
pub struct Tally {
    new: u64,
    replaced: u64,
    known: u64,
    forgotten: u64,
    cuts: u64,
    found_whole: u64,
    found_absent: u64,
    counters: Counters,
    elapsed_ns: u64,
    /// Whether text without a line feed was left at the end of a file that was followed.
    pub has_partial_line: bool,
}

impl Tally {
    /// A reading that was appended.
    pub fn count(&mut self, appended: Appended) {
        match appended {
            Appended::New => self.new += 1,
            Appended::Replaced => self.replaced += 1,
            Appended::Known => self.known += 1,
        }
    }

    /// Old readings that made room.
    pub fn forget(&mut self, readings: u32) {
        self.forgotten += u64::from(readings);
    }

    /// What the part has done for all of it.
    pub fn end(&mut self, counters: Counters, elapsed_ns: u64) {
        (self.counters, self.elapsed_ns) = (counters, elapsed_ns);
    }

    /// Readings that were appended.
    pub fn readings(&self) -> u64 {
        self.new + self.replaced + self.known
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "new           {}", self.new)?;
        writeln!(f, "replaced      {}", self.replaced)?;
        writeln!(f, "known before  {}", self.known)?;
        if self.forgotten > 0 {
            writeln!(f, "forgotten     {} of the oldest, to make room", self.forgotten)?;
        }
        if self.cuts > 0 {
            let (whole, absent) = (self.found_whole, self.found_absent);
            writeln!(f, "power cuts    {}; readings in flight: {whole} found whole, {absent} absent", self.cuts)?;
            writeln!(f, "lost          0: all that was acknowledged was there after every cut")?;
        }
        if self.has_partial_line {
            writeln!(f, "left          text without a line feed at the file's end")?;
        }
        writeln!(f, "part          {}", self.counters)?;
        writeln!(f, "time          {}", Nanoseconds(self.elapsed_ns))
    }
}

/// Appends all readings of the file.
///
/// # Errors
/// A line that is no reading, before anything has changed; when the image or the log cannot be used; or if the log lost
/// something.
pub fn append(job: &Job) -> Result<Tally, crate::error::Error> {
    let readings = readings::read(&job.file)?;
    let mut device = NorSim::open_image(&job.image)?;
    let mut run = Run {
        readings: &readings,
        cuts: job.cuts.map(|(seed, every)| Cuts::new(seed, every)),
        books: None,
        fruitless: 0,
        in_flight: None,
        done: 0,
        tally: Tally::default(),
    };
    let (before, before_ns) = (device.counters(), device.elapsed_ns());
    progress::count(readings.len());
    run.complete(&mut device).map_err(|failure| job.failure(failure, run.tally.cuts))?;
    run.tally.end(device.counters() - before, device.elapsed_ns() - before_ns);
    Ok(run.tally)
}

impl Job {
    fn failure(&self, failure: LogFailure, cuts: u64) -> LogError {
        let Some((seed, every)) = self.cuts.filter(|_| cuts > 0 || !failure.is_refusal()) else {
            return failure.in_image(&self.image);
        };
        let (image, file) = (self.image.display(), self.file.display());
        let replay = format!("norn log append {image} {file} --cut-power {seed} --cuts-every {every}");
        LogError::UnderCuts { image: self.image.clone(), failure, cuts, seed, replay }
    }
}

/// A run in progress.
struct Run<'a> {
    readings: &'a [Reading],
    cuts: Option<Cuts>,
    /// What the log holds, as far as it was acknowledged; only kept under cuts.
    books: Option<BTreeMap<Seconds, i32>>,
    /// Cuts since a reading last got through.
    fruitless: u32,
    in_flight: Option<Reading>,
    /// Readings of the file that were acknowledged.
    done: usize,
    tally: Tally,
}

impl Run<'_> {
    fn complete(&mut self, device: &mut NorSim) -> Result<(), LogFailure> {
        loop {
            if let Some(cuts) = &mut self.cuts
                && self.books.is_some()
            {
                cuts.plan(device, self.fruitless);
            }
            match self.session(device) {
                Err(failure) if failure.is_power_loss() => {
                    self.tally.cuts += 1;
                    self.fruitless += 1;
                    device.power_on();
                }
                Err(failure) => return Err(failure),
                Ok(Session::Prepared) => {}
                Ok(Session::Finished) => {
                    device.power_on();
                    return Ok(());
                }
            }
        }
    }

    fn session(&mut self, device: &mut NorSim) -> Result<Session, LogFailure> {
        let mut log = SensorLog::mount(device).map_err(LogFailure::Mount)?;
        self.session_of(&mut log).map_err(|failure| failure.placed(log.corruption()))
    }

    fn session_of(&mut self, log: &mut Log<'_>) -> Result<Session, LogFailure> {
        if self.cuts.is_some() {
            if self.books.is_none() {
                // Before the first cut the log itself shows what it holds.
                self.books = Some(contents(log)?);
                return Ok(Session::Prepared);
            }
            self.compare(log)?;
        }
        while let Some(&reading) = self.readings.get(self.done) {
            self.in_flight = Some(reading);
            let forgotten = log.forgotten();
            let appended = log.append(reading);
            self.forget(log.forgotten() - forgotten);
            self.acknowledge(reading, appended?);
        }
        log.sleep()?;
        if self.cuts.is_some() {
            self.compare(log)?;
        }
        Ok(Session::Finished)
    }

    /// Drops from the books what the log has dropped to make room.
    fn forget(&mut self, forgotten: u32) {
        self.tally.forget(forgotten);
        if let Some(books) = &mut self.books {
            for _ in 0..forgotten {
                books.pop_first();
            }
        }
    }

    fn acknowledge(&mut self, reading: Reading, appended: Appended) {
        progress::step();
        self.tally.count(appended);
        self.in_flight = None;
        self.fruitless = 0;
        self.done += 1;
        if let Some(books) = &mut self.books {
            books.insert(reading.at, reading.milli);
        }
    }

    /// Compares the log with the books, and checks its invariants. The device counts nothing meanwhile.
    fn compare(&mut self, log: &mut Log<'_>) -> Result<(), LogFailure> {
        log.index().device_mut().freeze_counters();
        let compared = self.compare_uncounted(log);
        log.index().device_mut().thaw_counters();
        compared
    }

    fn compare_uncounted(&mut self, log: &mut Log<'_>) -> Result<(), LogFailure> {
        let Some(books) = &mut self.books else { return Ok(()) };
        let found = contents(log)?;
        if let Some(violation) = violations(log)?.first() {
            return Err(LogFailure::Violation(violation.to_string()));
        }
        if let Some(reading) = self.in_flight.take() {
            // The cut may have hit the removal of the oldest readings, by which a log that is nearly full makes room.
            let stats = log.index().stats()?;
            let is_full = stats.free + stats.dead < stats.live;
            let oldest_found = found.first_key_value().map(|(&at, _)| at);
            while is_full && books.first_key_value().is_some_and(|(&at, _)| Some(at) < oldest_found) {
                books.pop_first();
                self.tally.forgotten += 1;
            }
            let is_whole = found.get(&reading.at) == Some(&reading.milli);
            let is_news = books.get(&reading.at) != Some(&reading.milli);
            if is_whole && is_news {
                books.insert(reading.at, reading.milli);
                self.tally.found_whole += 1;
            } else if is_news {
                self.tally.found_absent += 1;
            }
        }
        let differs = books.iter().find(|(at, milli)| found.get(at) != Some(milli));
        let differs = differs.or_else(|| found.iter().find(|(at, _)| !books.contains_key(at)));
        match differs {
            Some((&at, &milli)) => {
                let now = found.get(&at).map_or("nothing".to_owned(), |&milli| Milli(milli).to_string());
                Err(LogFailure::Lost(format!("{} at {}, where there is {now}", Milli(milli), Timestamp(at))))
            }
            None => Ok(()),
        }
    }
}

/// How a session ended.
enum Session {
    /// The books are there: now the cuts may begin.
    Prepared,
    /// All readings are appended.
    Finished,
}

/// All that a log holds.
fn contents(log: &mut Log<'_>) -> Result<BTreeMap<Seconds, i32>, LogFailure> {
    let mut contents = BTreeMap::new();
    log.each(0..Seconds::MAX, |reading| {
        contents.insert(reading.at, reading.milli);
    })?;
    Ok(contents)
}
