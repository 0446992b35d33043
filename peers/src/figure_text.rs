//! What a field costs, as numbers and as texts of a table.

use crate::measure::Figures;

/// Words programmed, units erased, words read and nanoseconds for each field.
pub fn per_update(figures: &Figures) -> [f64; 4] {
    let counters = &figures.counters;
    [counters.programs(), counters.erases, counters.reads(), figures.time_ns].map(|count| figures.per_update(count))
}

/// Erases with four digits, and without a leading zero.
pub fn erase_text(erases: f64) -> String {
    if erases < 1.0 { format!("{erases:.4}").trim_start_matches('0').to_owned() } else { format!("{erases:.2}") }
}

/// Reads with a digit as long as they are few.
pub fn reads_text(reads: f64) -> String {
    if reads < 100.0 { format!("{reads:.1}") } else { format!("{reads:.0}") }
}
