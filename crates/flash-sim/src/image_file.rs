//! What image files of all kinds of parts have in common: the header, the lock, and reading and writing in place.
//!
//! ```text
//! 0     header, 4096 bytes:
//!         0  magic, 8 bytes        8  version, 2 bytes        10  name length, 1 byte        11  name, 53 bytes
//!        64  the geometry's numbers, then crc of all before it (4), then zeros
//!        80  elapsed ns 8 · operations 8 · counters, 8 each
//! 4096  what the kind of part has
//! ```
//!
//! Values are little-endian. Invariant: the header's first 80 bytes never change; the file has the length that they
//! imply.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crc::{CRC_32_ISO_HDLC, Crc};

use crate::error::ImageError;
use crate::image_bytes::ImageBytes;
use crate::image_kind::ImageKind;
use crate::instrument::State;
use crate::unfinished::Unfinished;

/// Bytes of the header; what follows is the kind's.
pub(crate) const HEADER_BYTES: usize = 4096;
/// How often a lock is tried for, every 5 ms.
const LOCK_ATTEMPTS: u32 = 40;
const VERSION_OFFSET: usize = 8;
const NAME_OFFSET: usize = 11;
const GEOMETRY_OFFSET: usize = 64;
const STATE_OFFSET: usize = 80;
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// A kind of image file.
pub(crate) struct Kind {
    pub kind: ImageKind,
    pub version: u16,
    /// Numbers of the geometry, and bytes of each.
    pub numbers: usize,
    pub number_bytes: usize,
}

impl Kind {
    const fn crc_offset(&self) -> usize {
        GEOMETRY_OFFSET + self.numbers * self.number_bytes
    }

    fn encode(&self, name: &str, geometry: &[u32]) -> [u8; STATE_OFFSET] {
        assert!(name.len() <= GEOMETRY_OFFSET - NAME_OFFSET, "a part's name has at most 53 bytes");
        let mut header = [0; STATE_OFFSET];
        header[..8].copy_from_slice(self.kind.magic());
        header[VERSION_OFFSET..][..2].copy_from_slice(&self.version.to_le_bytes());
        header[NAME_OFFSET - 1] = name.len() as u8;
        header[NAME_OFFSET..][..name.len()].copy_from_slice(name.as_bytes());
        for (place, number) in header[GEOMETRY_OFFSET..].chunks_exact_mut(self.number_bytes).zip(geometry) {
            place.copy_from_slice(&number.to_le_bytes()[..self.number_bytes]);
        }
        let crc = CRC.checksum(&header[..self.crc_offset()]);
        header[self.crc_offset()..][..4].copy_from_slice(&crc.to_le_bytes());
        header
    }

    /// The name and the geometry that a header states, or why it is none of this kind.
    fn decode(&self, header: &[u8], path: &Path) -> Result<(String, Vec<u32>), ImageError> {
        let path = path.to_owned();
        let foreign = |why: String| ImageError::Foreign { path: path.clone(), why };
        match ImageKind::of_header(header) {
            None if header.is_empty() => return Err(foreign("the file is empty".to_owned())),
            None => return Err(foreign(format!("its first bytes are not {}", self.magic_text()))),
            Some(found) if found != self.kind => return Err(ImageError::OtherKind { path, found, wanted: self.kind }),
            Some(_) => {}
        }
        if header.len() < HEADER_BYTES {
            return Err(foreign(format!("its {} bytes are less than an image's header", header.len())));
        }
        let found = u16::from_le_bytes([header[VERSION_OFFSET], header[VERSION_OFFSET + 1]]);
        if found > self.version {
            return Err(ImageError::Newer { path, found, known: self.version });
        }
        if found < self.version {
            return Err(foreign(format!("its format {found} is older than this program's, {}", self.version)));
        }
        let (checked, crc) = header.split_at(self.crc_offset());
        if CRC.checksum(checked) != number(&crc[..4]) {
            return Err(foreign("its header is damaged".to_owned()));
        }
        let name = header[NAME_OFFSET..GEOMETRY_OFFSET].get(..usize::from(header[NAME_OFFSET - 1])).unwrap_or_default();
        let geometry = checked[GEOMETRY_OFFSET..].chunks_exact(self.number_bytes).map(number).collect();
        Ok((String::from_utf8_lossy(name).into_owned(), geometry))
    }

