//! A store of no flash, whose program is what the others have besides their stores.
#![no_std]
#![no_main]

use norn_embedded::flash::Reprogramming;
use norn_mps2_an385::ram_nor::RamNor;
use norn_peers_firmware::part::Part;
use norn_peers_firmware::{Store, VALUES};

struct Nothing(Part, [[u8; 4]; VALUES]);

impl Store for Nothing {
    const NAME: &'static str = "nothing: values in RAM, and the part's own code";
    const RAM_BYTES: usize = 0;

    fn format(part: RamNor) -> Self {
        let mut part = Part(part);
        part.erase_unit(0);
        Nothing(part, [[0; 4]; VALUES])
    }

    fn remount(self) -> Self {
        self
    }

    fn put(&mut self, key: u16, value: [u8; 4]) {
        self.0.program_at(usize::from(key) * 4, &value);
        self.1[usize::from(key)] = value;
    }

    fn get(&mut self, key: u16) -> [u8; 4] {
        let mut value = [0; 4];
        self.0.read_at(usize::from(key) * 4, &mut value);
        self.1[usize::from(key)]
    }
}

norn_peers_firmware::program!(Nothing, Reprogramming::Unlimited);
