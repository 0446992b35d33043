//! The report: tables in Markdown, and everything counted as CSV.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use crate::arguments::Arguments;
use crate::causes::{Causes, Tally, WORKS, Work};
use crate::cuts::{KINDS, OBJECTS, Survival};
use crate::figure_text::{erase_text, per_update, reads_text};
use crate::measure::{Case, Figures, ROWS, Stopped, part};
use crate::outcome::{Outcome, RunError};
use crate::summary;

/// Prints the report, and writes it with the counts if there is a directory for them.
///
/// # Errors
/// If a file cannot be written.
pub fn write(outcomes: &[Outcome], arguments: &Arguments) -> Result<(), RunError> {
    let text = markdown(outcomes, arguments).expect("a string takes any text");
    println!("{text}");
    let Some(directory) = &arguments.out else { return Ok(()) };
    fs::write(directory.join("peers.md"), text)?;
    costs(outcomes, csv::Writer::from_path(directory.join("costs.csv"))?)?;
    causes(outcomes, csv::Writer::from_path(directory.join("causes.csv"))?)?;
    cuts(outcomes, csv::Writer::from_path(directory.join("cuts.csv"))?)?;
    eprintln!("written to {}", directory.display());
    Ok(())
}

fn markdown(outcomes: &[Outcome], arguments: &Arguments) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    writeln!(text, "Machine: {}. {}. Seed {}.{}\n", machine(), rustc(), arguments.seed, quick_note(arguments))?;
    writeln!(text, "Part: {}; 8 KB units.\n", part().source)?;
    write_stores(&mut text, outcomes)?;
    for number in 0..outcomes.first().map_or(0, |outcome| outcome.cases.len()) {
        let title = format!("{} objects", outcomes[0].cases[number].objects);
        write_cases(&mut text, &title, outcomes.iter().map(|outcome| (outcome, Some(&outcome.cases[number]))))?;
    }
    write_cases(&mut text, "The most objects", outcomes.iter().map(|outcome| (outcome, outcome.most.as_ref())))?;
    write_capacity(&mut text, outcomes)?;
    write_cuts(&mut text, outcomes)?;
    summary::write_summary(&mut text, outcomes)?;
    write_causes(&mut text, outcomes)?;
    Ok(text)
}

fn quick_note(arguments: &Arguments) -> &'static str {
    if arguments.quick { " A quick run: figures are rough." } else { "" }
}

fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores", model.trim_start_matches([' ', '\t', ':']))
}

fn rustc() -> String {
    let output = Command::new("rustc").arg("--version").output();
    output
        .map_or_else(|_| "rustc unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn write_stores(text: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    writeln!(text, "| store | version | configuration |\n|---|---|---|")?;
    for Outcome { peer, .. } in outcomes {
        writeln!(text, "| {} | {} | {} |", peer.name, peer.version, peer.notes)?;
    }
    writeln!(text)
}

/// One table: a line a store, a cell a row.
fn write_cases<'a>(
    text: &mut String,
    title: &str,
    cases: impl Iterator<Item = (&'a Outcome, Option<&'a Case>)>,
) -> std::fmt::Result {
    writeln!(text, "## {title}\n")?;
    writeln!(
        text,
        "Per field updated: words programmed / units erased / words read / ms. † Fewer than one erase a unit was counted: rough.\n"
    )?;
    writeln!(
        text,
        "| store | objects | {} | field read, mean, worst | wear (mean erases) |",
        ROWS.map(|row| row.name()).join(" | ")
    )?;
    writeln!(text, "|---|---|---|---|---|---|---|---|")?;
    for (outcome, case) in cases {
        let Some(case) = case else { continue };
        let cells = case.rows.each_ref().map(cell);
        let reading =
            case.reading.map_or("–".to_owned(), |reading| format!("{:.1}, {}", reading.mean, reading.worst));
        let wear = case.wear.map_or("–".to_owned(), |wear| format!("{:.2} ({:.0})", wear.ratio, wear.mean_erases));
        writeln!(text, "| {} | {} | {} | {reading} | {wear} |", outcome.peer.name, case.objects, cells.join(" | "))?;
    }
    writeln!(text)
}

