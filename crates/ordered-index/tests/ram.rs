//! An index takes a constant amount of RAM, whatever it holds.

use norn_flash_sim::NorSim;
use norn_ordered_index::{FatList, VaryingList};

// With a reference to the device, which is the caller's.
const _: () = assert!(size_of::<FatList<&mut NorSim, 4, 4>>() <= 152);
const _: () = assert!(size_of::<FatList<&mut NorSim, 16, 100>>() <= 152);
// Where values vary, the place of a record and the bytes of a log besides.
const _: () = assert!(size_of::<VaryingList<&mut NorSim, 16, 200>>() <= 160);

#[test]
fn an_index_takes_constant_ram() {
    println!("fat list {} bytes", size_of::<FatList<&mut NorSim, 4, 4>>());
    println!("where values vary {} bytes", size_of::<VaryingList<&mut NorSim, 4, 4>>());
}
