//! littlefs (by littlefs2): a file an object, in several directories.
//!
//! Files that fit the cache are inline, that is within their directory's metadata pair, and an update is one commit
//! to it; so caches have 128 bytes, or 1,024 for larger objects. A field is written at its place in the file, which
//! closing the file commits. With one directory the metadata pairs form a chain that each look-up follows; with as
//! many directories as fit, look-ups are short.
//!
//! The file system keeps references to its memory and its storage, which live for as long as the program: a mount
//! leaks them.

use std::mem::size_of;

use littlefs2::consts::{U1, U128, U1024};
use littlefs2::driver::Storage;
use littlefs2::fs::{Allocation, File, FileAllocation, Filesystem};
use littlefs2::io::{Error, OpenSeekFrom, Result as LfsResult, SeekFrom};
use littlefs2::path::PathBuf;
use norn_flash::Nor;
use norn_flash_sim::SimError;

use crate::device::{Device, DeviceError};
use crate::store::{Begin, Failure, Kind, Opening, Peer, Record, Shape, Store, Update, Value};

const BLOCK_BYTES: usize = 8192;
/// Objects of more bytes get the larger cache.
const SMALL_BYTES_MAX: usize = 128;

/// A part of `BLOCKS` erase units, with caches of 128 bytes.
struct Blocks<const BLOCKS: usize>(Device);

/// The same, with caches of 1,024 bytes.
struct LargeCaches<const BLOCKS: usize>(Blocks<BLOCKS>);

impl<const BLOCKS: usize> From<Device> for Blocks<BLOCKS> {
    fn from(device: Device) -> Self {
        Blocks(device)
    }
}

impl<const BLOCKS: usize> From<Device> for LargeCaches<BLOCKS> {
    fn from(device: Device) -> Self {
        LargeCaches(Blocks(device))
    }
}

impl<const BLOCKS: usize> Storage for LargeCaches<BLOCKS> {
    const READ_SIZE: usize = Blocks::<BLOCKS>::READ_SIZE;
    const WRITE_SIZE: usize = Blocks::<BLOCKS>::WRITE_SIZE;
    const BLOCK_SIZE: usize = BLOCK_BYTES;
    const BLOCK_COUNT: usize = BLOCKS;
    const BLOCK_CYCLES: isize = Blocks::<BLOCKS>::BLOCK_CYCLES;
    type CACHE_SIZE = U1024;
    type LOOKAHEAD_SIZE = U1;

    fn read(&mut self, offset: usize, buffer: &mut [u8]) -> LfsResult<usize> {
        self.0.read(offset, buffer)
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) -> LfsResult<usize> {
        self.0.write(offset, bytes)
    }

    fn erase(&mut self, offset: usize, len: usize) -> LfsResult<usize> {
        self.0.erase(offset, len)
    }
}

impl<const BLOCKS: usize> Storage for Blocks<BLOCKS> {
    const READ_SIZE: usize = 4;
    const WRITE_SIZE: usize = 4;
    const BLOCK_SIZE: usize = BLOCK_BYTES;
    const BLOCK_COUNT: usize = BLOCKS;
    const BLOCK_CYCLES: isize = 500;
    type CACHE_SIZE = U128;
    type LOOKAHEAD_SIZE = U1;

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

struct Littlefs<S: Storage + 'static> {
    files: Filesystem<'static, S>,
    directories: usize,
    shape: Shape,
}

/// Directories for the objects of a part: all of its pairs of blocks but two. Fewer hold fewer objects, and read more.
fn directories(blocks: usize) -> usize {
    blocks / 2 - 2
}

impl<S: Storage + From<Device> + 'static> Littlefs<S> {
    fn open(device: Device, opening: Opening) -> Result<Self, Failure> {
        let storage = Box::leak(Box::new(S::from(device)));
        if opening.begin == Begin::Format {
            Filesystem::format(storage).map_err(failure)?;
        }
        let allocation = Box::leak(Box::new(Filesystem::allocate()));
        let files = Filesystem::mount(allocation, storage).map_err(failure)?;
        let store = Littlefs { files, directories: directories(S::BLOCK_COUNT), shape: opening.shape };
        if opening.begin == Begin::Format {
            (0..store.directories)
                .try_for_each(|number| store.files.create_dir(&path(format!("{number}"))))
                .map_err(failure)?;
        }
        Ok(store)
    }

    fn boxed(device: Device, opening: Opening) -> Result<Box<dyn Store>, Failure> {
        Ok(Box::new(Self::open(device, opening)?))
    }

    fn path(&self, object: usize) -> PathBuf {
        path(format!("{}/{object}", object % self.directories))
    }

    /// Reads so many bytes of an object.
    fn read(&self, object: usize, from: usize, len: usize) -> Result<Record, Failure> {
        let mut bytes = vec![0; len];
        let read = File::open_and_then(&self.files, &self.path(object), |file| {
            file.seek(SeekFrom::Start(from as u32))?;
            file.read(&mut bytes)
        });
        if read.map_err(failure)? == len { Ok(bytes) } else { Err(Failure::Failed("a short file".to_owned())) }
    }
}

fn path(text: String) -> PathBuf {
    PathBuf::try_from(text.as_str()).expect("a short name")
}

fn failure(error: Error) -> Failure {
    match error {
        Error::NO_SPACE => Failure::Full,
        other => Failure::of(other),
    }
}

impl<S: Storage + From<Device> + 'static> Store for Littlefs<S> {
    fn create(&mut self, object: usize, record: &[u8]) -> Result<(), Failure> {
        self.put_object(object, record)
    }

    fn put_field(&mut self, update: Update) -> Result<(), Failure> {
        let start = OpenSeekFrom::Start(self.shape.range(update.field).start as u32);
        self.files.write_chunk(&self.path(update.object), &update.value, start).map_err(failure)
    }

    fn put_object(&mut self, object: usize, record: &[u8]) -> Result<(), Failure> {
        self.files.write(&self.path(object), record).map_err(failure)
    }

    fn put_group(&mut self, _: &[Update]) -> Result<(), Failure> {
        Err(Failure::Unsupported("one file a commit"))
    }

    fn get_field(&mut self, object: usize, field: usize) -> Result<Value, Failure> {
        let bytes = self.read(object, self.shape.range(field).start, self.shape.width)?;
        Ok(Value::new(&bytes))
    }

    fn get_object(&mut self, object: usize) -> Result<Record, Failure> {
        self.read(object, 0, self.shape.bytes())
    }

    fn ram_bytes(&self) -> usize {
        size_of::<Allocation<S>>() + size_of::<FileAllocation<S>>()
    }
}

/// The one configuration, for the two sizes of part that are measured.
pub fn peers() -> Vec<Peer> {
    vec![Peer {
        kind: Kind::Peer,
        name: "littlefs2",
        version: "0.8.1 (littlefs2-sys 0.4.0)",
        notes: "reads and programs of 4 bytes, blocks of a unit, caches of 128 bytes (1,024 for objects of 1,000), \
                look-ahead of 8, block cycles 500; an object an inline file, in as many directories as there are pairs \
                of blocks, less two",
        open: Box::new(|device, opening| match (device.part().unit_count, opening.shape.bytes() <= SMALL_BYTES_MAX) {
            (56, true) => Littlefs::<Blocks<56>>::boxed(device, opening),
            (56, false) => Littlefs::<LargeCaches<56>>::boxed(device, opening),
            (16, true) => Littlefs::<Blocks<16>>::boxed(device, opening),
            _ => Err(Failure::Unsupported("such objects on a part of another size")),
        }),
        fill: None,
    }]
}
