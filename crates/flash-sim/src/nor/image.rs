//! A NOR part in a file that outlives the process.
//!
//! ```text
//! 0     header, 4096 bytes, as image_file.rs says: "NORNSIM\0", version 1
//!        64  units, 4 bytes        68  unit size, 4 bytes        72  program unit, 4 bytes
//!        96  erases 8 · reads 6 × 8 · programs 6 × 8
//! 4096  for each unit, 8 bytes: erases 4 · torn 1 · 0 0 0
//!       cells: the raw bytes of the part, from a multiple of 4096 on
//!       unstable bits, as long as the cells
//!       programs of each program unit, one byte each, where the part limits them
//! ```
//!
//! The file follows every program and erase, so that after the process is killed it holds what the part would; reads
//! are counted in it with the next of them, and at the end of a process that changed the part.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use norn_flash::NorPart;

use super::cells::{Cells, budgets};
use crate::catalogue;
use crate::counters::Counters;
use crate::error::ImageError;
use crate::image_bytes::ImageBytes;
use crate::image_file::{Access, HEADER_BYTES, Header, ImageFile, Kind, Stored};
use crate::image_kind::ImageKind;
use crate::instrument::State;
use crate::spec::PartSpec;

const KIND: Kind = Kind { kind: ImageKind::Nor, version: 1, numbers: 3, number_bytes: 4 };
const UNIT_STATE_BYTES: usize = 8;

impl Stored for Counters {
    fn to_numbers(&self) -> Vec<u64> {
        [&[self.erases][..], &self.reads_by_size, &self.programs_by_size].concat()
    }

    fn from_numbers(mut numbers: impl Iterator<Item = u64>) -> Counters {
        let mut next = || numbers.next().unwrap_or_default();
        Counters {
            erases: next(),
            reads_by_size: std::array::from_fn(|_| next()),
            programs_by_size: std::array::from_fn(|_| next()),
        }
    }
}

fn geometry(spec: &PartSpec) -> Vec<u32> {
    vec![spec.part.unit_count.into(), spec.part.unit_size_bytes, spec.part.program_unit_bytes.into()]
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

/// An open image file of a NOR part.
#[derive(Debug)]
pub(crate) struct Image {
    file: ImageFile,
    layout: Layout,
}

/// What an image file holds.
pub(crate) struct Opened {
    pub image: Image,
    pub spec: PartSpec,
    pub state: State<Counters>,
    pub units: Vec<Arc<Cells>>,
}

impl Image {
    /// A new file, which has no name before it is published.
    pub fn begin(
        path: &Path,
        spec: &PartSpec,
        state: &State<Counters>,
        units: &[Arc<Cells>],
    ) -> Result<Self, ImageError> {
        let layout = Layout::of(&spec.part);
        let header = (&KIND, &*spec.name, &*geometry(spec));
        let file = ImageFile::begin(path, header, layout.file_bytes(), |file| layout.save_all(file, state, units))?;
        Ok(Image { file, layout })
    }

    /// The bytes that such a file has.
    pub fn bytes_of(spec: &PartSpec, state: &State<Counters>, units: &[Arc<Cells>]) -> io::Result<ImageBytes> {
        let layout = Layout::of(&spec.part);
        let header = (&KIND, &*spec.name, &*geometry(spec));
        ImageFile::begin_in_memory(header, layout.file_bytes(), |file| layout.save_all(file, state, units))?
            .into_bytes()
    }

    pub fn publish(&mut self) -> Result<(), ImageError> {
        self.file.publish()
    }

    pub fn open(path: &Path, access: Access) -> Result<Opened, ImageError> {
        Self::opened(ImageFile::open(path, &KIND, access)?)
    }

    /// What the bytes of a file hold.
    pub fn of_bytes(bytes: ImageBytes) -> Result<Opened, ImageError> {
        Self::opened(ImageFile::of_bytes(bytes, &KIND)?)
    }

    fn opened((file, header): (ImageFile, Header)) -> Result<Opened, ImageError> {
        let file_bytes = |spec: &PartSpec| Layout::of(&spec.part).file_bytes();
        let spec = header.checked(catalogue::by_name(&header.name), geometry, file_bytes)?;
        let image = Image { file, layout: Layout::of(&spec.part) };
        let units = (0..image.layout.unit_count).map(|unit| image.read_cells(unit).map(Arc::new));
        let units = units.collect::<io::Result<_>>().map_err(|error| header.io_error(error))?;
        Ok(Opened { image, state: header.state(), spec, units })
    }

    pub fn save(&self, unit: usize, cells: &Cells, changed: Range<usize>, state: &State<Counters>) -> io::Result<()> {
        self.layout.save_cells(&self.file, unit, cells, changed)?;
        self.file.save_state(state)
    }

    pub fn save_reads(&self, state: &State<Counters>) -> io::Result<()> {
        self.file.save_reads(state)
    }

    fn read_cells(&self, unit: usize) -> io::Result<Cells> {
        let (file, layout) = (&self.file, &self.layout);
        let mut cells = Cells::new(layout.unit_bytes, layout.budgets);
        let mut state = [0; UNIT_STATE_BYTES];
        file.read_at(layout.unit_state(unit) as u64, &mut state)?;
        file.read_at(layout.cells(unit) as u64, &mut cells.bytes)?;
        file.read_at(layout.programs(unit) as u64, &mut cells.programs)?;
        cells.erases = u32::from_le_bytes([state[0], state[1], state[2], state[3]]);
        cells.torn = state[4] != 0;
        if cells.torn {
            cells.unstable = vec![0; layout.unit_bytes];
            file.read_at(layout.unstable(unit) as u64, &mut cells.unstable)?;
        }
        Ok(cells)
    }
}

impl Layout {
    fn save_all(&self, file: &ImageFile, state: &State<Counters>, units: &[Arc<Cells>]) -> io::Result<()> {
        for (unit, cells) in units.iter().enumerate() {
            self.save_cells(file, unit, cells, 0..cells.bytes.len())?;
        }
        file.save_state(state)
    }

    fn save_cells(&self, file: &ImageFile, unit: usize, cells: &Cells, changed: Range<usize>) -> io::Result<()> {
        let whole = changed.len() == self.unit_bytes;
        file.write_at((self.cells(unit) + changed.start) as u64, &cells.bytes[changed])?;
        if whole || cells.torn {
            let zeros = vec![0; self.unit_bytes];
            let unstable = if cells.unstable.is_empty() { &zeros } else { &cells.unstable };
            file.write_at(self.unstable(unit) as u64, unstable)?;
            let mut state = [0; UNIT_STATE_BYTES];
            state[..4].copy_from_slice(&cells.erases.to_le_bytes());
            state[4] = u8::from(cells.torn);
            file.write_at(self.unit_state(unit) as u64, &state)?;
        }
        file.write_at(self.programs(unit) as u64, &cells.programs)
    }
}
