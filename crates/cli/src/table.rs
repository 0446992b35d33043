//! How tables look: no frame, columns apart, numbers to the right.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A column's side.
#[derive(Clone, Copy)]
pub enum Side {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// An empty table with these columns.
pub fn table<const COLUMNS: usize>(columns: [(&str, Side); COLUMNS]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.map(|(title, _)| title));
    for (column, (_, side)) in table.column_iter_mut().zip(columns) {
        column.set_cell_alignment(match side {
            Side::Left => CellAlignment::Left,
            Side::Right => CellAlignment::Right,
        });
    }
    table
}

/// The table as text without trailing blanks, a newline after each row.
pub fn text(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
