//! ekv: sorted files of keys and values, a transaction a file; calls of 1, 20 and 100 keys.
//!
//! Its configuration is features of the crate (`Cargo.toml`): pages of an erase unit, CRCs on, chunks of 256 bytes,
//! keys and values of 4 bytes, words of 2. Its random seed is the count of erases so far.

use std::mem::size_of;

use ekv::{CommitError, Config, Database, ReadError, WriteError, WriteTransaction};
use embassy_futures::block_on;
use embassy_sync_06::blocking_mutex::raw::NoopRawMutex;

use crate::device::{Device, DeviceError};
use crate::map::{Contender, Failure, Opening, SortedMap};

type Ekv = Database<Device, NoopRawMutex>;
type Transaction<'a> = WriteTransaction<'a, Device, NoopRawMutex>;

/// A database and how many keys a transaction takes.
struct Batched {
    database: Ekv,
    batch: usize,
}

fn failure(error: WriteError<DeviceError>) -> Failure {
    match error {
        WriteError::Full => Failure::Full(0),
        other => Failure::of(other),
    }
}

impl Batched {
    fn open(device: Device, opening: Opening, batch: usize) -> Result<Self, Failure> {
        let mut config = Config::default();
        config.random_seed = device.erase_counts().iter().sum::<u32>();
        let database = Database::new(device, config);
        match opening {
            Opening::Format => block_on(database.format()).map_err(Failure::of)?,
            Opening::Mount => block_on(database.mount()).map_err(Failure::of)?,
        }
        Ok(Batched { database, batch })
    }

    fn commit(transaction: Transaction<'_>) -> Result<(), Failure> {
        block_on(transaction.commit()).map_err(|error: CommitError<DeviceError>| Failure::of(error))
    }
}

impl SortedMap for Batched {
    fn batch(&self) -> usize {
        self.batch
    }

    fn insert(&mut self, entries: &[(u32, u32)]) -> Result<(), Failure> {
        let mut transaction = block_on(self.database.write_transaction());
        for (key, value) in entries {
            block_on(transaction.write(&key.to_be_bytes(), &value.to_le_bytes())).map_err(failure)?;
        }
        Self::commit(transaction)
    }

    fn update(&mut self, entries: &[(u32, u32)]) -> Result<(), Failure> {
        self.insert(entries)
    }

    fn remove(&mut self, keys: &[u32]) -> Result<(), Failure> {
        let mut transaction = block_on(self.database.write_transaction());
        for key in keys {
            block_on(transaction.delete(&key.to_be_bytes())).map_err(failure)?;
        }
        Self::commit(transaction)
    }

    fn get(&mut self, key: u32) -> Result<Option<u32>, Failure> {
        let mut value = [0; 4];
        let length = block_on(async {
            let transaction = self.database.read_transaction().await;
            transaction.read(&key.to_be_bytes(), &mut value).await
        });
        match length {
            Ok(4) => Ok(Some(u32::from_le_bytes(value))),
            Err(ReadError::KeyNotFound) => Ok(None),
            other => Err(Failure::of(other)),
        }
    }

    fn count_in_order(&mut self) -> Result<u32, Failure> {
        block_on(async {
            let transaction = self.database.read_transaction().await;
            let mut cursor = transaction.read_all().await.map_err(Failure::of)?;
            let (mut key, mut value, mut last, mut count) = ([0; 4], [0; 4], None, 0);
            while cursor.next(&mut key, &mut value).await.map_err(Failure::of)?.is_some() {
                if last.replace(key) >= Some(key) {
                    return Err(Failure::Failed("keys that do not ascend".to_owned()));
                }
                count += 1;
            }
            Ok(count)
        })
    }

    fn ram_bytes(&self) -> usize {
        size_of::<Ekv>() - size_of::<Device>()
    }
}

/// The three batches.
pub fn contenders() -> Vec<Contender> {
    let notes = "features align-2, crc, max-key-size-4, max-value-size-4, max-chunk-size-256, scratch-page-count-4; \
                 pages of a unit; a transaction of as many keys";
    let contender = |name, batch| Contender {
        name,
        version: "1.0.0",
        notes,
        open: Box::new(move |device, opening| Ok(Box::new(Batched::open(device, opening, batch)?))),
        fill: None,
    };
    vec![contender("ekv, 1 key a transaction", 1), contender("ekv, 20 keys", 20), contender("ekv, 100 keys", 100)]
}
