//! The maps: links between documents lead somewhere, the book has every document, README is short, docs/papers.md leads
//! from every noun of a paper to a file that names it, and the first figure of ARCHITECTURE.md shows every crate.
//!
//! In the tables of papers.md a noun is set in italics, and the last column links files. Each noun of a row is named by
//! a file of the row: its words are there one after the other, in a comment or as an identifier, in the singular or the
//! plural.

use std::fs;
use std::path::PathBuf;

use crate::{lines_where, none, root, sources_below};

/// A row of a table that names nouns of a paper.
#[derive(Debug, PartialEq)]
struct Row {
    /// Its number in the file, from 1.
    line: usize,
    nouns: Vec<String>,
    /// Files, by their paths from the document's directory.
    files: Vec<String>,
}

/// The rows of tables whose last column is called *where*.
fn rows(text: &str) -> Vec<Row> {
    let mut is_map = false;
    let mut rows = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let Some(cells) = text.strip_prefix("| ").and_then(|rest| rest.strip_suffix(" |")) else {
            is_map &= text.starts_with('|');
            continue;
        };
        let (before, last) = cells.rsplit_once(" | ").unwrap_or((cells, ""));
        if is_map {
            let nouns = before.split('*').skip(1).step_by(2).map(str::to_owned).collect();
            rows.push(Row { line, nouns, files: links(last) });
        }
        is_map |= last == "where";
    }
    rows
}

/// What the links of a document lead to, without places within files, and without other people's pages.
fn links(text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let files = targets.map(|target| target.split('#').next().unwrap_or_default());
    files.filter(|file| !file.is_empty() && !file.contains("://")).map(str::to_owned).collect()
}

/// The words of a text or an identifier, in small letters and in the singular.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in text.chars() {
        if !letter.is_alphanumeric() || before.is_lowercase() && letter.is_uppercase() {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            words.last_mut().expect("there is one").extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words.iter().map(|word| singular(word).to_owned()).collect()
}

fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|rest| !rest.ends_with('s')).unwrap_or(word)
}

/// Whether a text has the words of a noun, one after the other.
fn names(text: &[String], noun: &str) -> bool {
    let noun = words(noun);
    !noun.is_empty() && text.windows(noun.len()).any(|window| window == noun)
}

#[test]
fn every_noun_of_a_paper_leads_to_a_file_that_names_it() {
    let docs = root().join("docs");
    let rows = rows(&fs::read_to_string(docs.join("papers.md")).unwrap());
    let count: usize = rows.iter().map(|row| row.nouns.len()).sum();
    assert!(count > 100, "the tables are where they were: {count} nouns");
    let mut offences = Vec::new();
    for Row { line, nouns, files } in rows {
        let texts = files.iter().filter_map(|file| fs::read_to_string(docs.join(file)).ok());
        let texts: Vec<_> = texts.map(|text| words(&text)).collect();
        for noun in nouns.iter().filter(|noun| !texts.iter().any(|text| names(text, noun))) {
            offences.push(format!("docs/papers.md:{line}: {noun:?} is in none of {}", files.join(", ")));
        }
    }
    none("nouns that lead nowhere", offences);
}

#[test]
fn every_link_of_a_document_leads_to_a_file() {
    let mut documents: Vec<_> = ["docs", "java", "apps", "crates", "python"]
        .into_iter()
        .flat_map(|room| sources_below(&root().join(room), ".md"))
        .collect();
    for name in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"] {
        documents.push((PathBuf::from(name), fs::read_to_string(root().join(name)).unwrap()));
    }
    let mut offences = Vec::new();
    let mut count = 0;
    for (path, text) in documents {
        for link in links(&text) {
            count += 1;
            if !root().join(&path).parent().unwrap().join(&link).exists() {
                offences.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(count > 200, "the documents are where they were: {count} links");
    none("links that lead nowhere", offences);
}

#[test]
fn every_document_is_a_chapter_of_the_book() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let chapters = links(&summary);
    let documents = sources_below(&root().join("docs"), ".md");
    assert!(documents.len() > 100, "the documents are where they were: {}", documents.len());
    let names = documents.iter().map(|(path, _)| path.strip_prefix("docs").unwrap().display().to_string());
    none("not in docs/SUMMARY.md", names.filter(|name| name != "SUMMARY.md" && !chapters.contains(name)).collect());
}

#[test]
fn no_document_has_marks_of_a_merge() {
    let mut documents = sources_below(&root().join("docs"), ".md");
    for name in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"] {
        documents.push((PathBuf::from(name), fs::read_to_string(root().join(name)).unwrap()));
    }
    let is_mark = |line: &str| ["<<<<<<< ", "=======", ">>>>>>> "].iter().any(|mark| line.starts_with(mark));
    none("both sides of a merge are left", lines_where(documents, is_mark));
}

#[test]
fn readme_is_read_in_three_minutes() {
    let words = fs::read_to_string(root().join("README.md")).unwrap().split_whitespace().count();
    assert!(words <= 700, "README.md has {words} words; what is longer is in docs/guide");
}

#[test]
fn the_first_figure_shows_every_crate_and_the_java_part() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let figure = words(text.split("```").nth(1).unwrap());
    let mut rooms = vec!["java".to_owned()];
    for directory in ["crates", "apps"] {
        let entries = fs::read_dir(root().join(directory)).unwrap().map(Result::unwrap);
        let packages = entries.filter(|entry| entry.path().join("Cargo.toml").is_file());
        rooms.extend(packages.map(|entry| entry.file_name().to_string_lossy().into_owned()));
    }
    assert!(rooms.len() > 15, "the crates are where they were: {rooms:?}");
    none(
        "not in the first figure of ARCHITECTURE.md",
        rooms.into_iter().filter(|room| !names(&figure, room)).collect(),
    );
}

#[test]
fn nouns_are_found_in_comments_and_in_identifiers() {
    let text = words("//! Soft\n//! pointers, turnstiles; `LogUnit`, look_up, an address. Space; of addresses");
    for noun in ["soft pointer", "turnstile", "log units", "logs", "look up", "looks up", "address"] {
        assert!(names(&text, noun), "{noun}");
    }
    for noun in ["pointer soft", "soft turnstile", "soft pointer up", "turn", "pace", ""] {
        assert!(!names(&text, noun), "{noun}");
    }
}

#[test]
fn rows_are_those_of_tables_that_lead_somewhere() {
    let text = "| section | what | where |\n|---|---|---|\n| 1 | a *noun*, *two* of them | [a](x/a.rs), [b](b.md#c) \
                |\n\n| section | *published* | correct |\n|---|---|---|\n| 2 | *a* | [d](d.rs) |\n";
    let nouns = vec!["noun".to_owned(), "two".to_owned()];
    let files = vec!["x/a.rs".to_owned(), "b.md".to_owned()];
    assert_eq!(rows(text), [Row { line: 3, nouns, files }]);
    assert!(links("[a](https://example.org/b.md) [c](#d)").is_empty());
}
