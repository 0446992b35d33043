//! A directory of its own for a test of a command, and the command run in it.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A directory that goes away with the test.
pub struct Desk {
    directory: TempDir,
    command: &'static str,
}

/// What a run of the command said.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its exit code.
    pub code: i32,
    /// Its standard output.
    pub output: String,
    /// Its standard error.
    pub errors: String,
}

impl Desk {
    /// A desk for a command, which is the path of a program: `env!("CARGO_BIN_EXE_norn")` in the tests of its package.
    ///
    /// # Panics
    /// If no directory can be made.
    pub fn of(command: &'static str) -> Desk {
        Desk { directory: tempfile::tempdir().unwrap(), command }
    }

    /// The path of a file in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file into the directory.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), contents).unwrap();
    }

    /// The names of everything in the directory, sorted.
    ///
    /// # Panics
    /// If the directory cannot be read, or a name is no UTF-8.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the command with these words, apart by blanks, in the directory.
    ///
    /// # Panics
    /// If it does not run, is killed by a signal, or says what is not UTF-8.
    pub fn run(&self, words: &str) -> Answer {
        let mut command = Command::new(self.command);
        let output = command.args(words.split_whitespace()).current_dir(self.directory.path()).output().unwrap();
        Answer {
            code: output.status.code().expect("the command ends by itself"),
            output: String::from_utf8(output.stdout).unwrap(),
            errors: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs the command, which is to succeed, and returns what it printed.
    ///
    /// # Panics
    /// If it fails, or writes to standard error.
    pub fn succeed(&self, words: &str) -> String {
        let answer = self.run(words);
        assert_eq!((answer.code, answer.errors.as_str()), (0, ""), "{words}\n{}", answer.output);
        answer.output
    }

    /// Runs the command, which is to fail with exit code 2 and say these things.
    ///
    /// # Panics
    /// If it does not.
    pub fn fail(&self, words: &str, said: &[&str]) {
        let answer = self.run(words);
        assert_eq!(answer.code, 2, "{words}\n{}", answer.output);
        for said in said {
            assert!(answer.errors.contains(said), "{words}: {said:?} is not in {:?}", answer.errors);
        }
    }
}

/// The path of an example that comes with the project.
///
/// # Panics
/// If there is none of this name.
pub fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    path.canonicalize().unwrap().display().to_string()
}

/// The rest of the line of `text` that starts with `title`.
///
/// # Panics
/// If there is no such line.
pub fn line<'a>(text: &'a str, title: &str) -> &'a str {
    let found = text.lines().find_map(|line| line.strip_prefix(title));
    found.unwrap_or_else(|| panic!("no line {title:?} in\n{text}")).trim()
}
