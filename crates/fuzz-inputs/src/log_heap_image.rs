//! Damaged images of log-structured heaps, and what a program does with them.

use std::sync::LazyLock;

use norn_flash::{Address, Collected, Reprogramming};
use norn_flash_sim::{NorSim, Tear, catalogue};
use norn_log_heap::{Elements, Layout, LogHeap};

use crate::heap_calls::use_it;
use crate::heap_image::Choices;
use crate::within::expect_within;

const UNITS: u16 = 12;
const UNIT_BYTES: u32 = 1024;
/// A walk over an image of this size that reads more words than this has lost its bound.
const READS_MAX: u64 = 40_000_000;

type SimHeap = LogHeap<NorSim, 12>;

/// Heaps on parts whose program units have 1, 4, 8 and 16 bytes, some of which end in a call that was cut.
static IMAGES: LazyLock<Vec<NorSim>> = LazyLock::new(|| {
    let mut images = Vec::new();
    for (program_unit_bytes, reprogramming) in [
        (1, Reprogramming::Unlimited),
        (4, Reprogramming::Times(2)),
        (8, Reprogramming::Once),
        (16, Reprogramming::Once),
    ] {
        let part = catalogue::limited_test_part(UNITS, UNIT_BYTES, program_unit_bytes, reprogramming);
        let heap = used(SimHeap::format(NorSim::new(part)).expect("suitable"));
        images.push(heap.device().clone());
        for cut in [1, 3, 9, 30] {
            let mut heap = heap.clone();
            heap.device_mut().cut_power_after(cut, Tear::Nothing);
            let _ = heap.begin();
            while_powered(&mut heap);
            let mut device = heap.into_device();
            device.power_on();
            images.push(device);
        }
    }
    images
});

/// A heap with objects, arrays, headers and roots.
fn used(mut heap: SimHeap) -> SimHeap {
    let mut objects = Vec::new();
    for count in 1..9 {
        let object = heap.create(Layout::uniform(count, 2).with_header(&[1; 7][..count % 7])).expect("room");
        heap.set_root(&[b'a' + count as u8 % 5], Some(object)).expect("room");
        objects.push(object);
    }
    let array = heap.create_array(40, 2, &[3; 5]).expect("room");
    heap.array_fill_non_atomic(Elements { array, first: 3, count: 20 }, &[7; 2]).expect("room");
    for number in 0..60 {
        heap.put_field(objects[number % 6], 0, &[number as u8; 2]).expect("room");
        if number % 9 == 0 {
            heap.delete(objects.pop().expect("some are left")).expect("it is there");
            objects.push(heap.create(Layout::uniform(3, 4)).expect("room"));
        }
    }
    heap
}

/// Changes objects until the power is cut.
fn while_powered(heap: &mut SimHeap) {
    let mut after = None;
    while let Ok(Some(object)) = heap.next_object(after) {
        let _ = heap.put_field(object, 0, &[9; 2]);
        let _ = heap.put_field(object, 0, &[9; 4]);
        after = Some(object);
    }
    let _ = heap.commit();
}

fn damage(device: &mut NorSim, choices: &mut Choices<'_>) {
    let size = u32::from(UNITS) * UNIT_BYTES;
    let at = choices.below(size);
    match choices.byte() % 4 {
        0 => {
            let byte = device.peek(Address(at), 1)[0] ^ 1 << (choices.byte() % 8);
            device.poke(Address(at), &[byte]);
        }
        // A record or a sector whose code is right, at another place.
        1 => {
            let (from, to) = (choices.below(size / 16) * 16, at / 16 * 16);
            let len = (16 * (1 + choices.below(16))).min(size - from).min(size - to);
            let bytes = device.peek(Address(from), len as usize);
            device.poke(Address(to), &bytes);
        }
        2 => {
            let len = choices.below(64).min(size - at);
            device.poke(Address(at), &vec![choices.byte(); len as usize]);
        }
        // A place of four bytes whose count of zeros is right.
        _ => {
            let content = choices.below(1 << 27);
            let zeros = 27 - content.count_ones();
            device.poke(Address(at / 4 * 4), &(content << 5 | zeros).to_le_bytes());
        }
    }
}

/// Damages an image as `bytes` say, and uses it if it mounts.
///
/// # Panics
/// If the heap panics, loops, or reaches outside the part.
pub fn try_damaged(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let mut device = IMAGES[usize::from(choices.byte()) % IMAGES.len()].clone();
    for _ in 0..choices.byte() % 8 {
        damage(&mut device, &mut choices);
    }
    let reads = device.counters().reads();
    let mounted = SimHeap::mount(device);
    expect_within(&mounted);
    let Ok(mut heap) = mounted else { return };
    expect_within(&heap.audit(&mut Collected::default()));
    use_it(&mut heap, &mut choices);
    assert!(heap.device().counters().reads() - reads < READS_MAX, "no bound on reads");
}
