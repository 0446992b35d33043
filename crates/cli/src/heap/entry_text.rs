//! Records in a table of a dump.

use norn_explorer::tiny_store::entry_text::RecordText;
use norn_flash::Address;
use serde_json::json;

use crate::report::digits_of;
use crate::table::Rows;

/// Adds the record at a place of a log; programs find it under `name`.
pub fn add_record(rows: &mut Rows, name: &str, (place, address): (usize, Address), bytes: &[u8], says: &RecordText) {
    let cells = [place.to_string(), address.to_string(), bytes_text(bytes), says.to_string()];
    let value = json!({ "place": place, "address": address.0, "bytes": digits_of(bytes), name: says.value() });
    rows.add_row_with(cells, value);
}

/// Bytes as pairs of hexadecimal digits, in the order of their addresses.
pub fn bytes_text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}
