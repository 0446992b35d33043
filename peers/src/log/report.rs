//! The report: tables in Markdown, and everything counted as CSV.

use std::fmt::Write;
use std::fs;

use crate::cuts::Cuts;
use crate::reading_log::Failure;
use crate::steady::{Bounds, Full, Steadiness, part};
use crate::{Arguments, Outcome, RunError};

/// Simulated time for an erase of 4 KB on serial NOR of today, for comparison.
const SECTOR_ERASE_MS: f64 = 45.0;

/// Writes the report and the counts, if there is a directory for them.
///
/// # Errors
/// If a file cannot be written.
pub fn write(outcomes: &[Outcome], arguments: &Arguments, bounds: &Bounds) -> Result<(), RunError> {
    let text = markdown(outcomes, arguments, bounds);
    let Some(directory) = &arguments.out else { return Ok(()) };
    let name = format!("log-{}k", unit_kilobytes());
    fs::write(directory.join(&name).with_extension("md"), text)?;
    counts(outcomes, csv::Writer::from_path(directory.join(&name).with_extension("csv"))?)
}

fn unit_kilobytes() -> usize {
    ekv::config::PAGE_SIZE / 1024
}

/// The report.
pub fn markdown(outcomes: &[Outcome], arguments: &Arguments, bounds: &Bounds) -> String {
    let mut text = String::new();
    write_markdown(&mut text, outcomes, arguments, bounds).expect("a string takes any text");
    text
}

fn write_markdown(text: &mut String, outcomes: &[Outcome], arguments: &Arguments, bounds: &Bounds) -> std::fmt::Result {
    let part = part(bounds.part_bytes);
    let quick = if arguments.quick { " A quick run: figures are rough." } else { "" };
    writeln!(text, "# Logs: {} units of {} KB\n", part.part.unit_count, unit_kilobytes())?;
    writeln!(text, "Part: {}. Seed {}.{quick}\n", part.source, arguments.seed)?;
    writeln!(text, "| log | version | configuration |\n|---|---|---|")?;
    for Outcome { contender, .. } in outcomes {
        writeln!(text, "| {} | {} | {} |", contender.name, contender.version, contender.notes)?;
    }
    write_appends(text, outcomes)?;
    write_queries(text, outcomes)?;
    write_room(text, outcomes, bounds)?;
    write_cuts(text, outcomes)
}

fn write_appends(text: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    writeln!(
        text,
        "\n## Appends\n\nA reading when the log is full: milliseconds, erases, words programmed and read; the worst \
         call, in milliseconds; milliseconds if an erase took {SECTOR_ERASE_MS} ms, as that of 4 KB on serial NOR \
         (W25Q, typical). Fresh: the first readings on an erased part. † The windows did not agree within 2%.\n"
    )?;
    writeln!(
        text,
        "| log | full, ms | erases | words programmed | words read | worst, ms | erases of {SECTOR_ERASE_MS} ms | \
         fresh, ms |\n|---|---|---|---|---|---|---|---|"
    )?;
    for Outcome { contender, costs, .. } in outcomes {
        let fresh = costs.fresh.as_ref().map_or_else(ToString::to_string, |figures| digits(figures.mean_ms()));
        match &costs.full {
            Ok(full) => writeln!(text, "| {} | {} | {fresh} |", contender.name, full_cells(full))?,
            Err(failure) => writeln!(text, "| {} | {failure} | | | | | | {fresh} |", contender.name)?,
        }
    }
    Ok(())
}

fn full_cells(full: &Full) -> String {
    let figures = &full.figures;
    let mark = if full.steadiness == Steadiness::Steady { "" } else { " †" };
    let erases = figures.each(figures.counters.erases);
    let saved_ms = erases * (part(0).timings.erase_ns as f64 / 1e6 - SECTOR_ERASE_MS);
    format!(
        "{}{mark} | {erases:.5} | {} | {} | {} | {}",
        digits(figures.mean_ms()),
        digits(figures.each(figures.counters.programs())),
        digits(figures.each(figures.counters.reads())),
        digits(figures.worst_ns as f64 / 1e6),
        digits(figures.mean_ms() - saved_ms),
    )
}

fn write_queries(text: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    writeln!(
        text,
        "\n## Queries by time\n\nMilliseconds and words read: the last hour (60 readings); a day (1,440) of the newer \
         half. A mount with the oldest reading.\n"
    )?;
    writeln!(text, "| log | hour, ms | words read | day, ms | words read | mount, ms |\n|---|---|---|---|---|---|")?;
    for Outcome { contender, costs, .. } in outcomes {
        let Ok(full) = &costs.full else { continue };
        let [hour, day] = [full.hour, full.day].map(|kind| {
            format!("{} | {}", digits(kind.mean_ms()), digits(kind.words_read as f64 / f64::from(kind.queries)))
        });
        writeln!(text, "| {} | {hour} | {day} | {} |", contender.name, digits(full.boot_ns as f64 / 1e6))?;
    }
    Ok(())
}

