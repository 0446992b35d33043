//! What a registry shows of a package: each has a README, both licences, keywords, and a version of Rust that is
//! tested.
//!
//! The example of a README is one of the crate's documentation, which is a test.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{none, root};

/// Most words of a package's README.
const WORDS_MAX: usize = 250;

/// Every package that is to be published: its directory from the root, and its manifest.
fn packages() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for room in ["crates", "apps"] {
        for entry in fs::read_dir(root().join(room)).unwrap() {
            let path = Path::new(room).join(entry.unwrap().file_name());
            let manifest = fs::read_to_string(root().join(&path).join("Cargo.toml"));
            found.extend(manifest.ok().map(|manifest| (path, manifest)));
        }
    }
    found.retain(|(_, manifest)| !manifest.contains("\npublish = false\n"));
    assert!(found.len() > 20, "the packages are where they were: {}", found.len());
    found
}

/// The blocks of a text that are marked as Rust, or not marked.
fn rust_blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    for (number, piece) in text.split("```").enumerate() {
        let (mark, block) = piece.split_once('\n').unwrap_or((piece, ""));
        if number % 2 == 1 && (mark.is_empty() || mark == "rust") {
            blocks.push(block.trim().to_owned());
        }
    }
    blocks
}

/// The examples of a crate's documentation as a reader sees them: without lines that are hidden.
fn documented_examples(directory: &Path) -> Vec<String> {
    let source = fs::read_to_string(root().join(directory).join("src/lib.rs")).unwrap_or_default();
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let text: Vec<&str> = lines.filter(|line| *line != "#" && !line.starts_with("# ")).collect();
    rust_blocks(&text.join("\n"))
}

/// What is wrong with a package's README.
fn wrong_with_readme(directory: &Path, name: &str) -> Option<String> {
    let Ok(text) = fs::read_to_string(root().join(directory).join("README.md")) else {
        return Some("no README.md".to_owned());
    };
    let examples = documented_examples(directory);
    if !text.starts_with(&format!("# {name}\n")) {
        return Some(format!("README.md does not begin with {name}"));
    }
    if text.split_whitespace().count() > WORDS_MAX {
        return Some(format!("README.md has more than {WORDS_MAX} words"));
    }
    let untested = rust_blocks(&text).into_iter().find(|block| !examples.contains(block));
    untested.map(|block| format!("README.md has an example that is not one of src/lib.rs: {block}"))
}

/// The value of a key in a manifest.
fn value<'m>(manifest: &'m str, key: &str) -> Option<&'m str> {
    manifest.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))
}

#[test]
fn every_package_has_what_a_registry_shows() {
    let licences = ["LICENSE-MIT", "LICENSE-APACHE"];
    let tested = tested_version();
    let mut offences = Vec::new();
    for (directory, manifest) in packages() {
        let name = value(&manifest, "name").unwrap().trim_matches('"');
        let mut found: Vec<String> = wrong_with_readme(&directory, name).into_iter().collect();
        for licence in licences {
            let of = |directory: &Path| fs::read(root().join(directory).join(licence)).ok();
            if of(&directory) != of(Path::new("")) {
                found.push(format!("{licence} is not the project's"));
            }
        }
        for line in ["license.workspace = true", "version.workspace = true"] {
            if !manifest.contains(line) {
                found.push(format!("no {line}"));
            }
        }
        if !manifest.contains("rust-version.workspace = true") && value(&manifest, "rust-version") != Some(&tested) {
            found.push(format!("its rust-version is neither the workspace's nor {tested}"));
        }
        for key in ["description", "keywords", "categories"] {
            if value(&manifest, key).or(value(&manifest, &format!("{key}.workspace"))).is_none() {
                found.push(format!("no {key}"));
            }
        }
        offences.extend(found.into_iter().map(|what| format!("{}: {what}", directory.display())));
    }
    none("packages that are not complete", offences);
}

/// The version of Rust that every test runs with, as a manifest has it. `tools/check-rust-version` compiles with the
/// workspace's.
fn tested_version() -> String {
    let toolchain = fs::read_to_string(root().join("rust-toolchain.toml")).unwrap();
    value(&toolchain, "channel").unwrap().replace(".0\"", "\"")
}

#[test]
fn examples_are_compared_without_hidden_lines() {
    let documented = "Words.\n\n```\nlet a = 1;\n```\n\n```text\nno Rust\n```\n```rust\nlet b = 2;\n```\n";
    assert_eq!(rust_blocks(documented), ["let a = 1;", "let b = 2;"]);
    assert_eq!(value("name = \"a\"\nkeywords.workspace = true", "keywords.workspace"), Some("true"));
}
