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
}

impl Rows {
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
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.map(|(title, _)| title));
    for (column, (_, side)) in table.column_iter_mut().zip(columns) {
        column.set_cell_alignment(match side {
            Side::Left => CellAlignment::Left,
            Side::Right => CellAlignment::Right,
        });
    }
    Rows { table, sides: columns.map(|(_, side)| side).to_vec(), values: BTreeMap::new() }
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