fn write_room(text: &mut String, outcomes: &[Outcome], bounds: &Bounds) -> std::fmt::Result {
    writeln!(
        text,
        "\n## Room, RAM and wear\n\nReadings that a full log has at least and at most, and bytes of flash a reading by \
         the least; RAM between calls in bytes; erases of the least and the most worn unit, and the most by the mean.\n"
    )?;
    writeln!(
        text,
        "| log | kept, least | most | bytes a reading | RAM | erases | most by mean |\n|---|---|---|---|---|---|---|"
    )?;
    for Outcome { contender, costs, .. } in outcomes {
        let Ok(full) = &costs.full else {
            writeln!(text, "| {} | – | – | – | {} | – | – |", contender.name, costs.ram_bytes)?;
            continue;
        };
        let each = bounds.part_bytes as f64 / f64::from(full.kept_least.max(1));
        let ((least, most), mean) = (full.erases, full.erases_mean);
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {least} to {most} | {:.2} |",
            contender.name,
            full.kept_least,
            full.kept_most,
            digits(each),
            costs.ram_bytes,
            f64::from(most) / mean
        )?;
    }
    Ok(())
}

fn write_cuts(text: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    writeln!(
        text,
        "\n## Power cuts\n\nOf a full log, at every n-th operation of some boots. Lost: acknowledged readings were \
         missing, and how many at most.\n"
    )?;
    writeln!(text, "| log | operations | survived | of the others |\n|---|---|---|---|")?;
    for Outcome { contender, cuts, .. } in outcomes {
        match cuts {
            Ok(cuts) => {
                let Cuts { operations, survived, cuts: made, .. } = cuts;
                writeln!(text, "| {} | {operations} | {survived}/{made} | {} |", contender.name, others(cuts))?;
            }
            Err(failure) => writeln!(text, "| {} | – | – | {failure} |", contender.name)?,
        }
    }
    writeln!(text)
}

/// The outcome of the cuts that were not survived.
fn others(cuts: &Cuts) -> String {
    let lost = format!("lost readings, {} at most", cuts.lost_most);
    let counts = [
        (cuts.lost, lost.as_str()),
        (cuts.wrong, "showed what was never appended, or a part of a call"),
        (cuts.unmountable, "did not mount or could not be read"),
        (cuts.unusable, "failed at a later append"),
        (cuts.missed, "did not come (an error of this program)"),
        (cuts.refused, "of these by a program that the part's contract forbids"),
    ];
    let texts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    texts.join(", ")
}

/// Three digits or so.
fn digits(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        1.0.. => format!("{value:.2}"),
        0.1.. => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

const COLUMNS: [&str; 31] = [
    "log",
    "version",
    "unit_bytes",
    "ram_bytes",
    "run_seconds",
    "fresh_readings",
    "fresh_time_ns",
    "full_readings",
    "full_words_programmed",
    "full_words_read",
    "full_units_erased",
    "full_time_ns",
    "full_worst_ns",
    "windows",
    "is_steady",
    "kept_least",
    "kept_most",
    "erases_least",
    "erases_most",
    "erases_mean",
    "hour_queries",
    "hour_words_read",
    "hour_time_ns",
    "day_queries",
    "day_words_read",
    "day_time_ns",
    "boot_ns",
    "cuts",
    "survived",
    "lost_most",
    "failure",
];

fn counts(outcomes: &[Outcome], mut table: csv::Writer<fs::File>) -> Result<(), RunError> {
    table.write_record(COLUMNS)?;
    for outcome in outcomes {
        table.write_record(row(outcome))?;
    }
    Ok(table.flush()?)
}

fn row(Outcome { contender, costs, cuts }: &Outcome) -> Vec<String> {
    let mut row = vec![contender.name.to_owned(), contender.version.to_owned(), ekv::config::PAGE_SIZE.to_string()];
    row.extend([costs.ram_bytes.to_string(), format!("{:.0}", costs.seconds)]);
    match &costs.fresh {
        Ok(fresh) => row.extend([fresh.readings, fresh.time_ns].map(|count| count.to_string())),
        Err(_) => row.extend([const { String::new() }; 2]),
    }
    match &costs.full {
        Ok(full) => row.extend(full_row(full)),
        Err(_) => row.extend([const { String::new() }; 20]),
    }
    match cuts {
        Ok(cuts) => row.extend([cuts.cuts, cuts.survived, cuts.lost_most.into()].map(|count| count.to_string())),
        Err(_) => row.extend([const { String::new() }; 3]),
    }
    let failures = [costs.fresh.as_ref().err(), costs.full.as_ref().err(), cuts.as_ref().err()];
    row.push(failures.into_iter().flatten().next().map_or(String::new(), Failure::to_string));
    row
}

fn full_row(full: &Full) -> Vec<String> {
    let (figures, counters) = (&full.figures, &full.figures.counters);
    let mut row: Vec<String> = [
        figures.readings,
        counters.programs(),
        counters.reads(),
        counters.erases,
        figures.time_ns,
        figures.worst_ns,
        full.windows as u64,
        u64::from(full.steadiness == Steadiness::Steady),
        full.kept_least.into(),
        full.kept_most.into(),
        full.erases.0.into(),
        full.erases.1.into(),
    ]
    .map(|count| count.to_string())
    .to_vec();
    row.push(format!("{:.3}", full.erases_mean));
    for kind in [full.hour, full.day] {
        row.extend([u64::from(kind.queries), kind.words_read, kind.time_ns].map(|count| count.to_string()));
    }
    row.push(full.boot_ns.to_string());
    row
}
