//! What the paper publishes on maximum levels and turnstile sizes, beside ours: the cells of two tables, and the
//! statements about Figures 16 to 19.

use super::micro_benchmark::{Phase, Row};
use super::tuning_runs::{DEFAULT, Measured, by_level, by_turnstile, row, total};
use crate::presentation::{Comparison, Published, figure};

/// By number of levels: pointers visited, probes, and successful, low, over, back and null probes a pointer.
const PROBES: [(u8, [f64; 7]); 4] = [
    (5, [13_082_578.0, 34_529_843.0, 0.775, 0.020, 0.676, 0.364, 0.804]),
    (4, [13_130_214.0, 28_286_792.0, 0.837, 0.017, 0.487, 0.233, 0.580]),
    (3, [22_495_212.0, 35_443_585.0, 0.940, 0.001, 0.192, 0.108, 0.334]),
    (1, [88_385_632.0, 106_887_758.0, 1.0, 0.0, 0.057, 0.043, 0.109]),
];
const PROBE_CELLS: [&str; 7] =
    ["pointers visited", "probes", "successful probes", "low probes", "over probes", "back probes", "null probes"];
/// A word's, of the table of parameters.
const READ_NS: f64 = 110.0;
/// Queries of the published counts.
const PUBLISHED_QUERIES: f64 = 800_000.0;

/// Of a turnstile size, microseconds of a boot with 1, 3, 4 and 5 levels.
const BOOTS: [(u8, [f64; 4]); 3] =
    [(8, [150.59, 37.95, 30.47, 15.07]), (16, [184.03, 58.74, 30.47, 20.13]), (32, [266.75, 66.44, 33.22, 25.30])];
const BOOT_LEVELS: [u8; 4] = [1, 3, 4, 5];

/// Every published value and statement beside ours.
pub fn comparisons(outcomes: &[Measured]) -> Vec<Comparison> {
    let mut all = claims_about_levels(outcomes);
    all.extend(claims_about_turnstiles(outcomes));
    for (levels, cells) in PROBES {
        let ours = row(outcomes, (levels, DEFAULT.1), Phase::Query).and_then(probe_cells);
        for (which, (name, published)) in PROBE_CELLS.into_iter().zip(cells).enumerate() {
            let what = format!("probe table, maximum level {levels}: {name}");
            let comparison = Comparison::new(what, Published::Value(published), ours.map(|ours| ours[which]));
            all.push(comparison.because(ours.map_or_else(String::new, |ours| why_probes(name, ours, cells))));
        }
    }
    for (blocks, cells) in BOOTS {
        for (levels, published) in BOOT_LEVELS.into_iter().zip(cells) {
            let row = row(outcomes, (levels, blocks), Phase::Boot);
            let what = format!("initialisation table, turnstiles of {blocks}, maximum level {levels}: µs");
            let comparison = Comparison::new(what, Published::Value(published), row.map(|row| row.costs.ms * 1e3));
            all.push(comparison.because(row.map_or_else(String::new, |row| why_boot(row, published))));
        }
    }
    all
}

/// What a cell of the probe table hangs together with, by the other cells of its column.
fn why_probes(cell: &str, ours: [f64; 7], published: [f64; 7]) -> String {
    let share = |cells: [f64; 7]| figure(100.0 * cells[6] / cells[2..].iter().sum::<f64>());
    match cell {
        "pointers visited" => "where the paper's searches begin it does not say".to_owned(),
        "probes" => format!("of ours {}% are null, of the published {}%", share(ours), share(published)),
        "low probes" => "objects are written where a block has room, and not by level (fat-lists-probes)".to_owned(),
        "null probes" => format!(
            "{}% of all probes meet a free or dead cell, {}% of the published: how far they do depends on which blocks \
             of a turnstile hold its objects (fat-lists-probes)",
            share(ours),
            share(published)
        ),
        _ => format!(
            "a pointer's probes end at the first that leads on; {} null ones come before, {} as published",
            figure(ours[6]),
            figure(published[6])
        ),
    }
}

/// A boot in words: the published time is one of reads alone.
fn why_boot(row: &Row, published_us: f64) -> String {
    format!(
        "{} words read, {} as published; the spare block and the check that nothing is under way are among ours",
        figure(row.costs.reads),
        figure(published_us * 1e3 / READ_NS)
    )
}

