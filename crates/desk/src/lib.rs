//! A directory of its own for a test, and the `norn` command run in it.

// Each test program uses a part of this.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A directory that goes away with the test.
pub struct Desk {
    directory: TempDir,
}

/// What a run of the command said.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub code: i32,
    pub output: String,
    pub errors: String,
}

impl Desk {
    pub fn new() -> Desk {
        Desk { directory: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), contents).unwrap();
    }

    /// Runs `norn` with these words, apart by blanks, in the directory.
    pub fn norn(&self, words: &str) -> Answer {
        let mut command = Command::new(env!("CARGO_BIN_EXE_norn"));
        let output = command.args(words.split_whitespace()).current_dir(self.directory.path()).output().unwrap();
        Answer {
            code: output.status.code().expect("norn ends by itself"),
            output: String::from_utf8(output.stdout).unwrap(),
            errors: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs `norn`, which is to succeed, and returns what it printed.
    pub fn succeed(&self, words: &str) -> String {
        let answer = self.norn(words);
        assert_eq!((answer.code, answer.errors.as_str()), (0, ""), "norn {words}\n{}", answer.output);
        answer.output
    }

    /// Runs `norn`, which is to fail with exit code 2 and say these things.
    pub fn fail(&self, words: &str, said: &[&str]) {
        let answer = self.norn(words);
        assert_eq!(answer.code, 2, "norn {words}\n{}", answer.output);
        for said in said {
            assert!(answer.errors.contains(said), "norn {words}: {said:?} is not in {:?}", answer.errors);
        }
    }
}

/// The examples that come with the project.
pub fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    path.canonicalize().unwrap().display().to_string()
}

/// The rest of the line of `text` that starts with `title`.
pub fn line<'a>(text: &'a str, title: &str) -> &'a str {
    let found = text.lines().find_map(|line| line.strip_prefix(title));
    found.unwrap_or_else(|| panic!("no line {title:?} in\n{text}")).trim()
}