fn cell(row: &Result<Figures, Stopped>) -> String {
    match row {
        Ok(figures) => {
            let [words, erases, reads, time] = per_update(figures);
            let mark = if figures.is_steady() { "" } else { " †" };
            format!("{words:.2} / {} / {} / {:.2}{mark}", erase_text(erases), reads_text(reads), time / 1e6)
        }
        Err(stopped) => stopped.to_string(),
    }
}

fn write_capacity(text: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    writeln!(text, "## Capacity and RAM\n")?;
    writeln!(text, "| store | 100-byte objects created | with which updates go on | RAM, bytes |\n|---|---|---|---|")?;
    for outcome in outcomes {
        let (created, in_use) = outcome.capacity.map_or((0, 0), |capacity| (capacity.created, capacity.in_use));
        let ram = outcome.cases.iter().chain(&outcome.most).filter_map(|case| Some((case.objects, case.ram_bytes?)));
        let mut ram: Vec<(usize, usize)> = ram.collect();
        ram.dedup_by_key(|(_, bytes)| *bytes);
        let ram: Vec<String> = match &ram[..] {
            [(_, bytes)] => vec![bytes.to_string()],
            several => several.iter().map(|(objects, bytes)| format!("{bytes} at {objects} objects")).collect(),
        };
        writeln!(text, "| {} | {created} | {in_use} | {} |", outcome.peer.name, ram.join(", "))?;
    }
    writeln!(text)
}

fn write_cuts(text: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    writeln!(text, "## Power cuts survived\n")?;
    writeln!(text, "16 units of 8 KB, {OBJECTS} objects; survived/made.\n")?;
    writeln!(text, "| store | updates recorded | {} | of the others |", KINDS.map(|kind| kind.name()).join(" | "))?;
    writeln!(text, "|---|---|---|---|---|---|---|")?;
    for outcome in outcomes {
        match &outcome.cuts {
            Ok(cuts) => {
                let cells = cuts.kinds.map(|survival| format!("{}/{}", survival.survived, survival.cuts));
                let ended = cuts.ended.as_ref().map_or(String::new(), |failure| format!("; then {failure}"));
                let others = others(&cuts.kinds);
                writeln!(
                    text,
                    "| {} | {}{ended} | {} | {others} |",
                    outcome.peer.name,
                    cuts.updates,
                    cells.join(" | ")
                )?;
            }
            Err(failure) => writeln!(text, "| {} | none: {failure} | | | | | |", outcome.peer.name)?,
        }
    }
    writeln!(text)
}

/// The outcome of the cuts that were not survived.
fn others(kinds: &[Survival; 4]) -> String {
    let sum = |count: fn(&Survival) -> u64| kinds.iter().map(count).sum::<u64>();
    let counts: [(u64, &str); 5] = [
        (sum(|survival| survival.unmountable), "did not mount"),
        (sum(|survival| survival.wrong), "lost or mixed data"),
        (sum(|survival| survival.unusable), "failed at a later update"),
        (sum(|survival| survival.missed), "did not come (an error of this program)"),
        (sum(|survival| survival.refused), "of these by a program that the part's contract forbids"),
    ];
    let texts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    texts.join(", ")
}

fn write_causes(text: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    writeln!(text, "## Where the heap's operations come from\n")?;
    writeln!(
        text,
        "Per update of the kind; *share* is of all field updates. Words in units of the log, words elsewhere; *words by share*: both, times the share, of a run of its own of 100,000 updates at most, so that they add up to nearly the row's words programmed.\n"
    )?;
    writeln!(
        text,
        "| store | objects | row | an update that | share | reads | log words | other words | log erases | other erases | words by share |"
    )?;
    writeln!(text, "|---|---|---|---|---|---|---|---|---|---|---|")?;
    for outcome in outcomes {
        for case in &outcome.cases {
            for (row, causes) in ROWS.iter().zip(&case.causes) {
                let Some(causes) = causes else { continue };
                let start = format!("| {} | {} | {} |", outcome.peer.name, case.objects, row.name());
                write_kinds(text, &start, causes)?;
            }
        }
    }
    writeln!(text)
}

