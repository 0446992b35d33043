//! Every experiment in small: it measures what it says, its files are there, the published values are in the report,
//! and what was measured has the shape that the papers' arguments and our own rest on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use norn_lab::{Basis, Known, Runner, Settings, Shard, experiments, write_report};

type Row = BTreeMap<String, String>;

/// The rows of an experiment's CSV file.
fn rows(out: &Path, name: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(out.join(format!("{name}.csv"))).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

/// The rows in which these columns have these texts.
fn of<'a>(rows: &'a [Row], wanted: &[(&str, &str)]) -> Vec<&'a Row> {
    let found: Vec<_> = rows.iter().filter(|row| wanted.iter().all(|(column, text)| row[*column] == *text)).collect();
    assert!(!found.is_empty(), "there are rows with {wanted:?}");
    found
}

fn one<'a>(rows: &'a [Row], wanted: &[(&str, &str)]) -> &'a Row {
    let found = of(rows, wanted);
    assert_eq!(found.len(), 1, "one row with {wanted:?}");
    found[0]
}

#[test]
fn names_and_jobs_are_distinct() {
    let mut names = BTreeSet::new();
    for experiment in experiments() {
        let about = experiment.about();
        assert!(names.insert(about.name), "{} is there twice", about.name);
        assert!(about.name.starts_with(&format!("{}-", about.paper.id)), "{} begins with its paper's id", about.name);
        for settings in [Settings::quick(), Settings::full()] {
            let jobs = experiment.jobs(&settings);
            let distinct: BTreeSet<String> = jobs.iter().map(|job| job.parameters.to_string()).collect();
            assert_eq!(distinct.len(), jobs.len(), "{}: no two jobs have the same parameters", about.name);
            assert!(jobs.iter().all(|job| job.seconds > 0.0), "{}: every job takes some time", about.name);
        }
    }
}

#[test]
fn without_results_there_is_something_to_show() {
    for experiment in experiments() {
        let presentation = experiment.present(&[]).unwrap();
        let directory = tempfile::tempdir().unwrap();
        presentation.plots.iter().for_each(|plot| plot.write(directory.path()).unwrap());
        assert!(
            presentation.comparisons.iter().all(|comparison| comparison.ratio().is_none()),
            "{}",
            experiment.about().name
        );
    }
}

#[test]
fn every_experiment_runs_in_small() {
    let directory = tempfile::tempdir().unwrap();
    let (out, settings) = (directory.path(), Settings::quick());
    let experiments = experiments();
    let threads = NonZeroUsize::new(2).unwrap();
    let summary = Runner { out, settings: &settings, known: Known::Kept, shard: Shard::WHOLE, threads }
        .run(&experiments)
        .unwrap();
    let jobs: usize = experiments.iter().map(|experiment| experiment.jobs(&settings).len()).sum();
    assert_eq!((summary.measured, summary.found), (jobs, 0));

    let report = write_report(&experiments, out, out).unwrap();
    let missing: Vec<&str> = report.lines().filter(|line| line.contains("not measured")).collect();
    assert!(missing.is_empty(), "every published value has one of ours: {missing:#?}");
    for experiment in &experiments {
        let name = experiment.about().name;
        assert!(rows(out, name).len() >= experiment.jobs(&settings).len(), "{name}: a row for each job");
    }
    plots_have_their_texts(out, &report);
    every_exhibit_has_its_standing(&report);
    every_difference_has_its_cause(&report);
    what_equations_give_is_as_printed_or_differs(&report);
    published_values_are_there(&report);
    table1_has_its_shape(out);
    costs_have_their_shape(out);
    lifetimes_have_their_shape(out);
    capacity_has_its_shape(out);
    the_others_have_their_shape(out);
    weaknesses_are_attacked(out);
    fat_lists_have_their_shape(out, &report);
    heaps_have_their_shape(out, &report);
}

