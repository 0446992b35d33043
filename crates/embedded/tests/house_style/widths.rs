//! Lines are at most 120 columns wide: rustfmt wraps code and no comments, and no tool wraps Java.
//!
//! Lines of Rust count if they are comments; strings that would be harder to read in two lines, and links, stay as they
//! are.

use std::path::Path;

use crate::{java_sources, lines_where, none, sources};

const COLUMNS_MAX: usize = 120;

fn is_wide(line: &str) -> bool {
    line.chars().count() > COLUMNS_MAX && !line.contains("](")
}

#[test]
fn comments_are_wrapped() {
    let is_comment =
        |line: &str| line.trim_start().starts_with("//") && !line.contains("://") && !line.contains("//! |");
    none("comments beyond 120 columns", lines_where(sources(), |line| is_wide(line) && is_comment(line)));
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
}
