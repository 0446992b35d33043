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
            all.push(comparison.because(why_probes(name)));
        }
    }
    for (blocks, cells) in BOOTS {
        for (levels, published) in BOOT_LEVELS.into_iter().zip(cells) {
            let ours = row(outcomes, (levels, blocks), Phase::Boot).map(|row| row.costs.ms * 1e3);
            let what = format!("initialisation table, turnstiles of {blocks}, maximum level {levels}: µs");
            all.push(Comparison::new(what, Published::Value(published), ours));
        }
    }
    all
}

fn why_probes(cell: &str) -> &'static str {
    match cell {
        "low probes" => {
            "cells near a level's share of the block are taken at steady state, so that objects of several levels share columns"
        }
        "null probes" => "every block of a turnstile is probed, the spare one too, and dead cells count",
        _ => "",
    }
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

fn claims_about_levels(outcomes: &[Measured]) -> Vec<Comparison> {
    let lists = by_level(outcomes);
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
        .because("with 2 to 4 levels some blocks are moved though the part is half empty: for objects whose pools, of two pointers a level, are used up"),
        Comparison::claim(
            "Figure 16a: words read by an insertion",
            "fewer with more levels",
            find(Phase::Insertion, |row| row.costs.reads, falls),
        ),
        Comparison::claim(
            "Figure 16b: s of the updates",
            "4 and 5 levels are best",
            find(Phase::Update, |row| row.costs.seconds, |values| two_best(values) == [4, 5]),
        ),
        Comparison::claim(
            "Figure 16c: ms of a query",
            "4 levels are best",
            find(
                Phase::Query,
                |row| row.costs.ms,
                |values| values.iter().min_by(|a, b| a.1.total_cmp(&b.1)).is_some_and(|best| best.0 == 4),
            ),
        ),
        Comparison::claim(
            "Figure 16d: words written by a deletion",
            "fewer with more levels",
            find(Phase::Deletion, |row| row.costs.writes, falls),
        ),
        Comparison::claim(
            "Figure 17: total s",
            "4 and 5 levels are best",
            totals.map(|(values, text)| (two_best(&values) == [4, 5], format!("by levels: {text}"))),
        ),
    ]
}

fn claims_about_turnstiles(outcomes: &[Measured]) -> Vec<Comparison> {
    let lists = by_turnstile(outcomes);
    let values = |value: &dyn Fn((u8, u8)) -> Option<f64>| along(&lists, |list| list.1, value);
    let of = |phase: Phase, value: fn(&Row) -> f64| values(&|list| row(outcomes, list, phase).map(value));
    let mut all: Vec<Comparison> = Vec::new();
    for (phase, letter) in Phase::PUBLISHED.into_iter().zip(["a", "b", "c", "d"]) {
        let reads = of(phase, |row| row.costs.reads);
        all.push(Comparison::claim(
            format!("Figure 18{letter}: words read, {}", phase.name()),
            "more with larger turnstiles",
            reads.map(|(values, text)| (rises(&values), format!("by blocks: {text}"))),
        ));
    }
    all.push(Comparison::claim(
        "Figure 18b: s of the updates",
        "turnstiles of 8 are best",
        of(Phase::Update, |row| row.costs.seconds).map(|(values, text)| {
            let best = values.iter().min_by(|a, b| a.1.total_cmp(&b.1));
            (best.is_some_and(|best| best.0 == 8), format!("by blocks: {text}"))
        }),
    ));
    all.push(Comparison::claim(
        "Figure 18b: write and erase time of the updates, s",
        "less with larger turnstiles",
        of(Phase::Update, |row| row.costs.write_and_erase_seconds())
            .map(|(values, text)| (falls(&values), format!("by blocks: {text}"))),
    ));
    all.push(Comparison::claim(
        "Figure 19: total s",
        "turnstiles of 8 and 16 are best",
        values(&|list| total(outcomes, list))
            .map(|(values, text)| (two_best(&values) == [8, 16], format!("by blocks: {text}"))),
    ));
    all
}
