//! What a field costs, as numbers and as texts of a table.

use crate::measure::{Population, Row, Stopped};
use crate::steady::{Ended, Figures};

/// Words programmed, units erased, words read and nanoseconds for each of a number of fields or calls.
pub fn per(figures: &Figures, number: u64) -> [f64; 4] {
    [figures.programs, figures.erases, figures.reads, figures.time_ns].map(|count| count as f64 / number as f64)
}

/// Erases with four digits, and without a leading zero.
pub fn erase_text(erases: f64) -> String {
    if erases < 1.0 { format!("{erases:.4}").trim_start_matches('0').to_owned() } else { format!("{erases:.2}") }
}

/// Words with as many digits as tell something.
pub fn words_text(words: f64) -> String {
    match words {
        ..100.0 => format!("{words:.2}"),
        ..1000.0 => format!("{words:.1}"),
        _ => format!("{words:.0}"),
    }
}

/// Reads with a digit as long as they are few.
pub fn reads_text(reads: f64) -> String {
    if reads < 100.0 { format!("{reads:.1}") } else { format!("{reads:.0}") }
}

/// What says that figures are not of a steady state, with the erases a unit where it ended.
pub fn mark(figures: &Figures) -> String {
    match figures.ended {
        Ended::Steady => String::new(),
        Ended::Wandering => format!(" ‡ ({:.0})", figures.erases_a_unit),
        Ended::Reads => format!(" † ({})", reads_text(figures.erases_a_unit)),
    }
}

/// Words, erases and reads for each field, or why there are none.
pub fn costs(result: &Result<Figures, Stopped>, number: impl Fn(&Figures) -> u64) -> String {
    match result {
        Ok(figures) => {
            let [words, erases, reads, _] = per(figures, number(figures));
            format!("{} / {} / {}{}", words_text(words), erase_text(erases), reads_text(reads), mark(figures))
        }
        Err(stopped) => stopped.to_string(),
    }
}

/// What came of a row, for progress.
pub fn one_line(population: &Population, row: Row, result: &Result<Figures, Stopped>) -> String {
    let (objects, bytes) = (population.objects, population.shape.bytes());
    let cost = costs(result, |figures| figures.fields);
    let erases = result.as_ref().map_or(0.0, |figures| figures.erases_a_unit);
    format!("{objects} objects of {bytes} bytes, {}: {cost} a field, {erases:.1} erases a unit", row.name())
}