fn plots_have_their_texts(out: &Path, report: &str) {
    let svgs: Vec<_> = report.lines().filter_map(|line| line.strip_suffix(".svg)")?.split("](").nth(1)).collect();
    assert!(svgs.len() >= 8, "Table 1 and Figures 4 to 8 have a plot, and some others");
    for name in svgs {
        let svg = fs::read_to_string(out.join(format!("{name}.svg"))).unwrap();
        assert!(svg.matches("<text").count() > 10, "{name}.svg has texts");
        // A picture without its font would be mostly blank; the text of a legend alone takes more than this.
        let png = fs::metadata(out.join(format!("{name}.png"))).unwrap().len();
        assert!(png > 8_000, "{name}.png has {png} bytes");
    }
}

/// A line for each table and figure of the papers, which says why, unless it agrees.
fn every_exhibit_has_its_standing(report: &str) {
    let counts = [("tinystore", 9), ("fat-lists", 24), ("realtime-gc", 17), ("paging", 10)];
    for (id, count) in counts {
        let papers = experiments();
        let paper = papers.iter().map(|experiment| experiment.about().paper).find(|paper| paper.id == id).unwrap();
        assert_eq!(paper.exhibits.len(), count, "{id}");
        for exhibit in paper.exhibits {
            let head = format!("| {} | {} | ", exhibit.name, exhibit.shows);
            let line = report.lines().find_map(|line| line.strip_prefix(&head)).unwrap_or_else(|| panic!("{head}"));
            let (standing, why) = line.trim_end_matches('|').split_once('|').unwrap();
            match exhibit.basis {
                Basis::Comparisons => assert!(!standing.contains("comparable"), "{head}{line}"),
                Basis::Data(_) | Basis::Nothing(_) => assert_eq!(standing.trim(), "not comparable", "{head}"),
            }
            assert!(standing.trim() == "agrees" || why.trim().len() > 10, "{head}{line}");
        }
    }
    assert!(!report.contains("no cause is known"), "each figure that differs has a cause");
}

/// Statements of a paper's text have no line of their own among its figures: their cause is in the row. Numbers may
/// differ because the runs are short.
fn every_difference_has_its_cause(report: &str) {
    let tables = report.split("### Every published value beside ours").skip(1);
    let rows = tables.flat_map(|table| table.lines().take_while(|line| !line.starts_with('#')));
    let differs = |relation: &str| ["differs", "below", "above"].contains(&relation);
    let mut differing = 0;
    for line in rows.filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if differs(cells[3]) && !cells[1].starts_with("goal of ours") {
            differing += 1;
            assert!(cells.get(4).is_some_and(|why| why.len() > 10), "a cause of {line}");
        }
    }
    assert!(differing > 20, "{differing}");
}

/// Values that the paper's own equations contradict differ, though by less than a tenth.
fn what_equations_give_is_as_printed_or_differs(report: &str) {
    let line = |start: &str| report.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}"));
    assert!(line("| Table V | ").contains("| differs in "), "{}", line("| Table V | "));
    assert!(line("| Table III | ").contains("| differs in 2 of 2 |"), "{}", line("| Table III | "));
    assert!(line("| Table V, 50%: α | 16 | 16 | 1 |").contains("tokens"), "the published α is admitted at 50%");
    assert!(line("| Table V, 55%: α | 15 | 14 |").contains("allowed"), "and not at 55%");
    for (percent, standing) in [(50, "holds"), (65, "differs"), (75, "differs")] {
        let column = line(&format!("| Table V, {percent}%: the column | "));
        assert_eq!(column.split('|').nth(4).map(str::trim), Some(standing), "{column}");
    }
}

