//! The table of phases, which every run of calls here is shown in.

use super::costs::Costs;
use crate::presentation::{Table, figure};

/// What is said of a phase's calls.
const COLUMNS: [&str; 13] = [
    "calls",
    "ms a call",
    "median",
    "99.9%",
    "worst",
    "words read",
    "words written",
    "erases",
    "s in all",
    "reading",
    "writing",
    "erasing",
    "reclaiming",
];

/// A line for each phase: texts that say which it is, under `heads`, and its costs.
pub fn phase_table<'a>(title: &str, heads: &[&str], phases: impl Iterator<Item = (Vec<String>, &'a Costs)>) -> Table {
    let mut table = Table::new(title, &[heads, &COLUMNS].concat());
    for (mut cells, costs) in phases {
        cells.push(costs.calls.to_string());
        let a_call = [costs.ms, costs.ms_median, costs.ms_999, costs.ms_worst, costs.reads, costs.writes];
        cells.extend(a_call.map(figure));
        cells.push(format!("{:.5}", costs.erases));
        let seconds = [costs.seconds, costs.read_seconds, costs.write_seconds, costs.erase_seconds];
        cells.extend(seconds.map(figure));
        cells.push(figure(costs.reclaiming_seconds));
        table.push(cells);
    }
    table
}
