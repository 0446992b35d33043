//! sequential-storage's map, with caches of its pages and all keys.
#![no_std]
#![no_main]

use embassy_futures::block_on;
use norn_embedded::flash::Reprogramming;
use norn_mps2_an385::ram_nor::RamNor;
use norn_peers_firmware::part::Part;
use norn_peers_firmware::{Store, UNIT_BYTES, UNITS, VALUES};
use sequential_storage::cache::Cache;
use sequential_storage::cache::key_pointers::ArrayKeyPointers;
use sequential_storage::cache::page_pointers::ArrayPagePointers;
use sequential_storage::cache::page_states::ArrayPageStates;
use sequential_storage::map::{MapConfig, MapStorage};

type MapCache = Cache<ArrayPageStates<UNITS>, ArrayPagePointers<UNITS>, ArrayKeyPointers<u16, VALUES>, u16>;

const BUFFER_BYTES: usize = 32;

struct Map(MapStorage<u16, Part, MapCache>);

impl Map {
    fn of(part: Part) -> Self {
        let config = MapConfig::try_new(0..(UNITS * UNIT_BYTES) as u32).expect("a range of pages");
        let cache = Cache::new(ArrayPageStates::new(), ArrayPagePointers::new(), ArrayKeyPointers::new());
        Map(MapStorage::new(part, config, cache))
    }
}

impl Store for Map {
    const NAME: &'static str = "sequential-storage 8.0.2, map, caches of pages and 100 keys";
    const RAM_BYTES: usize = size_of::<Map>() - size_of::<Part>() + BUFFER_BYTES;

    fn format(part: RamNor) -> Self {
        let mut map = Map::of(Part(part));
        block_on(map.0.erase_all()).expect("the part works");
        map
    }

    /// A map is mounted by the first call, which fills its caches.
    fn remount(self) -> Self {
        let (part, _) = self.0.destroy();
        let mut map = Map::of(part);
        map.get(0);
        map
    }

    fn put(&mut self, key: u16, value: [u8; 4]) {
        block_on(self.0.store_item(&mut [0; BUFFER_BYTES], &key, &value)).expect("there is room");
    }

    fn get(&mut self, key: u16) -> [u8; 4] {
        let mut buffer = [0; BUFFER_BYTES];
        block_on(self.0.fetch_item::<[u8; 4]>(&mut buffer, &key)).expect("the part works").expect("it is there")
    }
}

norn_peers_firmware::program!(Map, Reprogramming::Once);
