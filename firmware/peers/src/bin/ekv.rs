//! ekv: a value a key, a transaction a put.
#![no_std]
#![no_main]

use ekv::{Config, Database};
use embassy_futures::block_on;
use embassy_sync_06::blocking_mutex::raw::NoopRawMutex;
use norn_embedded::flash::Reprogramming;
use norn_mps2_an385::ram_nor::RamNor;
use norn_peers_firmware::Store;
use norn_peers_firmware::part::Part;

struct Ekv(Database<Part, NoopRawMutex>);

impl Store for Ekv {
    const NAME: &'static str = "ekv 1.0.0, CRCs";
    const RAM_BYTES: usize = size_of::<Ekv>() - size_of::<Part>();

    fn format(part: RamNor) -> Self {
        let ekv = Ekv(Database::new(Part(part), Config::default()));
        block_on(ekv.0.format()).expect("the part works");
        ekv
    }

    /// A database does not give its part back: it is dropped with it, and the part is taken anew.
    fn remount(self) -> Self {
        drop(self);
        let ekv = Ekv(Database::new(Part(norn_peers_firmware::part(Reprogramming::Once)), Config::default()));
        block_on(ekv.0.mount()).expect("there is a database");
        ekv
    }

    fn put(&mut self, key: u16, value: [u8; 4]) {
        block_on(async {
            let mut transaction = self.0.write_transaction().await;
            transaction.write(&key.to_be_bytes(), &value).await.expect("there is room");
            transaction.commit().await.expect("there is room");
        });
    }

    fn get(&mut self, key: u16) -> [u8; 4] {
        let mut value = [0; 4];
        block_on(async {
            let transaction = self.0.read_transaction().await;
            transaction.read(&key.to_be_bytes(), &mut value).await.expect("it is there");
        });
        value
    }
}

norn_peers_firmware::program!(Ekv, Reprogramming::Once);
