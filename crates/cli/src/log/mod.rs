//! `norn log`: a sensor's readings in an image file, on a sorted map.
//!
//! The crate `norn-sensor-log` is what a device would run; [`readings`] and [`arrow_file`] read files, [`mod@export`]
//! writes them, [`moment`] says when things were, [`append`] feeds the logger through power cuts, [`mod@follow`] from a
//! file that grows, whose end is in [`tail`]; [`mod@plot`] draws in the terminal, [`picture`] in a file; [`listing`]
//! and [`mod@dump`] show what an image holds.

pub mod append;
mod arrow_file;
pub mod dump;
pub mod export;
pub mod failure;
pub mod follow;
pub mod listing;
mod milli;
pub mod moment;
pub mod picture;
mod plot;
mod readings;
mod tail;

use std::ops::Range;
use std::path::Path;

use norn_flash::{Collected, Nor, Violation};
use norn_flash_sim::{NorSim, PartSpec, WearSummary};
use norn_ordered_index::OrderedIndex;
use norn_sensor_log::{Reading, Seconds, SensorLog, Summary};
use serde_json::json;

use crate::log::failure::{LogError, LogFailure};
use crate::log::milli::Milli;
use crate::log::moment::{Moment, Timestamp};
use crate::log::plot::Plot;
use crate::opening::Source;
use crate::report::{Form, Report, finding};

/// A log on a simulated part.
type Log<'a> = SensorLog<&'a mut NorSim>;

/// Creates an image file with an empty log. It appears when the log is in it.
///
/// # Errors
/// When the file exists or cannot be made, or its part is not suitable for a log.
pub fn create(path: &Path, spec: PartSpec) -> Result<String, crate::error::Error> {
    let device = NorSim::create_image_with(path, spec, |device| {
        let formatted = SensorLog::format(device).map_err(LogFailure::Format);
        formatted.map(drop).map_err(|failure| crate::error::Error::from(failure.in_image(path)))
    })?;
    let part = device.part();
    let (name, bytes, units) = (&device.spec().name, part.size_bytes(), part.unit_count);
    Ok(format!("{}: an empty log on {name}, {bytes} bytes in {units} units\n", path.display()))
}

