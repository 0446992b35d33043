//! A part in a file that outlives the process.
//!
//! ```text
//! 0     header, 4096 bytes:
//!         0  "NORNSIM\0"           8  version, 2 bytes        10  name length, 1 byte
//!        11  name, 53 bytes       64  units, 4 bytes          68  unit size, 4 bytes
//!        72  program unit, 1 byte
//!        76  crc of bytes 0..76 (4)
//!        80  elapsed ns 8 · operations 8 · erases 8 · reads 6 × 8 · programs 6 × 8
//! 4096  for each unit, 8 bytes: erases 4 · torn 1 · 0 0 0
//!       cells: the raw bytes of the part, from a multiple of 4096 on
//!       unstable bits, as long as the cells
//!       programs of each program unit, one byte each, where the part limits them
//! ```
//!
//! Values are little-endian; `VERSION` is the newest version. The file follows every program and erase, so that
//! after the process is killed it holds what the part would; reads are counted in it with the next of them.
//!
//! Invariant: the header's first 80 bytes never change; the file has the length that they imply.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crc::{CRC_32_ISO_HDLC, Crc};
use norn_flash::NorPart;

use crate::catalogue;
use crate::cells::Cells;
use crate::counters::Counters;
use crate::error::ImageError;
use crate::nor::budgets;
use crate::spec::PartSpec;

const MAGIC: [u8; 8] = *b"NORNSIM\0";
const VERSION: u16 = 1;
/// How often a lock is tried for, every 5 ms.
const LOCK_ATTEMPTS: u32 = 40;
const HEADER_BYTES: usize = 4096;
const NAME_OFFSET: usize = 11;
const GEOMETRY_OFFSET: usize = 64;
const CRC_OFFSET: usize = 76;
const STATE_OFFSET: usize = 80;
const STATE_BYTES: usize = 15 * 8;
const UNIT_STATE_BYTES: usize = 8;
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// What changes with every operation beside cells.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    pub counters: Counters,
    pub elapsed_ns: u64,
    pub operations: u64,
}

impl State {
    fn encode(&self) -> [u8; STATE_BYTES] {
        let mut bytes = [0; STATE_BYTES];
        let counters = &self.counters;
        let numbers = [self.elapsed_ns, self.operations, counters.erases]
            .into_iter()
            .chain(counters.reads_by_size)
            .chain(counters.programs_by_size);
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> State {
        let number = |at: usize| u64::from_le_bytes(bytes[8 * at..8 * at + 8].try_into().expect("eight bytes"));
        State {
            elapsed_ns: number(0),
            operations: number(1),
            counters: Counters {
                erases: number(2),
                reads_by_size: std::array::from_fn(|class| number(3 + class)),
                programs_by_size: std::array::from_fn(|class| number(9 + class)),
            },
        }
    }
}

/// Where things are in the file.
#[derive(Clone, Copy, Debug)]
struct Layout {
    unit_count: usize,
    unit_bytes: usize,
    budgets: usize,
}

impl Layout {
    fn of(part: &NorPart) -> Self {
        let (unit_count, unit_bytes) = (usize::from(part.unit_count), part.unit_size_bytes as usize);
        Layout { unit_count, unit_bytes, budgets: budgets(part) }
    }

    fn unit_state(&self, unit: usize) -> usize {
        HEADER_BYTES + unit * UNIT_STATE_BYTES
    }

    fn cells(&self, unit: usize) -> usize {
        self.unit_state(self.unit_count).next_multiple_of(4096) + unit * self.unit_bytes
    }

    fn unstable(&self, unit: usize) -> usize {
        self.cells(self.unit_count) + unit * self.unit_bytes
    }

    fn programs(&self, unit: usize) -> usize {
        self.unstable(self.unit_count) + unit * self.budgets
    }

    fn file_bytes(&self) -> u64 {
        self.programs(self.unit_count) as u64
    }
}

/// An open image file, locked against other processes.
#[derive(Debug)]
pub(crate) struct Image {
    file: File,
    layout: Layout,
}

impl Image {
    pub fn create(path: &Path, spec: &PartSpec, state: &State, units: &[Arc<Cells>]) -> Result<Self, ImageError> {
        let io_error = |source| ImageError::Io { path: path.to_owned(), source };
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path).map_err(io_error)?;
        lock(&file, path)?;
        let layout = Layout::of(&spec.part);
        let mut image = Image { file, layout };
        image.write_new(spec, state, units).map_err(|source| {
            // A half-made image would only stand in the way of the next attempt.
            let _ = std::fs::remove_file(path);
            io_error(source)
        })?;
        Ok(image)
    }

    fn write_new(&mut self, spec: &PartSpec, state: &State, units: &[Arc<Cells>]) -> io::Result<()> {
        self.file.set_len(self.layout.file_bytes())?;
        for (unit, cells) in units.iter().enumerate() {
            self.save_cells(unit, cells, 0..cells.bytes.len())?;
        }
        self.save_state(state)?;
        self.write_at(0, &encode_header(spec))
    }

    pub fn open(path: &Path) -> Result<(Self, PartSpec, State, Vec<Cells>), ImageError> {
        let io_error = |source| ImageError::Io { path: path.to_owned(), source };
        let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(io_error)?;
        lock(&file, path)?;
        let found = file.metadata().map_err(io_error)?.len();
        let mut header = vec![0; HEADER_BYTES.min(found as usize)];
        file.read_exact(&mut header).map_err(io_error)?;
        let spec = decode_header(&header, path)?;
        let layout = Layout::of(&spec.part);
        if found != layout.file_bytes() {
            return Err(ImageError::Length { path: path.to_owned(), found, wanted: layout.file_bytes() });
        }
        let mut image = Image { file, layout };
        let state = State::decode(&header[STATE_OFFSET..STATE_OFFSET + STATE_BYTES]);
        let units = (0..layout.unit_count).map(|unit| image.read_cells(unit)).collect::<io::Result<_>>();
        Ok((image, spec, state, units.map_err(io_error)?))
    }

