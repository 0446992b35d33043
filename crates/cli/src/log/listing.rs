//! `norn log show`: the readings by days, the log's settings and fill, and the state of the part.

use std::collections::BTreeMap;

use norn_ordered_index::{OrderedIndex, Settings};
use norn_sensor_log::{Reading, Seconds, Summary};

use crate::error::Error;
use crate::log::failure::LogFailure;
use crate::log::milli::Milli;
use crate::log::moment::Timestamp;
use crate::log::{Answer, Log, checked_answer};
use crate::opening::Source;
use crate::part_text::part_text;
use crate::table::{Side, table, text};

const DAY_SECONDS: Seconds = 86_400;

/// The readings of a day in short.
struct Day {
    first: Seconds,
    last: Seconds,
    summary: Summary,
}

/// The log in a file as text.
///
/// # Errors
/// When the image or the log cannot be opened or read.
pub fn show(source: &Source) -> Result<Answer, Error> {
    let mut answer = checked_answer(source, list)?;
    answer.text += &part_text(&source.read_nor()?);
    Ok(answer)
}

fn list(log: &mut Log<'_>) -> Result<String, LogFailure> {
    log.index().device_mut().freeze_counters();
    let texts = days(log).and_then(|days| Ok(format!("{}\n{}", days_text(&days), state_text(log)?)));
    log.index().device_mut().thaw_counters();
    texts
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

fn days_text(days: &BTreeMap<Seconds, Day>) -> String {
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
    if rows.is_empty() { "No readings.\n".to_owned() } else { text(&rows) }
}

fn state_text(log: &mut Log<'_>) -> Result<String, LogFailure> {
    let (stats, Settings { turnstile_blocks, levels, slots, keys, pool }) =
        (log.index().stats()?, log.index().settings());
    let cells = stats.live + stats.dead + stats.free;
    let of_all = 100.0 * f64::from(stats.live) / f64::from(cells.max(1));
    Ok(format!(
        "readings  {}\n\
         cells     {} in use ({of_all:.0}%), {} dead, {} free\n\
         settings  turnstiles of {turnstile_blocks} blocks, {levels} levels, objects of {slots} slots and {keys} keys, \
         pools of {pool} pointers\n",
        stats.keys, stats.live, stats.dead, stats.free,
    ))
}
