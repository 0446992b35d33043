//! sequential-storage's map: a value an object, and a key a field.
//!
//! Its flash is this part with words of 4 bytes; a page is an erase unit. A key is the object's number, or that
//! times its fields and the field's index, in 16 bits. What it repairs by itself (`try_repair`, inside each call) is
//! all the repair there is.

use std::mem::size_of;

use embassy_futures::block_on;
use norn_flash::Nor;
use sequential_storage::Error;
use sequential_storage::cache::key_pointers::{ArrayKeyPointers, HeapKeyPointers};
use sequential_storage::cache::page_pointers::{ArrayPagePointers, HeapPagePointers};
use sequential_storage::cache::page_states::{ArrayPageStates, HeapPageStates};
use sequential_storage::cache::{Cache, CacheImpl};
use sequential_storage::map::{MapConfig, MapStorage};

use crate::device::{Device, DeviceError};
use crate::store::{Begin, Failure, Kind, Open, Opening, Peer, Record, Shape, Store, Update, Value};
use crate::whole_record::{Novelty, Values, WholeRecord, present};

/// The crate's version in `Cargo.toml`.
const VERSION: &str = "8.0.2";
/// Bytes of a page: an erase unit.
const PAGE_BYTES: usize = 8192;
/// Bytes of a key.
const KEY_BYTES: usize = 2;
/// Bytes of an item with a field: more than this many keys never fit.
const ITEM_BYTES_MIN: usize = 12;
/// Keys of 16 bits.
const KEYS_MAX: usize = 1 << 16;

type Flash = crate::ports::Flash<4, PAGE_BYTES>;

type FullCache = Cache<HeapPageStates, HeapPagePointers, HeapKeyPointers<u16>, u16>;

/// One map.
struct Map<C: CacheImpl<u16>> {
    storage: MapStorage<u16, Flash, C>,
    /// What every call wants: room for a key and a value, in whole words.
    buffer: Vec<u8>,
    cache_bytes: usize,
}

impl<C: CacheImpl<u16>> Map<C> {
    fn open(device: Device, opening: Opening, cache: C, cache_bytes: usize) -> Result<Self, Failure> {
        let end = device.part().size_bytes();
        let config = MapConfig::try_new(0..end).map_err(Failure::of)?;
        let mut storage = MapStorage::new(crate::ports::Flash(device), config, cache);
        if opening.begin == Begin::Format {
            block_on(storage.erase_all()).map_err(failure)?;
        }
        let buffer = vec![0; (KEY_BYTES + opening.shape.bytes()).next_multiple_of(4)];
        Ok(Map { storage, buffer, cache_bytes })
    }

    fn store(&mut self, key: u16, value: &[u8]) -> Result<(), Failure> {
        block_on(self.storage.store_item(&mut self.buffer, &key, &value)).map_err(failure)
    }

    fn fetch(&mut self, key: u16) -> Result<Option<&[u8]>, Failure> {
        block_on(self.storage.fetch_item::<&[u8]>(&mut self.buffer, &key)).map_err(failure)
    }

    fn ram_bytes(&self) -> usize {
        size_of::<MapStorage<u16, Flash, C>>() - size_of::<Flash>() + self.cache_bytes + self.buffer.len()
    }
}

fn failure(error: Error<DeviceError>) -> Failure {
    match error {
        Error::FullStorage => Failure::Full,
        other => Failure::of(other),
    }
}

impl<C: CacheImpl<u16>> Values for Map<C> {
    fn load(&mut self, key: usize) -> Result<Record, Failure> {
        present(self.fetch(key as u16)?)
    }

    fn save(&mut self, key: usize, record: &[u8], _: Novelty) -> Result<(), Failure> {
        self.store(key as u16, record)
    }

    fn ram_bytes(&self) -> usize {
        Map::ram_bytes(self)
    }
}

/// A key for each field.
struct KeyPerField<C: CacheImpl<u16>> {
    map: Map<C>,
    shape: Shape,
}

impl<C: CacheImpl<u16>> KeyPerField<C> {
    fn key_of(&self, object: usize, field: usize) -> u16 {
        (object * self.shape.fields + field) as u16
    }
}

impl<C: CacheImpl<u16>> Store for KeyPerField<C> {
    fn create(&mut self, object: usize, record: &[u8]) -> Result<(), Failure> {
        if (object + 1) * self.shape.fields > KEYS_MAX {
            return Err(Failure::Full);
        }
        let shape = self.shape;
        (0..shape.fields).try_for_each(|field| self.map.store(self.key_of(object, field), &record[shape.range(field)]))
    }

    fn put_field(&mut self, update: Update) -> Result<(), Failure> {
        self.map.store(self.key_of(update.object, update.field), &update.value)
    }