    pub fn save(&mut self, unit: usize, cells: &Cells, changed: Range<usize>, state: &State) -> io::Result<()> {
        self.save_cells(unit, cells, changed)?;
        self.save_state(state)
    }

    pub fn save_state(&mut self, state: &State) -> io::Result<()> {
        self.write_at(STATE_OFFSET, &state.encode())
    }

    fn save_cells(&mut self, unit: usize, cells: &Cells, changed: Range<usize>) -> io::Result<()> {
        let whole = changed.len() == self.layout.unit_bytes;
        self.write_at(self.layout.cells(unit) + changed.start, &cells.bytes[changed.clone()])?;
        if whole || cells.torn {
            let zeros = vec![0; self.layout.unit_bytes];
            let unstable = if cells.unstable.is_empty() { &zeros } else { &cells.unstable };
            self.write_at(self.layout.unstable(unit), unstable)?;
            let mut state = [0; UNIT_STATE_BYTES];
            state[..4].copy_from_slice(&cells.erases.to_le_bytes());
            state[4] = u8::from(cells.torn);
            self.write_at(self.layout.unit_state(unit), &state)?;
        }
        self.write_at(self.layout.programs(unit), &cells.programs)
    }

    fn read_cells(&mut self, unit: usize) -> io::Result<Cells> {
        let mut cells = Cells::new(self.layout.unit_bytes, self.layout.budgets);
        let mut state = [0; UNIT_STATE_BYTES];
        self.read_at(self.layout.unit_state(unit), &mut state)?;
        self.read_at(self.layout.cells(unit), &mut cells.bytes)?;
        self.read_at(self.layout.programs(unit), &mut cells.programs)?;
        cells.erases = u32::from_le_bytes([state[0], state[1], state[2], state[3]]);
        cells.torn = state[4] != 0;
        if cells.torn {
            cells.unstable = vec![0; self.layout.unit_bytes];
            self.read_at(self.layout.unstable(unit), &mut cells.unstable)?;
        }
        Ok(cells)
    }

    fn write_at(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at as u64))?;
        self.file.write_all(bytes)
    }

    fn read_at(&mut self, at: usize, buffer: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at as u64))?;
        self.file.read_exact(buffer)
    }
}

/// Locks an image file, waiting a little for a process that is about to let go of it: a program that was started while this one
/// had the file open holds the lock, too, until it runs.
pub(crate) fn lock(file: &File, path: &Path) -> Result<(), ImageError> {
    for attempt in 1.. {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if attempt < LOCK_ATTEMPTS => thread::sleep(Duration::from_millis(5)),
            Err(TryLockError::WouldBlock) => return Err(ImageError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(ImageError::Io { path: path.to_owned(), source }),
        }
    }
    Ok(())
}

fn encode_header(spec: &PartSpec) -> [u8; STATE_OFFSET] {
    let name = spec.name.as_bytes();
    assert!(name.len() <= GEOMETRY_OFFSET - NAME_OFFSET, "a part's name has at most 53 bytes");
    let mut header = [0; STATE_OFFSET];
    header[..8].copy_from_slice(&MAGIC);
    header[8..10].copy_from_slice(&VERSION.to_le_bytes());
    header[10] = name.len() as u8;
    header[NAME_OFFSET..NAME_OFFSET + name.len()].copy_from_slice(name);
    header[64..68].copy_from_slice(&u32::from(spec.part.unit_count).to_le_bytes());
    header[68..72].copy_from_slice(&spec.part.unit_size_bytes.to_le_bytes());
    header[72] = spec.part.program_unit_bytes;
    let crc = CRC.checksum(&header[..CRC_OFFSET]);
    header[CRC_OFFSET..].copy_from_slice(&crc.to_le_bytes());
    header
}

fn decode_header(header: &[u8], path: &Path) -> Result<PartSpec, ImageError> {
    let path = || PathBuf::from(path);
    let foreign = |why: &str| ImageError::Foreign { path: path(), why: why.to_owned() };
    if header.len() < MAGIC.len() || header[..8] != MAGIC {
        return Err(foreign("its first bytes are not NORNSIM"));
    }
    if header.len() < HEADER_BYTES {
        return Err(foreign(&format!("its {} bytes are less than an image's header", header.len())));
    }
    let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let version = u16::from_le_bytes([header[8], header[9]]);
    if version > VERSION {
        return Err(ImageError::Newer { path: path(), found: version, known: VERSION });
    }
    if CRC.checksum(&header[..CRC_OFFSET]) != number(CRC_OFFSET) {
        return Err(foreign("its header is damaged"));
    }
    let name = header[NAME_OFFSET..GEOMETRY_OFFSET].get(..usize::from(header[10])).unwrap_or_default();
    let name = String::from_utf8_lossy(name);
    let Some(spec) = catalogue::by_name(&name) else {
        return Err(foreign(&format!("no part is called {name:?}")));
    };
    let geometry = (number(64), number(68), header[72]);
    let expected = (u32::from(spec.part.unit_count), spec.part.unit_size_bytes, spec.part.program_unit_bytes);
    if geometry != expected {
        return Err(foreign(&format!("its geometry {geometry:?} is not that of {name}, {expected:?}")));
    }
    Ok(spec)
}