/// Every number of Table 1 and of section 6.3's text.
fn published_values_are_there(report: &str) {
    let table1 = [
        ["146", "973.7", "280.1", "0.0384"],
        ["3,301", "291.9", "12.02", "0.0017"],
        ["3,359", "288.7", "10.94", "0.0017"],
        ["4,225", "282.4", "9.3", "0.0013"],
        ["4,868", "245.7", "8.03", "0.0011"],
        ["5,317", "245.9", "7.32", "0.001"],
        ["5,533", "222.8", "7.02", "0.001"],
    ];
    let cells: Vec<&str> = report.lines().filter(|line| line.starts_with("| Table 1, lists of ")).collect();
    assert_eq!(cells.len(), 28);
    for (line, published) in cells.iter().zip(table1.iter().flatten()) {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        assert_eq!(columns[2], *published, "{line}");
        assert!(columns[3].replace(',', "").parse::<f64>().is_ok() && columns[4].parse::<f64>().is_ok(), "{line}");
    }
    let texts = [
        "| 11 |",
        "| 50 |",
        "| 5 to 10 |",
        "| 731 |",
        "| 5,500 |",
        "| 100,000 |",
        "| at least 74,000,000 |",
        "| at least 730 |",
        "| at least 4,000,000,000 |",
        "| more than 35% |",
        "| more than 60% |",
        "| 83 to 98% |",
        "| 60 to 80% |",
        "| 7 to 8 times |",
        "| 10 |",
    ];
    texts.iter().for_each(|text| assert!(report.contains(text), "{text} is published"));
}

fn table1_has_its_shape(out: &Path) {
    let rows = rows(out, "tinystore-table1");
    let published_writes = [280.13, 12.02, 9.30, 8.03, 7.32, 7.02];
    let published_reads = [973.66, 291.92, 282.39, 245.65, 245.91, 222.75];
    let with_flags = of(&rows, &[("initialization_flags", "On")]);
    for pair in with_flags.windows(2) {
        for column in ["writes", "erases", "ms"] {
            assert!(number(pair[0], column) > number(pair[1], column), "longer lists cost fewer {column}: {pair:?}");
        }
        assert!(number(pair[0], "objects_full") > number(pair[1], "objects_full"), "longer lists take room: {pair:?}");
    }
    for (row, (writes, reads)) in with_flags.iter().zip(published_writes.iter().zip(published_reads)) {
        assert!(number(row, "writes") < *writes && number(row, "reads") < reads, "no more than was published: {row:?}");
        let parts = ["writes_in_slots", "writes_structure", "writes_reclaiming"].map(|column| number(row, column));
        let mean = parts.iter().sum::<f64>();
        assert!((mean / number(row, "writes") - 1.0).abs() < 0.05, "the parts add up to the whole: {row:?}");
        // Erases of all units make up the lifetime; a short one also has the updates that fill the erased part at
        // first.
        let lifetime = number(row, "lifetime_updates") * number(row, "erases") / 56.0 * number(row, "unevenness");
        let ratio = lifetime / number(row, "endurance");
        assert!((0.9..2.5).contains(&ratio), "erases explain the lifetime, by {ratio}: {row:?}");
    }
}

fn costs_have_their_shape(out: &Path) {
    let rows = rows(out, "tinystore-update-costs");
    assert!(rows.iter().all(|row| row["status"] == "measured"));
    for row in of(&rows, &[("medium", "Eeprom")]) {
        assert!((number(row, "writes") - 5.0).abs() < 0.05, "EEPROM costs are always the same: {row:?}");
        assert!((number(row, "erases") - number(row, "writes")).abs() < 1e-9, "each write is an erase: {row:?}");
        assert!(number(row, "ms") > 15.0, "{row:?}");
    }
    let all_fields = |bytes| {
        one(
            &rows,
            &[("medium", "Flash"), ("workload", "20/80AllFields"), ("fullness_percent", "50"), ("object_bytes", bytes)],
        )
    };
    assert!(
        number(all_fields("200"), "writes") < number(all_fields("20"), "writes"),
        "large objects updated as a whole cost less"
    );
    let random = |full| {
        one(
            &rows,
            &[("medium", "Flash"), ("workload", "TotallyRandom"), ("fullness_percent", full), ("object_bytes", "200")],
        )
    };
    assert!(number(random("90"), "writes") > 1.2 * number(random("20"), "writes"), "a nearly full flash costs more");
}

