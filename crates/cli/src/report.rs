//! What a command found, for people or as JSON: tables, and values with titles.
//!
//! Invariant: what programs see are numbers, booleans and words. Where people read a sentence, its parts are values.

use std::fmt::{self, Display};

use comfy_table::{Cell, Row};
use norn_flash::Violation;
use norn_flash_sim::{Counters, WearSummary};
use serde_json::{Map, Value, json};

use crate::table::{Rows, Side};

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
    List { name: &'static str, title: &'static str, values: Vec<(String, Value)> },
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

    /// Adds a word that is the same for people and programs.
    pub fn value(&mut self, title: &'static str, value: impl Display) -> &mut Report {
        let text = value.to_string();
        self.items.push(Item::Value { title, value: text.clone().into(), text });
        self
    }

    /// Adds a value that people read in words of their own.
    pub fn described(&mut self, title: &'static str, text: impl Display, value: impl Into<Value>) -> &mut Report {
        self.items.push(Item::Value { title, text: text.to_string(), value: value.into() });
        self
    }

    /// Adds a line that only people see, with its title.
    pub fn line(&mut self, title: &'static str, text: impl Display) -> &mut Report {
        let columns = self.title_columns;
        self.text(format!("{title:<columns$}{text}\n"))
    }

    /// Adds how often the units of a part were erased.
    pub fn wear(&mut self, title: &'static str, wear: WearSummary) -> &mut Report {
        let WearSummary { min, mean, max } = wear;
        self.described(title, wear, json!({ "min": min, "mean": mean, "max": max }))
    }

    /// Adds what a NOR part has done.
    pub fn counters(&mut self, title: &'static str, counters: Counters) -> &mut Report {
        let value = json!({
            "words_read": counters.reads(),
            "bytes_read": counters.read_bytes(),
            "words_programmed": counters.programs(),
            "bytes_programmed": counters.programmed_bytes(),
            "units_erased": counters.erases,
        });
        self.described(title, counters, value)
    }

    /// Adds a list of texts, each of which people see after the title, and what programs see instead of each.
    pub fn list(
        &mut self,
        name: &'static str,
        title: &'static str,
        values: impl Iterator<Item = (String, Value)>,
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
                Item::List { name, values, .. } => {
                    let values = values.iter().map(|(_, value)| value.clone());
                    object.insert((*name).to_owned(), values.collect());
                }
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
                Item::Table { table, .. } => f.write_str(&table.text())?,
                Item::Value { title, text, .. } => writeln!(f, "{title:<columns$}{text}")?,
                Item::List { title, values, .. } => {
                    values.iter().try_for_each(|(text, _)| writeln!(f, "{title} {text}"))?
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

/// Rows as objects by the columns' titles.
pub fn rows(table: &Rows) -> Value {
    let contents = |row: &Row| -> Vec<String> { row.cell_iter().map(Cell::content).collect() };
    let rows = table.row_iter().enumerate();
    rows.map(|(number, row)| table.value(number).cloned().unwrap_or_else(|| row_value(table, &contents(row)))).collect()
}

/// The cells of a row as an object; what is to the right is numbers, where it can be.
pub fn row_value(table: &Rows, cells: &[String]) -> Value {
    let titles = table.header().into_iter().flat_map(Row::cell_iter).map(|cell| key(&cell.content()));
    let values = titles.zip(cells).zip(table.sides());
    Value::Object(values.map(|((title, cell), side)| (title, cell_value(cell, *side))).collect())
}

/// A name of digits is a text. Addresses are numbers.
fn cell_value(content: &str, side: Side) -> Value {
    let number = || match content.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).map(Value::from).ok(),
        None => serde_json::from_str(content).ok().filter(Value::is_number),
    };
    match side {
        _ if content.is_empty() => Value::Null,
        Side::Left => content.into(),
        Side::Right => number().unwrap_or_else(|| content.into()),
    }
}

/// What programs see of what a checker found.
pub fn finding(violation: &Violation) -> (String, Value) {
    (violation.to_string(), json!({ "what": violation.what, "address": violation.address.0 }))
}

/// Hexadecimal digits of bytes.
pub fn digits_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Side, table};

    #[test]
    fn tables_and_values_are_json() {
        let mut rows = table([("Name", Side::Left), ("Data bytes", Side::Right)]);
        rows.add_row(["a", "7"]).add_row(["007", ""]).add_row(["0x10", "0x10"]).add_row(["b", "-1.5"]);
        rows.add_row_with(["c", "7 or 8"], json!({ "name": "c", "least": 7 }));
        let mut report = Report::new(12);
        report.table("rows", rows, "None.").number("free units", 3_u32).value("engine", "log").text("For people.\n");
        report.described("codes", "on", true).line("hidden", 1);
        report.list("violations", "violation:", [("x y".to_owned(), json!(1))].into_iter());
        let expected = [
            r#"{"rows":[{"name":"a","data_bytes":7},{"name":"007","data_bytes":null},{"name":"0x10","data_bytes":16},"#,
            r#"{"name":"b","data_bytes":-1.5},{"name":"c","least":7}],"free_units":3,"engine":"log","codes":true,"#,
            r#""violations":[1]}"#,
        ]
        .concat();
        assert_eq!(report.to_json().to_string(), expected);
        let text = report.to_string();
        assert!(
            text.ends_with(
                "free units  3\nengine      log\nFor people.\ncodes       on\nhidden      1\nviolation: x y\n"
            ),
            "{text}"
        );
    }
}
