//! The report: tables in Markdown, and everything counted as CSV.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use crate::arguments::Arguments;
use crate::causes::{Causes, Tally, WORKS, Work};
use crate::cuts::{KINDS, OBJECTS, Survival};
use crate::figure_text::{costs, reads_text};
use crate::measure::{Case, FILL_ROWS, ROWS, Stopped, part};
use crate::outcome::{Fill, Outcome, RunError, SHARES};
use crate::steady::Figures;
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
    all_costs(outcomes, csv::Writer::from_path(directory.join("costs.csv"))?)?;
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
        write_cases(&mut text, outcomes, number)?;
    }
    write_fills(&mut text, outcomes)?;
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

/// What the marks beside figures mean.
const MARKS: &str = "† It read as much as a run may before its windows agreed, with erases a unit until then; ‡ its \
                     windows never agreed.";

/// One table: a line a store, a cell a row.
fn write_cases(text: &mut String, outcomes: &[Outcome], number: usize) -> std::fmt::Result {
    writeln!(text, "## {} objects\n", outcomes[0].cases[number].population.objects)?;
    writeln!(text, "Per field updated: words programmed / units erased / words read. {MARKS}\n")?;
    let rows = ROWS.map(|row| row.name()).join(" | ");
    writeln!(text, "| store | {rows} | field read, mean, worst | wear (mean erases) | RAM, bytes |")?;
    writeln!(text, "|---|---|---|---|---|---|---|---|")?;
    for outcome in outcomes {
        let case = &outcome.cases[number];
        let cells: Vec<String> = case.rows.iter().map(|(_, result)| costs(result, |figures| figures.fields)).collect();
        let reading =
            case.reading.map_or("–".to_owned(), |reading| format!("{}, {}", reads_text(reading.mean), reading.worst));
        let wear = case.wear.map_or("–".to_owned(), |wear| format!("{:.3} ({:.0})", wear.ratio, wear.mean_erases));
        let ram = case.ram_bytes.map_or("–".to_owned(), |bytes| bytes.to_string());
        writeln!(text, "| {} | {} | {reading} | {wear} | {ram} |", outcome.peer.name, cells.join(" | "))?;
    }
    writeln!(text)
}

/// One table for all sizes: a line a store, cells for what it holds and what it costs when it holds many.
fn write_fills(text: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    let sizes = outcomes.first().map_or(0, |outcome| outcome.fills.len());
    if sizes == 0 {
        return Ok(());
    }
    let [some, most] = SHARES;
    writeln!(text, "## At {some} and {most}% of each store's capacity\n")?;
    writeln!(
        text,
        "Per call, of one field or of a whole object: words programmed / units erased / words read. {MARKS}\n"
    )?;
    write!(text, "| bytes | store | holds")?;
    for share in SHARES {
        write!(text, " | {share}%: objects | one field | whole object")?;
    }
    writeln!(text, " |\n|---|---|---{} |", "|---|---|---".repeat(SHARES.len()))?;
    for size in 0..sizes {
        for outcome in outcomes {
            write_fill(text, outcome.peer.name, &outcome.fills[size])?;
        }
    }
    writeln!(text)
}

fn write_fill(text: &mut String, name: &str, fill: &Fill) -> std::fmt::Result {
    write!(text, "| {} | {name} | {}", fill.shape.bytes(), fill.capacity.in_use)?;
    for case in &fill.cases {
        write!(text, " | {}", case.population.objects)?;
        for row in FILL_ROWS {
            let cell = case.row(row).map_or("–".to_owned(), |result| costs(result, |figures| figures.calls));
            write!(text, " | {cell}")?;
        }
    }
    writeln!(text, " |")
}

fn write_capacity(text: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    if outcomes.iter().all(|outcome| outcome.fills.is_empty()) {
        return Ok(());
    }
    writeln!(text, "## Capacity\n")?;
    writeln!(
        text,
        "Objects created; the most with which updates of single fields go on; the share of the part that their bytes \
         are; words and erases an update with these, at so many erases a unit; what came of the least number that was \
         refused.\n"
    )?;
    writeln!(text, "| bytes | store | created | in use | share | an update | erases a unit | refused |")?;
    writeln!(text, "|---|---|---|---|---|---|---|---|")?;
    let sizes = outcomes.first().map_or(0, |outcome| outcome.fills.len());
    for (size, outcome) in (0..sizes).flat_map(|size| outcomes.iter().map(move |outcome| (size, outcome))) {
        let Fill { shape, capacity, .. } = &outcome.fills[size];
        let share = 100.0 * (capacity.in_use * shape.bytes()) as f64 / f64::from(part().part.size_bytes());
        let (update, erases) = capacity.figures.as_ref().map_or(("–".to_owned(), "–".to_owned()), |figures| {
            (costs(&Ok(*figures), |figures| figures.fields), reads_text(figures.erases_a_unit))
        });
        let refusal = capacity.refusal.as_ref().map_or("–".to_owned(), |refusal| refusal.to_string());
        let (bytes, name, created, in_use) = (shape.bytes(), outcome.peer.name, capacity.created, capacity.in_use);
        writeln!(text, "| {bytes} | {name} | {created} | {in_use} | {share:.1}% | {update} | {erases} | {refusal} |")?;
    }
    writeln!(text)
}

