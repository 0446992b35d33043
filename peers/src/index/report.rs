//! The report: a table in Markdown, and everything counted as CSV.

use std::fmt::Write;
use std::fs;

use crate::benchmark::{Bounds, Figures, Outcome, PHASES, Phase, part};
use crate::map::Failure;
use crate::{Arguments, RunError};

/// Simulated time for an erase of 4 KB on serial NOR of today, for comparison.
const SECTOR_ERASE_MS: f64 = 45.0;

/// Prints the report, and writes it with the counts if there is a directory for them.
///
/// # Errors
/// If a file cannot be written.
pub fn write(outcomes: &[Outcome], arguments: &Arguments, bounds: &Bounds) -> Result<(), RunError> {
    let text = markdown(outcomes, arguments, bounds).expect("a string takes any text");
    println!("{text}");
    let Some(directory) = &arguments.out else { return Ok(()) };
    let name = format!("index-{}k", unit_kilobytes());
    fs::write(directory.join(&name).with_extension("md"), text)?;
    counts(outcomes, csv::Writer::from_path(directory.join(&name).with_extension("csv"))?)?;
    eprintln!("written to {}", directory.display());
    Ok(())
}

fn unit_kilobytes() -> u32 {
    part().part.unit_size_bytes / 1024
}

fn markdown(outcomes: &[Outcome], arguments: &Arguments, bounds: &Bounds) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let quick = if arguments.quick { " A quick run: figures are rough." } else { "" };
    writeln!(text, "# {} units of {} KB\n", part().part.unit_count, unit_kilobytes())?;
    writeln!(
        text,
        "Part: {}. {} keys, {} updates, {} queries, seed {}.{quick}\n",
        part().source,
        bounds.keys,
        bounds.calls,
        bounds.calls,
        arguments.seed
    )?;
    writeln!(text, "| map | version | configuration | RAM, bytes |\n|---|---|---|---|")?;
    for Outcome { contender, ram_bytes, .. } in outcomes {
        let ram = if *ram_bytes == 0 { "–".to_owned() } else { ram_bytes.to_string() };
        writeln!(text, "| {} | {} | {} | {ram} |", contender.name, contender.version, contender.notes)?;
    }
    write_times(&mut text, outcomes, bounds)?;
    write_counts(&mut text, outcomes)?;
    write_latencies(&mut text, outcomes)?;
    Ok(text)
}

fn write_times(text: &mut String, outcomes: &[Outcome], bounds: &Bounds) -> std::fmt::Result {
    writeln!(
        text,
        "\nMilliseconds a key. In brackets the keys behind a figure, where a phase was ended early; the total is that \
         of the four phases without ranges in full, by these means.\n"
    )?;
    writeln!(
        text,
        "| map | insertion | update | query | a key of a range | removal | total, s |\n|---|---|---|---|---|---|---|"
    )?;
    for outcome in outcomes {
        write!(text, "| {} |", outcome.contender.name)?;
        for phase in &PHASES[..5] {
            let asked = if matches!(phase, Phase::Update | Phase::Query) { bounds.calls } else { bounds.keys.into() };
            write!(text, " {} |", cell(outcome.of(*phase), asked))?;
        }
        let total = outcome.total_seconds(bounds).map_or("–".to_owned(), |total| format!("{total:.0}"));
        writeln!(text, " {total} |")?;
    }
    writeln!(text)
}

fn cell(figures: &Result<Figures, Failure>, asked: u64) -> String {
    match figures {
        Ok(figures) if figures.calls < asked => format!("{} ({})", digits(figures.mean_ms()), figures.calls),
        Ok(figures) => digits(figures.mean_ms()),
        Err(failure) => failure.to_string(),
    }
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

fn write_counts(text: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    writeln!(
        text,
        "Words programmed / read / units erased, a key; ms an update if an erase took {SECTOR_ERASE_MS} ms, as that of \
         4 KB on serial NOR (W25Q, typical).\n"
    )?;
    writeln!(
        text,
        "| map | insertion | update | removal | words read by a query | update, erases of {SECTOR_ERASE_MS} ms |"
    )?;
    writeln!(text, "|---|---|---|---|---|---|")?;
    for outcome in outcomes {
        write!(text, "| {} |", outcome.contender.name)?;
        for phase in [Phase::Insertion, Phase::Update, Phase::Removal] {
            let counts = outcome.of(phase).as_ref().map_or("–".to_owned(), |figures| {
                let counters = figures.counters;
                let [programs, reads] =
                    [counters.programs(), counters.reads()].map(|count| digits(figures.each(count)));
                format!("{programs} / {reads} / {:.5}", figures.each(counters.erases))
            });
            write!(text, " {counts} |")?;
        }
        let reads = outcome.of(Phase::Query).as_ref();
        let reads = reads.map_or("–".to_owned(), |figures| digits(figures.each(figures.counters.reads())));
        let update = outcome.of(Phase::Update).as_ref().map_or("–".to_owned(), |figures| {
            let erase_ms = part().timings.erase_ns as f64 / 1e6;
            digits(figures.mean_ms() - figures.each(figures.counters.erases) * (erase_ms - SECTOR_ERASE_MS))
        });
        writeln!(text, " {reads} | {update} |")?;
    }
    writeln!(text)
}

fn write_latencies(text: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    writeln!(
        text,
        "Milliseconds of a call, which may be a batch: 99.9% of them take no longer / the worst; a mount with the \
         first query behind it.\n"
    )?;
    writeln!(text, "| map | insertion | update | query | removal | mount and query |\n|---|---|---|---|---|---|")?;
    for outcome in outcomes {
        write!(text, "| {} |", outcome.contender.name)?;
        for phase in [Phase::Insertion, Phase::Update, Phase::Query, Phase::Removal, Phase::Boot] {
            let times = outcome.of(phase).as_ref().map_or("–".to_owned(), |figures| {
                let [within, worst] = [figures.within_999_ns, figures.worst_ns].map(|ns| digits(ns as f64 / 1e6));
                if phase == Phase::Boot { worst } else { format!("{within} / {worst}") }
            });
            write!(text, " {times} |")?;
        }
        writeln!(text)?;
    }
    writeln!(text)
}

fn counts(outcomes: &[Outcome], mut writer: csv::Writer<fs::File>) -> Result<(), RunError> {
    writer.write_record([
        "map",
        "version",
        "unit_bytes",
        "phase",
        "keys",
        "words_programmed",
        "words_read",
        "units_erased",
        "time_ns",
        "within_999_ns",
        "worst_ns",
        "ram_bytes",
        "run_seconds",
        "failure",
    ])?;
    for outcome in outcomes {
        for (phase, figures) in outcome.phases() {
            let of = |count: fn(&Figures) -> u64| {
                figures.as_ref().map_or(String::new(), |figures| count(figures).to_string())
            };
            writer.write_record([
                outcome.contender.name.to_owned(),
                outcome.contender.version.to_owned(),
                part().part.unit_size_bytes.to_string(),
                format!("{phase:?}").to_lowercase(),
                of(|figures| figures.calls),
                of(|figures| figures.counters.programs()),
                of(|figures| figures.counters.reads()),
                of(|figures| figures.counters.erases),
                of(|figures| figures.time_ns),
                of(|figures| figures.within_999_ns),
                of(|figures| figures.worst_ns),
                outcome.ram_bytes.to_string(),
                format!("{:.0}", outcome.seconds),
                figures.as_ref().err().map_or(String::new(), ToString::to_string),
            ])?;
        }
    }
    writer.flush()?;
    Ok(())
}
