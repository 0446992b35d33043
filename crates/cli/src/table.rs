//! How tables look: no frame, columns apart, numbers to the right; in a terminal no wider than that.

use std::collections::BTreeMap;
use std::env;
use std::io::{IsTerminal, stdout};
use std::ops::{Deref, DerefMut};

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width, presets};
use serde_json::Value;

/// A column's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Rows, and on which side their columns are: what is to the right is numbers.
#[derive(Clone, Debug)]
pub struct Rows {
    table: Table,
    sides: Vec<Side>,
    values: BTreeMap<usize, Value>,
    /// Columns at the left that say where something is, if rows that differ only there are folded.
    places: Option<usize>,
}

/// As many rows at least are folded into one.
const FOLDED_MIN: usize = 3;

impl Rows {
    /// For people, makes one row of several that follow each other and differ only in the first columns, which say
    /// where something is: of which to which. Programs see every row.
    pub fn folded_beyond(mut self, places: usize) -> Rows {
        self.places = Some(places);
        self
    }

    /// The table as text: see [`text`].
    pub fn text(&self) -> String {
        match self.places {
            None => text(&self.table),
            Some(places) => text(&self.folded(places)),
        }
    }

    fn folded(&self, places: usize) -> Table {
        let header = self.table.header().cloned().unwrap_or_default();
        let mut folded = plain_table(header, self.sides.iter().copied());
        let cells = |row: &Row| -> Vec<String> { row.cell_iter().map(Cell::content).collect() };
        let rows: Vec<Vec<String>> = self.table.row_iter().map(cells).collect();
        for alike in rows.chunk_by(|one, next| one[places..] == next[places..]) {
            match alike {
                [first, .., last] if alike.len() >= FOLDED_MIN => {
                    let range = format!("{} to {}", first[0], last[0]);
                    folded.add_row([range].iter().chain(&first[1..]));
                }
                _ => drop(folded.add_rows(alike)),
            }
        }
        folded
    }

    /// Adds a row of which programs see `value`, because a cell has words for people.
    pub fn add_row_with(&mut self, cells: impl Into<Row>, value: Value) {
        self.values.insert(self.table.row_count(), value);
        self.table.add_row(cells);
    }

    /// What programs see of a row, if that is not what its cells are.
    pub fn value(&self, row: usize) -> Option<&Value> {
        self.values.get(&row)
    }

    /// The side of each column.
    pub fn sides(&self) -> &[Side] {
        &self.sides
    }
}

impl Deref for Rows {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.table
    }
}

impl DerefMut for Rows {
    fn deref_mut(&mut self) -> &mut Table {
        &mut self.table
    }
}

/// An empty table with these columns.
pub fn table<const COLUMNS: usize>(columns: [(&str, Side); COLUMNS]) -> Rows {
    let sides = columns.map(|(_, side)| side);
    let table = plain_table(columns.map(|(title, _)| title), sides);
    Rows { table, sides: sides.to_vec(), values: BTreeMap::new(), places: None }
}

fn plain_table(header: impl Into<Row>, sides: impl IntoIterator<Item = Side>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    for (column, side) in table.column_iter_mut().zip(sides) {
        column.set_cell_alignment(match side {
            Side::Left => CellAlignment::Left,
            Side::Right => CellAlignment::Right,
        });
    }
    table
}

/// Columns of the terminal that output goes to, if it goes to one; or what COLUMNS says.
fn terminal_columns() -> Option<u16> {
    let stated = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let of_terminal = || terminal_size::terminal_size_of(stdout()).map(|(width, _)| width.0);
    stated.or_else(|| stdout().is_terminal().then(of_terminal).flatten())
}

/// The table as text without trailing blanks, a newline after each row. Where it goes to a terminal, titles and texts
/// of several words are wrapped as that asks for.
pub fn text(table: &Table) -> String {
    match terminal_columns() {
        None => lines(table),
        Some(columns) => lines(&narrowed(table, columns)),
    }
}

/// The table in a number of columns, if that is possible without breaking what has no blanks.
fn narrowed(table: &Table, columns: u16) -> Table {
    let mut table = table.clone();
    let rows: Vec<Vec<String>> = table.row_iter().map(|row| row.cell_iter().map(Cell::content).collect()).collect();
    let longest_word = |column: usize| {
        let words = rows.iter().filter_map(|row| row.get(column)).flat_map(|cell| cell.split(' '));
        words.map(|word| word.chars().count() as u16).max().unwrap_or(0).max(1)
    };
    for (number, column) in table.column_iter_mut().enumerate() {
        column.set_padding((1, 0));
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(longest_word(number) + 1)));
    }
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
    table
}

fn lines(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_differ_only_in_their_place_are_folded() {
        let mut rows = table([("Unit", Side::Right), ("Address", Side::Right), ("Role", Side::Left)]).folded_beyond(2);
        for (unit, role) in ["log", "erased", "erased", "erased", "data", "erased", "erased"].into_iter().enumerate() {
            rows.add_row([unit.to_string(), format!("{:#x}", unit * 16), role.to_owned()]);
        }
        let text = rows.text();
        let lines: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        let folded = ["1", "to", "3", "0x10", "erased"];
        assert_eq!(lines[..3], [vec!["0", "0x0", "log"], folded.to_vec(), vec!["4", "0x40", "data"]], "{text}");
        assert_eq!(lines.len(), 5, "two rows stay two: {text}");
        assert_eq!(rows.row_count(), 7, "programs see all");
    }
}
