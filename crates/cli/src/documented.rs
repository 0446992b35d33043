//! Tests that each line of `norn` in README and the guide is one that the command takes.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;

use crate::arguments::Arguments;

/// The root of the sources.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README and the guide.
fn documents() -> Vec<PathBuf> {
    let guide = fs::read_dir(root().join("docs/guide")).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = guide.filter(|path| path.extension().is_some_and(|kind| kind == "md")).collect();
    paths.push(root().join("README.md"));
    paths.sort();
    paths
}

/// The lines of a document's shell blocks.
fn shell_lines(text: &str) -> Vec<&str> {
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block);
    blocks.flat_map(str::lines).collect()
}

/// A word as it is given at the root of the sources, where the documented lines are called.
fn at_root(word: &str) -> String {
    let path = root().join(word);
    if word.contains('/') && path.exists() { path.display().to_string() } else { word.to_owned() }
}

/// The commands of a shell line, each as its words, without a comment.
fn commands(line: &str) -> Vec<Vec<&str>> {
    let words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
    let mut commands = vec![Vec::new()];
    for word in words {
        let end = word.ends_with(';') || ["&&", "||", "|", "&"].contains(&word);
        let word = word.trim_end_matches(';');
        if !["&&", "||", "|", "&"].contains(&word) {
            commands.last_mut().expect("there is one").push(word);
        }
        if end {
            commands.push(Vec::new());
        }
    }
    commands
}

/// The arguments of `norn` if a command calls it: by its name, by a variable, or by cargo.
fn arguments_of_norn<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    match words {
        ["norn" | "$norn" | "target/release/norn", rest @ ..] => Some(rest.to_vec()),
        ["cargo", "run", options @ ..] if options.contains(&"norn-cli") => {
            let end = options.iter().position(|&word| word == "--")?;
            Some(options[end + 1..].to_vec())
        }
        _ => None,
    }
}

#[test]
fn every_documented_line_is_one_that_norn_takes() {
    let mut refused = Vec::new();
    let mut count = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for line in shell_lines(&text) {
            for arguments in commands(line).iter().filter_map(|words| arguments_of_norn(words)) {
                count += 1;
                let words = ["norn"].iter().chain(&arguments).map(|word| at_root(word));
                if let Err(error) = Arguments::try_parse_from(words) {
                    refused.push(format!("{}: {line}\n{error}", path.display()));
                }
            }
        }
    }
    assert!(count >= 30, "the lines are where they were: {count}");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn lines_are_taken_apart_as_a_shell_does() {
    let of = |line| commands(line).iter().filter_map(|words| arguments_of_norn(words)).collect::<Vec<_>>();
    assert_eq!(of("norn a b && $norn c; wait   # norn d"), [vec!["a", "b"], vec!["c"]]);
    assert_eq!(of("cargo run --release -p norn-cli --features plots -- log plot x &"), [["log", "plot", "x"]]);
    assert!(of("cargo run -p norn-purse -- cards.img; alias norn='x'").is_empty());
}
