//! A small plot for the terminal: each column is the mean of the readings in its share of the time.

use std::ops::Range;

use crate::log::milli::Milli;
use crate::log::moment::Timestamp;
use norn_sensor_log::{Reading, Seconds, Summary};

/// Eighths of a character, from the bottom up.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Characters of a label on the left.
const LABEL: usize = 12;

/// A plot that is being filled.
pub struct Plot {
    span: Range<Seconds>,
    columns: Vec<Option<Summary>>,
}

impl Plot {
    /// An empty plot with the given number of columns, or one per second if there are fewer seconds.
    pub fn new(span: Range<Seconds>, columns: usize) -> Plot {
        let columns = columns.min((span.end - span.start) as usize).max(1);
        Plot { span, columns: vec![None; columns] }
    }

    /// Adds a reading of the span.
    pub fn add(&mut self, reading: Reading) {
        let (since, seconds) = (u64::from(reading.at - self.span.start), u64::from(self.span.end - self.span.start));
        let column = (since * self.columns.len() as u64 / seconds) as usize;
        self.columns[column] = Some(Summary::with(self.columns[column], reading));
    }

    /// When each column begins that has readings, and the readings in short.
    #[cfg(feature = "plots")]
    pub fn columns(&self) -> impl Iterator<Item = (Seconds, Summary)> {
        let (start, seconds) = (self.span.start, u64::from(self.span.end - self.span.start));
        let begin = move |column: usize| start + (column as u64 * seconds / self.columns.len() as u64) as Seconds;
        self.columns.iter().enumerate().filter_map(move |(column, summary)| Some((begin(column), (*summary)?)))
    }

    /// The plot with the given number of rows; empty if there is nothing to show.
    pub fn text(&self, rows: usize) -> Option<String> {
        let means: Vec<Option<i32>> = self.columns.iter().map(|column| Some(column.as_ref()?.mean_milli())).collect();
        let (low, high) = (*means.iter().flatten().min()?, *means.iter().flatten().max()?);
        // The least mean still shows an eighth.
        let eighths = |mean: i32| {
            let share = (f64::from(mean) - f64::from(low)) / (f64::from(high) - f64::from(low)).max(1.0);
            1 + (share * (8 * rows - 1) as f64).round() as usize
        };
        let mut text = String::new();
        for row in (0..rows).rev() {
            let label = match row {
                _ if row + 1 == rows => Milli(high).to_string(),
                0 => Milli(low).to_string(),
                _ => String::new(),
            };
            let cell =
                |mean: &Option<i32>| EIGHTHS[mean.map_or(0, |mean| eighths(mean).saturating_sub(8 * row).min(8))];
            let cells: String = means.iter().map(cell).collect();
            text += &format!("{label:>LABEL$} ┤{}\n", cells.trim_end());
        }
        let (from, to) = (Timestamp(self.span.start).to_string(), Timestamp(self.span.end).to_string());
        text += &format!("{:>LABEL$} └{}\n", "", "─".repeat(means.len()));
        let gap = means.len().saturating_sub(from.len() + to.len()).max(1);
        text += &format!("{:>LABEL$}  {from}{}{to}\n", "", " ".repeat(gap));
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_means_and_gaps_stay_empty() {
        let mut plot = Plot::new(0..40, 4);
        assert_eq!(plot.text(2), None);
        for (at, milli) in [(0, 1000), (9, 3000), (10, 10_000), (39, 18_000)] {
            plot.add(Reading { at, milli });
        }
        let text = plot.text(2).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "      18.000 ┤ ▁ █");
        assert_eq!(lines[1], "       2.000 ┤▁█ █");
        assert!(lines[3].contains("1970-01-01T00:00:00Z 1970-01-01T00:00:40Z"));
    }
}
