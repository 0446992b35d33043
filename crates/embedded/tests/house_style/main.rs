//! What can be enforced of the house style, over every source file of the project.

mod circles;
mod maps;
mod packages;
mod patches;
mod suites;
mod widths;

use std::fs;
use std::path::{Path, PathBuf};

/// Longest source file, in lines: beyond, look for the second noun.
const LINES_MAX: usize = 700;
/// Names of rooms that say nothing about what is in them.
const DUMPING_ROOMS: [&str; 9] = ["util", "utils", "common", "misc", "core", "manager", "helper", "helpers", "stuff"];
/// The package whose classes replace those of `java.util`, and which has the same name.
const LIKE_JAVA_UTIL: &str = "java/sas/src/main/java/dev/norn/sas/util";
/// The card's API, whose names and signatures are those of its specification.
const CARD_API: &str = "java/card-api";
/// Boolean parameters of Java methods at most.
const BOOLEANS_IN_JAVA_MAX: usize = 10;
/// What a library with unsafe code says instead of forbidding it: that clippy refuses a block without a reason.
const REASONED: &str = "#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]";
/// Crates whose libraries have unsafe code, each block with its reason: C passes pointers, a page calls exports.
const UNSAFE: [&str; 2] = ["c-api", "explorer"];
/// Crates that a device links.
const NO_STD: [&str; 14] = [
    "baselines",
    "c-api",
    "card-package",
    "card-vm",
    "code-pager",
    "embedded",
    "flash",
    "heap",
    "log-heap",
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
    let rooms = ["apps", "crates", "fuzz", "peers", "python"].map(|room| sources_below(&root().join(room), ".rs"));
    let found = rooms.concat();
    assert!(found.len() > 40, "the sources are where they were");
    found
}

/// Every Java file of the project, by its path from the root.
fn java_sources() -> Vec<(PathBuf, String)> {
    let found = sources_below(&root().join("java"), ".java");
    assert!(found.len() > 100, "the Java sources are where they were");
    found
}