    fn put_object(&mut self, _: usize, _: &[u8]) -> Result<(), Failure> {
        Err(Failure::Unsupported("one key a transaction"))
    }

    fn put_group(&mut self, _: &[Update]) -> Result<(), Failure> {
        Err(Failure::Unsupported("one key a transaction"))
    }

    fn get_field(&mut self, object: usize, field: usize) -> Result<Value, Failure> {
        let (key, width) = (self.key_of(object, field), self.shape.width);
        let bytes = self.map.fetch(key)?.filter(|bytes| bytes.len() == width);
        bytes.map(Value::new).ok_or_else(|| Failure::Failed(format!("no value of {width} bytes")))
    }

    fn get_object(&mut self, object: usize) -> Result<Record, Failure> {
        let mut record = Vec::with_capacity(self.shape.bytes());
        for field in 0..self.shape.fields {
            record.extend_from_slice(&self.get_field(object, field)?);
        }
        Ok(record)
    }

    /// By the crate's iteration over everything, whose last item of a key is the valid one: a look-up of each key
    /// after a mount reads the whole part again and again.
    fn get_all(&mut self, objects: usize) -> Result<Vec<Record>, Failure> {
        let (shape, map) = (self.shape, &mut self.map);
        let mut found = vec![None; objects * shape.fields];
        block_on(async {
            let mut items = map.storage.fetch_all_items(&mut map.buffer).await?;
            while let Some((key, value)) = items.next::<&[u8]>(&mut map.buffer).await? {
                if let Some(place) = found.get_mut(usize::from(key)) {
                    *place = Some(Value::new(value));
                }
            }
            Ok(())
        })
        .map_err(failure)?;
        let missing = || Failure::Failed("a field without a value".to_owned());
        let values = found.into_iter().map(|value| value.ok_or_else(missing)).collect::<Result<Vec<Value>, _>>()?;
        Ok(values
            .chunks(shape.fields)
            .map(|object| object.iter().flat_map(|value| value.iter().copied()).collect())
            .collect())
    }

    fn ram_bytes(&self) -> usize {
        self.map.ram_bytes()
    }
}

/// A cache of every page and of `keys` keys, and its bytes beside what `Cache` itself takes.
fn full_cache(device: &Device, keys: usize) -> (FullCache, usize) {
    let pages = usize::from(device.part().unit_count);
    let (states, pointers) = (HeapPageStates::new(pages), HeapPagePointers::new(pages));
    let page_bytes = size_of::<ArrayPageStates<1>>() + size_of::<ArrayPagePointers<1>>();
    let key_bytes = size_of::<ArrayKeyPointers<u16, 1>>();
    (Cache::new(states, pointers, HeapKeyPointers::new(keys)), pages * page_bytes + keys * key_bytes)
}

/// What is done with a map that has been opened.
fn boxed<C: CacheImpl<u16> + 'static>(map: Map<C>, keys: Keys, shape: Shape) -> Box<dyn Store> {
    match keys {
        Keys::Objects => Box::new(WholeRecord { values: map, shape }),
        Keys::Fields => Box::new(KeyPerField { map, shape }),
    }
}

#[derive(Clone, Copy)]
enum Keys {
    Objects,
    Fields,
}

fn uncached(keys: Keys) -> Open {
    Box::new(move |device, opening| {
        let map = Map::open(device, opening, Cache::new_uncached(), 0)?;
        Ok(boxed(map, keys, opening.shape))
    })
}

fn cached(keys: Keys) -> Open {
    Box::new(move |device, opening| {
        let count = match keys {
            Keys::Objects => opening.objects,
            Keys::Fields => {
                (opening.objects * opening.shape.fields).min(device.part().size_bytes() as usize / ITEM_BYTES_MIN)
            }
        };
        let (cache, bytes) = full_cache(&device, count);
        Ok(boxed(Map::open(device, opening, cache, bytes)?, keys, opening.shape))
    })
}

/// The map's configurations.
pub fn peers() -> Vec<Peer> {
    let peer = |name, notes, kind, open, fill| Peer { kind, name, version: VERSION, notes, open, fill };
    vec![
        peer(
            "sequential-storage",
            "map, words of 4 bytes, pages of a unit, an object a value under a key of 2; caches of page states, \
             page pointers, and key pointers for every object",
            Kind::PeerWithMap,
            cached(Keys::Objects),
            None,
        ),
        peer(
            "sequential-storage, no cache",
            "the same with `Cache::new_uncached()`, which leaves the same on flash",
            Kind::Peer,
            uncached(Keys::Objects),
            Some(cached(Keys::Objects)),
        ),
        peer(
            "sequential-storage, key a field",
            "map, a field a value under a key of 2; caches as above, for every field",
            Kind::PeerWithMap,
            cached(Keys::Fields),
            None,
        ),
    ]
}
