//! The table of the numbers to beat: ours beside the best peer, the bar and the goal.
//!
//! A peer is the best of a row by the words that it programs in its steady state, or reads; rows that show flash
//! without a map in RAM leave out the configurations that have one.

use std::fmt::Write;

use crate::cuts::Survival;
use crate::figure_text::{costs, per};
use crate::measure::{Case, ROWS, Row};
use crate::outcome::Outcome;
use crate::store::{Kind, Shape};

/// What the paper published, the bar and the goal, for each of [`ROWS`].
const BARS: [[&str; 3]; 4] = [
    ["–", "3.5 / .0018", "2.5 / .0013"],
    ["2 records: 12.02 / .0017 / 292; 20: 7.02 / .0010 / 223", "3.6 / .0017", "2.6 / .0013"],
    ["–", ".85 / .00045", ".72 / .00036"],
    ["–", "5.0 / .0025", "3.8 / .0019"],
];

/// Writes the table, at the largest number of objects that was asked for.
pub fn write_summary(text: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    let Some(number) = outcomes.first().and_then(|outcome| outcome.cases.len().checked_sub(1)) else { return Ok(()) };
    let ours: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.is_ours()).collect();
    writeln!(text, "## The numbers to beat, at {} objects\n", outcomes[0].cases[number].population.objects)?;
    let names: Vec<&str> = ours.iter().map(|outcome| outcome.peer.name).collect();
    writeln!(
        text,
        "| per field: words programmed / units erased / words read | TinyStore, published | {} | best peer | bar | \
         goal |",
        names.join(" | ")
    )?;
    writeln!(text, "|---|---|{}---|---|---|", "---|".repeat(ours.len()))?;
    for (row, [published, bar, goal]) in BARS.iter().enumerate() {
        let row = ROWS[row];
        let figures = |outcome: &Outcome| update_cell(&outcome.cases[number], row);
        let steady =
            |outcome: &Outcome| outcome.cases[number].steady(row).map(|figures| per(figures, figures.fields)[0]);
        let best = best(outcomes, steady);
        let line = Line { name: row.name(), published, bar, goal };
        line.write(text, &ours, best, figures)?;
    }
    write_others(text, outcomes, &ours, number)?;
    writeln!(text)
}

/// One line of the table.
struct Line<'a> {
    name: &'a str,
    published: &'a str,
    bar: &'a str,
    goal: &'a str,
}

impl Line<'_> {
    fn write(
        &self,
        text: &mut String,
        ours: &[&Outcome],
        best: Option<&Outcome>,
        cell: impl Fn(&Outcome) -> String,
    ) -> std::fmt::Result {
        let cells: Vec<String> = ours.iter().map(|outcome| cell(outcome)).collect();
        let best = best.map_or("–".to_owned(), |outcome| format!("{}: {}", outcome.peer.name, cell(outcome)));
        let Line { name, published, bar, goal } = self;
        writeln!(text, "| {name} | {published} | {} | {best} | {bar} | {goal} |", cells.join(" | "))
    }
}

fn update_cell(case: &Case, row: Row) -> String {
    case.row(row).map_or("–".to_owned(), |result| costs(result, |figures| figures.fields))
}

/// The peer with the least of something.
fn best(outcomes: &[Outcome], measure: impl Fn(&Outcome) -> Option<f64>) -> Option<&Outcome> {
    let measured =
        outcomes.iter().filter(|outcome| !outcome.is_ours()).filter_map(|outcome| Some((outcome, measure(outcome)?)));
    measured.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(outcome, _)| outcome)
}

/// The rows that are not of updates.
fn write_others(text: &mut String, outcomes: &[Outcome], ours: &[&Outcome], number: usize) -> std::fmt::Result {
    let has_map = |outcome: &Outcome| outcome.peer.kind == Kind::PeerWithMap;
    let reading = |outcome: &Outcome| outcome.cases[number].reading;
    let read_cell =
        |outcome: &Outcome| reading(outcome).map_or("–".to_owned(), |r| format!("{:.1}, worst {}", r.mean, r.worst));
    let without_map =
        best(outcomes, |outcome| if has_map(outcome) { None } else { Some(reading(outcome)?.worst as f64) });
    let line =
        Line { name: "field read, no RAM map", published: "731 on average", bar: "60 at worst", goal: "55 at worst" };
    line.write(text, ours, without_map, read_cell)?;

    let ram = |outcome: &Outcome| outcome.cases[number].ram_bytes;
    let ram_cell = |outcome: &Outcome| ram(outcome).map_or("–".to_owned(), |bytes| format!("{bytes} B"));
    let line = Line {
        name: "RAM, with pointers of 8 bytes",
        published: "a few hundred bytes",
        bar: "512 B on Cortex-M0",
        goal: "512 B on Cortex-M0",
    };
    line.write(text, ours, best(outcomes, |outcome| Some(ram(outcome)? as f64)), ram_cell)?;

    let in_use = |outcome: &Outcome| {
        let fill = outcome.fills.iter().find(|fill| fill.shape == Shape::STANDARD);
        fill.map(|fill| fill.capacity.in_use).filter(|&in_use| in_use > 0)
    };
    let capacity_cell = |outcome: &Outcome| in_use(outcome).map_or("–".to_owned(), |in_use| in_use.to_string());
    let line =
        Line { name: "100-byte objects in 448 KB", published: "60–80 % of the device", bar: "3,450", goal: "3,600" };
    line.write(text, ours, best(outcomes, |outcome| Some(-(in_use(outcome)? as f64))), capacity_cell)?;

    let wear = |outcome: &Outcome| outcome.cases[number].wear;
    let wear_cell = |outcome: &Outcome| {
        wear(outcome).map_or("–".to_owned(), |w| format!("{:.3} ({:.0} erases)", w.ratio, w.mean_erases))
    };
    let line = Line { name: "wear, max/mean erases", published: "–", bar: "1.05 at 500", goal: "–" };
    line.write(text, ours, best(outcomes, |outcome| Some(wear(outcome)?.ratio)), wear_cell)?;

    let survived = |outcome: &Outcome| {
        let kinds = &outcome.cuts.as_ref()?.as_ref().ok()?.kinds;
        let sum = |count: fn(&Survival) -> u64| kinds.iter().map(count).sum::<u64>();
        Some((sum(|survival| survival.survived), sum(|survival| survival.cuts)))
    };
    let cut_cell =
        |outcome: &Outcome| survived(outcome).map_or("–".to_owned(), |(survived, cuts)| format!("{survived}/{cuts}"));
    let share = |outcome: &Outcome| survived(outcome).map(|(survived, cuts)| -(survived as f64) / cuts as f64);
    let line = Line { name: "power cuts survived", published: "–", bar: "all", goal: "all" };
    line.write(text, ours, best(outcomes, share), cut_cell)
}