/// Every Rust and every Java file.
fn all_sources() -> Vec<(PathBuf, String)> {
    [sources(), java_sources()].concat()
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

/// The lines of sources that satisfy `is_offence`, as `path:line: text`.
fn lines_where(sources: Vec<(PathBuf, String)>, is_offence: impl Fn(&str) -> bool) -> Vec<String> {
    let mut offences = Vec::new();
    for (path, text) in sources {
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

/// Whether a Java file has a comment on its type: one before the first line that starts a type.
fn says_what_it_is(text: &str) -> bool {
    let kinds = ["class ", "interface ", "record ", "enum ", "@interface ", "module "];
    let is_type = |line: &&str| !line.starts_with([' ', '*', '/']) && kinds.iter().any(|kind| line.contains(kind));
    let before = text.lines().take_while(|line| !is_type(line));
    before.into_iter().any(|line| line.starts_with("/**"))
}

#[test]
fn every_java_file_says_what_it_is() {
    assert!(says_what_it_is("package a;\n\n/** A pool of pages. */\nfinal class Pool {\n}"));
    assert!(!says_what_it_is("package a;\n\nfinal class Pool {\n/** Pages. */\nint pages;\n}"));
    let silent = java_sources().into_iter().filter(|(path, text)| {
        let name = path.file_name().unwrap().to_string_lossy();
        name != "package-info.java" && !says_what_it_is(text)
    });
    none("types without a comment", silent.map(|(path, _)| path.display().to_string()).collect());
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
    none("unfinished", lines_where(all_sources(), |line| marks.iter().any(|mark| line.contains(mark))));
}

#[test]
fn no_room_is_named_for_dumping() {
    let own = all_sources().into_iter().filter(|(path, _)| !path.starts_with(CARD_API));
    let dumping = own.filter(|(path, _)| {
        let named = |part| Path::new(&part).file_stem().unwrap().to_string_lossy().to_lowercase();
        let path = path.strip_prefix(LIKE_JAVA_UTIL).unwrap_or(path);
        path.components().any(|part| DUMPING_ROOMS.contains(&&*named(part)))
    });
    none("names that say nothing", dumping.map(|(path, _)| path.display().to_string()).collect());
}

#[test]
fn no_file_is_too_long() {
    let long = all_sources().into_iter().filter(|(_, text)| text.lines().count() > LINES_MAX);
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
    // What serde declares so.
    let exempt = ["/house_style/", "fn visit_bool<"];
    let offences = lines_where(sources(), is_offence).into_iter();
    let offences = offences.filter(|line| !exempt.iter().any(|known| line.contains(known)));
    none("boolean parameters", offences.collect());
}

/// The same of Java methods, as far as one line shows; what there was when this was first counted may only sink.
#[test]
fn few_parameters_of_java_methods_are_booleans() {
    // What the JDK, Ratis and the card's API declare so, and values of that type.
    let exempt = [
        "FileLock lock(",
        "FileLock tryLock(",
        "void force(",
        "void putBoolean(",
        " record ",
        "void notifyServerShutdown(",
        "boolean select(boolean appInstAlreadyActive)",
        "void deselect(boolean appInstStillActive)",
    ];
    let is_offence = |line: &str| {
        let declares = ["public ", "private ", "protected ", "static ", "void "].iter().any(|word| line.contains(word));
        let parameters = line.split_once('(').map_or("", |(_, rest)| rest.split(')').next().unwrap_or(rest));
        let is_boolean = |parameter: &str| parameter.trim().trim_start_matches("final ").starts_with("boolean ");
        declares && parameters.split(',').any(is_boolean) && !exempt.iter().any(|known| line.contains(known))
    };
    assert!(is_offence("    private static File open(Path path, boolean create) {"));
    assert!(
        !is_offence("    private boolean isOpen(Path path) {") && !is_offence("    public record Two(boolean one) {")
    );
    let own = java_sources().into_iter().filter(|(path, _)| !path.starts_with(CARD_API));
    let offences = lines_where(own.collect(), is_offence);
    if offences.len() > BOOLEANS_IN_JAVA_MAX {
        none("boolean parameters, more than there were", offences);
    }
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
fn every_file_has_the_licence_of_the_crates() {
    let text = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let licence = |line: &str| line.split_once(" = ").map(|(_, licence)| licence.to_owned());
    let of = |name: &str, key: &str| text(name).lines().find(|line| line.starts_with(key)).and_then(licence);
    let stated = of("REUSE.toml", "SPDX-License-Identifier");
    assert_eq!(stated, of("Cargo.toml", "license"));
    assert_eq!(stated.as_deref(), Some("\"MIT OR Apache-2.0\""));
    assert!(text("REUSE.toml").contains("path = \"**\""), "every file");
    for (name, copy) in [("LICENSES/MIT.txt", "LICENSE-MIT"), ("LICENSES/Apache-2.0.txt", "LICENSE-APACHE")] {
        assert!(text(name) == text(copy), "{name} is {copy}");
    }
}

#[test]
fn every_library_forbids_unsafe_code_and_what_a_device_links_forbids_std() {
    let mut offences = Vec::new();
    for (path, text) in sources() {
        let is_root = path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
        let is_exempt = UNSAFE.iter().any(|name| path.starts_with(Path::new("crates").join(name)));
        let needed = if is_exempt { REASONED } else { "#![forbid(unsafe_code)]" };
        if is_root && !text.contains(needed) {
            offences.push(format!("{}: no {needed}", path.display()));
        }
        let device = NO_STD.iter().any(|name| path.starts_with(Path::new("crates").join(name)));
        if is_root && device && !text.contains("#![no_std]") {
            offences.push(format!("{}: no #![no_std]", path.display()));
        }
    }
    none("missing attributes", offences);
}
