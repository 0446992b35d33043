//! ekv as a log: keys are times, a transaction is a file; calls of 1 and 100 readings.
//!
//! Its configuration is features of the crate (`Cargo.toml`): pages of an erase unit, CRCs on, chunks of 256 bytes,
//! words of 2. It has no ring. A database that is full takes no deletions either, so that a share of the part is used,
//! and each transaction deletes as many of the oldest keys as it writes.

use std::mem::size_of;
use std::ops::{Bound, Range};

use ekv::{Config, Database, ReadTransaction, WriteError};
use embassy_futures::block_on;
use embassy_sync_06::blocking_mutex::raw::NoopRawMutex;
use norn_flash::Nor;

use crate::device::{Device, DeviceError};
use crate::reading_log::{Contender, Failure, Log, Open, Opening, Query, Reading, Show};

type Ekv = Database<Device, NoopRawMutex>;

/// Bytes of a key, its value and their header in a file, about: a part of 2 MB was full after 190,700 of them.
const RECORD_BYTES: u32 = 11;

/// Percent of what fits that is kept.
const KEPT_PERCENT: u32 = 50;

/// A database and how many readings a transaction takes.
struct Batched {
    database: Ekv,
    batch: usize,
    /// Readings that there may be.
    count_max: u32,
    /// The numbers of the oldest reading and of the next, which a program can know.
    kept: Option<(u32, u32)>,
}

impl Batched {
    fn open(device: Device, opening: Opening, batch: usize) -> Result<Self, Failure> {
        let mut config = Config::default();
        config.random_seed = device.erase_counts().iter().sum::<u32>();
        let count_max = device.part().size_bytes() / RECORD_BYTES * KEPT_PERCENT / 100;
        let database = Database::new(device, config);
        match opening {
            Opening::Format => block_on(database.format()).map_err(Failure::of)?,
            Opening::Mount => block_on(database.mount()).map_err(Failure::of)?,
        }
        Ok(Batched { database, batch, count_max, kept: None })
    }

    /// The numbers of the oldest reading and of the next: `next`.
    fn kept(&mut self, next: u32) -> Result<(u32, u32), Failure> {
        if let Some(kept) = self.kept {
            return Ok(kept);
        }
        Ok((crate::reading_log::oldest(self)?.map_or(next, |oldest| Reading::number_at(oldest.at)), next))
    }

    /// One transaction, by rising keys: the oldest are deleted, the new ones written.
    async fn replace(&mut self, oldest: Range<u32>, readings: &[Reading]) -> Result<(), Failure> {
        let mut transaction = self.database.write_transaction().await;
        for number in oldest {
            transaction.delete(&Reading::numbered(number).at.to_be_bytes()).await.map_err(failure)?;
        }
        for Reading { at, value } in readings {
            transaction.write(&at.to_be_bytes(), &value.to_le_bytes()).await.map_err(failure)?;
        }
        transaction.commit().await.map_err(Failure::of)
    }
}

fn failure(error: WriteError<DeviceError>) -> Failure {
    match error {
        WriteError::Full => Failure::Full("there is no room in a transaction that deletes as many".to_owned()),
        other => Failure::of(other),
    }
}

impl Log for Batched {
    fn batch(&self) -> usize {
        self.batch
    }

    fn append(&mut self, readings: &[Reading]) -> Result<(), Failure> {
        let count = readings.len() as u32;
        let (oldest, next) = self.kept(Reading::number_at(readings[0].at))?;
        let forgotten = (next - oldest + count).saturating_sub(self.count_max);
        block_on(self.replace(oldest..oldest + forgotten, readings))?;
        self.kept = Some((oldest + forgotten, next + count));
        Ok(())
    }

    fn range(&mut self, from: u32, to: u32, show: &mut Show<'_>) -> Result<(), Failure> {
        let (from, to) = (from.to_be_bytes(), to.to_be_bytes());
        block_on(async {
            let transaction: ReadTransaction<'_, Device, NoopRawMutex> = self.database.read_transaction().await;
            let bounds = (Bound::Included(&from[..]), Bound::Excluded(&to[..]));
            let mut cursor = transaction.read_range(bounds).await.map_err(Failure::of)?;
            let (mut key, mut value) = ([0; 4], [0; 4]);
            while cursor.next(&mut key, &mut value).await.map_err(Failure::of)?.is_some() {
                let reading = Reading { at: u32::from_be_bytes(key), value: u16::from_le_bytes([value[0], value[1]]) };
                if show(reading) == Query::Ends {
                    break;
                }
            }
            Ok(())
        })
    }

    fn ram_bytes(&self) -> usize {
        size_of::<Ekv>() - size_of::<Device>() + size_of::<Option<(u32, u32)>>()
    }
}

fn open(batch: usize) -> Open {
    Box::new(move |device, opening| Ok(Box::new(Batched::open(device, opening, batch)?)))
}

/// Single and batched.
pub fn contenders() -> Vec<Contender> {
    let notes = "features align-2, crc, max-key-size-4, max-value-size-4, max-chunk-size-256, scratch-page-count-4; \
                 pages of a unit; a transaction of as many readings, which deletes as many of the oldest when half of \
                 what fits is there";
    let contender = |name, batch, fill| Contender { name, version: "1.0.0", notes, open: open(batch), fill };
    vec![contender("ekv, 1 reading a transaction", 1, Some(open(100))), contender("ekv, 100 readings", 100, None)]
}