fn write_cuts(text: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    if outcomes.iter().all(|outcome| outcome.cuts.is_none()) {
        return Ok(());
    }
    writeln!(text, "## Power cuts survived\n")?;
    writeln!(text, "16 units of 8 KB, {OBJECTS} objects; survived/made.\n")?;
    writeln!(text, "| store | updates recorded | {} | of the others |", KINDS.map(|kind| kind.name()).join(" | "))?;
    writeln!(text, "|---|---|---|---|---|---|---|")?;
    for outcome in outcomes {
        let Some(cuts) = &outcome.cuts else { continue };
        match cuts {
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
    if outcomes.iter().flat_map(|outcome| &outcome.cases).all(|case| case.causes.is_empty()) {
        return Ok(());
    }
    writeln!(text, "## Where the heap's operations come from\n")?;
    writeln!(
        text,
        "Per update of the kind; *share* is of all field updates. Words in units of the log, words elsewhere; *words \
         by share*: both, times the share, of a run of its own of 100,000 updates at most, so that they add up to \
         nearly the row's words programmed.\n"
    )?;
    writeln!(
        text,
        "| store | objects | row | an update that | share | reads | log words | other words | log erases | other \
         erases | words by share |"
    )?;
    writeln!(text, "|---|---|---|---|---|---|---|---|---|---|---|")?;
    for outcome in outcomes {
        for case in &outcome.cases {
            for (row, causes) in &case.causes {
                let start = format!("| {} | {} | {} |", outcome.peer.name, case.population.objects, row.name());
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

fn all_costs(outcomes: &[Outcome], mut table: Table) -> Result<(), RunError> {
    table.write_record([
        "store",
        "version",
        "bytes",
        "objects",
        "row",
        "fields",
        "calls",
        "reads",
        "programs",
        "erases",
        "time_ns",
        "erases a unit",
        "ended",
    ])?;
    for outcome in outcomes {
        for case in outcome.cases.iter().chain(outcome.fills.iter().flat_map(|fill| &fill.cases)) {
            for (row, result) in &case.rows {
                table.write_record(start(outcome, case, row.name()).chain(result_cells(result)))?;
            }
            if let Some(reading) = case.reading {
                let counts = [reading.fields as f64, reading.mean, reading.worst as f64].map(|count| count.to_string());
                let cells = counts.into_iter().chain([const { String::new() }; 5]);
                table.write_record(start(outcome, case, "field read: number, mean, worst").chain(cells))?;
            }
        }
        for Fill { shape, capacity, .. } in &outcome.fills {
            let Some(figures) = capacity.figures else { continue };
            let what = [outcome.peer.name, outcome.peer.version].map(str::to_owned).into_iter();
            let numbers = [shape.bytes(), capacity.in_use].map(|number| number.to_string());
            let start = what.chain(numbers).chain(["one field, at capacity".to_owned()]);
            table.write_record(start.chain(result_cells(&Ok(figures))))?;
        }
    }
    Ok(table.flush()?)
}

/// The first cells of a line.
fn start(outcome: &Outcome, case: &Case, row: &str) -> impl Iterator<Item = String> {
    let what = [outcome.peer.name, outcome.peer.version].map(str::to_owned);
    let numbers = [case.population.shape.bytes(), case.population.objects].map(|number| number.to_string());
    what.into_iter().chain(numbers).chain([row.to_owned()])
}

/// The others.
fn result_cells(result: &Result<Figures, Stopped>) -> impl Iterator<Item = String> + use<> {
    let (counts, erases_a_unit, ended) = match result {
        Ok(Figures { fields, calls, reads, programs, erases, time_ns, erases_a_unit, ended }) => {
            ([*fields, *calls, *reads, *programs, *erases, *time_ns], *erases_a_unit, format!("{ended:?}"))
        }
        Err(stopped) => ([0; 6], 0.0, stopped.to_string()),
    };
    counts.map(|count| count.to_string()).into_iter().chain([format!("{erases_a_unit:.1}"), ended])
}

fn causes(outcomes: &[Outcome], mut table: Table) -> Result<(), RunError> {
    let head =
        ["store", "objects", "row", "work", "makes room", "updates", "reads", "log words", "other words", "log erases"];
    table.write_record(head.iter().chain(&["other erases"]))?;
    for Outcome { peer, cases, .. } in outcomes {
        for case in cases {
            for (row, causes) in &case.causes {
                for (work, tallies) in WORKS.into_iter().zip(&causes.rows) {
                    for (tally, room) in tallies.iter().zip(["no", "yes"]) {
                        let start =
                            [peer.name, &case.population.objects.to_string(), row.name(), work_text(work), room]
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
        let Some(Ok(cuts)) = cuts else { continue };
        for (kind, survival) in KINDS.iter().zip(&cuts.kinds) {
            let Survival { cuts, survived, unmountable, wrong, unusable, missed, refused } = *survival;
            let counts = [cuts, survived, unmountable, wrong, unusable, missed, refused].map(|count| count.to_string());
            table.write_record([peer.name, kind.name()].map(str::to_owned).iter().chain(&counts))?;
        }
    }
    Ok(table.flush()?)
}
