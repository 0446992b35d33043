//! FlashDB's time-series database (TSDB), by flashdb-rs, which brings FlashDB's sources.
//!
//! A sector is an erase unit; when all are used, the oldest is erased for the newest readings. Times have 32 bits, and
//! a write changes single bits (`FDB_WRITE_GRAN` 1), the crate's default.

use std::mem::size_of;

use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};
use flashdb_rs::{TSDB, TSLStatus, fdb_tsdb};
use norn_flash::Nor;

use crate::device::{Device, DeviceError};
use crate::reading_log::{Contender, Failure, Log, Opening, Query, Reading, Show, single};

/// Bytes of a sector: an erase unit.
const SECTOR_BYTES: usize = ekv::config::PAGE_SIZE;
/// The longest entry.
const ENTRY_BYTES_MAX: usize = 2;

/// The part without waiting.
struct Flash(Device);

impl ErrorType for Flash {
    type Error = DeviceError;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.0.read_at(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.0.part().size_bytes() as usize
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = SECTOR_BYTES;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), DeviceError> {
        let units = from as usize / SECTOR_BYTES..to as usize / SECTOR_BYTES;
        units.into_iter().try_for_each(|unit| self.0.erase_unit(unit as u16))
    }

    /// FlashDB writes single bytes; a word of the part takes its other byte as it is.
    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        let (start, end) = (offset & !1, (offset + bytes.len() as u32).next_multiple_of(2));
        let mut words = vec![0xFF; (end - start) as usize];
        words[(offset - start) as usize..][..bytes.len()].copy_from_slice(bytes);
        self.0.program_at(start, &words)
    }
}

struct Tsdb(Box<TSDB<Flash>>);

impl Tsdb {
    fn open(device: Device, opening: Opening) -> Result<Self, Failure> {
        let mut database = Box::new(TSDB::new(Flash(device)));
        database.set_not_formatable(opening == Opening::Mount);
        database.init(ENTRY_BYTES_MAX).map_err(Failure::of)?;
        if opening == Opening::Format {
            database.reset().map_err(Failure::of)?;
        }
        Ok(Tsdb(database))
    }
}

impl Log for Tsdb {
    fn append(&mut self, readings: &[Reading]) -> Result<(), Failure> {
        let Reading { at, value } = single(readings)?;
        self.0.append_with_timestamp(at.into(), &value.to_le_bytes()).map_err(Failure::of)
    }

    fn range(&mut self, from: u32, to: u32, show: &mut Show<'_>) -> Result<(), Failure> {
        let mut failure = None;
        let until = i64::from(to.min(i32::MAX as u32)) - 1;
        self.0.tsdb_iter_by_time(from.into(), until, |database, entry| {
            // What a cut left half written.
            if entry.status() != TSLStatus::Write {
                return true;
            }
            match database.get_value(entry).map_err(Failure::of).and_then(value) {
                Ok(value) => show(Reading { at: entry.time() as u32, value }) == Query::GoesOn,
                Err(error) => {
                    failure = Some(error);
                    false
                }
            }
        });
        failure.map_or(Ok(()), Err)
    }

    fn ram_bytes(&self) -> usize {
        size_of::<fdb_tsdb>()
    }
}

fn value(bytes: Option<Vec<u8>>) -> Result<u16, Failure> {
    match bytes.as_deref() {
        Some(&[low, high]) => Ok(u16::from_le_bytes([low, high])),
        other => Err(Failure::Failed(format!("an entry with the value {other:?}"))),
    }
}

/// The one configuration.
pub fn contenders() -> Vec<Contender> {
    vec![Contender {
        name: "FlashDB, TSDB",
        version: "2.1.1 (flashdb-rs 0.2.1)",
        notes: "sectors of a unit, times of 32 bits, `FDB_WRITE_GRAN` 1, rollover; an entry's value has 2 bytes",
        open: Box::new(|device, opening| Ok(Box::new(Tsdb::open(device, opening)?))),
        fill: None,
    }]
}
