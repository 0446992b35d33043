//! Lines are at most 120 columns wide: rustfmt wraps code and no comments, and no tool wraps Java.
//!
//! Crates that had wider lines when this was first counted have a ceiling, which may only sink; Java modules have none.
//! Lines of Rust count if they are comments; strings that would be harder to read in two lines, and links, stay as they
//! are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{java_sources, none, sources};

const COLUMNS_MAX: usize = 120;
/// Comment lines that are wider, at most, in the crates that are not free of them yet.
const WIDE_COMMENTS: [(&str, usize); 2] = [("lab", 4), ("ordered-index", 8)];

fn is_wide(line: &str) -> bool {
    line.chars().count() > COLUMNS_MAX && !line.contains("](")
}

/// Asserts that the lines of no room are more than its ceiling, and says where there are fewer: lower the ceiling then.
fn expect_ceilings(what: &str, wide: BTreeMap<String, Vec<String>>, ceilings: &[(&str, usize)]) {
    let mut offences = Vec::new();
    for (room, lines) in wide {
        let ceiling = ceilings.iter().find(|(other, _)| *other == room).map_or(0, |(_, ceiling)| *ceiling);
        println!("{room}: {} {what} beyond {COLUMNS_MAX} columns, at most {ceiling}", lines.len());
        if lines.len() > ceiling {
            offences.push(format!("{room}: {}, at most {ceiling}:\n{}", lines.len(), lines.join("\n")));
        }
    }
    none(what, offences);
}

/// The wide lines of each room that count, as `path:line: text`.
fn wide_lines(sources: Vec<(PathBuf, String)>, counts: impl Fn(&str) -> bool) -> BTreeMap<String, Vec<String>> {
    let mut wide: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in sources {
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| is_wide(line) && counts(line)) {
            wide.entry(room_of(&path)).or_default().push(format!("  {}:{number}: {}", path.display(), line.trim()));
        }
    }
    wide
}

/// The crate, application, Java module or program that a file belongs to.
fn room_of(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    let depth = usize::from(["apps", "crates", "java"].contains(&&*parts[0]));
    parts[depth].clone().into_owned()
}

#[test]
fn comments_are_wrapped() {
    let is_comment =
        |line: &str| line.trim_start().starts_with("//") && !line.contains("://") && !line.contains("//! |");
    expect_ceilings("comments", wide_lines(sources(), is_comment), &WIDE_COMMENTS);
}

#[test]
fn java_lines_are_wrapped() {
    expect_ceilings("lines", wide_lines(java_sources(), |_| true), &[]);
}

#[test]
fn a_wide_line_is_found() {
    let file = |line: &str| (Path::new("java/room/A.java").to_owned(), line.to_owned());
    let wide = wide_lines(vec![file(&"µ".repeat(120)), file(&"x".repeat(121))], |_| true);
    assert_eq!(wide["room"].len(), 1);
}
