//! What a command found, for people or as JSON: tables, and values with titles.

use std::fmt::{self, Display};

use serde_json::{Map, Value};

use crate::table::{Rows, Side, text};

/// Tables and values, in the order in which people see them.
#[derive(Debug, Default)]
pub struct Report {
    items: Vec<Item>,
    /// Columns of the titles of values.
    title_columns: usize,
}

#[derive(Debug)]
enum Item {
    Table { name: &'static str, table: Rows, none: &'static str },
    Value { title: &'static str, text: String, value: Value },
    List { name: &'static str, title: &'static str, values: Vec<String> },
    Text(String),
    Datum { name: &'static str, value: Value },
}

impl Report {
    /// An empty report, in which the titles of values have this many columns.
    pub fn new(title_columns: usize) -> Report {
        Report { title_columns, ..Report::default() }
    }

    /// Adds a table; people read `none` if it is empty.
    pub fn table(&mut self, name: &'static str, table: Rows, none: &'static str) -> &mut Report {
        self.items.push(Item::Table { name, table, none });
        self
    }

    /// Adds a number.
    pub fn number(&mut self, title: &'static str, number: impl Into<u64>) -> &mut Report {
        let number = number.into();
        self.items.push(Item::Value { title, text: number.to_string(), value: number.into() });
        self
    }

    /// Adds a number, after which people read something else.
    pub fn measure(&mut self, title: &'static str, number: u64, remark: impl Display) -> &mut Report {
        self.items.push(Item::Value { title, text: format!("{number}{remark}"), value: number.into() });
        self
    }

    /// Adds something that is the same for people and programs.
    pub fn value(&mut self, title: &'static str, value: impl Display) -> &mut Report {
        let text = value.to_string();
        self.items.push(Item::Value { title, value: text.clone().into(), text });
        self
    }

    /// Adds a row of texts, each of which people see after the title.
    pub fn list(
        &mut self,
        name: &'static str,
        title: &'static str,
        values: impl Iterator<Item = String>,
    ) -> &mut Report {
        self.items.push(Item::List { name, title, values: values.collect() });
        self
    }

    /// Adds a value that only programs see.
    pub fn datum(&mut self, name: &'static str, value: impl Into<Value>) -> &mut Report {
        self.items.push(Item::Datum { name, value: value.into() });
        self
    }

    /// Adds lines that only people see.
    pub fn text(&mut self, text: impl Into<String>) -> &mut Report {
        self.items.push(Item::Text(text.into()));
        self
    }

    /// Adds what another report has.
    pub fn append(&mut self, mut other: Report) -> &mut Report {
        self.items.append(&mut other.items);
        self
    }

    /// The same as an object of JSON.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        for item in &self.items {
            match item {
                Item::Text(_) => {}
                Item::Datum { name, value } => drop(object.insert((*name).to_owned(), value.clone())),
                Item::Table { name, table, .. } => drop(object.insert((*name).to_owned(), rows(table))),
                Item::Value { title, value, .. } => drop(object.insert(key(title), value.clone())),
                Item::List { name, values, .. } => drop(object.insert((*name).to_owned(), values.clone().into())),
            }
        }
        object.into()
    }

    /// As text, or as JSON.
    pub fn shown(&self, form: Form) -> String {
        match form {
            Form::Text => self.to_string(),
            Form::Json => format!("{:#}\n", self.to_json()),
        }
    }
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Text,
    /// For programs.
    Json,
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.title_columns;
        for item in &self.items {
            match item {
                Item::Table { table, none, .. } if table.is_empty() => writeln!(f, "{none}")?,
                Item::Table { table, .. } => f.write_str(&text(table))?,
                Item::Value { title, text, .. } => writeln!(f, "{title:<columns$}{text}")?,
                Item::List { title, values, .. } => {
                    values.iter().try_for_each(|value| writeln!(f, "{title} {value}"))?
                }
                Item::Text(text) => f.write_str(text)?,
                Item::Datum { .. } => {}
            }
        }
        Ok(())
    }
}

/// The key of a title.
fn key(title: &str) -> String {
    title.to_lowercase().replace(' ', "_")
}

/// Rows as objects by the columns' titles; what is to the right is numbers, where it can be.
pub fn rows(table: &Rows) -> Value {
    let titles: Vec<String> =
        table.header().map(|header| header.cell_iter().map(|cell| key(&cell.content())).collect()).unwrap_or_default();
    let row = |row: &comfy_table::Row| -> Value {
        let cells = titles.iter().zip(row.cell_iter()).zip(table.sides());
        Value::Object(cells.map(|((title, cell), side)| (title.clone(), cell_value(&cell.content(), *side))).collect())
    };
    table.row_iter().map(row).collect()
}

/// A name of digits is a text.
fn cell_value(content: &str, side: Side) -> Value {
    match content.parse::<u64>() {
        _ if content.is_empty() => Value::Null,
        Ok(number) if side == Side::Right => number.into(),
        _ => content.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Side, table};

    #[test]
    fn tables_and_values_are_json() {
        let mut rows = table([("Name", Side::Left), ("Data bytes", Side::Right)]);
        rows.add_row(["a", "7"]).add_row(["007", ""]);
        let mut report = Report::new(12);
        report.table("rows", rows, "None.").number("free units", 3_u32).value("engine", "log").text("For people.\n");
        report.list("violations", "violation:", ["x".to_owned()].into_iter());
        let expected = r#"{"rows":[{"name":"a","data_bytes":7},{"name":"007","data_bytes":null}],"free_units":3,"engine":"log","violations":["x"]}"#;
        assert_eq!(report.to_json().to_string(), expected);
        let text = report.to_string();
        assert!(text.ends_with("free units  3\nengine      log\nFor people.\nviolation: x\n"), "{text}");
    }
}
