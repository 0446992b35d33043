//! wasefire-store: a log of entries over up to 64 pages of up to 4 KB.
//!
//! It takes no pages of more than 4 KB, so that on this part only the lower half of each erase unit serves. Keys are
//! the object's number, below 4,096. It keeps two bytes of RAM for each entry, and allocates.

use std::borrow::Cow;
use std::mem::size_of;

use norn_flash::Nor;
use wasefire_error::{Code, Error};
use wasefire_store::{NO_CAPACITY, Storage, StorageIndex, Store as Log, StoreUpdate};

use crate::device::Device;
use crate::store::{Begin, Failure, Kind, Opening, Peer, Record};
use crate::whole_record::{Novelty, Values, WholeRecord, present};

/// The largest page that the store takes.
const PAGE_BYTES: usize = 4096;
/// Keys that the store has.
const KEYS_MAX: usize = 4096;
/// Bytes of RAM for each entry.
const ENTRY_BYTES: usize = 2;
/// Bytes of an entry's header.
const HEADER_BYTES: usize = 4;

struct Pages(Device);

impl Pages {
    fn address(&self, index: StorageIndex) -> u32 {
        index.page as u32 * self.0.part().unit_size_bytes + index.byte as u32
    }
}

impl Storage for Pages {
    fn word_size(&self) -> usize {
        4
    }

    fn page_size(&self) -> usize {
        PAGE_BYTES
    }

    fn num_pages(&self) -> usize {
        usize::from(self.0.part().unit_count)
    }

    fn max_word_writes(&self) -> usize {
        2
    }

    fn max_page_erases(&self) -> usize {
        65_535
    }

    fn read_slice(&self, index: StorageIndex, length: usize) -> Result<Cow<'_, [u8]>, Error> {
        let mut bytes = vec![0; length];
        self.0.read_at(self.address(index), &mut bytes).map_err(device_failed)?;
        Ok(Cow::Owned(bytes))
    }

    fn write_slice(&mut self, index: StorageIndex, value: &[u8]) -> Result<(), Error> {
        self.0.program_at(self.address(index), value).map_err(device_failed)
    }

    fn erase_page(&mut self, page: usize) -> Result<(), Error> {
        self.0.erase_unit(page as u16).map_err(device_failed)
    }
}

fn device_failed<E>(_: E) -> Error {
    Error::world(Code::Generic)
}

struct Wasefire {
    log: Log<Pages>,
    objects: usize,
    /// Bytes of an entry's transient copy.
    buffer_bytes: usize,
}

fn open(device: Device, opening: Opening) -> Result<Wasefire, Failure> {
    if opening.begin == Begin::Format {
        (0..device.part().unit_count).try_for_each(|unit| device.erase_unit(unit)).map_err(Failure::of)?;
    }
    let log = Log::new(Pages(device)).map_err(|(error, _)| failure(error))?;
    Ok(Wasefire { log, objects: opening.objects, buffer_bytes: HEADER_BYTES + opening.shape.bytes() })
}

fn failure(error: Error) -> Failure {
    if error == NO_CAPACITY { Failure::Full } else { Failure::of(error) }
}

impl Values for Wasefire {
    fn load(&mut self, key: usize) -> Result<Record, Failure> {
        present(self.log.find(key).map_err(failure)?.as_deref())
    }

    fn save(&mut self, key: usize, record: &[u8], _: Novelty) -> Result<(), Failure> {
        if key >= KEYS_MAX {
            return Err(Failure::Full);
        }
        self.log.insert(key, record).map_err(failure)
    }

    fn save_group(&mut self, records: &[(usize, Record)]) -> Result<(), Failure> {
        let insert = |(key, record): &(usize, Record)| StoreUpdate::Insert { key: *key, value: record.clone() };
        let updates: Vec<StoreUpdate<Vec<u8>>> = records.iter().map(insert).collect();
        self.log.transaction(&updates).map_err(failure)
    }

    fn ram_bytes(&self) -> usize {
        size_of::<Log<Pages>>() - size_of::<Pages>() + ENTRY_BYTES * self.objects + self.buffer_bytes
    }
}

/// The one configuration.
pub fn peers() -> Vec<Peer> {
    vec![Peer {
        kind: Kind::Peer,
        name: "wasefire-store",
        version: "0.3.2",
        notes: "pages of 4 KB, the most that it takes: the lower half of each unit; words of 4 bytes; an object a \
                value",
        open: Box::new(|device, opening| {
            Ok(Box::new(WholeRecord { values: open(device, opening)?, shape: opening.shape }))
        }),
        fill: None,
    }]
}
