//! At the paper's setting a mount after a stop takes 50 µs or less on average, whatever cells it happens to look at
//! first and however full the part is, reads no more than its bound, and changes nothing.

use norn_flash::{Address, EraseUnit, Nor, NorPart};
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::fat_list::format::{IDENTITY_BYTES, Identity};
use norn_ordered_index::{FatList, OrderedIndex, Settings};

/// A list of `keys` keys after `updates` updates, on K8C1215ETM with `unit_count` blocks.
fn stopped_list(unit_count: u16, keys: u32, updates: u32) -> NorSim {
    let mut spec = catalogue::k8c1215etm();
    spec.part = NorPart { unit_count, ..spec.part };
    let mut list: FatList<_, 4, 4> = FatList::format(NorSim::new(spec), Settings::paper_2011()).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    for key in 0..keys {
        list.insert(&key.to_be_bytes(), &[0; 4]).unwrap();
    }
    for update in 0..updates {
        list.update(&random.u32(0..keys).to_be_bytes(), &update.to_le_bytes()).unwrap();
    }
    list.stop().unwrap();
    list.into_device()
}

/// Mounts with different random numbers, which the erases of the first block decide; the times, sorted.
fn boot_times_ns(device: &NorSim, boots: u32, bound_bytes: u64) -> Vec<u64> {
    let first = device.part().start_of(EraseUnit(0));
    let bytes: [u8; IDENTITY_BYTES] = device.peek(first, IDENTITY_BYTES).try_into().unwrap();
    let identity = Identity::decode(&bytes).unwrap().unwrap();
    let mut times = Vec::new();
    for boot in 0..boots {
        let mut device = device.clone();
        device.poke(Address(0), &Identity { erase_count: 1_000 + boot, ..identity }.encode());
        let (before, operations, counters) = (device.elapsed_ns(), device.operations(), device.counters());
        let list = FatList::<_, 4, 4>::mount(device).unwrap();
        assert_eq!(list.device().operations(), operations);
        let read = (list.device().counters() - counters).read_bytes();
        assert!(read <= bound_bytes, "{read} of at most {bound_bytes}");
        times.push(list.device().elapsed_ns() - before);
    }
    times.sort_unstable();
    times
}

/// Mounts again and again, prints what that takes, and asserts the bound; the mean.
fn measured(megabytes: u16, what: &str, device: &NorSim, boots: u32) -> u64 {
    let mut list = FatList::<_, 4, 4>::mount(device.clone()).unwrap();
    let objects = list.stats().unwrap().live;
    let bound = list.boot_bound(objects);
    let times = boot_times_ns(device, boots, bound);
    let mean = times.iter().sum::<u64>() / times.len() as u64;
    let at = |share: usize| times[(times.len() - 1) * share / 100] as f64 / 1e3;
    let mean_us = mean as f64 / 1e3;
    println!(
        "{megabytes} MB, {what}: mean {mean_us:.2} us, median {:.2}, 99% {:.2}, worst {:.2}; {objects} objects, bound \
         {:.0} us",
        at(50),
        at(99),
        at(100),
        bound as f64 / 2.0 * 0.11
    );
    mean
}

#[test]
fn a_mount_after_a_stop_is_fast() {
    for megabytes in [1, 2, 4, 8] {
        let mean = measured(megabytes, "25,000 keys", &stopped_list(16 * megabytes, 25_000, 100_000), 2_000);
        assert!(mean <= 50_000, "{mean} ns");
    }
}

/// On a large part with few objects, random cells find nothing: the head is then where a format puts it, or near.
#[test]
fn a_mount_after_a_stop_is_fast_on_a_part_that_is_nearly_empty() {
    for keys in [0, 1, 25, 400] {
        let mean = measured(8, &format!("{keys} keys"), &stopped_list(128, keys, 4 * keys), 300);
        assert!(mean <= 50_000, "{mean} ns");
    }
}
