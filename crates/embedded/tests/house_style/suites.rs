//! No test is forgotten: where a manifest lists the programs of tests, each file below `tests` is part of one of them,
//! and a library that is not built with its tests has none.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::{none, sources};

/// The files that a program of tests is compiled from, when it begins with this one.
fn compiled(root: PathBuf, files: &[(PathBuf, String)], found: &mut BTreeSet<PathBuf>) {
    let Some((_, text)) = files.iter().find(|(path, _)| *path == root) else { return };
    let directory = root.parent().unwrap();
    let is_directory = ["suite.rs", "main.rs", "mod.rs"].iter().any(|name| root.ends_with(name));
    let below = if is_directory { directory.to_owned() } else { root.with_extension("") };
    let mut named = None;
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("#[path = \"") {
            named = path.strip_suffix("\"]");
            continue;
        }
        let module = line.trim_start_matches("pub ").strip_prefix("mod ").and_then(|line| line.strip_suffix(';'));
        let Some(module) = module else { continue };
        let paths = match named.take() {
            Some(path) => vec![directory.join(path)],
            None => vec![below.join(format!("{module}.rs")), below.join(module).join("mod.rs")],
        };
        paths.into_iter().for_each(|path| compiled(path, files, found));
    }
    found.insert(root);
}

/// The files of a package's tests that no program of its manifest is compiled from.
fn forgotten(manifest: &str, package: &Path, files: &[(PathBuf, String)]) -> Vec<String> {
    let mut found = BTreeSet::new();
    let roots = manifest.lines().filter_map(|line| line.strip_prefix("path = \"tests/")?.strip_suffix('"'));
    roots.for_each(|root| compiled(package.join("tests").join(root), files, &mut found));
    let tests = files.iter().filter(|(path, _)| path.starts_with(package.join("tests")) && !found.contains(path));
    tests.map(|(path, _)| path.display().to_string()).collect()
}

#[test]
fn every_file_of_tests_is_compiled() {
    let files = sources();
    let mut forgotten_files = Vec::new();
    let mut packages = 0;
    for (manifest, text) in crate::sources_below(&crate::root().join("crates"), "Cargo.toml") {
        if text.contains("\nautotests = false\n") {
            packages += 1;
            forgotten_files.extend(forgotten(&text, manifest.parent().unwrap(), &files));
        }
    }
    assert!(packages > 20, "manifests list the programs of tests in {packages} packages");
    none("files that no program of tests is compiled from", forgotten_files);
}

#[test]
fn a_library_that_is_not_tested_has_no_tests() {
    let untested: Vec<PathBuf> = crate::sources_below(&crate::root().join("crates"), "Cargo.toml")
        .into_iter()
        .filter(|(_, text)| text.contains("[lib]\ntest = false\n"))
        .map(|(manifest, _)| manifest.with_file_name("src"))
        .collect();
    assert!(!untested.is_empty(), "manifests name libraries that are not tested");
    let is_untested = |path: &Path| untested.iter().any(|source| path.starts_with(source));
    let tests = sources().into_iter().filter(|(path, text)| is_untested(path) && text.contains("#[test]"));
    none("tests that are not built", tests.map(|(path, _)| path.display().to_string()).collect());
}

#[test]
fn a_forgotten_file_is_found() {
    let file = |path: &str, text: &str| (Path::new("crates/c/tests").join(path), text.to_owned());
    let manifest = "autotests = false\n\n[[test]]\nname = \"suite\"\npath = \"tests/suite.rs\"\n";
    let mut files = vec![
        file("suite.rs", "mod cuts;\nmod model;\n"),
        file("cuts.rs", "#[path = \"shared.rs\"]\nmod shared;\nmod deep;\n"),
        file("cuts/deep.rs", ""),
        file("shared.rs", ""),
        file("model/mod.rs", "pub mod device;\n"),
        file("model/device.rs", ""),
    ];
    assert_eq!(forgotten(manifest, Path::new("crates/c"), &files), [""; 0]);
    files.push(file("wear.rs", ""));
    files.push(file("model/wear.rs", ""));
    let found = forgotten(manifest, Path::new("crates/c"), &files);
    assert_eq!(found, ["crates/c/tests/wear.rs", "crates/c/tests/model/wear.rs"]);
}