fn lifetimes_have_their_shape(out: &Path) {
    let rows = rows(out, "tinystore-lifetimes");
    assert!(rows.iter().all(|row| row["status"] == "measured"));
    let ends: Vec<&Row> = rows.iter().filter(|row| row["limit"] == row["endurance"]).collect();
    let end = |medium: &str, workload: &str| {
        let found = ends
            .iter()
            .find(|row| row["medium"] == medium && row["workload"] == workload && row["fullness_percent"] == "50");
        number(found.unwrap(), "updates_at_100_000")
    };
    let one_field = end("Eeprom", "SingleObjectSingleField");
    assert!((one_field / 100_000.0 - 1.0).abs() < 0.01, "one field of EEPROM lasts as long as its bytes: {one_field}");
    assert!(end("Flash", "SingleObjectSingleField") > 730.0 * one_field, "and flash more than 730 times as long");
    assert!(end("Flash", "20/80AllFields") > end("Eeprom", "20/80AllFields"));
    for pair in rows.windows(2).filter(|pair| number(&pair[0], "limit") < number(&pair[1], "limit")) {
        if pair[0]["workload"] == pair[1]["workload"] && pair[0]["fullness_percent"] == pair[1]["fullness_percent"] {
            assert!(number(&pair[0], "updates") < number(&pair[1], "updates"), "more erases, more updates: {pair:?}");
        }
    }
}

fn capacity_has_its_shape(out: &Path) {
    let rows = rows(out, "tinystore-capacity");
    let share = |medium, flags, bytes| {
        let baseline = [("medium", medium), ("unit_kib", "8"), ("initialization_flags", flags), ("element_bytes", "2")];
        number(one(&rows, &[&baseline[..], &[("array_bytes", bytes)]].concat()), "user_percent")
    };
    for (medium, most, large) in [("Flash", 40.0, 60.0..80.0), ("Eeprom", 65.0, 83.0..98.0)] {
        assert!(share(medium, "On", "10") < most, "small arrays have as much overhead as was published");
        assert!(share(medium, "On", "10") < share(medium, "On", "100"), "and larger ones less");
        assert!(large.contains(&share(medium, "On", "1000")), "{medium}: {}", share(medium, "On", "1000"));
    }
    assert!(share("Flash", "Off", "1000") > share("Flash", "On", "1000"), "flags take room");
    let lists = rows_of_lists(out);
    for pair in lists.windows(2).filter(|pair| pair[0]["object_bytes"] == pair[1]["object_bytes"]) {
        assert!(
            number(&pair[0], "user_percent") > number(&pair[1], "user_percent"),
            "shorter lists leave room: {pair:?}"
        );
    }
}

fn rows_of_lists(out: &Path) -> Vec<Row> {
    let mut rows = rows(out, "tinystore-list-length");
    rows.sort_by_key(|row| (row["object_bytes"].clone(), number(row, "list_length_max") as u32));
    rows
}

