//! Lines are at most 120 columns wide: rustfmt wraps neither comments nor strings, and no tool wraps Java.
//!
//! Links, and rows of tables in comments, stay as they are: both end where their line does.

use std::path::Path;

use crate::{java_sources, lines_where, none, sources};

const COLUMNS_MAX: usize = 120;

fn is_wide(line: &str) -> bool {
    line.chars().count() > COLUMNS_MAX && !line.contains("](")
}

fn is_wide_rust(line: &str) -> bool {
    let cannot_be_broken = line.trim_start().starts_with("//") && (line.contains("://") || line.contains("//! |"));
    is_wide(line) && !cannot_be_broken
}

#[test]
fn rust_lines_are_wrapped() {
    none("lines beyond 120 columns", lines_where(sources(), is_wide_rust));
}

#[test]
fn java_lines_are_wrapped() {
    none("lines beyond 120 columns", lines_where(java_sources(), is_wide));
}

#[test]
fn a_wide_line_is_found() {
    let file = |line: &str| (Path::new("java/room/A.java").to_owned(), line.to_owned());
    let wide = lines_where(vec![file(&"µ".repeat(120)), file(&"x".repeat(121))], is_wide);
    assert_eq!(wide.len(), 1);

    let text = format!("    \"{}\",", "word ".repeat(30));
    let row = format!("//! | {text} |");
    assert_eq!(lines_where(vec![file(&text), file(&row)], is_wide_rust).len(), 1);
}
