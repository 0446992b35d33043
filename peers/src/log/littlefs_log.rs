//! littlefs (by littlefs2) as a log: a file that is appended to, and a file a day.
//!
//! A reading is 6 bytes of a file, durable when the file is closed. littlefs cannot take bytes off a file's front, so
//! the appended file has a predecessor: when it takes seven sixteenths of the part, the predecessor is removed and it
//! takes its name. Of the days, the oldest is removed when there is no space. A query opens the files that may have
//! what it looks for, finds the first reading of each by bisection, and reads on from there.
//!
//! The file system keeps references to its memory and its storage, which live for as long as the program: a mount leaks
//! them.

use std::mem::size_of;

use littlefs2::consts::{U8, U256};
use littlefs2::driver::Storage;
use littlefs2::fs::{Allocation, File, FileAllocation, Filesystem};
use littlefs2::io::{Error, Result as LfsResult, SeekFrom};
use littlefs2::path::PathBuf;
use norn_flash::Nor;
use norn_flash_sim::SimError;

use crate::device::{Device, DeviceError};
use crate::reading_log::{Contender, DAY_SECONDS, Failure, Log, Open, Opening, Query, READING_BYTES, Reading, Show};

const BLOCK_BYTES: usize = ekv::config::PAGE_SIZE;
/// Readings that a query reads at a time.
const CHUNK: usize = 42;

/// A part of `BLOCKS` erase units.
struct Blocks<const BLOCKS: usize>(Device);

impl<const BLOCKS: usize> Storage for Blocks<BLOCKS> {
    const READ_SIZE: usize = 2;
    const WRITE_SIZE: usize = 2;
    const BLOCK_SIZE: usize = BLOCK_BYTES;
    const BLOCK_COUNT: usize = BLOCKS;
    const BLOCK_CYCLES: isize = 500;
    type CACHE_SIZE = U256;
    type LOOKAHEAD_SIZE = U8;

    fn read(&mut self, offset: usize, buffer: &mut [u8]) -> LfsResult<usize> {
        self.0.read_at(offset as u32, buffer).map(|()| buffer.len()).map_err(|_| Error::IO)
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) -> LfsResult<usize> {
        self.0.program_at(offset as u32, bytes).map(|()| bytes.len()).map_err(|error| match error {
            // A part that does not refuse this leaves other bits, which the file system notices when it reads them
            // back.
            DeviceError::Part(SimError::SetsBits { .. }) => Error::CORRUPTION,
            _ => Error::IO,
        })
    }

    fn erase(&mut self, offset: usize, len: usize) -> LfsResult<usize> {
        let units = offset / BLOCK_BYTES..(offset + len) / BLOCK_BYTES;
        units.into_iter().try_for_each(|unit| self.0.erase_unit(unit as u16)).map(|()| len).map_err(|_| Error::IO)
    }
}

/// How readings are divided into files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Division {
    /// One that is appended to, and its predecessor.
    Appended,
    /// A file for each day.
    Days,
}

struct Files<const BLOCKS: usize> {
    files: Filesystem<'static, Blocks<BLOCKS>>,
    division: Division,
    batch: usize,
    /// Bytes of the file that is appended to.
    length: usize,
    /// The days that there are files of.
    days: Option<(u32, u32)>,
}

fn path(text: &str) -> PathBuf {
    PathBuf::try_from(text).expect("a short name")
}

fn day_path(day: u32) -> PathBuf {
    path(&format!("{day}"))
}

fn failure(error: Error) -> Failure {
    match error {
        Error::NO_SPACE => Failure::Full("there is no space".to_owned()),
        other => Failure::of(other),
    }
}

impl<const BLOCKS: usize> Files<BLOCKS> {
    fn open(device: Device, opening: Opening, division: Division, batch: usize) -> Result<Self, Failure> {
        let storage = Box::leak(Box::new(Blocks(device)));
        if opening == Opening::Format {
            Filesystem::format(storage).map_err(failure)?;
        }
        let allocation = Box::leak(Box::new(Filesystem::allocate()));
        let files = Filesystem::mount(allocation, storage).map_err(failure)?;
        let mut log = Files { files, division, batch, length: 0, days: None };
        log.look_around()?;
        Ok(log)
    }

    /// What a mount has to know of the files.
    fn look_around(&mut self) -> Result<(), Failure> {
        if self.division == Division::Appended {
            self.length = self.files.metadata(&path("log")).map_or(0, |metadata| metadata.len());
            return Ok(());
        }
        let mut days: Vec<u32> = Vec::new();
        let read = self.files.read_dir_and_then(&path("/"), |entries| {
            for entry in entries {
                days.extend(entry?.file_name().as_str().parse::<u32>());
            }
            Ok(())
        });
        read.map_err(failure)?;
        self.days = days.iter().min().copied().zip(days.iter().max().copied());
        Ok(())
    }

    fn write(&self, path: &PathBuf, bytes: &[u8]) -> LfsResult<()> {
        self.files.open_file_with_options_and_then(
            |options| options.write(true).create(true).append(true),
            path,
            |file| file.write(bytes).map(|_| ()),
        )
    }

    fn append_to_one(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.length + bytes.len() > BLOCKS * BLOCK_BYTES * 7 / 16 {
            match self.files.remove(&path("old")) {
                Err(Error::NO_SUCH_ENTRY) => {}
                outcome => outcome.map_err(failure)?,
            }
            self.files.rename(&path("log"), &path("old")).map_err(failure)?;
            self.length = 0;
        }
        self.write(&path("log"), bytes).map_err(failure)?;
        self.length += bytes.len();
        Ok(())
    }