fn the_others_have_their_shape(out: &Path) {
    let copies = rows(out, "tinystore-array-copy");
    for medium in ["Flash", "Eeprom"] {
        for elements in ["50", "1000"] {
            let ms = |operation| {
                number(one(&copies, &[("medium", medium), ("operation", operation), ("elements", elements)]), "ms")
            };
            let ratio = ms("ArrayCopy") / ms("ArrayFillNonAtomic");
            let expected = if medium == "Flash" { 1.0..2.0 } else { 2.5..8.0 };
            assert!(expected.contains(&ratio), "{medium}, {elements}: an atomic copy takes {ratio} times as long");
        }
    }

    let reads = rows(out, "tinystore-worst-read");
    for row in &reads {
        assert_eq!(row["status"], "measured");
        assert!(number(row, "reads_most") <= 60.0 && number(row, "reads_mean") > 10.0, "{row:?}");
        assert_eq!(row["reads_through_a_pointer"], "1");
    }
    assert!(number(&reads[0], "objects") == 5500.0 && number(&reads[1], "objects") > 5500.0);

    let detection = rows(out, "tinystore-error-detection");
    for pair in detection.chunks(2) {
        assert_eq!((pair[0]["detection"].as_str(), pair[1]["detection"].as_str()), ("Off", "On"));
        assert!(number(&pair[1], "ms") > number(&pair[0], "ms"), "error detection takes time: {pair:?}");
        assert!(number(&pair[1], "objects_full") < number(&pair[0], "objects_full"), "and room: {pair:?}");
    }

    let lives = rows(out, "tinystore-short-lived");
    let writes =
        |flags, updates| number(one(&lives, &[("initialization_flags", flags), ("updates_a_life", updates)]), "writes");
    assert!(writes("On", "0") < writes("Off", "0"), "flags spare programming the defaults");
    assert!(writes("On", "0") < writes("On", "10") && writes("On", "10") < writes("On", "100"));

    let parts = rows(out, "tinystore-limited-parts");
    let erases = |part| number(one(&parts, &[("part", part)]), "erases");
    assert!(erases("stm32l4") > 5.0 * erases("tinystore"), "words programmed once cost erases");
}

/// Of delta records, and of reclamations ahead of time.
fn weaknesses_are_attacked(out: &Path) {
    let kinds = rows(out, "tinystore-update-kinds");
    let writes = |kind, structure| number(one(&kinds, &[("kind", kind), ("structure", structure)]), "writes");
    assert!(writes("OneField", "DeltaRecords") < 0.6 * writes("OneField", "Published"), "{kinds:?}");
    assert!(writes("TenObjects", "DeltaRecords") < 0.3 * writes("TenObjects", "Published"), "{kinds:?}");
    assert!(writes("AtOnce", "DeltaRecords") < 1.5, "{kinds:?}");

    for call in rows(out, "tinystore-call-times") {
        let ahead = call["reclaiming"] == "Ahead";
        assert_eq!(number(&call, "calls_that_erased") == 0.0, ahead, "{call:?}");
        assert_eq!(number(&call, "worst") < 10.0, ahead, "an erase takes 500 ms: {call:?}");
        assert_eq!(number(&call, "step_worst") > 500.0, ahead, "{call:?}");
    }
}

