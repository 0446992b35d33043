//! sequential-storage as a log: its queue, which overwrites its oldest page, and its map, whose keys are times.
//!
//! Its flash is this part with words of 2 bytes; a page is an erase unit. Neither has an order that could be searched:
//! a query looks at every item. The map forgets by removals, which look at every item, too.

use std::mem::size_of;

use embassy_futures::block_on;
use norn_flash::Nor;
use sequential_storage::Error;
use sequential_storage::cache::page_pointers::{ArrayPagePointers, HeapPagePointers};
use sequential_storage::cache::page_states::{ArrayPageStates, HeapPageStates};
use sequential_storage::cache::{Cache, CacheImpl, Uncached};
use sequential_storage::map::{MapConfig, MapStorage};
use sequential_storage::queue::{QueueConfig, QueueStorage};

use crate::device::{Device, DeviceError};
use crate::reading_log::{Contender, Failure, Log, Open, Opening, Query, READING_BYTES, Reading, Show, single};

/// Bytes of a page: an erase unit.
const PAGE_BYTES: usize = ekv::config::PAGE_SIZE;
/// The buffer that every call wants: an item, rounded up to words.
const BUFFER_BYTES: usize = 8;

type Flash = crate::ports::Flash<2, PAGE_BYTES>;

fn failure(error: Error<DeviceError>) -> Failure {
    match error {
        Error::FullStorage => Failure::Full("there is no room".to_owned()),
        other => Failure::of(other),
    }
}

/// Bytes of the caches of page states and page pointers, which are allocated.
fn page_cache_bytes(device: &Device) -> usize {
    usize::from(device.part().unit_count) * (size_of::<ArrayPageStates<1>>() + size_of::<ArrayPagePointers<1>>())
}

/// A queue.
struct Queue<C: CacheImpl<()>> {
    storage: QueueStorage<Flash, C>,
    cache_bytes: usize,
}

impl<C: CacheImpl<()>> Queue<C> {
    fn open(device: Device, opening: Opening, cache: C, cache_bytes: usize) -> Result<Self, Failure> {
        let config = QueueConfig::try_new(0..device.part().size_bytes()).map_err(Failure::of)?;
        let mut storage = QueueStorage::new(crate::ports::Flash(device), config, cache);
        if opening == Opening::Format {
            block_on(storage.erase_all()).map_err(failure)?;
        }
        Ok(Queue { storage, cache_bytes })
    }
}

impl<C: CacheImpl<()>> Log for Queue<C> {
    fn append(&mut self, readings: &[Reading]) -> Result<(), Failure> {
        let bytes = single(readings)?.to_bytes();
        block_on(self.storage.push(&bytes, true)).map_err(failure)
    }

    fn range(&mut self, from: u32, to: u32, show: &mut Show<'_>) -> Result<(), Failure> {
        block_on(async {
            let mut items = self.storage.iter().await.map_err(failure)?;
            let mut buffer = [0; BUFFER_BYTES];
            while let Some(item) = items.next(&mut buffer).await.map_err(failure)? {
                let bytes: [u8; READING_BYTES] =
                    (*item).try_into().map_err(|_| Failure::Failed(format!("an item of {} bytes", item.len())))?;
                let reading = Reading::from_bytes(bytes);
                if reading.at >= to || reading.at >= from && show(reading) == Query::Ends {
                    break;
                }
            }
            Ok(())
        })
    }

    fn ram_bytes(&self) -> usize {
        size_of::<QueueStorage<Flash, C>>() - size_of::<Flash>() + self.cache_bytes + BUFFER_BYTES
    }
}

/// Bytes of an item on flash: a header of 8, a key and a value.
const ITEM_BYTES: usize = 14;
/// Pages that a map keeps free of what counts: one to write to, one that it erases, and one whose keys are removed.
const FREE_PAGES: usize = 3;

/// A map.
struct Map<C: CacheImpl<u32>> {
    storage: MapStorage<u32, Flash, C>,
    cache_bytes: usize,
    /// Readings that there may be.
    count_max: u32,
    /// The numbers of the oldest reading and of the next, which a program can know.
    kept: Option<(u32, u32)>,
}