/// Opens the log in a file, which stays as it is, and lets `look` answer from it.
fn with_log<T>(
    source: &Source,
    look: impl FnOnce(&mut Log<'_>) -> Result<T, LogFailure>,
) -> Result<T, crate::error::Error> {
    let mut device = source.read_nor()?;
    let answer = SensorLog::mount(&mut device).map_err(LogFailure::Mount).and_then(|mut log| {
        let answer = look(&mut log);
        answer.map_err(|failure| failure.placed(log.corruption()))
    });
    answer.map_err(|failure| failure.in_image(&source.image).into())
}

/// From when to when; what is left out is where the readings begin or end.
pub struct Span {
    /// The first second.
    pub from: Option<Moment>,
    /// The second after the last.
    pub to: Option<Moment>,
}

impl Span {
    /// In seconds, for a log.
    fn seconds(&self, log: &mut Log<'_>) -> Result<Range<Seconds>, LogFailure> {
        let newest = log.newest()?.ok_or(LogFailure::NoReadings)?.at;
        let oldest = log.oldest()?.map_or(newest, |reading| reading.at);
        let second = |moment: &Option<Moment>, otherwise| match moment {
            Some(moment) => moment.seconds(Timestamp(newest)).ok_or_else(|| LogFailure::BeyondTime(moment.clone())),
            None => Ok(otherwise),
        };
        let (from, to) = (second(&self.from, oldest)?, second(&self.to, newest.saturating_add(1))?);
        if from >= to {
            return Err(LogFailure::EmptySpan { from: Timestamp(from), to: Timestamp(to) });
        }
        Ok(from..to)
    }
}

/// An answer from a log, and whether it can be trusted: a query passes over what damage has hidden.
pub struct Answer {
    /// What was asked for.
    pub text: String,
    /// What a check of the whole log found.
    pub violations: Vec<Violation>,
}

/// As [`with_log`], with a check of all of it, before the answer.
fn with_checked_log<T>(
    source: &Source,
    look: impl FnOnce(&mut Log<'_>) -> Result<T, LogFailure>,
) -> Result<(T, Vec<Violation>), crate::error::Error> {
    with_log(source, |log| {
        let violations = violations(log)?;
        Ok((look(log)?, violations))
    })
}

/// A text from a log that was checked.
fn checked_answer(
    source: &Source,
    look: impl FnOnce(&mut Log<'_>) -> Result<String, LogFailure>,
) -> Result<Answer, crate::error::Error> {
    with_checked_log(source, look).map(|(text, violations)| Answer { text, violations })
}

/// The readings of a span, and what a check of the whole log found.
fn checked_readings(source: &Source, span: &Span) -> Result<(Vec<Reading>, Vec<Violation>), crate::error::Error> {
    with_checked_log(source, |log| {
        let (seconds, mut readings) = (span.seconds(log)?, Vec::new());
        log.each(seconds, |reading| readings.push(reading))?;
        Ok(readings)
    })
}

/// The mean of a span, with what it is of.
///
/// # Errors
/// When there is no reading in the span, or no log in the image.
pub fn mean(source: &Source, span: &Span, form: Form) -> Result<Answer, crate::error::Error> {
    checked_answer(source, |log| {
        let seconds = span.seconds(log)?;
        let Some(summary) = log.summary(seconds.clone())? else {
            return Err(LogFailure::NoneThere { from: Timestamp(seconds.start), to: Timestamp(seconds.end) });
        };
        Ok(mean_report(&seconds, &summary).shown(form))
    })
}

fn mean_report(seconds: &Range<Seconds>, summary: &Summary) -> Report {
    let (from, to) = (Timestamp(seconds.start), Timestamp(seconds.end));
    let mut report = Report::new(10);
    report.value("from", from).text(format!("to        {to}, exclusive\n")).datum("to", to.to_string());
    report.number("readings", summary.count);
    let values = [("mean", summary.mean_milli()), ("least", summary.min_milli), ("greatest", summary.max_milli)];
    for (what, milli) in values {
        report.text(format!("{what:<10}{}\n", Milli(milli))).datum(what, f64::from(milli) / 1000.0);
    }
    report
}

/// The readings of a span as CSV, which `norn log append` takes.
///
/// # Errors
/// As [`mean`], but that no reading in the span is an answer.
pub fn range(source: &Source, span: &Span) -> Result<Answer, crate::error::Error> {
    let (readings, violations) = checked_readings(source, span)?;
    let mut text = Vec::new();
    readings::write_csv(&mut text, &readings)?;
    Ok(Answer { text: String::from_utf8_lossy(&text).into_owned(), violations })
}

/// The readings of a span as a small plot.
///
/// # Errors
/// As [`mean`].
pub fn plot(source: &Source, span: &Span, size: (usize, usize)) -> Result<Answer, crate::error::Error> {
    checked_answer(source, |log| {
        let seconds = span.seconds(log)?;
        let mut plot = Plot::new(seconds.clone(), size.0);
        log.each(seconds.clone(), |reading| plot.add(reading))?;
        plot.text(size.1).ok_or(LogFailure::NoneThere { from: Timestamp(seconds.start), to: Timestamp(seconds.end) })
    })
}

/// What a check found.
pub struct Findings {
    readings: u32,
    oldest_and_newest: Option<(Timestamp, Timestamp)>,
    cells: [u32; 3],
    wear: WearSummary,
    /// What is wrong, and where.
    pub violations: Vec<Violation>,
}

impl Findings {
    /// For people and programs.
    pub fn report(&self) -> Report {
        let mut report = Report::new(14);
        report.number("readings", self.readings);
        if let Some((oldest, newest)) = self.oldest_and_newest {
            report.value("from", oldest).value("to", newest);
        }
        let [live, dead, free] = self.cells;
        let cells = json!({ "in_use": live, "dead": dead, "free": free });
        report.described("cells", format!("{live} in use, {dead} dead, {free} free"), cells);
        report.wear("erase counts", self.wear).line("violations", self.violations.len());
        report.list("violations", "violation:", self.violations.iter().map(finding));
        report
    }
}

/// Mounts the log in an image and checks every invariant.
///
/// # Errors
/// When the image or the log cannot be opened or read.
pub fn check(source: &Source) -> Result<Findings, crate::error::Error> {
    let wear = WearSummary::of(source.read_nor()?.erase_counts());
    with_log(source, |log| {
        let violations = violations(log)?;
        let stats = log.index().stats()?;
        let (oldest, newest) = (log.oldest()?, log.newest()?);
        Ok(Findings {
            readings: stats.keys,
            oldest_and_newest: oldest.zip(newest).map(|(a, b)| (Timestamp(a.at), Timestamp(b.at))),
            cells: [stats.live, stats.dead, stats.free],
            wear,
            violations,
        })
    })
}

/// Every violation in a log.
fn violations(log: &mut Log<'_>) -> Result<Vec<Violation>, LogFailure> {
    let mut collected: Collected = Collected::default();
    log.index().audit(&mut collected)?;
    Ok(collected.violations)
}

impl LogFailure {
    /// The same with the image that it happened in.
    pub fn in_image(self, image: &Path) -> LogError {
        LogError::Image { image: image.to_owned(), failure: self }
    }
}