fn write_kinds(text: &mut String, start: &str, causes: &Causes) -> std::fmt::Result {
    for (work, tallies) in WORKS.into_iter().zip(&causes.rows) {
        for (tally, room) in tallies.iter().zip(["", ", and makes room"]) {
            if tally.updates > 0 {
                let share = 100.0 * tally.updates as f64 / causes.updates() as f64;
                let [reads, log, data, log_erases, data_erases] =
                    counts(tally).map(|count| count as f64 / tally.updates as f64);
                write!(text, "{start} {}{room} | {share:.2} % | {reads:.1} |", work_text(work))?;
                let words = (log + data) * share / 100.0;
                writeln!(text, " {log:.1} | {data:.1} | {log_erases:.2} | {data_erases:.2} | {words:.2} |")?;
            }
        }
    }
    Ok(())
}

fn work_text(work: Work) -> &'static str {
    match work {
        Work::InPlace => "is in place",
        Work::Linked => "adds a record",
        Work::Rewritten => "rewrites the object",
    }
}

fn counts(tally: &Tally) -> [u64; 5] {
    [tally.reads, tally.log_words, tally.data_words, tally.log_erases, tally.data_erases]
}

type Table = csv::Writer<fs::File>;

fn costs(outcomes: &[Outcome], mut table: Table) -> Result<(), RunError> {
    table.write_record([
        "store", "version", "objects", "row", "updates", "reads", "programs", "erases", "time_ns", "stopped",
    ])?;
    for Outcome { peer, cases, most, .. } in outcomes {
        for case in cases.iter().chain(most) {
            for (row, outcome) in ROWS.iter().zip(&case.rows) {
                let start = [peer.name, peer.version, &case.objects.to_string(), row.name()].map(str::to_owned);
                let (counts, stopped) = match outcome {
                    Ok(Figures { updates, counters, time_ns }) => {
                        ([*updates, counters.reads(), counters.programs(), counters.erases, *time_ns], String::new())
                    }
                    Err(stopped) => ([0; 5], stopped.to_string()),
                };
                let counts = counts.map(|count| count.to_string());
                table.write_record(start.iter().chain(&counts).chain([&stopped]))?;
            }
            if let Some(reading) = case.reading {
                let start = [peer.name, peer.version, &case.objects.to_string(), "field read, mean and worst"]
                    .map(str::to_owned);
                let counts = [reading.fields as f64, reading.mean, reading.worst as f64].map(|count| count.to_string());
                table.write_record(start.iter().chain(&counts).chain(&[const { String::new() }; 3]))?;
            }
        }
    }
    Ok(table.flush()?)
}

fn causes(outcomes: &[Outcome], mut table: Table) -> Result<(), RunError> {
    let head =
        ["store", "objects", "row", "work", "makes room", "updates", "reads", "log words", "other words", "log erases"];
    table.write_record(head.iter().chain(&["other erases"]))?;
    for Outcome { peer, cases, most, .. } in outcomes {
        for case in cases.iter().chain(most) {
            for (row, causes) in ROWS.iter().zip(&case.causes) {
                let Some(causes) = causes else { continue };
                for (work, tallies) in WORKS.into_iter().zip(&causes.rows) {
                    for (tally, room) in tallies.iter().zip(["no", "yes"]) {
                        let start = [peer.name, &case.objects.to_string(), row.name(), work_text(work), room]
                            .map(str::to_owned);
                        let counts = counts(tally).map(|count| count.to_string());
                        table.write_record(start.iter().chain([&tally.updates.to_string()]).chain(&counts))?;
                    }
                }
            }
        }
    }
    Ok(table.flush()?)
}

fn cuts(outcomes: &[Outcome], mut table: Table) -> Result<(), RunError> {
    table.write_record([
        "store",
        "kind",
        "cuts",
        "survived",
        "unmountable",
        "wrong",
        "unusable",
        "missed",
        "refused",
    ])?;
    for Outcome { peer, cuts, .. } in outcomes {
        let Ok(cuts) = cuts else { continue };
        for (kind, survival) in KINDS.iter().zip(&cuts.kinds) {
            let Survival { cuts, survived, unmountable, wrong, unusable, missed, refused } = *survival;
            let counts = [cuts, survived, unmountable, wrong, unusable, missed, refused].map(|count| count.to_string());
            table.write_record([peer.name, kind.name()].map(str::to_owned).iter().chain(&counts))?;
        }
    }
    Ok(table.flush()?)
}
