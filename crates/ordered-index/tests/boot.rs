//! At the paper's setting a mount after a stop takes 50 µs or less on average, whatever cells it happens to look at first, and changes
//! nothing.

use norn_flash::{Address, EraseUnit, Nor, NorPart};
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::fat_list::format::{IDENTITY_BYTES, Identity};
use norn_ordered_index::{FatList, OrderedIndex, Settings};

/// A list of 25,000 keys, a hundred thousand of whose values have been updated, on K8C1215ETM with so many blocks.
fn stopped_list(unit_count: u16) -> NorSim {
    let mut spec = catalogue::k8c1215etm();
    spec.part = NorPart { unit_count, ..spec.part };
    let mut list: FatList<_, 4, 4> = FatList::format(NorSim::new(spec), Settings::paper_2011()).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    for key in 0..25_000_u32 {
        list.insert(&key.to_be_bytes(), &[0; 4]).unwrap();
    }
    for update in 0..100_000_u32 {
        list.update(&random.u32(0..25_000).to_be_bytes(), &update.to_le_bytes()).unwrap();
    }
    list.stop().unwrap();
    list.into_device()
}

/// Mounts with different random numbers, which the erases of the first block decide; the times, sorted.
fn boot_times_ns(device: &NorSim, boots: u32) -> Vec<u64> {
    let first = device.part().start_of(EraseUnit(0));
    let bytes: [u8; IDENTITY_BYTES] = device.peek(first, IDENTITY_BYTES).try_into().unwrap();
    let identity = Identity::decode(&bytes).unwrap().unwrap();
    let mut times = Vec::new();
    for boot in 0..boots {
        let mut device = device.clone();
        device.poke(Address(0), &Identity { erase_count: 1_000 + boot, ..identity }.encode());
        let (before, operations) = (device.elapsed_ns(), device.operations());
        let list = FatList::<_, 4, 4>::mount(device).unwrap();
        assert_eq!(list.device().operations(), operations);
        times.push(list.device().elapsed_ns() - before);
    }
    times.sort_unstable();
    times
}

#[test]
fn a_mount_after_a_stop_is_fast() {
    let megabytes = 2;
    let times = boot_times_ns(&stopped_list(16 * megabytes), 2_000);
    let mean = times.iter().sum::<u64>() / times.len() as u64;
    let at = |share: usize| times[(times.len() - 1) * share / 100] as f64 / 1e3;
    let mean_us = mean as f64 / 1e3;
    println!("{megabytes} MB: mean {mean_us:.2} us, median {:.2}, 99% {:.2}, worst {:.2}", at(50), at(99), at(100));
    assert!(mean <= 50_000, "{mean} ns");
}