/// Of the cells of two tables, and of what the lists are built for.
fn fat_lists_have_their_shape(out: &Path, report: &str) {
    let published = |title: &str| -> Vec<&str> {
        let lines = report.lines().filter(|line| line.starts_with(title));
        lines.map(|line| line.split('|').nth(2).unwrap().trim()).collect()
    };
    let boots = published("| initialisation table, ");
    assert_eq!(boots[..4], ["150.6", "37.95", "30.47", "15.07"]);
    assert_eq!(boots[4..], ["184", "58.74", "30.47", "20.13", "266.8", "66.44", "33.22", "25.3"]);
    let probes = published("| probe table, ");
    assert_eq!((probes.len(), probes[0], probes[2], probes[27]), (28, "13,080,000", "0.775", "0.109"));
    assert_eq!(published("| Figure 21: temperatures, ").len(), 4);
    assert!(report.contains("skipped: no data") && report.contains("Skipped, without `--data DIR`"));

    let part = &rows(out, "fat-lists-part")[0];
    let of_part = ["word_bytes", "words", "block_words", "read_ns", "program_ns", "erase_ns", "endurance_erases"];
    let as_published = ["2", "1048576", "32768", "110", "80000", "600000000", "100000"];
    assert_eq!(of_part.map(|column| part[column].as_str()), as_published);
    assert!(number(part, "state_bytes") <= 512.0, "RAM: {part:?}");

    let sizes = rows(out, "fat-lists-sizes");
    for size in ["1", "2"] {
        let seconds = |structure: &str| -> f64 {
            let spread = ("spread", "DeviationOfASixth");
            let rows = of(&sizes, &[("structure", structure), ("megabytes", size), spread]);
            rows.iter()
                .filter(|row| !["Boot", "Range"].contains(&&*row["phase"]))
                .map(|row| number(row, "seconds"))
                .sum()
        };
        assert!(5.0 * seconds("FatList") < seconds("MuTree"), "a fifth of the µ-tree's time at {size} MB");
    }
    for row in &sizes {
        let parts: f64 =
            ["read_seconds", "write_seconds", "erase_seconds"].iter().map(|column| number(row, column)).sum();
        assert!((parts - number(row, "seconds")).abs() <= 1e-6 * parts, "reads, writes and erases are all: {row:?}");
    }

    bars_are_the_rows(report, &sizes);
    for row in of(&sizes, &[("structure", "FatList")]) {
        assert!(number(row, "ms_999") < 600.0, "99.9% erase no block: {row:?}");
        assert!(number(row, "ms_999") >= number(row, "ms_median") && number(row, "ms_worst") >= number(row, "ms_999"));
    }

    let tuning = rows(out, "fat-lists-tuning");
    let list =
        |levels, blocks, phase| one(&tuning, &[("levels", levels), ("turnstile_blocks", blocks), ("phase", phase)]);
    assert!(number(list("5", "8", "Boot"), "ms") <= 0.05, "a boot takes 50 µs");
    assert!(number(list("1", "8", "Boot"), "ms") > number(list("5", "8", "Boot"), "ms"), "levels speed up boots");
    assert!(number(list("5", "32", "Query"), "reads") > number(list("5", "4", "Query"), "reads"), "more probes");
    assert!(number(list("1", "8", "Query"), "pointers") > number(list("5", "8", "Query"), "pointers"), "levels skip");

    let readings = rows(out, "fat-lists-macro");
    assert!(readings.iter().all(|row| row["keys"] != "Temperature"), "there is no data of temperatures here");
    assert!(readings.iter().any(|row| row["keys"] == "TimeAndMoteOfAll"), "all readings of the deployment");
    for row in of(&readings, &[("phase", "Insertion")]) {
        assert_eq!(row["distinct_keys"], row["readings"], "each time and mote is a key of its own");
    }

    let tactics = rows(out, "fat-lists-tactics");
    // Some are updated longer, too: those rows come later.
    let written =
        |made, phase| number(of(&tactics, &[("made", made), ("megabytes", "1"), ("phase", phase)])[0], "writes");
    let all = "AsPublished";
    assert!(written(all, "Insertion") < written("WithoutDelayedSplits", "Insertion"), "splits are delayed");
    assert!(written(all, "Deletion") < written("WithoutLazyMerges", "Deletion"), "merges are lazy");

    let lives = rows(out, "fat-lists-lifetimes");
    let life = |structure| number(of(&lives, &[("structure", structure)])[0], "updates_lived");
    assert!(life("MuTree") > 0.0 && life("FatList") > 5.0 * life("MuTree"), "a fat list erases less");
}

