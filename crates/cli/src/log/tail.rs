//! The end of a file that grows: its complete lines, as they come.
//!
//! A program that writes a log replaces its file now and then (*rotation*: the old one gets another name) or empties it
//! (*truncation*). The path is followed, and not the file that it named at first:
//! - a file that was replaced is read to its end, and its last line counts even without a line feed; then the new one
//!   is read from its start;
//! - a file that has become shorter is read from its start again;
//! - where there is no file, one is waited for.
//!
//! Invariant: `partial` is what follows the last line feed in what was read of `open`.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// A path that is followed.
pub struct Tail {
    path: PathBuf,
    open: Option<Open>,
}

/// The file that the path named when it was opened.
struct Open {
    file: File,
    identity: (u64, u64),
    offset: u64,
    /// The number of the line that `partial` begins.
    line: u64,
    partial: Vec<u8>,
    is_replaced: bool,
}

/// What a look at a file found.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// Complete lines, and the number of the first one.
    Lines(Vec<u8>, u64),
    /// Nothing yet.
    Nothing,
    /// The file was replaced, and the old one is read.
    Replaced,
    /// The file has become shorter, and is read from its start.
    Truncated,
}

impl Tail {
    /// Follows `path` from its start.
    pub fn of(path: &Path) -> Tail {
        Tail { path: path.to_owned(), open: None }
    }

    /// Whether there is text after the last line feed.
    pub fn has_partial_line(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.partial.is_empty())
    }

    /// Looks once.
    ///
    /// # Errors
    /// When the file cannot be read, or is none that can grow. That there is no file is no error.
    pub fn look(&mut self) -> io::Result<Found> {
        let Some(open) = &mut self.open else {
            self.open = Open::at(&self.path)?;
            return if self.open.is_some() { self.look() } else { Ok(Found::Nothing) };
        };
        if let Some(found) = open.read_lines()? {
            return Ok(found);
        }
        if open.file.metadata()?.len() < open.offset {
            open.restart()?;
            return Ok(Found::Truncated);
        }
        let is_same = fs::metadata(&self.path).is_ok_and(|metadata| identity(&metadata) == open.identity);
        let was_replaced = open.is_replaced;
        // A file that is gone may be written to until its writer notices: it is given up at the second look.
        open.is_replaced = !is_same;
        if is_same || !was_replaced {
            return Ok(Found::Nothing);
        }
        match open.take_last_line() {
            Some(found) => Ok(found),
            None if self.path.exists() => {
                self.open = None;
                Ok(Found::Replaced)
            }
            None => Ok(Found::Nothing),
        }
    }
}

fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

impl Open {
    fn at(path: &Path) -> io::Result<Option<Open>> {
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("only a regular file can be followed"));
        }
        let identity = identity(&metadata);
        Ok(Some(Open { file, identity, offset: 0, line: 1, partial: Vec::new(), is_replaced: false }))
    }

    /// The lines that were completed since the last look, if there are any.
    fn read_lines(&mut self) -> io::Result<Option<Found>> {
        loop {
            let mut chunk = vec![0; CHUNK_BYTES];
            let length = self.file.read(&mut chunk)?;
            if length == 0 {
                return Ok(None);
            }
            self.offset += length as u64;
            self.partial.extend_from_slice(&chunk[..length]);
            if let Some(last) = self.partial.iter().rposition(|&byte| byte == b'\n') {
                let rest = self.partial.split_off(last + 1);
                return Ok(Some(self.take_lines(rest)));
            }
        }
    }

    fn take_lines(&mut self, rest: Vec<u8>) -> Found {
        let (lines, first) = (std::mem::replace(&mut self.partial, rest), self.line);
        self.line += lines.iter().filter(|&&byte| byte == b'\n').count() as u64;
        Found::Lines(lines, first)
    }

    fn take_last_line(&mut self) -> Option<Found> {
        (!self.partial.is_empty()).then(|| self.take_lines(Vec::new()))
    }

    fn restart(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        (self.offset, self.line) = (0, 1);
        self.partial.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! Proves that each complete line is found once, with its number, whatever becomes of the file.
    use std::io::Write;

    use super::*;

    struct Followed {
        directory: tempfile::TempDir,
        tail: Tail,
    }

    impl Followed {
        fn new() -> Followed {
            let directory = tempfile::tempdir().unwrap();
            let tail = Tail::of(&directory.path().join("a.csv"));
            Followed { directory, tail }
        }

        fn path(&self) -> PathBuf {
            self.directory.path().join("a.csv")
        }

        fn append(&self, text: &str) {
            let file = File::options().append(true).create(true).open(self.path());
            file.unwrap().write_all(text.as_bytes()).unwrap();
        }

        fn rotate(&self) {
            fs::rename(self.path(), self.directory.path().join("a.csv.1")).unwrap();
        }

        fn expect(&mut self, found: Found) {
            assert_eq!(self.tail.look().unwrap(), found);
        }

        fn expect_lines(&mut self, lines: &str, first: u64) {
            self.expect(Found::Lines(lines.into(), first));
        }
    }

    #[test]
    fn lines_are_found_when_they_are_complete() {
        let mut followed = Followed::new();
        followed.expect(Found::Nothing); // There is no file yet.
        followed.append("1,2\n3,");
        followed.expect_lines("1,2\n", 1);
        followed.expect(Found::Nothing);
        assert!(followed.tail.has_partial_line());
        followed.append("4\n\n5,6\n");
        followed.expect_lines("3,4\n\n5,6\n", 2);
        assert!(!followed.tail.has_partial_line());
        followed.append("7,8\n");
        followed.expect_lines("7,8\n", 5);
    }

    #[test]
    fn a_file_that_was_replaced_is_read_to_its_end_first() {
        let mut followed = Followed::new();
        followed.append("1,2\n");
        followed.expect_lines("1,2\n", 1);
        followed.append("3,4\n5,6");
        followed.rotate();
        followed.expect_lines("3,4\n", 2);
        followed.expect(Found::Nothing);
        followed.expect_lines("5,6", 3); // No line feed will come any more.
        followed.expect(Found::Nothing); // There is no new file yet.
        followed.append("7,8\n");
        followed.expect(Found::Replaced);
        followed.expect_lines("7,8\n", 1);
        followed.expect(Found::Nothing);
    }

    #[test]
    fn a_file_that_is_written_to_after_it_was_replaced_is_not_given_up() {
        let mut followed = Followed::new();
        followed.append("1,2\n");
        followed.expect_lines("1,2\n", 1);
        let mut writer = File::options().append(true).open(followed.path()).unwrap();
        followed.rotate();
        followed.append("9,9\n");
        followed.expect(Found::Nothing);
        writer.write_all(b"3,4\n").unwrap();
        followed.expect_lines("3,4\n", 2);
        followed.expect(Found::Replaced);
        followed.expect_lines("9,9\n", 1);
    }

    #[test]
    fn a_file_that_became_shorter_is_read_from_its_start() {
        let mut followed = Followed::new();
        followed.append("1,2\n3,4\n5,");
        followed.expect_lines("1,2\n3,4\n", 1);
        File::options().write(true).open(followed.path()).unwrap().set_len(0).unwrap();
        followed.append("7,8\n");
        followed.expect(Found::Truncated);
        followed.expect_lines("7,8\n", 1);
    }

    #[test]
    fn what_cannot_grow_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let error = Tail::of(directory.path()).look().unwrap_err();
        assert!(error.to_string().contains("only a regular file"), "{error}");
    }
}
