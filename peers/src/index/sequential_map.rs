//! sequential-storage's map: items by key in the order of writing.
//!
//! Its flash is this part with words of 2 bytes; a page is an erase unit. It keeps no order, so that it takes part in
//! all but ranges. What it repairs by itself (`try_repair`, inside each call) is all the repair there is.

use std::mem::size_of;

use embassy_futures::block_on;
use norn_flash::Nor;
use sequential_storage::Error;
use sequential_storage::cache::key_pointers::{ArrayKeyPointers, HeapKeyPointers};
use sequential_storage::cache::page_pointers::{ArrayPagePointers, HeapPagePointers};
use sequential_storage::cache::page_states::{ArrayPageStates, HeapPageStates};
use sequential_storage::cache::{Cache, CacheImpl};
use sequential_storage::map::{MapConfig, MapStorage};

use crate::benchmark::KEYS;
use crate::device::{Device, DeviceError};
use crate::map::{Contender, Failure, Open, Opening, SortedMap, single};

/// Bytes of a page: an erase unit.
const PAGE_BYTES: usize = ekv::config::PAGE_SIZE;
/// The buffer that every call wants: a key and a value.
const BUFFER_BYTES: usize = 8;

type Flash = crate::ports::Flash<2, PAGE_BYTES>;

/// One map.
struct Map<C: CacheImpl<u32>> {
    storage: MapStorage<u32, Flash, C>,
    buffer: [u8; BUFFER_BYTES],
    cache_bytes: usize,
}

impl<C: CacheImpl<u32>> Map<C> {
    fn open(device: Device, opening: Opening, cache: C, cache_bytes: usize) -> Result<Self, Failure> {
        let config = MapConfig::try_new(0..device.part().size_bytes()).map_err(Failure::of)?;
        let mut storage = MapStorage::new(crate::ports::Flash(device), config, cache);
        if opening == Opening::Format {
            block_on(storage.erase_all()).map_err(failure)?;
        }
        Ok(Map { storage, buffer: [0; BUFFER_BYTES], cache_bytes })
    }
}

fn failure(error: Error<DeviceError>) -> Failure {
    match error {
        Error::FullStorage => Failure::Full(0),
        other => Failure::of(other),
    }
}

impl<C: CacheImpl<u32>> SortedMap for Map<C> {
    fn insert(&mut self, entries: &[(u32, u32)]) -> Result<(), Failure> {
        let (key, value) = single(entries)?;
        block_on(self.storage.store_item(&mut self.buffer, &key, &value)).map_err(failure)
    }

    fn update(&mut self, entries: &[(u32, u32)]) -> Result<(), Failure> {
        self.insert(entries)
    }

    fn remove(&mut self, keys: &[u32]) -> Result<(), Failure> {
        let key = single(keys)?;
        block_on(self.storage.remove_item(&mut self.buffer, &key)).map_err(failure)
    }

    fn get(&mut self, key: u32) -> Result<Option<u32>, Failure> {
        block_on(self.storage.fetch_item::<u32>(&mut self.buffer, &key)).map_err(failure)
    }

    fn count_in_order(&mut self) -> Result<u32, Failure> {
        Err(Failure::Unsupported("no order"))
    }

    fn ram_bytes(&self) -> usize {
        size_of::<MapStorage<u32, Flash, C>>() - size_of::<Flash>() + self.cache_bytes + BUFFER_BYTES
    }
}

fn uncached() -> Open {
    Box::new(|device, opening| Ok(Box::new(Map::open(device, opening, Cache::new_uncached(), 0)?)))
}

/// Caches of every page and every key of the benchmark.
fn cached() -> Open {
    Box::new(|device, opening| {
        let (pages, keys) = (usize::from(device.part().unit_count), KEYS as usize);
        let cache =
            Cache::new(HeapPageStates::new(pages), HeapPagePointers::new(pages), HeapKeyPointers::<u32>::new(keys));
        let page_bytes = size_of::<ArrayPageStates<1>>() + size_of::<ArrayPagePointers<1>>();
        let bytes = pages * page_bytes + keys * size_of::<ArrayKeyPointers<u32, 1>>();
        Ok(Box::new(Map::open(device, opening, cache, bytes)?))
    })
}

/// With and without caches.
pub fn contenders() -> Vec<Contender> {
    let contender = |name, notes, open, fill| Contender { name, version: "8.0.2", notes, open, fill };
    vec![
        contender(
            "sequential-storage",
            "map, words of 2 bytes, pages of a unit; caches of page states, page pointers, and key pointers for all \
             25,000 keys: a map in RAM",
            cached(),
            None,
        ),
        contender(
            "sequential-storage, no cache",
            "the same with `Cache::new_uncached()`, which leaves the same on flash; filled with the caches",
            uncached(),
            Some(cached()),
        ),
    ]
}
