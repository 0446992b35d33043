//! ekv: sorted files of keys and values, a transaction a file.
//!
//! Its configuration is features of the crate (`Cargo.toml`): pages of an erase unit, CRCs on, chunks of 256 bytes.
//! Keys are the object's number, big-endian, as transactions want them sorted. Its random seed is the count of erases
//! so far.

use std::mem::size_of;

use ekv::{CommitError, Config, Database, ReadError, WriteError};
use embassy_futures::block_on;
use embassy_sync_06::blocking_mutex::raw::NoopRawMutex;

use crate::device::{Device, DeviceError};
use crate::store::{Begin, Failure, Kind, Opening, Peer, Record};
use crate::whole_record::{Novelty, Values, WholeRecord, present};

struct Ekv(Database<Device, NoopRawMutex>);

fn open(device: Device, opening: Opening) -> Result<Ekv, Failure> {
    let mut config = Config::default();
    config.random_seed = match opening.begin {
        Begin::Format => 0,
        Begin::Mount => device.erase_counts().iter().sum::<u32>(),
    };
    let database = Database::new(device, config);
    match opening.begin {
        Begin::Format => block_on(database.format()).map_err(Failure::of)?,
        Begin::Mount => block_on(database.mount()).map_err(Failure::of)?,
    }
    Ok(Ekv(database))
}

impl Ekv {
    /// One transaction that writes these, by rising key.
    fn write<R: AsRef<[u8]>>(&mut self, records: &[(usize, R)]) -> Result<(), Failure> {
        block_on(async {
            let mut transaction = self.0.write_transaction().await;
            for (key, record) in records {
                let key = (*key as u16).to_be_bytes();
                transaction.write(&key, record.as_ref()).await.map_err(|error| match error {
                    WriteError::Full => Failure::Full,
                    other => Failure::of(other),
                })?;
            }
            transaction.commit().await.map_err(|error: CommitError<DeviceError>| Failure::of(error))
        })
    }
}

impl Values for Ekv {
    fn load(&mut self, key: usize) -> Result<Record, Failure> {
        let mut value = [0; ekv::config::MAX_VALUE_SIZE];
        let length = block_on(async {
            let transaction = self.0.read_transaction().await;
            transaction.read(&(key as u16).to_be_bytes(), &mut value).await
        });
        match length {
            Ok(length) => present(value.get(..length)),
            Err(ReadError::KeyNotFound) => present(None),
            Err(other) => Err(Failure::of(other)),
        }
    }

    fn save(&mut self, key: usize, record: &[u8], _: Novelty) -> Result<(), Failure> {
        self.write(&[(key, record)])
    }

    fn save_group(&mut self, records: &[(usize, Record)]) -> Result<(), Failure> {
        self.write(records)
    }

    fn ram_bytes(&self) -> usize {
        size_of::<Database<Device, NoopRawMutex>>() - size_of::<Device>()
    }
}

/// The one configuration.
pub fn peers() -> Vec<Peer> {
    vec![Peer {
        kind: Kind::Peer,
        name: "ekv",
        version: "1.0.0",
        notes: "features align-4, crc, page-size-8192, max-page-count-64, max-key-size-2, max-value-size-1024, \
                max-chunk-size-256, scratch-page-count-4; an object a value",
        open: Box::new(|device, opening| {
            Ok(Box::new(WholeRecord { values: open(device, opening)?, shape: opening.shape }))
        }),
        fill: None,
    }]
}