/// The table's cells; counts scaled to the published number of queries.
fn probe_cells(row: &Row) -> Option<[f64; 7]> {
    let pointers = f64::from(row.pointers?);
    let kinds = [row.successful_probes?, row.low_probes?, row.over_probes?, row.back_probes?, row.null_probes?];
    let probes: f64 = kinds.into_iter().map(f64::from).sum();
    let scale = PUBLISHED_QUERIES / row.costs.calls as f64;
    let [successful, low, over, back, null] = kinds.map(|count| f64::from(count) / pointers);
    Some([pointers * scale, probes * scale, successful, low, over, back, null])
}

type Lists = Vec<(u8, u8)>;

/// Values along the lists, and as a text.
fn along(
    lists: &Lists,
    name: fn(&(u8, u8)) -> u8,
    value: impl Fn((u8, u8)) -> Option<f64>,
) -> Option<(Vec<(u8, f64)>, String)> {
    let values: Vec<(u8, f64)> = lists.iter().filter_map(|list| Some((name(list), value(*list)?))).collect();
    let text = values.iter().map(|(name, value)| format!("{name}: {}", figure(*value))).collect::<Vec<_>>().join(", ");
    (!values.is_empty()).then_some((values, text))
}

/// The names of the two least values, in ascending order.
fn two_best(values: &[(u8, f64)]) -> Vec<u8> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut names: Vec<u8> = sorted.iter().take(2).map(|value| value.0).collect();
    names.sort_unstable();
    names
}

fn falls(values: &[(u8, f64)]) -> bool {
    values.windows(2).all(|pair| pair[0].1 >= pair[1].1)
}

fn rises(values: &[(u8, f64)]) -> bool {
    values.windows(2).all(|pair| pair[0].1 <= pair[1].1)
}

fn spread(values: &[(u8, f64)]) -> f64 {
    let ends = values.iter().fold((f64::MAX, 0.0_f64), |ends, value| (ends.0.min(value.1), ends.1.max(value.1)));
    ends.1 / ends.0
}

/// By how many per cent each is above the least, of those that are near it.
fn above_the_least(values: &[(u8, f64)], within_percent: f64) -> String {
    let least = values.iter().map(|value| value.1).fold(f64::MAX, f64::min);
    let near = values.iter().map(|(name, value)| (name, 100.0 * (value / least - 1.0)));
    let near = near.filter(|(_, percent)| *percent <= within_percent);
    let texts: Vec<String> = near.map(|(name, percent)| format!("{name} by {percent:.1}%")).collect();
    format!("above the least: {}", texts.join(", "))
}

/// How far apart values count as nearly the same, in per cent.
const NEAR_PERCENT: f64 = 6.0;

/// Why levels differ: blocks are erased for pools that are used up, as long as they have few pointers.
fn moves_by_levels(outcomes: &[Measured], lists: &Lists, phase: Phase) -> String {
    let erases = |list| row(outcomes, list, phase).map(|row| (row.costs.erases * row.costs.calls as f64).round());
    let moves = along(lists, |list| list.0, erases).filter(|(values, _)| values.iter().any(|value| value.1 > 0.0));
    moves.map_or_else(String::new, |(_, text)| {
        format!(
            "blocks are moved for pools that are used up, of two pointers a level: erases of the {}s by levels {text}",
            phase.name()
        )
    })
}

/// How far searches go: few levels are searched object by object, and each level more has pointers of its own.
fn pointers_by_levels(outcomes: &[Measured], lists: &Lists) -> String {
    let of = |list| Some(probe_cells(row(outcomes, list, Phase::Query)?)?[0] / PUBLISHED_QUERIES);
    along(lists, |list| list.0, of)
        .map_or_else(String::new, |(_, text)| format!("pointers that a query visits, by levels: {text}"))
}

/// Causes, without those that there are not.
fn joined(causes: &[String]) -> String {
    let there: Vec<&str> = causes.iter().map(String::as_str).filter(|cause| !cause.is_empty()).collect();
    there.join("; ")
}