    fn append_to_day(&mut self, day: u32, bytes: &[u8]) -> Result<(), Failure> {
        loop {
            match self.write(&day_path(day), bytes) {
                Err(Error::NO_SPACE) => {}
                outcome => {
                    outcome.map_err(failure)?;
                    self.days = Some((self.days.map_or(day, |(first, _)| first), day));
                    return Ok(());
                }
            }
            match self.days {
                Some((first, last)) if first < last => {
                    self.files.remove(&day_path(first)).map_err(failure)?;
                    self.days = Some((first + 1, last));
                }
                _ => return Err(Failure::Full("there is no space for a day".to_owned())),
            }
        }
    }

    /// The files that may have readings of a span, the oldest first.
    fn candidates(&self, from: u32, to: u32) -> Vec<PathBuf> {
        match (self.division, self.days) {
            (Division::Appended, _) => vec![path("old"), path("log")],
            (Division::Days, None) => Vec::new(),
            (Division::Days, Some((first, last))) => {
                let days = first.max(from / DAY_SECONDS)..=last.min(to.saturating_sub(1) / DAY_SECONDS);
                days.map(day_path).collect()
            }
        }
    }
}

fn record<S: Storage>(file: &File<'_, '_, S>, number: usize) -> LfsResult<Reading> {
    let mut bytes = [0; READING_BYTES];
    file.seek(SeekFrom::Start((number * READING_BYTES) as u32))?;
    match file.read(&mut bytes)? {
        READING_BYTES => Ok(Reading::from_bytes(bytes)),
        _ => Err(Error::CORRUPTION),
    }
}

/// The number of the first reading at or after `from`.
fn bisect<S: Storage>(file: &File<'_, '_, S>, count: usize, from: u32) -> LfsResult<usize> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = (low + high) / 2;
        if record(file, middle)?.at < from { low = middle + 1 } else { high = middle }
    }
    Ok(low)
}

/// Shows a file's readings of a span; whether the query goes on with the next file.
fn show_file<S: Storage>(file: &File<'_, '_, S>, (from, to): (u32, u32), show: &mut Show<'_>) -> LfsResult<Query> {
    let count = file.len()? / READING_BYTES;
    let first = bisect(file, count, from)?;
    file.seek(SeekFrom::Start((first * READING_BYTES) as u32))?;
    let mut buffer = [0; CHUNK * READING_BYTES];
    loop {
        let length = file.read(&mut buffer)?;
        if length < READING_BYTES {
            return Ok(Query::GoesOn);
        }
        for bytes in buffer[..length].as_chunks::<READING_BYTES>().0 {
            let reading = Reading::from_bytes(*bytes);
            if reading.at >= to || show(reading) == Query::Ends {
                return Ok(Query::Ends);
            }
        }
    }
}

impl<const BLOCKS: usize> Log for Files<BLOCKS> {
    fn batch(&self) -> usize {
        self.batch
    }

    fn append(&mut self, readings: &[Reading]) -> Result<(), Failure> {
        let bytes = |readings: &[Reading]| readings.iter().flat_map(|reading| reading.to_bytes()).collect::<Vec<u8>>();
        if self.division == Division::Appended {
            return self.append_to_one(&bytes(readings));
        }
        // A batch that ends a day goes to two files: only its parts are atomic.
        let mut days = readings.chunk_by(|a, b| a.at / DAY_SECONDS == b.at / DAY_SECONDS);
        days.try_for_each(|readings| self.append_to_day(readings[0].at / DAY_SECONDS, &bytes(readings)))
    }

    fn range(&mut self, from: u32, to: u32, show: &mut Show<'_>) -> Result<(), Failure> {
        for path in self.candidates(from, to) {
            match self.files.open_file_and_then(&path, |file| show_file(file, (from, to), show)) {
                Err(Error::NO_SUCH_ENTRY) | Ok(Query::GoesOn) => {}
                Ok(Query::Ends) => break,
                Err(error) => return Err(failure(error)),
            }
        }
        Ok(())
    }

    fn ram_bytes(&self) -> usize {
        size_of::<Allocation<Blocks<BLOCKS>>>()
            + size_of::<FileAllocation<Blocks<BLOCKS>>>()
            + CHUNK * READING_BYTES
            + size_of::<(usize, Option<(u32, u32)>)>()
    }
}

fn open(division: Division, batch: usize) -> Open {
    Box::new(move |device, opening| match device.part().unit_count {
        32 => Ok(Box::new(Files::<32>::open(device, opening, division, batch)?)),
        512 => Ok(Box::new(Files::<512>::open(device, opening, division, batch)?)),
        64 => Ok(Box::new(Files::<64>::open(device, opening, division, batch)?)),
        _ => Err(Failure::Unsupported("a part of another size")),
    })
}

/// Both divisions, single and batched.
pub fn contenders() -> Vec<Contender> {
    let one = "reads and programs of 2 bytes, blocks of a unit, caches of 256 bytes, look-ahead of 64, block cycles \
               500; a file that is appended to, closed after each call, and its predecessor, of seven sixteenths of \
               the part each";
    let days = "the same with a file a day (1,440 readings); full, the oldest is removed";
    let contender = |name, notes, division, batch, fill| Contender {
        name,
        version: "0.8.1 (littlefs2-sys 0.4.0)",
        notes,
        open: open(division, batch),
        fill,
    };
    let faster = |division| Some(open(division, 100));
    vec![
        contender("littlefs, one file", one, Division::Appended, 1, faster(Division::Appended)),
        contender("littlefs, one file, 100 readings a call", one, Division::Appended, 100, None),
        contender("littlefs, a file a day", days, Division::Days, 1, faster(Division::Days)),
        contender("littlefs, a file a day, 100 readings a call", days, Division::Days, 100, None),
    ]
}