impl<C: CacheImpl<u32>> Map<C> {
    fn open(device: Device, opening: Opening, cache: C, cache_bytes: usize) -> Result<Self, Failure> {
        let config = MapConfig::try_new(0..device.part().size_bytes()).map_err(Failure::of)?;
        let pages = usize::from(device.part().unit_count);
        let mut storage = MapStorage::new(crate::ports::Flash(device), config, cache);
        if opening == Opening::Format {
            block_on(storage.erase_all()).map_err(failure)?;
        }
        let count_max = ((pages - FREE_PAGES) * PAGE_BYTES / ITEM_BYTES) as u32;
        Ok(Map { storage, cache_bytes, count_max, kept: None })
    }

    /// The numbers of the oldest reading and of the next: `next`.
    fn kept(&mut self, next: u32) -> Result<(u32, u32), Failure> {
        if let Some(kept) = self.kept {
            return Ok(kept);
        }
        Ok((crate::reading_log::oldest(self)?.map_or(next, |oldest| Reading::number_at(oldest.at)), next))
    }
}

impl<C: CacheImpl<u32>> Log for Map<C> {
    fn append(&mut self, readings: &[Reading]) -> Result<(), Failure> {
        let reading = single(readings)?;
        let (mut oldest, next) = self.kept(Reading::number_at(reading.at))?;
        while next - oldest >= self.count_max {
            let key = Reading::numbered(oldest).at;
            block_on(self.storage.remove_item(&mut [0; BUFFER_BYTES], &key)).map_err(failure)?;
            oldest += 1;
        }
        block_on(self.storage.store_item(&mut [0; BUFFER_BYTES], &reading.at, &reading.value)).map_err(failure)?;
        self.kept = Some((oldest, next + 1));
        Ok(())
    }

    fn range(&mut self, from: u32, to: u32, show: &mut Show<'_>) -> Result<(), Failure> {
        block_on(async {
            let mut buffer = [0; BUFFER_BYTES];
            let mut items = self.storage.fetch_all_items(&mut buffer).await.map_err(failure)?;
            while let Some((at, value)) = items.next::<u16>(&mut buffer).await.map_err(failure)? {
                // Items are in the order of writing, and those of a ring of pages ascend.
                if at >= to || at >= from && show(Reading { at, value }) == Query::Ends {
                    break;
                }
            }
            Ok(())
        })
    }

    fn ram_bytes(&self) -> usize {
        size_of::<MapStorage<u32, Flash, C>>() - size_of::<Flash>()
            + self.cache_bytes
            + BUFFER_BYTES
            + size_of::<Option<(u32, u32)>>()
    }
}

fn pages(device: &Device) -> (HeapPageStates, HeapPagePointers) {
    let pages = usize::from(device.part().unit_count);
    (HeapPageStates::new(pages), HeapPagePointers::new(pages))
}

fn queue_with_pages() -> Open {
    Box::new(|device, opening| {
        let ((states, pointers), bytes) = (pages(&device), page_cache_bytes(&device));
        Ok(Box::new(Queue::open(device, opening, Cache::new(states, pointers, Uncached), bytes)?))
    })
}

fn queue_uncached() -> Open {
    Box::new(|device, opening| Ok(Box::new(Queue::open(device, opening, Cache::new_uncached(), 0)?)))
}

fn map_with_pages() -> Open {
    Box::new(|device, opening| {
        let ((states, pointers), bytes) = (pages(&device), page_cache_bytes(&device));
        Ok(Box::new(Map::open(device, opening, Cache::new(states, pointers, Uncached), bytes)?))
    })
}

/// The queue with and without caches, and the map with those of pages.
pub fn contenders() -> Vec<Contender> {
    let contender = |name, notes, open, fill| Contender { name, version: "8.0.2", notes, open, fill };
    vec![
        contender(
            "sequential-storage, queue",
            "words of 2 bytes, pages of a unit; caches of page states and page pointers; old data is overwritten",
            queue_with_pages(),
            None,
        ),
        contender(
            "sequential-storage, queue, no cache",
            "the same with `Cache::new_uncached()`, which leaves the same on flash",
            queue_uncached(),
            Some(queue_with_pages()),
        ),
        contender(
            "sequential-storage, map",
            "the same caches as the queue; full (all but three pages), the oldest key is removed before each append",
            map_with_pages(),
            None,
        ),
    ]
}