    fn magic_text(&self) -> String {
        String::from_utf8_lossy(self.kind.magic()).trim_end_matches('\0').to_owned()
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// Counters as they are in the header, each as 8 bytes.
pub(crate) trait Stored: Default {
    fn to_numbers(&self) -> Vec<u64>;

    /// The counters of numbers that [`to_numbers`](Self::to_numbers) gave.
    fn from_numbers(numbers: impl Iterator<Item = u64>) -> Self;
}

/// What an image file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The file follows the part. Nobody else may have it open.
    ReadWrite,
    /// The file stays as it is, and need not be writable. Others may read it, too.
    Read,
}

/// An open image file, locked against other processes; or the bytes of one.
#[derive(Debug)]
pub(crate) struct ImageFile {
    contents: Contents,
    unfinished: Option<Unfinished>,
    is_changed: AtomicBool,
}

/// Where the bytes of an image are.
#[derive(Debug)]
enum Contents {
    File(File),
    Memory(Mutex<ImageBytes>),
}

/// What errors call an image that is in no file.
const NO_FILE: &str = "the image";

impl ImageFile {
    /// A new file of the given length, all holes, which `fill` fills. It has another name until it is
    /// [published](Self::publish): a process that is killed, or gives it up, leaves nothing at `path`.
    pub fn begin(
        path: &Path,
        (kind, name, geometry): (&Kind, &str, &[u32]),
        file_bytes: u64,
        fill: impl FnOnce(&ImageFile) -> io::Result<()>,
    ) -> Result<ImageFile, ImageError> {
        let io_error = |source| creation_error(path, source);
        let (unfinished, file) = Unfinished::file(path).map_err(io_error)?;
        lock(&file, path, File::try_lock)?;
        file.set_len(file_bytes).map_err(io_error)?;
        let image = ImageFile {
            contents: Contents::File(file),
            unfinished: Some(unfinished),
            is_changed: AtomicBool::new(true),
        };
        fill(&image).map_err(io_error)?;
        image.write_at(0, &kind.encode(name, geometry)).map_err(io_error)?;
        Ok(image)
    }

    /// The same in memory, where nothing is published.
    pub fn begin_in_memory(
        (kind, name, geometry): (&Kind, &str, &[u32]),
        file_bytes: u64,
        fill: impl FnOnce(&ImageFile) -> io::Result<()>,
    ) -> io::Result<ImageFile> {
        let image = ImageFile::opened(Contents::Memory(Mutex::new(ImageBytes::zeros(file_bytes))));
        fill(&image)?;
        image.write_at(0, &kind.encode(name, geometry))?;
        Ok(image)
    }

    /// The bytes of an image that is in memory.
    pub fn into_bytes(self) -> io::Result<ImageBytes> {
        match self.contents {
            Contents::Memory(bytes) => Ok(bytes.into_inner().unwrap_or_else(PoisonError::into_inner)),
            Contents::File(_) => Err(ErrorKind::Unsupported.into()),
        }
    }

    /// Gives a file its name that was begun, once all of it is on the host's disk.
    pub fn publish(&mut self) -> Result<(), ImageError> {
        let Some(unfinished) = self.unfinished.take() else { return Ok(()) };
        let synced = match &self.contents {
            Contents::File(file) => file.sync_all(),
            Contents::Memory(_) => Ok(()),
        };
        let path = unfinished.path().to_owned();
        synced.and_then(|()| unfinished.publish()).map_err(|source| creation_error(&path, source))
    }

    /// An existing file of a kind, and its header.
    pub fn open(path: &Path, kind: &Kind, access: Access) -> Result<(ImageFile, Header), ImageError> {
        let io_error = |source| ImageError::Io { path: path.to_owned(), source };
        let is_written = access == Access::ReadWrite;
        let file = OpenOptions::new().read(true).write(is_written).open(path).map_err(io_error)?;
        match access {
            Access::ReadWrite => lock(&file, path, File::try_lock)?,
            Access::Read => lock(&file, path, File::try_lock_shared)?,
        }
        let file_bytes = file.metadata().map_err(io_error)?.len();
        ImageFile::opened(Contents::File(file)).with_header(path, kind, file_bytes)
    }

    /// The bytes of a file of a kind, and its header.
    pub fn of_bytes(bytes: ImageBytes, kind: &Kind) -> Result<(ImageFile, Header), ImageError> {
        let file_bytes = bytes.length();
        let contents = Contents::Memory(Mutex::new(bytes));
        ImageFile::opened(contents).with_header(Path::new(NO_FILE), kind, file_bytes)
    }

    fn opened(contents: Contents) -> ImageFile {
        ImageFile { contents, unfinished: None, is_changed: AtomicBool::new(false) }
    }