/// Of both heaps in steady state: verdicts follow from the rows, and what steps and error detection are for.
fn heaps_have_their_shape(out: &Path, report: &str) {
    let updates = rows(out, "log-heap-updates");
    let of = |engine, pace| one(&updates, &[("engine", engine), ("pace", pace)]);
    let (log, detecting, paced) = (of("Log", "NoSteps"), of("LogDetecting", "NoSteps"), of("Log", "Steps"));
    assert!(number(detecting, "reads") > 2.0 * number(log, "reads"), "sectors are read to be checked: {detecting:?}");
    assert!(number(detecting, "programs") > number(log, "programs"), "and take more room: {detecting:?}");
    assert_eq!(number(paced, "worst_erases"), 0.0, "a call after steps erases nothing: {paced:?}");
    assert!(number(paced, "worst_programs") * 10.0 < number(log, "worst_programs"), "{paced:?}");

    let line = report.lines().find(|line| line.starts_with("| tinystore, 2800 | one field | 11 | 8 |")).unwrap();
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let is_met = |most: f64| if number(log, "programs") <= most { "met" } else { "missed" };
    assert_eq!(cells[6], format!("bar {}, goal {}", is_met(11.0), is_met(8.0)), "{log:?}");

    let room = &rows(out, "log-heap-capacity")[0];
    assert!(number(room, "in_use") <= number(room, "created") && number(room, "in_use") < number(room, "refused"));
    assert!(number(room, "refused") - number(room, "in_use") <= number(room, "created") / 400.0, "{room:?}");

    let mounts = rows(out, "log-heap-mounts");
    let rested = one(&mounts, &[("stop", "Rested")]);
    assert!(number(rested, "mount_programs") == 0.0 && number(rested, "mount_erases") == 0.0, "{rested:?}");
    assert!(number(one(&mounts, &[("stop", "Recorded")]), "mount_erases") >= 1.0, "an unclean mount settles");
}

/// A figure by the size of the part.
type BySize<'a> = &'a dyn Fn(&'static str) -> f64;

/// The table of bars says what the rows do, and the bars are met.
fn bars_are_the_rows(report: &str, sizes: &[Row]) {
    let lines = report.lines().skip_while(|line| !line.starts_with("Norn's bars:")).skip(4);
    let bars: Vec<Vec<&str>> =
        lines.take_while(|line| line.starts_with('|')).map(|line| line.split('|').map(str::trim).collect()).collect();
    let last = |text: &str| -> f64 { text.rsplit(' ').next().unwrap().replace(',', "").parse().unwrap() };
    let of_phase = |structure, size, phase, column| {
        let spread = ("spread", "DeviationOfASixth");
        number(one(sizes, &[("structure", structure), ("megabytes", size), ("phase", phase), spread]), column)
    };
    let phases = ["Insertion", "Update", "Query", "Deletion"];
    let most =
        |size, column| phases.map(|phase| of_phase("FatList", size, phase, column)).into_iter().fold(0.0, f64::max);
    let total = |structure, size| phases.map(|phase| of_phase(structure, size, phase, "seconds")).iter().sum::<f64>();
    let share = |size| total("FatList", size) / total("MuTree", size);
    let ms = |phase| move |size| of_phase("FatList", size, phase, "ms");
    let expected: [(&str, f64, BySize); 8] = [
        ("insertion", 2.5, &ms("Insertion")),
        ("update", 2.0, &ms("Update")),
        ("query", 0.1, &ms("Query")),
        ("range", 0.02, &ms("Range")),
        ("boot", 0.05, &ms("Boot")),
        ("99.9% of the calls of each phase", last(bars[5][2]), &|size| most(size, "ms_999")),
        ("worst call", last(bars[6][2]), &|size| most(size, "ms_worst")),
        ("total, as a share of the µ-tree's", 0.2, &share),
    ];
    assert_eq!(bars.len(), expected.len(), "{bars:?}");
    for (cells, (name, bar, value)) in bars.iter().zip(expected) {
        assert_eq!((cells[1], last(cells[2])), (name, bar), "{cells:?}");
        for (size, cell) in ["1", "2"].into_iter().zip(&cells[3..]) {
            let value = value(size);
            assert!((last(cell) - value).abs() <= 1e-3 * value, "{value} at {size} MB: {cells:?}");
            assert!(value <= bar, "the bar is met: {cells:?}");
        }
    }
    let (moved, call) = (last(bars[5][2]), last(bars[6][2]));
    assert!((3_221.0..3_500.0).contains(&moved), "an erase, every word of a block and some of them again: {moved}");
    assert!(
        (10.0 * moved..12.0 * moved).contains(&call),
        "ten moves, a merge and twelve objects: {call}, a move {moved}"
    );
}
