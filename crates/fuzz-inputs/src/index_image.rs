//! Damaged images of sorted maps, and what a program does with them.

use std::ops::Bound;
use std::sync::LazyLock;

use norn_flash::{Address, Collected, Nor, Reprogramming};
use norn_flash_sim::{NorSim, Tear, catalogue};
use norn_ordered_index::{Change, IndexError, MountError, OrderedIndex, Settings};

use crate::either_list::SimList;

/// Empty lists on small parts, whose program units have 1, 2 and 4 bytes: of values of one length, the last one of them
/// a soft list; then of values that vary.
pub(crate) static EMPTY: LazyLock<[SimList; 7]> = LazyLock::new(|| {
    let small = Settings { turnstile_blocks: 3, levels: 3, slots: 6, keys: 4, pool: 6 };
    let soft = Settings { slots: 2, keys: 1, ..small };
    let flat = Settings { levels: 2, ..small };
    [
        (1, small, None),
        (2, small, None),
        (4, flat, None),
        (2, soft, None),
        (1, small, Some(104)),
        (2, Settings { slots: 12, ..small }, Some(180)),
        (4, flat, Some(112)),
    ]
    .map(|(program_unit_bytes, settings, log_bytes)| {
        let part = catalogue::limited_test_part(6, 1024, program_unit_bytes, Reprogramming::Unlimited);
        SimList::format(NorSim::new(part), settings, log_bytes).expect("suitable")
    })
});

/// Parts with some history, some of which end in a call that was cut, batches among them.
static IMAGES: LazyLock<Vec<NorSim>> = LazyLock::new(|| {
    let mut images = Vec::new();
    for list in EMPTY.iter() {
        let mut list = list.clone();
        use_it(&mut list);
        images.push(list.device().clone());
        for cut in [5, 12, 20, 40] {
            let mut list = list.clone();
            list.device_mut().cut_power_after(cut, Tear::Nothing);
            let _ = list.apply(&[Change::Put([9, 9], [1; 3]), Change::Remove([0, 21])]);
            let mut device = list.into_device();
            device.power_on();
            images.push(device);
        }
    }
    images
});

/// Fills a list, and changes and removes keys.
fn use_it(list: &mut SimList) {
    for number in 0..90_u16 {
        let key = (number * 7 % 64).to_be_bytes();
        let _ = list.put(&key, &[number as u8; 3]);
        let _ = list.insert_in_ring(&(100 + number).to_be_bytes(), &[1; 3]);
        if number % 3 == 0 {
            let _ = list.remove(&key);
        }
    }
    let _ = list.apply(&[Change::Put([0, 1], [5; 3]), Change::Put([0, 2], [6; 3])]);
    let _ = list.reclaim_step();
}

/// Damages an image as `bytes` say, and uses it if it mounts.
///
/// # Panics
/// If the list panics, loops, or reaches outside the part.
pub fn try_damaged(bytes: &[u8]) {
    let Some((&variant, damage)) = bytes.split_first() else {
        return;
    };
    let mut device = IMAGES[usize::from(variant) % IMAGES.len()].clone();
    let size = device.part().size_bytes();
    for change in damage.chunks_exact(3) {
        let at = u32::from(u16::from_le_bytes([change[0], change[1]])) % size;
        device.poke(Address(at), &change[2..]);
    }
    match SimList::mount(device) {
        Ok(mut list) => {
            let _ = list.audit(&mut Collected::<()>::default());
            let entries = list.range(Bound::Unbounded, Bound::Unbounded).take(100_000).count();
            assert!(entries < 100_000, "a range that does not end");
            use_it(&mut list);
            let outcome = list.stop();
            assert!(!matches!(outcome, Err(IndexError::Device(_))), "{outcome:?}");
        }
        Err(error) => assert!(!matches!(error, MountError::Device(_)), "{error}"),
    }
}
