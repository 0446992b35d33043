//! Norn's leaf map: a key of two bytes for each value.
#![no_std]
#![no_main]

use norn_embedded::flash::Reprogramming;
use norn_embedded::index::{LeafMap, OrderedIndex};
use norn_mps2_an385::ram_nor::RamNor;
use norn_peers_firmware::Store;

struct Map(LeafMap<RamNor, 2, 4>);

impl Store for Map {
    const NAME: &'static str = "Norn's leaf map";
    const RAM_BYTES: usize = size_of::<Map>() - size_of::<RamNor>();

    fn format(part: RamNor) -> Self {
        Map(LeafMap::format(part).expect("the part is suitable"))
    }

    fn remount(self) -> Self {
        Map(LeafMap::mount(self.0.into_device()).expect("there is a map"))
    }

    fn put(&mut self, key: u16, value: [u8; 4]) {
        let key = key.to_be_bytes();
        if self.0.get(&key).expect("the part works").is_some() {
            self.0.update(&key, &value).expect("there is room");
        } else {
            self.0.insert(&key, &value).expect("there is room");
        }
    }

    fn get(&mut self, key: u16) -> [u8; 4] {
        self.0.get(&key.to_be_bytes()).expect("the part works").expect("it is there")
    }
}

norn_peers_firmware::program!(Map, Reprogramming::Once);
