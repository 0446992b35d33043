//! An index takes a constant amount of RAM, whatever it holds.

use norn_flash_sim::NorSim;
use norn_ordered_index::{FatList, MuTree};

// With a reference to the device, which is the caller's.
const _: () = assert!(size_of::<FatList<&mut NorSim, 4, 4>>() <= 128);
const _: () = assert!(size_of::<FatList<&mut NorSim, 16, 100>>() <= 128);
const _: () = assert!(size_of::<MuTree<&mut NorSim, 4, 4, 512>>() <= 64);

#[test]
fn an_index_takes_constant_ram() {
    println!(
        "fat list {} bytes, tree {}",
        size_of::<FatList<&mut NorSim, 4, 4>>(),
        size_of::<MuTree<&mut NorSim, 4, 4, 512>>()
    );
}