    fn with_header(self, path: &Path, kind: &Kind, file_bytes: u64) -> Result<(ImageFile, Header), ImageError> {
        let mut bytes = vec![0; HEADER_BYTES.min(file_bytes as usize)];
        self.read_at(0, &mut bytes).map_err(|source| ImageError::Io { path: path.to_owned(), source })?;
        let (name, geometry) = kind.decode(&bytes, path)?;
        Ok((self, Header { path: path.to_owned(), name, geometry, file_bytes, bytes }))
    }

    pub fn save_state<Counts: Stored>(&self, state: &State<Counts>) -> io::Result<()> {
        let numbers = [state.elapsed_ns, state.operations].into_iter().chain(state.counters.to_numbers());
        let bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        self.write_at(STATE_OFFSET as u64, &bytes)
    }

    /// As [`save_state`](Self::save_state), where the part was changed since the file was opened: what only reads leaves
    /// the file as it is.
    pub fn save_reads<Counts: Stored>(&self, state: &State<Counts>) -> io::Result<()> {
        if self.is_changed.load(Ordering::Relaxed) { self.save_state(state) } else { Ok(()) }
    }

    /// Brings everything written so far to the host's disk.
    pub fn sync(&self) -> io::Result<()> {
        match &self.contents {
            Contents::File(file) => file.sync_data(),
            Contents::Memory(_) => Ok(()),
        }
    }

    pub fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.is_changed.store(true, Ordering::Relaxed);
        match &self.contents {
            Contents::File(file) => {
                let mut file = file;
                file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(bytes))
            }
            Contents::Memory(memory) => locked(memory).write_at(at, bytes),
        }
    }

    pub fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        match &self.contents {
            Contents::File(file) => {
                let mut file = file;
                file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(buffer))
            }
            Contents::Memory(memory) => locked(memory).read_at(at, buffer),
        }
    }
}

/// Nobody panics while holding the bytes.
fn locked(memory: &Mutex<ImageBytes>) -> MutexGuard<'_, ImageBytes> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the header of a file says.
pub(crate) struct Header {
    path: PathBuf,
    /// The part's name.
    pub name: String,
    geometry: Vec<u32>,
    file_bytes: u64,
    bytes: Vec<u8>,
}

impl Header {
    /// What the catalogue has under the header's name, if its geometry is the header's and the file is as long as it
    /// should be.
    pub fn checked<Spec>(
        &self,
        spec: Option<Spec>,
        geometry: impl FnOnce(&Spec) -> Vec<u32>,
        file_bytes: impl FnOnce(&Spec) -> u64,
    ) -> Result<Spec, ImageError> {
        let (path, name) = (self.path.clone(), &self.name);
        let Some(spec) = spec else {
            return Err(ImageError::Foreign { path, why: format!("no part is called {name:?}") });
        };
        let (found, expected) = (&self.geometry, geometry(&spec));
        if *found != expected {
            let why = format!("its geometry {found:?} is not that of {name}, {expected:?}");
            return Err(ImageError::Foreign { path, why });
        }
        match (self.file_bytes, file_bytes(&spec)) {
            (found, wanted) if found != wanted => Err(ImageError::Length { path, part: name.clone(), found, wanted }),
            _ => Ok(spec),
        }
    }

    pub fn state<Counts: Stored>(&self) -> State<Counts> {
        let mut numbers = self.bytes[STATE_OFFSET..]
            .chunks_exact(8)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes")));
        let mut next = || numbers.next().expect("the header has room for all");
        State { elapsed_ns: next(), operations: next(), counters: Counts::from_numbers(numbers) }
    }

    /// For a file that cannot be read.
    pub fn io_error(&self, source: io::Error) -> ImageError {
        ImageError::Io { path: self.path.clone(), source }
    }
}

fn creation_error(path: &Path, source: io::Error) -> ImageError {
    match source.kind() {
        ErrorKind::AlreadyExists => ImageError::Exists { path: path.to_owned(), source },
        _ => ImageError::Io { path: path.to_owned(), source },
    }
}

/// Locks an image file, waiting a little for a process that is about to let go of it: a program that was started while
/// this one had the file open holds the lock, too, until it runs.
fn lock(file: &File, path: &Path, try_lock: impl Fn(&File) -> Result<(), TryLockError>) -> Result<(), ImageError> {
    for attempt in 1.. {
        match try_lock(file) {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if attempt < LOCK_ATTEMPTS => thread::sleep(Duration::from_millis(5)),
            Err(TryLockError::WouldBlock) => return Err(ImageError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(ImageError::Io { path: path.to_owned(), source }),
        }
    }
    Ok(())
}
