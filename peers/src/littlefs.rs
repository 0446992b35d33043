//! littlefs (by littlefs2): a file an object, in several directories.
//!
//! Files of 100 bytes are inline, that is within their directory's metadata pair; an update is one commit to it. A
//! field is written at its place in the file, which closing the file commits. With one directory the metadata pairs
//! form a chain that each look-up follows; with as many directories as fit, look-ups are short.
//!
//! The file system keeps references to its memory and its storage, which live for as long as the program: a mount leaks
//! them.

use std::mem::size_of;

use littlefs2::consts::{U1, U128};
use littlefs2::driver::Storage;
use littlefs2::fs::{Allocation, FileAllocation, Filesystem};
use littlefs2::io::{Error, OpenSeekFrom, Result as LfsResult};
use littlefs2::path::PathBuf;
use norn_flash::Nor;
use norn_flash_sim::SimError;

use crate::device::{Device, DeviceError};
use crate::store::{FIELDS, Failure, Kind, Opening, Peer, Record, Store, Update, Value, WIDTH, from_bytes, to_bytes};

const BLOCK_BYTES: usize = 8192;

/// A part of `BLOCKS` erase units.
struct Blocks<const BLOCKS: usize>(Device);

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

struct Littlefs<const BLOCKS: usize> {
    files: Filesystem<'static, Blocks<BLOCKS>>,
    directories: usize,
}

/// Directories for the objects of a part: all of its pairs of blocks but two. Fewer hold fewer objects, and read more.
fn directories(blocks: usize) -> usize {
    blocks / 2 - 2
}

impl<const BLOCKS: usize> Littlefs<BLOCKS> {
    fn open(device: Device, opening: Opening) -> Result<Self, Failure> {
        let storage = Box::leak(Box::new(Blocks(device)));
        if let Opening::Format { .. } = opening {
            Filesystem::format(storage).map_err(failure)?;
        }
        let allocation = Box::leak(Box::new(Filesystem::allocate()));
        let files = Filesystem::mount(allocation, storage).map_err(failure)?;
        let store = Littlefs { files, directories: directories(BLOCKS) };
        if let Opening::Format { .. } = opening {
            (0..store.directories)
                .try_for_each(|number| store.files.create_dir(&path(format!("{number}"))))
                .map_err(failure)?;
        }
        Ok(store)
    }

    fn path(&self, object: usize) -> PathBuf {
        path(format!("{}/{object}", object % self.directories))
    }

    fn read<const N: usize>(&self, object: usize, field: usize) -> Result<Vec<u8>, Failure> {
        let start = OpenSeekFrom::Start((field * WIDTH) as u32);
        let (bytes, _) = self.files.read_chunk::<N>(&self.path(object), start).map_err(failure)?;
        Ok(bytes.to_vec())
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

impl<const BLOCKS: usize> Store for Littlefs<BLOCKS> {
    fn create(&mut self, object: usize, record: &Record) -> Result<(), Failure> {
        self.put_object(object, record)
    }

    fn put_field(&mut self, update: Update) -> Result<(), Failure> {
        let start = OpenSeekFrom::Start((update.field * WIDTH) as u32);
        self.files.write_chunk(&self.path(update.object), &update.value, start).map_err(failure)
    }

    fn put_object(&mut self, object: usize, record: &Record) -> Result<(), Failure> {
        self.files.write(&self.path(object), &to_bytes(record)).map_err(failure)
    }

    fn put_group(&mut self, _: &[Update]) -> Result<(), Failure> {
        Err(Failure::Unsupported("one file a commit"))
    }

    fn get_field(&mut self, object: usize, field: usize) -> Result<Value, Failure> {
        let bytes = self.read::<WIDTH>(object, field)?;
        bytes.try_into().map_err(|_| Failure::Failed("a short file".to_owned()))
    }

    fn get_object(&mut self, object: usize) -> Result<Record, Failure> {
        from_bytes(&self.read::<{ FIELDS * WIDTH }>(object, 0)?)
    }

    fn ram_bytes(&self) -> usize {
        size_of::<Allocation<Blocks<BLOCKS>>>() + size_of::<FileAllocation<Blocks<BLOCKS>>>()
    }
}

/// The one configuration, for the two sizes of part that are measured.
pub fn peers() -> Vec<Peer> {
    vec![Peer {
        kind: Kind::Peer,
        name: "littlefs2",
        version: "0.8.1 (littlefs2-sys 0.4.0)",
        notes: "reads and programs of 4 bytes, blocks of a unit, caches of 128 bytes, look-ahead of 8, block cycles 500; an object \
                an inline file, in as many directories as there are pairs of blocks, less two",
        open: Box::new(|device, opening| match device.part().unit_count {
            56 => Ok(Box::new(Littlefs::<56>::open(device, opening)?)),
            16 => Ok(Box::new(Littlefs::<16>::open(device, opening)?)),
            _ => Err(Failure::Unsupported("a part of another size")),
        }),
        fill: None,
    }]
}