fn claims_about_levels(outcomes: &[Measured]) -> Vec<Comparison> {
    let lists = by_level(outcomes);
    let moves = |phase| moves_by_levels(outcomes, &lists, phase);
    let pointers = pointers_by_levels(outcomes, &lists);
    let near = |phase: Phase, value: fn(&Row) -> f64| {
        let values = along(&lists, |list| list.0, |list| row(outcomes, list, phase).map(value));
        values.map_or_else(String::new, |(values, _)| above_the_least(&values, NEAR_PERCENT))
    };
    let find = |phase: Phase, value: fn(&Row) -> f64, holds: fn(&[(u8, f64)]) -> bool| {
        let values = along(&lists, |list| list.0, |list| row(outcomes, list, phase).map(value));
        values.map(|(values, text)| (holds(&values), format!("by levels: {text}")))
    };
    let totals = along(&lists, |list| list.0, |list| total(outcomes, list));
    vec![
        Comparison::claim(
            "Figure 16a: words written by an insertion",
            "little difference between maximum levels",
            find(Phase::Insertion, |row| row.costs.writes, |values| spread(values) < 1.15),
        )
        .because(moves(Phase::Insertion)),
        Comparison::claim(
            "Figure 16a: words read by an insertion",
            "fewer with more levels",
            find(Phase::Insertion, |row| row.costs.reads, falls),
        )
        .because(joined(&[
            near(Phase::Insertion, |row| row.costs.reads),
            pointers.clone(),
            moves(Phase::Insertion),
        ])),
        Comparison::claim(
            "Figure 16b: s of the updates",
            "4 and 5 levels are best",
            find(Phase::Update, |row| row.costs.seconds, |values| two_best(values) == [4, 5]),
        )
        .because(near(Phase::Update, |row| row.costs.seconds)),
        Comparison::claim(
            "Figure 16c: ms of a query",
            "4 levels are best",
            find(
                Phase::Query,
                |row| row.costs.ms,
                |values| values.iter().min_by(|a, b| a.1.total_cmp(&b.1)).is_some_and(|best| best.0 == 4),
            ),
        )
        .because(joined(&[near(Phase::Query, |row| row.costs.ms), pointers])),
        Comparison::claim(
            "Figure 16d: words written by a deletion",
            "fewer with more levels",
            find(Phase::Deletion, |row| row.costs.writes, falls),
        )
        .because(moves(Phase::Deletion)),
        Comparison::claim(
            "Figure 17: total s",
            "4 and 5 levels are best",
            totals.clone().map(|(values, text)| (two_best(&values) == [4, 5], format!("by levels: {text}"))),
        )
        .because(totals.map_or_else(String::new, |(values, _)| {
            joined(&[above_the_least(&values, NEAR_PERCENT), moves(Phase::Deletion)])
        })),
    ]
}

fn claims_about_turnstiles(outcomes: &[Measured]) -> Vec<Comparison> {
    let lists = by_turnstile(outcomes);
    let values = |value: &dyn Fn((u8, u8)) -> Option<f64>| along(&lists, |list| list.1, value);
    let of = |phase: Phase, value: fn(&Row) -> f64| values(&|list| row(outcomes, list, phase).map(value));
    let null = values(&|list| row(outcomes, list, Phase::Query).and_then(probe_cells).map(|cells| cells[6]));
    let null_probes =
        null.map_or_else(String::new, |(_, text)| format!("null probes a pointer of a query by blocks: {text}"));
    let mut all: Vec<Comparison> = Vec::new();
    for (phase, letter) in Phase::PUBLISHED.into_iter().zip(["a", "b", "c", "d"]) {
        let reads = of(phase, |row| row.costs.reads);
        let claim = Comparison::claim(
            format!("Figure 18{letter}: words read, {}", phase.name()),
            "more with larger turnstiles",
            reads.map(|(values, text)| (rises(&values), format!("by blocks: {text}"))),
        );
        all.push(claim.because(null_probes.clone()));
    }
    let updates = of(Phase::Update, |row| row.costs.seconds);
    let claim = Comparison::claim(
        "Figure 18b: s of the updates",
        "turnstiles of 8 are best",
        updates.clone().map(|(values, text)| {
            let best = values.iter().min_by(|a, b| a.1.total_cmp(&b.1));
            (best.is_some_and(|best| best.0 == 8), format!("by blocks: {text}"))
        }),
    );
    all.push(claim.because(updates.map_or_else(String::new, |(values, _)| above_the_least(&values, NEAR_PERCENT))));
    let erases = of(Phase::Update, |row| row.costs.erases * row.costs.calls as f64);
    let claim = Comparison::claim(
        "Figure 18b: write and erase time of the updates, s",
        "less with larger turnstiles",
        of(Phase::Update, |row| row.costs.write_and_erase_seconds())
            .map(|(values, text)| (falls(&values), format!("by blocks: {text}"))),
    );
    all.push(claim.because(erases.map_or_else(String::new, |(_, text)| format!("erases by blocks: {text}"))));
    let totals = values(&|list| total(outcomes, list));
    let claim = Comparison::claim(
        "Figure 19: total s",
        "turnstiles of 8 and 16 are best",
        totals.clone().map(|(values, text)| (two_best(&values) == [8, 16], format!("by blocks: {text}"))),
    );
    let near = totals.map_or_else(String::new, |(values, _)| above_the_least(&values, NEAR_PERCENT));
    all.push(claim.because(format!("{near}; {null_probes}")));
    all
}
