//! An index takes a constant amount of RAM, whatever it holds.

use norn_flash_sim::NorSim;
use norn_ordered_index::FatList;

// With a reference to the device, which is the caller's.
const _: () = assert!(size_of::<FatList<&mut NorSim, 4, 4>>() <= 152);
const _: () = assert!(size_of::<FatList<&mut NorSim, 16, 100>>() <= 152);

#[test]
fn an_index_takes_constant_ram() {
    println!("fat list {} bytes", size_of::<FatList<&mut NorSim, 4, 4>>());
}
