//! What can be enforced of the house style, over every source file of the project.

mod circles;
mod maps;

use std::fs;
use std::path::{Path, PathBuf};

/// Longest source file, in lines: beyond, look for the second noun.
const LINES_MAX: usize = 700;
/// Names of rooms that say nothing about what is in them.
const DUMPING_ROOMS: [&str; 9] = ["util", "utils", "common", "misc", "core", "manager", "helper", "helpers", "stuff"];
/// Crates that a device links.
const NO_STD: [&str; 9] = [
    "baselines",
    "code-pager",
    "embedded",
    "flash",
    "nand-ftl",
    "nor-remap",
    "nor-store",
    "object-heap",
    "ordered-index",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Rust file of the project, by its path from the root.
fn sources() -> Vec<(PathBuf, String)> {
    let rooms = ["apps", "crates", "fuzz", "peers"].map(|room| sources_below(&root().join(room), ".rs"));
    let found = rooms.concat();
    assert!(found.len() > 40, "the sources are where they were");
    found
}

/// Every file below a directory whose name ends so, by its path from the root.
fn sources_below(directory: &Path, ending: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !["target", "corpus", "artifacts"].contains(&&*name) {
                waiting.push(path);
            } else if name.ends_with(ending) {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(root()).unwrap().to_owned(), text));
            }
        }
    }
    found
}

/// Asserts that `offences` is empty, and shows what it holds.
fn none(what: &str, offences: Vec<String>) {
    assert!(offences.is_empty(), "{what}:\n{}", offences.join("\n"));
}

/// The lines of all sources that satisfy `is_offence`, as `path:line: text`.
fn lines_where(is_offence: impl Fn(&str) -> bool) -> Vec<String> {
    let mut offences = Vec::new();
    for (path, text) in sources() {
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| is_offence(line)) {
            offences.push(format!("{}:{number}: {}", path.display(), line.trim()));
        }
    }
    offences
}

#[test]
fn every_file_says_what_it_is() {
    let silent = sources().into_iter().filter(|(_, text)| !text.starts_with("//! "));
    none("files that do not open with `//!`", silent.map(|(path, _)| path.display().to_string()).collect());
}

#[test]
fn nothing_is_marked_unfinished() {
    // Put together here, so that this file is not found.
    let marks = ["TO", "FIX", "X", "to", "unimple"].map(|start| match start {
        "TO" => format!("{start}DO"),
        "FIX" => format!("{start}ME"),
        "X" => "X".repeat(3),
        "to" => format!("{start}do!"),
        _ => format!("{start}mented!"),
    });
    none("unfinished", lines_where(|line| marks.iter().any(|mark| line.contains(mark))));
}

#[test]
fn no_room_is_named_for_dumping() {
    let dumping = sources().into_iter().filter(|(path, _)| {
        path.components().any(|part| DUMPING_ROOMS.contains(&&*Path::new(&part).file_stem().unwrap().to_string_lossy()))
    });
    none("names that say nothing", dumping.map(|(path, _)| path.display().to_string()).collect());
}

#[test]
fn no_file_is_too_long() {
    let long = sources().into_iter().filter(|(_, text)| text.lines().count() > LINES_MAX);
    none("files beyond 700 lines", long.map(|(path, _)| path.display().to_string()).collect());
}

#[test]
fn no_parameter_is_a_boolean() {
    let is_offence = |line: &str| {
        let parameters = line.split_once("fn ").and_then(|(_, rest)| rest.split_once('(')).map(|(_, rest)| rest);
        let parameters = parameters.map(|rest| rest.split(") ->").next().unwrap_or(rest));
        parameters.is_some_and(|text| text.contains(": bool,") || text.ends_with(": bool)") || text.ends_with(": bool"))
    };
    assert!(is_offence("    fn open(path: &Path, create: bool) -> File {"));
    assert!(!is_offence("    fn is_open(&self) -> bool {"));
    let offences = lines_where(is_offence).into_iter().filter(|line| !line.contains("/house_style/"));
    none("boolean parameters", offences.collect());
}

/// The directory of the package that a file belongs to, if there is such a file.
fn package_of(file: &Path) -> Option<PathBuf> {
    let file = root().join(file).canonicalize().ok()?;
    file.ancestors().find(|directory| directory.join("Cargo.toml").is_file()).map(Path::to_owned)
}

/// A package with a file of another in it compiles here and nowhere else.
#[test]
fn no_file_is_compiled_by_two_packages() {
    let mut offences = Vec::new();
    for (path, text) in sources() {
        for line in text.lines().filter_map(|line| line.trim().strip_prefix("#[path = \"")) {
            let named = path.parent().unwrap().join(line.split('"').next().unwrap());
            if package_of(&named) != package_of(&path) {
                offences.push(format!("{}: {}", path.display(), named.display()));
            }
        }
    }
    none("files of other packages", offences);
}

#[test]
fn every_library_forbids_unsafe_code_and_what_a_device_links_forbids_std() {
    let mut offences = Vec::new();
    for (path, text) in sources() {
        let is_root = path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
        if is_root && !text.contains("#![forbid(unsafe_code)]") {
            offences.push(format!("{}: no #![forbid(unsafe_code)]", path.display()));
        }
        let device = NO_STD.iter().any(|name| path.starts_with(Path::new("crates").join(name)));
        if is_root && device && !text.contains("#![no_std]") {
            offences.push(format!("{}: no #![no_std]", path.display()));
        }
    }
    none("missing attributes", offences);
}
