//! What is being made under a temporary name beside its own, so that nobody sees a part of it. It is removed unless it
//! is published.
//!
//! A process that a signal ends runs no destructors: whoever handles the signal calls [`remove_unfinished`].

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Characters of a name that a temporary name has, so that it is not too long for a file system.
const NAME_CHARACTERS: usize = 40;
/// How often a directory is removed that somebody may still write to.
const REMOVALS: u32 = 3;

/// The temporary names of this process.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Nobody panics while holding the names.
fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file or directory that is being made. When it is dropped before it is [published](Self::publish), it is removed.
#[derive(Debug)]
pub struct Unfinished {
    temporary: PathBuf,
    path: PathBuf,
}

impl Unfinished {
    /// A new file, open for reading and writing.
    ///
    /// # Errors
    /// When there is something at `path`, the host cannot make a file beside it, or it is `-`, by which other programs
    /// mean standard output.
    pub fn file(path: &Path) -> io::Result<(Unfinished, File)> {
        Unfinished::begin(path, |new| OpenOptions::new().read(true).write(true).create_new(true).open(new))
    }

    /// A new directory, which is empty.
    ///
    /// # Errors
    /// As [`file`](Self::file).
    pub fn directory(path: &Path) -> io::Result<Unfinished> {
        Ok(Unfinished::begin(path, |new| fs::create_dir(new))?.0)
    }

    fn begin<T>(path: &Path, create: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<(Unfinished, T)> {
        if path.as_os_str() == "-" {
            let problem = "nothing is written to standard output; a file of this name is ./-";
            return Err(io::Error::new(ErrorKind::InvalidInput, problem));
        }
        if is_there(path)? {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let temporary = temporary_beside(path);
        // What a process of this number left when it was killed.
        remove(&temporary);
        // The names are held meanwhile: what is removed at a signal is there by then, or is not made any more.
        let mut names = unfinished();
        let created = create(&temporary)?;
        names.insert(temporary.clone());
        Ok((Unfinished { temporary, path: path.to_owned() }, created))
    }

    /// Its name so far.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// The name that it gets.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its own name.
    ///
    /// # Errors
    /// When there is something of that name now, or the host cannot.
    pub fn publish(self) -> io::Result<()> {
        match fs::hard_link(&self.temporary, &self.path) {
            Ok(()) => Ok(()),
            Err(_) if is_there(&self.path)? => Err(ErrorKind::AlreadyExists.into()),
            // A directory, or a host without hard links.
            Err(_) => fs::rename(&self.temporary, &self.path),
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // What is left would be of no use, and its error is not the one to report.
        remove(&self.temporary);
        unfinished().remove(&self.temporary);
    }
}

/// Whether there is something of this name, also a link that leads nowhere.
fn is_there(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn remove(temporary: &Path) {
    let _ = fs::remove_file(temporary).or_else(|_| fs::remove_dir_all(temporary));
}

/// Removes everything that this process is making, and calls `end` before it can begin anything else.
pub fn remove_unfinished(end: impl FnOnce()) {
    let names = unfinished();
    for temporary in names.iter() {
        // Another thread may be at work in a directory.
        for _ in 0..REMOVALS {
            remove(temporary);
        }
    }
    end();
}

/// A name that nothing else gets that is being made.
fn temporary_beside(path: &Path) -> PathBuf {
    static CREATIONS: AtomicU32 = AtomicU32::new(0);
    let number = CREATIONS.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let name: String = name.chars().take(NAME_CHARACTERS).collect();
    path.with_file_name(format!(".{name}.{}-{number}.new", process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn nothing_stays_of_what_is_not_published() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("n".repeat(255));
        let (file, directories) = (Unfinished::file(&path).unwrap(), Unfinished::directory(&path).unwrap());
        fs::write(directories.temporary().join("within"), "").unwrap();
        assert_eq!(names(directory.path()).len(), 2);
        remove_unfinished(|| assert_eq!(names(directory.path()), [""; 0]));
        drop(file);
        let (file, _) = Unfinished::file(&path).unwrap();
        file.publish().unwrap();
        assert_eq!(names(directory.path()), ["n".repeat(255)]);
        assert_eq!(directories.publish().unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(Unfinished::file(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        fs::remove_file(&path).unwrap();
        let (meanwhile, _) = Unfinished::file(&path).unwrap();
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        assert_eq!(meanwhile.publish().unwrap_err().kind(), ErrorKind::AlreadyExists, "a link that leads nowhere");
        assert_eq!(Unfinished::file(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        fs::remove_file(&path).unwrap();
        assert_eq!(Unfinished::file(Path::new("-")).unwrap_err().kind(), ErrorKind::InvalidInput);
        let made = Unfinished::directory(&path).unwrap();
        fs::write(made.temporary().join("within"), "").unwrap();
        made.publish().unwrap();
        assert_eq!((names(directory.path()).len(), names(&path).len()), (1, 1));
    }
}
