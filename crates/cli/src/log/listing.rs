//! `norn log show`: the readings by days, the log's settings and fill, and the state of the part.

use std::collections::BTreeMap;

use norn_flash::Violation;
use norn_ordered_index::{OrderedIndex, Settings};
use norn_sensor_log::{Reading, Seconds, Summary};
use serde_json::json;

use crate::error::Error;
use crate::log::failure::LogFailure;
use crate::log::milli::Milli;
use crate::log::moment::Timestamp;
use crate::log::{Log, with_checked_log};
use crate::opening::Source;
use crate::part_text::report_part;
use crate::report::Report;
use crate::table::{Rows, Side, table};

const DAY_SECONDS: Seconds = 86_400;

/// The readings of a day in short.
struct Day {
    first: Seconds,
    last: Seconds,
    summary: Summary,
}

/// The log in a file, for people and programs, and what is wrong with it.
///
/// # Errors
/// When the image or the log cannot be opened or read.
pub fn show(source: &Source) -> Result<(Report, Vec<Violation>), Error> {
    let (mut report, violations) = with_checked_log(source, list)?;
    report_part(&source.read_nor()?, &mut report);
    Ok((report, violations))
}

fn list(log: &mut Log<'_>) -> Result<Report, LogFailure> {
    log.index().device_mut().freeze_counters();
    let mut report = Report::new(10);
    let found = days(log).and_then(|days| {
        report.table("days", days_table(&days), "No readings.").text("\n");
        report_state(log, &mut report)
    });
    log.index().device_mut().thaw_counters();
    found.map(|()| report)
}

fn days(log: &mut Log<'_>) -> Result<BTreeMap<Seconds, Day>, LogFailure> {
    let mut days: BTreeMap<Seconds, Day> = BTreeMap::new();
    log.each(0..Seconds::MAX, |reading: Reading| {
        let day = days.entry(reading.at / DAY_SECONDS);
        day.and_modify(|day| {
            day.last = reading.at;
            day.summary = Summary::with(Some(day.summary), reading);
        })
        .or_insert_with(|| Day { first: reading.at, last: reading.at, summary: Summary::with(None, reading) });
    })?;
    Ok(days)
}

fn days_table(days: &BTreeMap<Seconds, Day>) -> Rows {
    let mut rows = table([
        ("Day", Side::Left),
        ("Readings", Side::Right),
        ("First", Side::Left),
        ("Last", Side::Left),
        ("Least", Side::Right),
        ("Mean", Side::Right),
        ("Greatest", Side::Right),
    ]);
    for Day { first, last, summary } in days.values() {
        rows.add_row([
            Timestamp(*first).date_text(),
            summary.count.to_string(),
            Timestamp(*first).time_text(),
            Timestamp(*last).time_text(),
            Milli(summary.min_milli).to_string(),
            Milli(summary.mean_milli()).to_string(),
            Milli(summary.max_milli).to_string(),
        ]);
    }
    rows
}

fn report_state(log: &mut Log<'_>, report: &mut Report) -> Result<(), LogFailure> {
    let (stats, Settings { turnstile_blocks, levels, slots, keys, pool }) =
        (log.index().stats()?, log.index().settings());
    let cells = stats.live + stats.dead + stats.free;
    let of_all = 100.0 * f64::from(stats.live) / f64::from(cells.max(1));
    report.number("readings", stats.keys);
    let cells = json!({ "in_use": stats.live, "dead": stats.dead, "free": stats.free });
    let text = format!("{} in use ({of_all:.0}%), {} dead, {} free", stats.live, stats.dead, stats.free);
    report.described("cells", text, cells);
    let text = format!(
        "turnstiles of {turnstile_blocks} blocks, {levels} levels, objects of {slots} slots and {keys} keys, pools of \
         {pool} pointers"
    );
    let settings = json!({
        "turnstile_blocks": turnstile_blocks,
        "levels": levels,
        "slots": slots,
        "keys": keys,
        "pool_pointers": pool,
    });
    report.described("settings", text, settings);
    Ok(())
}
